package tooldef

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
)

// maxParameters of one tool.
const maxParameters = 1000

var parameterTypes = []string{"string", "integer", "number", "boolean", "array", "object", "null"}

// parameters makes the schema of a list of parameters.
type parameters struct {
	d          *draft
	numbers    map[string]int // of the parameters, from 1
	properties map[string]any
	required   []any
}

// parameterSchema reads `tool.parameters`.
func (d *draft) parameterSchema(v any) map[string]any {
	p := parameters{d: d, numbers: map[string]int{}, properties: map[string]any{}}
	list, ok := v.([]any)
	switch {
	case isEmptyMap(v) || v == nil:
	case !ok:
		d.fail([]string{"parameters"}, "write { { name = ..., type = ... }, ... }, or give a JSON Schema as tool.schema",
			"tool.parameters must be a list of tables, got %s", luaKind(v))
	case len(list) > maxParameters:
		d.fail([]string{"parameters"}, "", "tool.parameters has %d entries; at most %d are allowed", len(list), maxParameters)
	default:
		for i, item := range list {
			p.add(i+1, item)
		}
	}
	schema := map[string]any{"type": "object", "properties": p.properties}
	if len(p.required) > 0 {
		schema["required"] = p.required
	}
	return schema
}

// add reads parameter n.
func (p *parameters) add(n int, item any) {
	path := []string{"parameters", strconv.Itoa(n - 1)}
	label := fmt.Sprintf("parameter %d", n)
	table, ok := item.(map[string]any)
	if !ok {
		p.d.fail(path, "", "%s must be a table with name and type, got %s", label, luaKind(item))
		return
	}
	name, ok := table["name"].(string)
	switch {
	case !ok || name == "":
		p.d.fail(path, "", "%s needs a name: a text, got %s", label, luaKind(table["name"]))
		return
	case p.numbers[name] > 0:
		p.d.fail(path, "", "parameters %d and %d have the same name %q", p.numbers[name], n, clip(name))
		return
	}
	p.numbers[name] = n
	label += fmt.Sprintf(" (%s)", clip(name))
	if required, given := table["required"]; given {
		flag, ok := required.(bool)
		if !ok {
			p.d.fail(path, "", "%s: required must be true or false, got %s", label, luaKind(required))
		}
		if flag {
			p.required = append(p.required, name)
		}
	}
	p.properties[name] = p.schema(path, label, table)
}

// schema is that of one parameter: what its table has beside name and required.
func (p *parameters) schema(path []string, label string, table map[string]any) map[string]any {
	schema := map[string]any{}
	for _, key := range sortedKeys(table) {
		switch v := table[key]; {
		case key == "name" || key == "required":
		case key == "type" || slices.Contains(schemaVocabulary, key) || strings.HasPrefix(key, "x-"):
			schema[key] = v
		default:
			p.d.fail(path, nearKeyword(key), "%s: unknown field %q", label, clip(key))
		}
	}
	emptyLists(schema)
	p.check(path, label, schema)
	return schema
}

func nearKeyword(key string) string {
	if near := spelling.Nearest(key, append([]string{"name"}, schemaVocabulary...)); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "a parameter has name, type, required, description, default, enum and keywords of JSON Schema"
}

// check looks at the fields that every parameter has; the others are the schema's.
func (p *parameters) check(path []string, label string, schema map[string]any) {
	if text, given := schema["description"]; given {
		if _, ok := text.(string); !ok {
			p.d.fail(path, "", "%s: description must be a text, got %s", label, luaKind(text))
		}
	}
	if enum, given := schema["enum"]; given {
		if list, ok := enum.([]any); !ok || len(list) == 0 {
			p.d.fail(path, "", "%s: enum must be a list of values, got %s", label, luaKind(enum))
		}
	}
	kind, given := schema["type"]
	if !given {
		for _, instead := range []string{"$ref", "allOf", "anyOf", "oneOf", "const"} {
			if schema[instead] != nil {
				return
			}
		}
		p.d.fail(path, "", "%s needs a type: %s", label, strings.Join(parameterTypes, ", "))
		return
	}
	kinds, ok := kind.([]any)
	if !ok {
		kinds = []any{kind}
	}
	for _, kind := range kinds {
		name, ok := kind.(string)
		if ok && slices.Contains(parameterTypes, name) {
			continue
		}
		hint := "the types are " + strings.Join(parameterTypes, ", ")
		if near := nearType(name); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		p.d.fail(path, hint, "%s: %s is no type", label, luaKind(kind))
	}
}

func nearType(name string) string {
	switch name {
	case "int", "long":
		return "integer"
	case "float", "double":
		return "number"
	case "table", "map", "dict":
		return "object"
	case "list":
		return "array"
	}
	return spelling.Nearest(name, parameterTypes)
}

// luaKind names a value as people who write Lua do.
func luaKind(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return kindOf(v)
}
