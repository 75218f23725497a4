// Package hostapp composes luau-host of its parts: the config, the tools, their policies, models, the store. Only this
// package and main touch the process there.
package hostapp

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/spelling"
)

func paramError(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// ParseParams makes arguments of `name=value` pairs, each value by the type that the schema gives its parameter,
// and of a JSON object, over which pairs win. A parameter that takes an array may be given several times. What
// the schema does not allow is left for it to say.
func ParseParams(doc any, pairs []string, object string) (map[string]any, error) {
	args := map[string]any{}
	if object != "" {
		value, err := jsonvalue.Decode([]byte(object), jsonvalue.Options{})
		if err != nil {
			return nil, paramError("--json: %s", err)
		}
		given, ok := value.(map[string]any)
		if !ok {
			return nil, paramError("--json must be a JSON object, as '{\"city\": \"Oslo\"}'")
		}
		args = given
	}
	seen := map[string]bool{}
	for _, pair := range pairs {
		name, text, found := strings.Cut(pair, "=")
		if !found || name == "" {
			return nil, paramError("--param %s: write name=value", pair)
		}
		property, err := propertyOf(doc, name)
		if err != nil {
			return nil, err
		}
		value, err := paramValue(name, text, property)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			value, err = appended(name, args[name], value, property)
			if err != nil {
				return nil, err
			}
		}
		seen[name] = true
		args[name] = value
	}
	return args, nil
}

// propertyOf is the schema of a parameter; nil where any name may be used.
func propertyOf(doc any, name string) (any, error) {
	schema, _ := doc.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	if property, known := properties[name]; known {
		return property, nil
	}
	if more, said := schema["additionalProperties"]; said && more != false || len(properties) == 0 {
		return nil, nil
	}
	names := slices.Sorted(maps.Keys(properties))
	if near := spelling.Nearest(name, names); near != "" {
		return nil, paramError("--param %s: there is no such parameter; did you mean %s?", name, near)
	}
	return nil, paramError("--param %s: there is no such parameter; the parameters are %s", name, strings.Join(names, ", "))
}

// typesOf are the types that a schema allows; none where it does not say.
func typesOf(property any) []string {
	schema, _ := property.(map[string]any)
	var types []string
	switch t := schema["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok {
				types = append(types, name)
			}
		}
	}
	return types
}

// chosen is the value of an enum, or the const, that a text stands for: a text itself, or anything else as JSON. The
// first of them is meant.
func chosen(property any, text string) (value any, found bool) {
	schema, _ := property.(map[string]any)
	values, _ := schema["enum"].([]any)
	if only, there := schema["const"]; there {
		values = []any{only}
	}
	given, err := jsonvalue.Decode([]byte(text), jsonvalue.Options{})
	for _, v := range values {
		if name, isText := v.(string); isText && name == text || !isText && err == nil && reflect.DeepEqual(v, given) {
			return copied(v), true
		}
	}
	return nil, false
}

// onlyTexts says whether a schema without a type names its values, which are all texts.
func onlyTexts(property any) bool {
	schema, _ := property.(map[string]any)
	values, _ := schema["enum"].([]any)
	return len(values) > 0 && !slices.ContainsFunc(values, func(v any) bool { _, isText := v.(string); return !isText })
}

// paramValue reads a text: as the value of an enum that it names, as JSON where the types allow what it is, else as the text itself where that is
// allowed.
func paramValue(name, text string, property any) (any, error) {
	types := typesOf(property)
	if slices.Equal(types, []string{"string"}) || len(types) == 0 && onlyTexts(property) {
		return text, nil
	}
	if value, found := chosen(property, text); found {
		return value, nil
	}
	value, err := jsonvalue.Decode([]byte(text), jsonvalue.Options{})
	if err == nil && (len(types) == 0 || slices.ContainsFunc(kindsOf(value), func(kind string) bool { return slices.Contains(types, kind) })) {
		return value, nil
	}
	if len(types) == 0 || slices.Contains(types, "string") {
		return text, nil
	}
	if slices.Contains(types, "array") {
		schema, _ := property.(map[string]any)
		item, err := paramValue(name, text, schema["items"])
		return []any{item}, err
	}
	return nil, paramError("--param %s=%s: the parameter must be %s", name, text, schema.OneOfTypes(types))
}

// kindsOf are the JSON Schema types that a value is of.
func kindsOf(value any) []string {
	switch value.(type) {
	case nil:
		return []string{"null"}
	case bool:
		return []string{"boolean"}
	case string:
		return []string{"string"}
	case []any:
		return []string{"array"}
	case map[string]any:
		return []string{"object"}
	}
	return []string{"number", "integer"}
}

// appended adds a further value of a parameter that takes several.
func appended(name string, old, value, property any) (any, error) {
	list, isList := old.([]any)
	if !isList || !slices.Contains(typesOf(property), "array") {
		return nil, paramError("--param %s is given twice, and takes one value", name)
	}
	if more, ok := value.([]any); ok {
		return append(list, more...), nil
	}
	return append(list, value), nil
}
