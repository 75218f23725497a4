package luautype

import (
	"encoding/json"
	"maps"
	"slices"
)

// Bounds of a schema that is made of samples.
const (
	maxInferred      = 12  // depth
	maxInferredItems = 200 // of each list
	maxRecord        = 40  // fields of a record; what has more, and not always the same, is a map
)

// InferSchema makes a JSON Schema that all samples keep to: what is always there is required, and what differs is a
// choice. A sample is a JSON tree.
func InferSchema(samples ...any) map[string]any { return infer(samples, 0) }

func infer(values []any, depth int) map[string]any {
	if depth > maxInferred || len(values) == 0 {
		return map[string]any{}
	}
	var types []any
	var items []any
	var objects []map[string]any
	lists := false
	add := func(name string) {
		if !slices.Contains(types, any(name)) {
			types = append(types, name)
		}
	}
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			add("null")
		case bool:
			add("boolean")
		case string:
			add("string")
		case float64, json.Number:
			add("number")
		case []any:
			lists = true
			items = append(items, spread(v, maxInferredItems)...)
		case map[string]any:
			objects = append(objects, v)
		default:
			return map[string]any{}
		}
	}
	schema := map[string]any{}
	if lists {
		types = append(types, "array")
		if len(items) > 0 {
			schema["items"] = infer(spread(items, maxInferredItems), depth+1)
		}
	}
	if len(objects) > 0 {
		types = append(types, "object")
		inferObject(schema, objects, depth)
	}
	switch {
	case len(types) > 1:
		schema["type"] = types
	case types[0] == "null": // it will be something at another time
		return map[string]any{}
	default:
		schema["type"] = types[0]
	}
	return schema
}

func inferObject(schema map[string]any, objects []map[string]any, depth int) {
	values := map[string][]any{}
	for _, o := range objects {
		for name, v := range o {
			values[name] = append(values[name], v)
		}
	}
	names := slices.Sorted(maps.Keys(values))
	always := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return len(values[name]) < len(objects) })
	if len(names) > maxRecord && (len(objects) == 1 || len(always)*2 < len(names)) {
		var all []any
		for _, name := range names {
			all = append(all, spread(values[name], 10)...)
		}
		schema["additionalProperties"] = infer(spread(all, maxInferredItems), depth+1)
		return
	}
	properties := map[string]any{}
	for _, name := range names {
		properties[name] = infer(values[name], depth+1)
	}
	schema["properties"] = properties
	required := make([]any, len(always))
	for i, name := range always {
		required[i] = name
	}
	if len(required) > 0 {
		schema["required"] = required
	}
}
