package tooldef

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// schemas compiles the schema of the arguments, which stands under a key, and that of the result.
func (d *draft) schemas(params any, key string) {
	if doc, ok := d.objectSchema(params, []string{key}); ok {
		if d.tool.Params = d.schema(doc, key); d.tool.Params != nil {
			d.lint(doc, key)
		}
	}
	if result := d.tree["result"]; result != nil {
		if d.tool.Result = d.schema(result, "result"); d.tool.Result != nil {
			d.lint(result, "result")
		}
	}
}

func (d *draft) schema(doc any, key string) *schema.Schema {
	path := []string{key}
	switch doc.(type) {
	case bool, map[string]any:
	default:
		d.wrong(path, "a JSON Schema", doc)
		return nil
	}
	name := key
	if d.tool.Dialect == Execute {
		name = "tool." + key
	}
	compiled, err := schema.Compile(doc, name)
	if err != nil {
		d.cause(d.inSchema(path, err), "", err)
		return nil
	}
	return compiled
}

var pointerText = strings.NewReplacer("~1", "/", "~0", "~")

// inSchema is the path of what is wrong with a schema, where that is known.
func (d *draft) inSchema(path []string, err error) []string {
	var inDocument *schema.DocumentError
	if !errors.As(err, &inDocument) || len(inDocument.Violations) == 0 {
		return path
	}
	pointer := inDocument.Violations[0].Pointer
	if pointer == "" {
		return path
	}
	steps := strings.Split(pointer[1:], "/")
	for i, step := range steps {
		steps[i] = pointerText.Replace(step)
	}
	return d.inDocument(path[0], steps)
}

// inDocument is the path in the definition of a part of the schema that stands under a key.
func (d *draft) inDocument(key string, steps []string) []string {
	path := []string{key}
	if key != "parameters" {
		return append(path, steps...)
	}
	if list, ok := d.tree["parameters"].([]any); ok && len(steps) > 1 {
		for i, item := range list {
			if table, ok := item.(map[string]any); ok && table["name"] == steps[1] {
				return append(path, strconv.Itoa(i))
			}
		}
	}
	return path
}

// objectSchema makes sure that arguments are an object.
func (d *draft) objectSchema(doc any, path []string) (map[string]any, bool) {
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
	if d.tool.Dialect == Invoke { // a Lua tool has run already
		if _, err := luau.Compile(d.tool.Chunk, d.tool.Source, luau.CompileOptions{}); err != nil {
			d.compileError(err)
			return
		}
	}
	hash, err := d.tool.hash()
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
		if e.File == d.file {
			e.Column = 0 // it is not that of the YAML file, which indents the script
		}
	}
	d.errs = append(d.errs, e)
}

// hash names a version: equal tools have equal ones.
func (t *Tool) hash() (string, error) {
	whole := *t
	whole.Params, whole.Result, whole.Hash, whole.Source = nil, nil, "", ""
	parts := []any{whole, t.Params.Document(), nil}
	if t.Result != nil {
		parts[2] = t.Result.Document()
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return "", fmt.Errorf("a part of the tool has no JSON form: %w", err)
	}
	return sum(text, []byte(t.Source)), nil
}

// sum is a digest of several texts.
func sum(texts ...[]byte) string {
	h := sha256.New()
	for _, text := range texts {
		h.Write(strconv.AppendInt(nil, int64(len(text)), 10))
		h.Write([]byte{':'})
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
