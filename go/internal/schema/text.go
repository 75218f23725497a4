package schema

import (
	"reflect"
	"slices"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// FromText reads what came as a text, as on a command line, as a value of one parameter: as the value of an enum that
// it names, as JSON where the types of the parameter's schema allow what it is, else as the text itself where that is
// allowed. A text that is no array may be the only item of one. Where no type fits, wanted are those that would; the
// schema says all else about the value.
func FromText(parameter any, text string) (value any, wanted []string) {
	types := TypesOf(parameter)
	if slices.Equal(types, []string{"string"}) || len(types) == 0 && onlyTexts(parameter) {
		return text, nil
	}
	if value, found := chosen(parameter, text); found {
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
		doc, _ := parameter.(map[string]any)
		item, wanted := FromText(doc["items"], text)
		return []any{item}, wanted
	}
	return nil, types
}

// TypesOf are the types that the schema of a parameter allows; none where it does not say.
func TypesOf(parameter any) []string {
	doc, _ := parameter.(map[string]any)
	var types []string
	switch t := doc["type"].(type) {
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
func chosen(parameter any, text string) (value any, found bool) {
	doc, _ := parameter.(map[string]any)
	values, _ := doc["enum"].([]any)
	if only, there := doc["const"]; there {
		values = []any{only}
	}
	given, err := jsonvalue.Decode([]byte(text), jsonvalue.Options{})
	for _, v := range values {
		if name, isText := v.(string); isText && name == text || !isText && err == nil && reflect.DeepEqual(v, given) {
			return jsonvalue.EachText(v, func(same string) string { return same }), true // a copy
		}
	}
	return nil, false
}

// onlyTexts says whether a schema without a type names its values, which are all texts.
func onlyTexts(parameter any) bool {
	doc, _ := parameter.(map[string]any)
	values, _ := doc["enum"].([]any)
	return len(values) > 0 && !slices.ContainsFunc(values, func(v any) bool { _, isText := v.(string); return !isText })
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
