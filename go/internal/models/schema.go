package models

import (
	"slices"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// ObjectSchema is the JSON Schema of a tool's arguments as the providers want it: an object.
func ObjectSchema(schema any) map[string]any {
	object, ok := schema.(map[string]any)
	if !ok {
		return map[string]any{"type": "object", "properties": map[string]any{}}
	}
	if _, ok := object["type"]; ok {
		return object
	}
	with := map[string]any{"type": "object"}
	for k, v := range object {
		with[k] = v
	}
	return with
}

// SchemaPrompt tells a model to answer with JSON that a schema allows, for providers that cannot
// see to it themselves.
func SchemaPrompt(schema any) string {
	text, err := jsonvalue.Encode(schema)
	if err != nil {
		text = []byte("{}")
	}
	return "Answer with one JSON value and nothing else: no explanation, no code fence. " +
		"It must be valid under this JSON Schema:\n" + string(text)
}

// JoinPrompts puts the parts of a system prompt together, without the empty ones.
func JoinPrompts(parts ...string) string {
	var all string
	for _, part := range parts {
		if part == "" {
			continue
		}
		if all != "" {
			all += "\n\n"
		}
		all += part
	}
	return all
}

// strictKeywords are those of JSON Schema that structured output of the large providers knows.
var strictKeywords = map[string]bool{
	"type": true, "properties": true, "required": true, "items": true, "enum": true, "const": true, "anyOf": true,
	"description": true, "title": true, "additionalProperties": true,
}

// IsStrict says whether providers can hold a model to a schema: an object whose objects have no
// further properties and require all they have, without conditions on values.
func IsStrict(schema any) bool {
	object, ok := schema.(map[string]any)
	return ok && object["type"] == "object" && strict(object)
}

func strict(schema any) bool {
	object, ok := schema.(map[string]any)
	if !ok {
		return false
	}
	for keyword := range object {
		if !strictKeywords[keyword] {
			return false
		}
	}
	if isObject(object) && !closed(object) {
		return false
	}
	if items, ok := object["items"]; ok && !strict(items) {
		return false
	}
	choices, _ := object["anyOf"].([]any)
	for _, choice := range choices {
		if !strict(choice) {
			return false
		}
	}
	return true
}

func isObject(schema map[string]any) bool {
	kinds, _ := schema["type"].([]any)
	return schema["type"] == "object" || schema["properties"] != nil || slices.Contains(kinds, any("object"))
}

// closed says whether an object has exactly the properties that its schema names.
func closed(object map[string]any) bool {
	properties, _ := object["properties"].(map[string]any)
	required, _ := object["required"].([]any)
	if object["additionalProperties"] != false || len(required) != len(properties) {
		return false
	}
	for _, name := range required {
		text, _ := name.(string)
		property, ok := properties[text]
		if !ok || !strict(property) {
			return false
		}
	}
	return true
}
