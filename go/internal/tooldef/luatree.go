package tooldef

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// plainTree makes a JSON tree of a value from a script. The error says which part has no JSON form.
func plainTree(v any, path string) (any, error) {
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s is %s, which JSON has not", path, luau.FormatNumber(v))
		}
		return v, nil
	case luau.Integer:
		const most = 1<<53 - 1
		if v < -most || v > most {
			return json.Number(strconv.FormatInt(int64(v), 10)), nil
		}
		return float64(v), nil
	case luau.Exact:
		return json.Number(v), nil
	case string:
		if !utf8.ValidString(v) {
			return nil, fmt.Errorf("%s is a text that is no UTF-8", path)
		}
		return v, nil
	case []any:
		return plainList(v, path)
	case map[string]any:
		return plainMap(v, path)
	case map[any]any:
		return nil, fmt.Errorf("%s is a table with both numbered and named fields, or with keys that are no texts", path)
	case *luau.Function:
		return nil, fmt.Errorf("%s is a function", path)
	}
	return nil, fmt.Errorf("%s is no plain data (%T)", path, v)
}

func plainList(list []any, path string) (any, error) {
	out := make([]any, len(list))
	for i, item := range list {
		var err error
		if out[i], err = plainTree(item, fmt.Sprintf("%s[%d]", path, i+1)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func plainMap(m map[string]any, path string) (any, error) {
	out := make(map[string]any, len(m))
	for _, key := range sortedKeys(m) {
		if !utf8.ValidString(key) {
			return nil, fmt.Errorf("%s has a key that is no UTF-8", path)
		}
		var err error
		if out[key], err = plainTree(m[key], path+"."+key); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxWeight is about how much memory the fields of one tool may take: a short script can make long texts.
const maxWeight = 4 << 20

func weight(v any) int {
	n := 40
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, item := range v {
			n += weight(item)
		}
	case map[string]any:
		for key, item := range v {
			n += len(key) + weight(item)
		}
	}
	return n
}

// An empty table of a script is an array where its place wants one: lists do at the keys of JSON Schema
// that take lists, and values do by the type that the schema gives them.

var (
	listKeywords   = []string{"enum", "required", "allOf", "anyOf", "oneOf", "prefixItems", "examples"}
	schemaKeywords = []string{
		"items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames",
		"unevaluatedItems", "unevaluatedProperties",
	}
	mapKeywords = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// emptyLists mends a schema in place.
func emptyLists(doc any) {
	m, ok := doc.(map[string]any)
	if !ok {
		return
	}
	for _, key := range listKeywords {
		if isEmptyMap(m[key]) {
			m[key] = []any{}
		}
		if list, ok := m[key].([]any); ok && key != "required" {
			for i, item := range list {
				switch key {
				case "enum", "examples":
					list[i] = asTyped(item, m)
				default:
					emptyLists(item)
				}
			}
		}
	}
	for _, key := range schemaKeywords {
		emptyLists(m[key])
	}
	for _, key := range mapKeywords {
		if inner, ok := m[key].(map[string]any); ok {
			for _, schema := range inner {
				emptyLists(schema)
			}
		}
	}
	for _, key := range []string{"default", "const"} {
		if v, there := m[key]; there {
			m[key] = asTyped(v, m)
		}
	}
}

// asTyped is a value with its empty tables as a schema wants them.
func asTyped(v any, schema any) any {
	m, ok := schema.(map[string]any)
	if !ok {
		return v
	}
	switch value := v.(type) {
	case map[string]any:
		if len(value) == 0 && wantsList(m["type"]) {
			return []any{}
		}
		properties, _ := m["properties"].(map[string]any)
		for key, inner := range value {
			if of, there := properties[key]; there {
				value[key] = asTyped(inner, of)
			} else {
				value[key] = asTyped(inner, m["additionalProperties"])
			}
		}
	case []any:
		for i, item := range value {
			value[i] = asTyped(item, m["items"])
		}
	}
	return v
}

func wantsList(kind any) bool {
	if kinds, ok := kind.([]any); ok {
		return slices.Contains(kinds, any("array")) && !slices.Contains(kinds, any("object"))
	}
	return kind == "array"
}

func isEmptyMap(v any) bool {
	m, ok := v.(map[string]any)
	return ok && len(m) == 0
}
