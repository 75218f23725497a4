package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/redact"
)

// expandAll replaces variables in every string, and collects what is secret.
func (r *reader) expandAll(tree map[string]any) {
	r.secrets = map[string]bool{}
	r.expandIn(nil, tree)
	rest := maps.Clone(tree)
	for _, key := range []string{"mcp_servers", "apis"} {
		delete(rest, key) // names of sources and of their security schemes say nothing: see Sources.secrets
	}
	for _, text := range redact.Secrets(rest) {
		r.secrets[text] = true
	}
}

// expandIn goes through a tree.
func (r *reader) expandIn(path []string, v any) any {
	switch v := v.(type) {
	case string:
		return r.expand(path, v)
	case map[string]any:
		for key, item := range v {
			v[key] = r.expandIn(append(slices.Clip(path), key), item)
		}
	case []any:
		for i, item := range v {
			v[i] = r.expandIn(append(slices.Clip(path), strconv.Itoa(i)), item)
		}
	}
	return v
}

// expand replaces ${NAME} and ${NAME:-default}; $${ stands for ${.
func (r *reader) expand(path []string, text string) string {
	var out strings.Builder
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			return out.String() + text
		}
		if at > 0 && text[at-1] == '$' {
			out.WriteString(text[:at-1] + "${")
			text = text[at+2:]
			continue
		}
		out.WriteString(text[:at])
		inside, rest, closed := strings.Cut(text[at+2:], "}")
		if !closed {
			r.fail(path, `has a "${" without "}": write "$${" where no variable is meant`)
			return ""
		}
		out.WriteString(r.variable(path, inside))
		text = rest
	}
}

func (r *reader) variable(path []string, inside string) string {
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	if !isVariableName(name) {
		r.fail(path, fmt.Sprintf(`has "${%.40s}", which names no variable: write ${NAME} or ${NAME:-default}, or "$${" where none is meant`, inside))
		return ""
	}
	value, set := r.lookup(path, name)
	switch {
	case set && (value != "" || !hasFallback):
		return value
	case hasFallback:
		return fallback
	}
	return r.unsetVariable(path, name, fmt.Sprintf("needs the variable %s, which is not set: set it, or write ${%[1]s:-default}", name))
}

// lookup gives the value of a variable for a place, which is a secret from then on.
func (r *reader) lookup(path []string, name string) (value string, set bool) {
	if r.options.LookupEnv != nil {
		value, set = r.options.LookupEnv(name)
	}
	if value != "" && !isPlainIn(path, name, value) {
		r.secrets[value] = true
	}
	return value, set
}

// isPlainIn says whether a source is given what tells nothing, as the path of ${HOME} for a server of files: whatever
// that server says would lose it.
func isPlainIn(path []string, name, value string) bool {
	return len(path) > 2 && sourceRoots[path[0]] && plain.MatchString(value) && !tellsName(name) && !slices.ContainsFunc(path[2:], tellsName)
}

// sourceRoots are the tables with sources, of all files that have some.
var sourceRoots = map[string]bool{"mcp_servers": true, "apis": true, "mcpServers": true, "servers": true, "mcpClients": true}

// unsetVariable is an error, or gives what stands for a value that is not known.
func (r *reader) unsetVariable(path []string, name, problem string) string {
	e := r.errorAt(path, path, problem)
	if r.options.Placeholder == "" {
		r.errors = append(r.errors, e)
		return ""
	}
	r.unset = append(r.unset, Unset{slices.Clone(path), name, e})
	r.secrets[r.options.Placeholder] = true
	return r.options.Placeholder
}

func isVariableName(name string) bool {
	for i, c := range []byte(name) {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
