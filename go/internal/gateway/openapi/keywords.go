package openapi

import (
	"encoding/json"
	"math"
	"slices"
)

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
