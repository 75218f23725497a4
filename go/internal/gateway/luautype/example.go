package luautype

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// Bounds of an example.
const (
	maxExample      = 240 // bytes
	maxExampleDepth = 8
)

// exampleCall is a call as a script would write it, with what is needed; "" where the signature says as much.
func exampleCall(f *catalog.Callable, t callable) string {
	var arguments []string
	given := false
	if t.params != nil {
		given = true
		if v, known := sample(f.Params, place{root: f.Params, defs: f.Defs}, 0); known || t.paramsNeed || t.body != nil && t.bodyNeed {
			arguments = append(arguments, literal(v, 0))
		}
	}
	if t.body != nil && t.bodyNeed {
		v, known := sample(f.Body, place{root: f.Body, defs: f.Defs}, 0)
		given = given || known
		arguments = append(arguments, literal(v, 0))
	}
	call := "sdk." + f.FullName() + "(" + strings.Join(arguments, ", ") + ")"
	if !given || len(call) > maxExample {
		return ""
	}
	return call
}

// ExampleResult is a value that a call of the function may give, a JSON tree; nil where nothing is known of it.
func ExampleResult(f *catalog.Callable) any {
	if f.Result == nil || f.NoResult {
		return nil
	}
	value, _ := sample(f.Result, place{root: f.Result, defs: f.Defs}, 0)
	return value
}

// sample is a value that a schema may take, and whether the schema itself gave it.
func sample(schema any, p place, depth int) (any, bool) {
	s, _ := schema.(map[string]any)
	if v, found := given(s); found {
		return v, true
	}
	if v, found := s["const"]; found {
		return v, false
	}
	if s == nil || depth > maxExampleDepth {
		return "...", false
	}
	if ref, ok := s["$ref"].(string); ok {
		if target, _, at, found := lookUp(ref, p); found {
			return sample(target, at, depth+1)
		}
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		if list := schemas(s[word]); len(list) > 0 && s["properties"] == nil {
			return sample(list[0], p, depth+1)
		}
	}
	types := typesOf(s)
	if len(types) == 0 {
		return "...", false
	}
	switch types[0] {
	case "object":
		return sampleObject(s, p, depth)
	case "array":
		item, known := sample(s["items"], p, depth+1)
		return []any{item}, known
	case "integer", "number":
		for _, word := range []string{"minimum", "maximum"} {
			if v, ok := s[word].(float64); ok {
				return v, false
			}
		}
		return 1.0, false
	case "boolean":
		return true, false
	}
	return "...", false
}

// given is a value that a schema names.
func given(s map[string]any) (any, bool) {
	if list, ok := s["examples"].([]any); ok && len(list) > 0 {
		return list[0], true
	}
	for _, word := range []string{"example", "default"} {
		if v := s[word]; v != nil {
			return v, true
		}
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return list[0], true
	}
	return nil, false
}

func sampleObject(s map[string]any, p place, depth int) (any, bool) {
	properties, _ := s["properties"].(map[string]any)
	names, needed := order(properties, s["required"])
	object := map[string]any{}
	known := false
	for _, name := range names {
		if needed[name] && len(object) < 12 {
			v, k := sample(properties[name], p, depth+1)
			object[name] = v
			known = known || k
		}
	}
	if len(object) > 0 || depth > 0 {
		return object, known
	}
	for _, name := range names { // nothing is needed: show one that may be given
		schema, _ := properties[name].(map[string]any)
		if v, k := given(schema); k {
			return map[string]any{name: v}, true
		}
	}
	return object, false
}

// literal writes a JSON value in Luau.
func literal(v any, depth int) string {
	if depth > maxDepth {
		return "nil"
	}
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case string:
		return catalog.Quote(cut(strings.ToValidUTF8(v, "?"), maxExample))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "0"
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case json.Number:
		return line(string(v))
	case []any:
		var list []string
		for _, item := range v[:min(len(v), 20)] {
			list = append(list, literal(item, depth+1))
		}
		return "{" + strings.Join(list, ", ") + "}"
	case map[string]any:
		var list []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] != nil && len(list) < 20 {
				list = append(list, member(name)+" = "+literal(v[name], depth+1))
			}
		}
		if len(list) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(list, ", ") + " }"
	}
	return "nil"
}
