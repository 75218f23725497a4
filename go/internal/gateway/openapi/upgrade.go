package openapi

import (
	"slices"
	"strings"
)

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
