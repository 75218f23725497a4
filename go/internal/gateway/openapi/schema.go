package openapi

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/schema"
)

// translator makes schemas of draft 2020-12. What they refer to becomes definitions, whose names are given when all
// are known, so that names do not depend on the order in which references were met.
type translator struct {
	lib      *library
	targets  map[target]*definition
	queue    []*definition
	patterns map[string]bool // whether package schema takes them
	loops    []string
}

// target is what a reference leads to.
type target struct {
	in      *document
	pointer string
}

type definition struct {
	target
	raw    any
	schema any
	name   string
	refs   []map[string]any // the schemas that refer to it
	broken bool
}

func newTranslator(lib *library) *translator {
	return &translator{lib: lib, targets: map[target]*definition{}, patterns: map[string]bool{}}
}

// schema translates a schema of a document. What is none becomes one that takes everything.
func (t *translator) schema(in *document, raw any) any {
	switch v := raw.(type) {
	case bool:
		return v
	case map[string]any:
		return t.object(in, v)
	}
	t.lib.warn("a schema that is neither an object nor a boolean is taken as any value")
	return map[string]any{}
}

func (t *translator) object(in *document, raw map[string]any) map[string]any {
	if reference, ok := referenceOf(raw); ok {
		out := map[string]any{}
		t.refer(in, reference, out)
		if in.old {
			return beside(raw, out)
		}
		t.keywords(in, raw, out)
		return out
	}
	out := make(map[string]any, len(raw))
	t.keywords(in, raw, out)
	if in.old {
		return upgrade(raw, out)
	}
	return out
}

// beside takes from what stands beside a reference what people mean by it. Strictly, it means nothing in OpenAPI 3.0.
func beside(raw, out map[string]any) map[string]any {
	if text, ok := raw["description"].(string); ok {
		out["description"] = text
	}
	if nullable, _ := raw["nullable"].(bool); nullable && out["$ref"] != nil {
		return orNull(out)
	}
	return out
}

func referenceOf(raw map[string]any) (string, bool) {
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if text, ok := raw[key].(string); ok {
			return text, true
		}
	}
	return "", false
}

// refer writes a reference into a schema; one that leads nowhere takes every value.
func (t *translator) refer(in *document, reference string, out map[string]any) {
	if to := t.definition(in, reference); to != nil {
		to.refs = append(to.refs, out)
		out["$ref"] = ""
	}
}

func (t *translator) definition(in *document, reference string) *definition {
	if strings.HasPrefix(reference, "#/") {
		if known, ok := t.targets[target{in, reference[1:]}]; ok {
			return known.orNil()
		}
	}
	n, raw, err := t.lib.find(in, reference)
	if err != nil {
		t.lib.warn("a schema is taken as any value: %s", err)
		t.targets[target{in, strings.TrimPrefix(reference, "#")}] = &definition{broken: true}
		return nil
	}
	to := target{n.in, n.pointer}
	if known, ok := t.targets[to]; ok {
		return known.orNil()
	}
	made := &definition{target: to, raw: raw}
	t.targets[to] = made
	t.queue = append(t.queue, made)
	return made
}

func (d *definition) orNil() *definition {
	if d.broken {
		return nil
	}
	return d
}

// keywords copies what draft 2020-12 knows, in a form that it takes.
func (t *translator) keywords(in *document, raw, out map[string]any) {
	for key, value := range raw {
		switch shapes[key] {
		case oneSchema:
			if list, ok := value.([]any); ok && key == "items" {
				t.list(in, "prefixItems", list, out)
				continue
			}
			out[key] = t.schema(in, value)
			continue
		case listOfSchemas:
			list, _ := value.([]any)
			t.list(in, key, list, out)
			continue
		case tableOfSchemas:
			t.table(in, key, value, out)
			continue
		}
		switch key {
		case "type":
			if types := typesOf(value); types != nil {
				out[key] = types
			}
		case "required":
			if names := distinctTexts(value); len(names) > 0 {
				out[key] = names
			}
		case "pattern":
			if text, ok := value.(string); ok && t.takes(text) {
				out[key] = value
			}
		case "example", "examples":
			exampleOf(key, value, out)
		case "discriminator":
			if d, ok := value.(map[string]any); ok && d["propertyName"] != nil {
				out[key] = map[string]any{"propertyName": d["propertyName"]}
			}
		default:
			if plainKeyword(key, value) {
				out[key] = value
			}
		}
	}
}

func (t *translator) list(in *document, key string, list []any, out map[string]any) {
	if len(list) == 0 {
		return
	}
	made := make([]any, len(list))
	for i, item := range list {
		made[i] = t.schema(in, item)
	}
	out[key] = made
}

func (t *translator) table(in *document, key string, value any, out map[string]any) {
	table, ok := value.(map[string]any)
	if !ok {
		return
	}
	made := make(map[string]any, len(table))
	for name, item := range table {
		if key == "patternProperties" && !t.takes(name) {
			continue
		}
		made[name] = t.schema(in, item)
	}
	out[key] = made
}

