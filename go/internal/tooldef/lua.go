package tooldef

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// readLua reads the tool that a script defines, by running its top level.
func readLua(ctx context.Context, vm *luaVM, file, source string) (*Tool, []Broken) {
	d := &draft{file: file, at: func(...string) (int, int) { return 0, 0 }}
	d.tool.File, d.tool.Dialect, d.tool.Chunk, d.tool.Source = file, Execute, "@"+file, source
	names := scan(d.tool.Chunk, source)
	d.at = func(path ...string) (int, int) { return names.place(path), 0 }
	d.tool.Line = names.place(nil)
	m, err := vm.read(ctx, d.tool.Chunk, source)
	if err != nil {
		d.unread(err, vm)
		return nil, d.broken()
	}
	if d.luaTree(m, names) {
		d.luaTool(m)
	}
	d.finish()
	if len(d.errs) > 0 {
		return nil, d.broken()
	}
	return &d.tool, nil
}

// unread says why the top level of a script did not run to its end.
func (d *draft) unread(err error, vm *luaVM) {
	e := &Error{File: d.file, Err: err, Problem: err.Error()}
	var inScript *luau.Error
	if errors.As(err, &inScript) {
		e.Problem = inScript.Message
		if chunk, ok := strings.CutPrefix(inScript.Chunk, "@"); ok {
			e.File, e.Line, e.Column = chunk, inScript.Line, inScript.Column
		} else if frame, ok := ownFrame(inScript); ok {
			e.File, e.Line = strings.TrimPrefix(frame.Chunk, "@"), frame.Line
		}
	}
	const hint = "the top level defines the tool; do the work inside of tool.execute"
	switch luau.CodeOf(err) {
	case luau.CodeCompile:
		e.Problem = "the script does not compile: " + e.Problem
	case luau.CodeTimeout:
		e.Problem, e.Hint = fmt.Sprintf("reading the tool took more than %s", vm.time), hint
	case luau.CodeMemory:
		e.Problem, e.Hint = fmt.Sprintf("reading the tool took more than %d MiB of memory", luaMemory>>20), hint
	case luau.CodeLimit:
		e.Hint = hint
	case "permission":
		e.Problem, e.Hint = "while the tool is read nothing is granted: "+e.Problem, hint
	}
	d.errs = append(d.errs, e)
}

// ownFrame is the innermost one in a file.
func ownFrame(err *luau.Error) (luau.Frame, bool) {
	for _, frame := range err.Frames {
		if strings.HasPrefix(frame.Chunk, "@") {
			return frame, true
		}
	}
	return luau.Frame{}, false
}

// luaTree makes the tree of the fields; false when there is no tool.
func (d *draft) luaTree(m metadata, names *names) bool {
	if m.kind != "table" {
		hint := "write tool = { name = ..., description = ..., parameters = { ... } }"
		if names.localTool {
			hint = `its "tool" is a local: leave the word local out`
		}
		problem := "the script defines no global table tool"
		if m.kind != "nil" {
			problem += ": it is a " + m.kind
		}
		d.fail(nil, hint, "%s", problem)
		return false
	}
	d.tree = map[string]any{}
	for _, key := range sortedKeys(m.fields) {
		value, err := plainTree(m.fields[key], "tool."+key)
		if err != nil {
			d.fail([]string{key}, "what describes a tool is plain data", "%s", err)
			continue
		}
		d.tree[key] = value
	}
	if weight(d.tree) > maxWeight {
		d.fail(nil, "", "the fields of the tool hold more than %d MiB", maxWeight>>20)
		return false
	}
	for _, key := range m.others {
		if key == "params" && m.fields["parameters"] == nil && m.fields["schema"] == nil {
			d.fail([]string{key}, "in Lua it is tool.parameters, a list, or tool.schema, a JSON Schema", "unknown field tool.params")
		}
		if near := spelling.Nearest(key, luaFields); near != "" && m.fields[near] == nil {
			d.fail([]string{key}, fmt.Sprintf("did you mean %q?", near), "unknown field tool.%s", clip(key))
		}
	}
	return len(d.errs) == 0
}

// luaTool reads the fields.
func (d *draft) luaTool(m metadata) {
	tree := map[string]any{}
	for _, key := range sortedKeys(d.tree) {
		if sharedFields[key] != nil {
			tree[key] = d.tree[key]
		}
	}
	luaLists(tree)
	if d.tree["name"] == nil {
		d.fail(nil, `write name = "..." in the table`, "tool.name is missing")
	}
	if m.execute != "function" {
		d.fail(nil, "write function tool.execute(params, context) ... end", "tool.execute must be a function, got %s", m.execute)
	}
	d.read(tree, nil, sharedFields)
	params, key := d.tree["schema"], "schema"
	switch {
	case params == nil:
		params, key = d.parameterSchema(d.tree["parameters"]), "parameters"
	case d.tree["parameters"] != nil:
		d.fail([]string{"schema"}, "leave one out", "the tool has both parameters and schema")
	default:
		emptyLists(params)
	}
	emptyLists(d.tree["result"])
	if len(d.errs) == 0 {
		d.schemas(params, key)
	}
	d.shapeExamples()
}

// luaLists makes arrays of the empty tables that stand where the fields have lists.
func luaLists(tree map[string]any) {
	asList := func(in map[string]any, key string) {
		if isEmptyMap(in[key]) {
			in[key] = []any{}
		}
	}
	asList(tree, "tags")
	asList(tree, "examples")
	if permissions, ok := tree["permissions"].(map[string]any); ok {
		for _, list := range permissionLists {
			asList(permissions, list.key)
		}
	}
}

// shapeExamples gives the empty tables of examples the kinds that the schemas want.
func (d *draft) shapeExamples() {
	if len(d.errs) > 0 {
		return
	}
	for i := range d.tool.Examples {
		e := &d.tool.Examples[i]
		if args, ok := d.tool.Params.Shape(e.Args).(map[string]any); ok {
			e.Args = args
		}
		if d.tool.Result != nil {
			e.Want = d.tool.Result.Shape(e.Want)
		}
	}
}
