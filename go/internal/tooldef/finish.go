package tooldef

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// schemas compiles the schema of the arguments, which stands under a key, and that of the result.
func (d *draft) schemas(params any, key string) {
	d.tool.Params = d.schema(params, key, true)
	if result := d.tree["result"]; result != nil {
		d.tool.Result = d.schema(result, "result", false)
	}
}

func (d *draft) schema(doc any, key string, ofObject bool) *schema.Schema {
	path := []string{key}
	if ofObject {
		var ok bool
		if doc, ok = d.objectSchema(doc, path); !ok {
			return nil
		}
	}
	switch doc.(type) {
	case bool, map[string]any:
	default:
		d.wrong(path, "a JSON Schema", doc)
		return nil
	}
	compiled, err := schema.Compile(doc, key)
	if err != nil {
		d.cause(path, key+": ", err)
		return nil
	}
	return compiled
}

// objectSchema makes sure that arguments are an object.
func (d *draft) objectSchema(doc any, path []string) (any, bool) {
	switch m := doc.(type) {
	case nil:
		return map[string]any{"type": "object", "properties": map[string]any{}}, true
	case map[string]any:
		switch m["type"] {
		case "object":
			return m, true
		case nil:
			m = maps.Clone(m)
			m["type"] = "object"
			return m, true
		}
		at := append(path[:len(path):len(path)], "type")
		d.fail(at, "", `the arguments of a tool are an object: %s.type must be "object", got %s`, path[0], kindOf(m["type"]))
		return nil, false
	}
	d.wrong(path, "a JSON Schema of an object", doc)
	return nil, false
}

// finish checks the script and gives the version of the tool its name.
func (d *draft) finish() {
	if len(d.errs) > 0 {
		return
	}
	if _, err := luau.Compile(d.tool.Chunk, d.tool.Source, luau.CompileOptions{}); err != nil {
		d.compileError(err)
		return
	}
	hash, err := d.tool.hash(d.tree["params"], d.tree["result"])
	if err != nil {
		d.cause(nil, "", err)
		return
	}
	d.tool.Hash = hash
}

// compileError has the place of the script, which may be another file.
func (d *draft) compileError(err error) {
	e := &Error{File: d.file, Line: d.tool.Line, Problem: "the script does not compile: " + err.Error(), Err: err}
	var inScript *luau.Error
	if errors.As(err, &inScript) && inScript.Chunk != "" {
		e.File, e.Line, e.Column = luau.ChunkName(inScript.Chunk), inScript.Line, inScript.Column
		e.Problem = "the script does not compile: " + inScript.Message
	}
	d.errs = append(d.errs, e)
}

// hash names a version: equal tools have equal ones. The schemas are given as they were written.
func (t *Tool) hash(params, result any) (string, error) {
	whole := *t
	whole.Params, whole.Result, whole.Hash = nil, nil, ""
	text, err := json.Marshal([]any{whole, params, result})
	if err != nil {
		return "", fmt.Errorf("a part of the tool has no JSON form: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
