// Package hostapp composes luau-host of its parts: the config, the tools, their policies, models, the store. Only this
// package and main touch the process there.
package hostapp

import (
	"fmt"
	"maps"
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

// paramValue reads the text of a parameter.
func paramValue(name, text string, property any) (any, error) {
	value, wanted := schema.FromText(property, text)
	if wanted != nil {
		return nil, paramError("--param %s=%s: the parameter must be %s", name, text, schema.OneOfTypes(wanted))
	}
	return value, nil
}

// appended adds a further value of a parameter that takes several.
func appended(name string, old, value, property any) (any, error) {
	list, isList := old.([]any)
	if !isList || !slices.Contains(schema.TypesOf(property), "array") {
		return nil, paramError("--param %s is given twice, and takes one value", name)
	}
	if more, ok := value.([]any); ok {
		return append(list, more...), nil
	}
	return append(list, value), nil
}
