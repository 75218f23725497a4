package tooldef

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/hukilau/hukilau/go/internal/yamltree"
)

// The bounds of one YAML file.
const (
	maxDocuments = 1000
	maxPadding   = 32 << 20 // bytes in front of the scripts of a file, which give them their lines
	maxValues    = 100_000  // of all kinds: each takes much more memory than text
)

// script is the text of a `lua_file`.
type script struct {
	chunk  string
	source string
}

// yamlFile is a YAML file while it is read.
type yamlFile struct {
	file    string // as Tool.File has it
	load    func(name string) (script, error)
	padding int
	values  int

	tools  []*Tool
	broken []Broken
}

// yamlFields are the keys of a document. Its script is read on its own.
var yamlFields = func() map[string]field {
	fields := maps.Clone(sharedFields)
	skip := func(*draft, []string, any) {}
	maps.Copy(fields, map[string]field{
		"params": skip, "result": skip, "lua": skip, "lua_file": skip, "agent": skip,
	})
	return fields
}()

// readYAML reads the tools of a YAML text. load gives the text of a lua_file.
func readYAML(file string, text []byte, load func(name string) (script, error)) ([]*Tool, []Broken) {
	f := &yamlFile{file: file, load: load}
	parts := split(bytes.Clone(text))
	switch {
	case bytes.IndexByte(text, 0) >= 0:
		line := 1 + bytes.Count(text[:bytes.IndexByte(text, 0)], []byte("\n"))
		f.refuse(&Error{Line: line, Problem: "the file has a NUL byte, so it is no YAML"})
	case len(parts) > maxDocuments:
		f.refuse(&Error{Problem: fmt.Sprintf("the file has %d documents; at most %d are read", len(parts), maxDocuments), Hint: "use several files"})
	default:
		for _, part := range parts {
			f.document(part)
		}
		if len(f.tools)+len(f.broken) == 0 {
			f.refuse(&Error{Problem: "there is no tool in this file", Hint: "a tool has name, description, params and lua"})
		}
	}
	return f.tools, f.broken
}

func (f *yamlFile) refuse(e *Error) {
	e.File = f.file
	f.broken = append(f.broken, broken(f.file, "", e))
}

// document reads one document and notes what is wrong with it.
func (f *yamlFile) document(part part) {
	err := yamltree.Parse(part.text, func(node *yaml.Node) error {
		value, err := yamltree.Value(node, yamltree.Options{JSON: true, Check: f.count})
		if err != nil {
			if named := nameOf(node); named != "" {
				return &namedError{err, named}
			}
			return err
		}
		if value != nil {
			f.definition(part, node.Content[0], value)
		}
		return nil
	})
	if err == nil {
		return
	}
	e := &Error{File: f.file, Problem: err.Error(), Err: err}
	var inYAML *yamltree.Error
	if errors.As(err, &inYAML) {
		e.Problem, e.Line, e.Column = inYAML.Problem, inYAML.Line+part.before, inYAML.Column
	}
	name := ""
	var named *namedError
	if errors.As(err, &named) {
		name = named.name
	}
	f.broken = append(f.broken, broken(f.file, name, e))
}

// count bounds what a file holds.
func (f *yamlFile) count() error {
	if f.values++; f.values > maxValues {
		return fmt.Errorf("the file has more than %d values", maxValues)
	}
	return nil
}

// namedError is an error in a document whose tool is known.
type namedError struct {
	error
	name string
}

func (e *namedError) Unwrap() error { return e.error }

func nameOf(document *yaml.Node) string {
	if len(document.Content) == 0 {
		return ""
	}
	node := valueAt(document.Content[0], "name")
	if node == nil || node.Kind != yaml.ScalarNode || CheckName(node.Value) != nil {
		return ""
	}
	return node.Value
}

// definition reads a document that is well-formed YAML.
func (f *yamlFile) definition(part part, root *yaml.Node, value any) {
	d := &draft{file: f.file}
	d.at = func(path ...string) (int, int) {
		node := place(root, path...)
		return node.Line + part.before, node.Column
	}
	d.tool.File, d.tool.Dialect = f.file, Invoke
	d.tool.Line, _ = d.at()
	tree, ok := value.(map[string]any)
	if !ok {
		d.fail(nil, "", "a tool is a mapping of name, description, params and lua, not %s", kindOf(value))
		f.broken = append(f.broken, d.broken()...)
		return
	}
	d.tree = tree
	if version := valueAt(root, "version"); version != nil && version.Kind == yaml.ScalarNode && tree["version"] != nil {
		tree["version"] = version.Value // 1.10 is a version, not the number 1.1
	}
	if tree["name"] != nil || tree["lua"] != nil || tree["lua_file"] != nil || tree["agent"] != nil { // else it is a file of another kind
		d.read(tree, nil, yamlFields)
	}
	switch {
	case d.incomplete():
	case tree["agent"] != nil:
		d.agent()
		params := tree["params"]
		if params == nil {
			params = agentParams()
		}
		d.schemas(params, "params")
	default:
		f.script(d, root, part)
		d.schemas(tree["params"], "params")
	}
	d.finish()
	if len(d.errs) > 0 {
		f.broken = append(f.broken, d.broken()...)
		return
	}
	f.tools = append(f.tools, &d.tool)
}

// incomplete says what is missing of a tool.
func (d *draft) incomplete() bool {
	var missing []string
	if d.tree["name"] == nil {
		missing = append(missing, "name")
	}
	inline, file, agent := d.tree["lua"] != nil, d.tree["lua_file"] != nil, d.tree["agent"] != nil
	if !inline && !file && !agent {
		missing = append(missing, "lua (or lua_file, or agent)")
	}
	switch {
	case len(missing) > 0:
		d.fail(nil, "", "this is no tool yet: %s missing", listed(missing))
	case inline && file:
		d.fail([]string{"lua_file"}, "leave one out", "the tool has both lua and lua_file")
	case agent && (inline || file):
		d.fail([]string{"agent"}, "leave one out", "the tool has both an agent and a script")
	default:
		return false
	}
	return true
}

func listed(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, " and ") + " are"
}

// script finds the source of a tool.
func (f *yamlFile) script(d *draft, root *yaml.Node, part part) {
	if d.tree["lua_file"] != nil {
		path := []string{"lua_file"}
		name, ok := d.text(path, d.tree["lua_file"])
		if !ok {
			return
		}
		script, err := f.load(name)
		if err != nil {
			d.cause(path, fmt.Sprintf("lua_file %q: ", clip(name)), err)
			return
		}
		d.tool.Chunk, d.tool.Source = script.chunk, script.source
		return
	}
	path := []string{"lua"}
	source, ok := d.text(path, d.tree["lua"])
	if !ok {
		return
	}
	node := valueAt(root, "lua")
	if node == nil { // it came by a merge
		node = root
	}
	lines := part.before + node.Line - 1
	if node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		lines++ // its text begins behind the line of the indicator
	}
	if f.padding += lines; f.padding > maxPadding {
		d.fail(path, "use several files", "the scripts of this file are too far from its beginning")
		return
	}
	d.tool.Chunk = "@" + f.file
	d.tool.Source = strings.Repeat("\n", lines) + source
}
