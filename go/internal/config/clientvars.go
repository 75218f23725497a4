package config

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
)

// input is what an editor asks its user for.
type input struct {
	description string
	fallback    *string
	secret      bool
}

func (f *clientFile) readInputs(root *table) map[string]input {
	inputs := map[string]input{}
	for _, t := range root.tables("inputs") {
		in := input{description: t.string("description"), secret: t.bool("password")}
		if text, is := t.values["default"].(string); is {
			in.fallback = &text
		}
		inputs[t.string("id")] = in
	}
	return inputs
}

// expandIn replaces the variables in all strings of a value.
func (f *clientFile) expandIn(path []string, v any) any {
	switch v := v.(type) {
	case string:
		return f.expand(path, v)
	case map[string]any:
		for key, item := range v {
			v[key] = f.expandIn(append(slices.Clip(path), key), item)
		}
	case []any:
		for i, item := range v {
			v[i] = f.expandIn(append(slices.Clip(path), strconv.Itoa(i)), item)
		}
	}
	return v
}

// expand replaces variables; what looks like none stays as it is, as these programs have it.
func (f *clientFile) expand(path []string, text string) string {
	var out strings.Builder
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			return out.String() + text
		}
		inside, rest, closed := strings.Cut(text[at+2:], "}")
		if !closed {
			return out.String() + text
		}
		out.WriteString(text[:at])
		out.WriteString(f.variable(path, inside))
		text = rest
	}
}

func (f *clientFile) variable(place []string, inside string) string {
	if text, known := f.predefined()[inside]; known {
		return text
	}
	if name, is := strings.CutPrefix(inside, "env:"); is && isVariableName(name) {
		if value, set := f.reader.lookup(place, name); set {
			return value
		}
		f.warn(place, fmt.Sprintf("takes the variable %s, which is not set, as empty", name))
		return ""
	}
	if id, is := strings.CutPrefix(inside, "input:"); is {
		return f.input(place, id)
	}
	if kind, _, is := strings.Cut(inside, ":"); is && (kind == "command" || kind == "config") {
		f.reader.fail(place, fmt.Sprintf("has \"${%.60s}\", which only an editor knows: write ${env:NAME}, and set that variable", inside))
		return ""
	}
	if name, _, _ := strings.Cut(inside, ":-"); isVariableName(name) {
		return f.reader.variable(place, inside)
	}
	return "${" + inside + "}"
}

func (f *clientFile) predefined() map[string]string {
	folder := f.options.Workspace
	if folder == "" {
		folder = "."
	}
	return map[string]string{
		"workspaceFolder": folder, "workspaceFolderBasename": path.Base(filepath.ToSlash(folder)), "cwd": folder, "userHome": f.options.Home,
		"pathSeparator": string(filepath.Separator), "/": string(filepath.Separator),
	}
}

// input is what a user would have typed: nobody is asked here, so a variable has it, or the default.
func (f *clientFile) input(place []string, id string) string {
	in, known := f.inputs[id]
	if !known {
		f.reader.fail(place, fmt.Sprintf("names the input %.60q, which inputs does not have%s", id, nearest(id, sortedNames(f.inputs))))
		return ""
	}
	name := inputVariable(id)
	if value, set := f.reader.lookup(place, name); set {
		if in.secret && value != "" {
			f.reader.secrets[value] = true
		}
		return value
	}
	if in.fallback != nil {
		if in.secret && *in.fallback != "" {
			f.reader.secrets[*in.fallback] = true
		}
		return *in.fallback
	}
	about := ""
	if in.description != "" {
		about = ", " + spelling.Clip(in.description, 80)
	}
	return f.reader.unsetVariable(place, name, fmt.Sprintf("needs the input %.60q%s: set the variable %s", id, about, name))
}

// inputVariable is the variable for an input: API_KEY for api-key.
func inputVariable(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, id)
}

// withFile adds the variables of envFile to those of env, which have the last word.
func (f *clientFile) withFile(t *table, env map[string]string) map[string]string {
	name := t.string("envFile")
	if name == "" {
		return env
	}
	if f.options.ReadFile == nil {
		f.warn(t.at("envFile"), "is not read")
		return env
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(f.options.Workspace, filepath.FromSlash(name))
	}
	text, err := f.options.ReadFile(name)
	if err != nil {
		f.warn(t.at("envFile"), "cannot be read, and its variables are missing: "+f.reader.redacted(err.Error()))
		return env
	}
	all := variablesOf(string(text))
	maps.Copy(all, env)
	return all
}

// variablesOf reads NAME=VALUE lines, with comments, quotes and "export" as shells have them.
func variablesOf(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, is := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !is || !isVariableName(name) { // comments, too
			continue
		}
		if quote := value; len(quote) >= 2 && (quote[0] == '"' || quote[0] == '\'') && strings.IndexByte(quote[1:], quote[0]) >= 0 {
			value = quote[1 : 1+strings.IndexByte(quote[1:], quote[0])]
		} else if at := strings.Index(value, " #"); at >= 0 {
			value = strings.TrimSpace(value[:at])
		}
		all[name] = value
	}
	return all
}