// takes says whether a pattern can be checked at all. One that cannot would make the whole schema useless.
func (t *translator) takes(pattern string) bool {
	known, ok := t.patterns[pattern]
	if !ok {
		_, err := schema.Compile(map[string]any{"pattern": pattern}, "pattern")
		known = err == nil
		t.patterns[pattern] = known
		if !known {
			t.lib.warn("the pattern %.100q is not checked: it is not of RE2", pattern)
		}
	}
	return known
}

var typeNames = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

// typesOf is the value of the keyword type without names that are none; nil is no restriction.
func typesOf(value any) any {
	switch v := value.(type) {
	case string:
		if slices.Contains(typeNames, v) {
			return v
		}
	case []any:
		var list []any
		for _, item := range v {
			name, _ := item.(string)
			if !slices.Contains(typeNames, name) {
				return nil
			}
			if !slices.Contains(list, item) {
				list = append(list, item)
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

func distinctTexts(value any) []any {
	list, _ := value.([]any)
	var names []any
	seen := map[string]bool{}
	for _, item := range list {
		if name, ok := item.(string); ok && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// mostExample is how long a text may be to be kept as an example: documents consist of them by half.
const mostExample = 100

func exampleOf(key string, value any, out map[string]any) {
	if list, ok := value.([]any); ok && key == "examples" && len(list) > 0 {
		value = list[0]
	} else if key == "examples" {
		return
	}
	switch v := value.(type) {
	case string:
		if len(v) > mostExample {
			return
		}
	case bool, float64, json.Number:
	default:
		return
	}
	out["examples"] = []any{value}
}

// plainKeyword says whether a keyword without schemas in it can stay as it is.
func plainKeyword(key string, value any) bool {
	switch key {
	case "title", "description", "format", "contentEncoding", "contentMediaType":
		_, ok := value.(string)
		return ok
	case "deprecated", "readOnly", "writeOnly", "uniqueItems":
		_, ok := value.(bool)
		return ok
	case "const", "default":
		return true
	case "enum":
		list, _ := value.([]any)
		return len(list) > 0
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return isNumber(value)
	case "multipleOf":
		n, ok := value.(float64)
		return ok && n > 0
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		n, ok := value.(float64)
		return ok && n >= 0 && n == math.Trunc(n)
	case "dependentRequired":
		return isDependentRequired(value)
	}
	return false
}

func isNumber(value any) bool {
	switch value.(type) {
	case float64, json.Number:
		return true
	}
	return false
}

func isDependentRequired(value any) bool {
	table, ok := value.(map[string]any)
	for _, item := range table {
		list, isList := item.([]any)
		ok = ok && isList && len(distinctTexts(item)) == len(list)
	}
	return ok
}

// upgrade turns what OpenAPI 3.0 says in its own way into draft 2020-12.
func upgrade(raw, out map[string]any) map[string]any {
	for _, bound := range []string{"Minimum", "Maximum"} {
		plain, exclusive := strings.ToLower(bound), "exclusive"+bound
		if flag, _ := raw[exclusive].(bool); flag {
			if value, ok := out[plain]; ok {
				out[exclusive] = value
				delete(out, plain)
			}
		}
	}
	nullable, _ := raw["nullable"].(bool)
	if old, _ := raw["x-nullable"].(bool); old {
		nullable = true
	}
	if nullable {
		return withNull(out)
	}
	return out
}

// withNull is a schema that takes null, too.
func withNull(s map[string]any) map[string]any {
	if list, ok := s["enum"].([]any); ok && !slices.Contains(list, nil) {
		s["enum"] = append(slices.Clone(list), nil)
	}
	switch types := s["type"].(type) {
	case string:
		if types != "null" {
			s["type"] = []any{types, "null"}
		}
	case []any:
		if !slices.Contains(types, any("null")) {
			s["type"] = append(slices.Clone(types), "null")
		}
	}
	if _, typed := s["type"]; typed && s["allOf"] == nil && s["anyOf"] == nil && s["oneOf"] == nil && s["const"] == nil {
		return s
	}
	return orNull(s)
}

// orNull allows null where the parts of a schema might not.
func orNull(s map[string]any) map[string]any {
	null := map[string]any{"type": "null"}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := s[key].([]any); ok && s["type"] == nil && s["properties"] == nil && s["allOf"] == nil && s["enum"] == nil {
			s[key] = append(slices.Clip(list), null)
			return s
		}
	}
	if s["$ref"] == nil && s["allOf"] == nil && s["anyOf"] == nil && s["oneOf"] == nil && s["const"] == nil {
		return s // nothing in it refuses null
	}
	out := map[string]any{}
	for _, key := range []string{"title", "description", "deprecated", "default", "readOnly", "writeOnly"} {
		if value, ok := s[key]; ok {
			out[key] = value
			delete(s, key)
		}
	}
	out["anyOf"] = []any{s, null}
	return out
}
