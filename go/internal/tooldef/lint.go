package tooldef

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
)

// schemaVocabulary is every keyword of JSON Schema from draft 4 to 2020-12, and those that OpenAPI 3.0 adds.
var schemaVocabulary = []string{
	"$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$ref", "$schema",
	"$vocabulary", "additionalItems", "additionalProperties", "allOf", "anyOf", "const", "contains", "contentEncoding",
	"contentMediaType", "contentSchema", "default", "definitions", "dependencies", "dependentRequired", "dependentSchemas",
	"deprecated", "description", "discriminator", "else", "enum", "example", "examples", "exclusiveMaximum", "exclusiveMinimum",
	"externalDocs", "format", "if", "items", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains",
	"minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "nullable", "oneOf", "pattern",
	"patternProperties", "prefixItems", "properties", "propertyNames", "readOnly", "required", "then", "title", "type",
	"unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly", "xml",
}

// Where schemas stand below others: those that are about the same value, and those about a part of it.
var (
	sameLists  = []string{"allOf", "anyOf", "oneOf"}
	sameValues = []string{"then", "else"}
	sameMaps   = []string{"dependentSchemas", "dependencies"}
	asked      = []string{"if", "not"} // what they name need not be there
	partLists  = []string{"prefixItems"}
	partValues = []string{
		"items", "additionalItems", "additionalProperties", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
		"contentSchema",
	}
	partMaps = []string{"properties", "patternProperties", "$defs", "definitions"}
)

// linter looks through a schema, which is a valid one, for what its author cannot have meant.
type linter struct {
	d   *draft
	key string // where the schema stands
}

// lint notes what is to be said about the schema under a key.
func (d *draft) lint(doc any, key string) {
	linter{d, key}.schema(doc, nil, nil)
}

// warn notes one thing.
func (l linter) warn(steps []string, format string, args ...any) {
	if l.enough() {
		return
	}
	line, _ := l.d.at(l.d.inDocument(l.key, steps)...)
	l.d.tool.findings = append(l.d.tool.findings, Finding{
		Severity: Warning, Tool: l.d.tool.Name, File: l.d.file, Line: line, Message: l.label(steps) + fmt.Sprintf(format, args...),
	})
}

// enough says that no more will be told.
func (l linter) enough() bool { return len(l.d.tool.findings) >= maxErrors }

// label is a place as the author wrote it.
func (l linter) label(steps []string) string {
	if l.key == "parameters" && len(steps) > 0 {
		steps = steps[1:]
	}
	text := strings.Join(append([]string{l.key}, steps...), ".")
	if l.d.tool.Dialect == Execute {
		text = "tool." + text
	}
	return clip(text)
}

// schema looks at one schema and those below it. in is what is known of the object that it describes a part of; nil:
// it stands for itself.
func (l linter) schema(doc any, steps []string, in *object) {
	m, ok := doc.(map[string]any)
	if !ok || l.enough() {
		return
	}
	if in == nil {
		in = &object{names: map[string]bool{}}
		in.collect(m)
	}
	l.keywords(m, steps)
	if !in.asked {
		l.required(m, steps, in)
	}
	l.below(m, steps, in)
}

// keywords looks for those that do not exist.
func (l linter) keywords(m map[string]any, steps []string) {
	for _, key := range sortedKeys(m) {
		_, isTextValue := m[key].(string)
		if l.enough() || slices.Contains(schemaVocabulary, key) || strings.HasPrefix(key, "x-") || key == "id" && isTextValue {
			continue
		}
		at := append(slices.Clone(steps), key)
		near := spelling.Nearest(key, schemaVocabulary)
		switch {
		case looksLikeSchema(m[key]) && mayBeObject(m) && (near == "" || !isTextValue && m["properties"] == nil):
			what := "what an object has goes"
			if len(steps) == 0 && l.key != "result" {
				what = "parameters go"
			}
			l.warn(at, " is no keyword of JSON Schema and has no effect; %s under properties", what)
		case near != "":
			l.warn(at, " is no keyword of JSON Schema and has no effect; did you mean %q?", near)
		default:
			l.warn(at, " is no keyword of JSON Schema and has no effect; names of one's own begin with x-")
		}
	}
}

func mayBeObject(m map[string]any) bool { return m["type"] == nil || m["type"] == "object" }

// looksLikeSchema says whether a value is what people write for a parameter.
func looksLikeSchema(v any) bool {
	switch v := v.(type) {
	case string:
		return slices.Contains(parameterTypes, v)
	case map[string]any:
		for _, key := range []string{"type", "$ref", "description"} {
			if _, isText := v[key].(string); isText {
				return true
			}
		}
		for _, key := range []string{"type", "enum", "anyOf", "oneOf", "allOf"} {
			if _, isList := v[key].([]any); isList {
				return true
			}
		}
		return false
	}
	return false
}

// required compares the names that have to be there with those that are described.
func (l linter) required(m map[string]any, steps []string, in *object) {
	list, _ := m["required"].([]any)
	if !in.described || in.open {
		return
	}
	for _, item := range list {
		name, ok := item.(string)
		if !ok || in.names[name] || l.enough() {
			continue
		}
		hint := "describe it under properties"
		if near := spelling.Nearest(name, slices.Sorted(maps.Keys(in.names))); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		l.warn(append(slices.Clone(steps), "required"), " names %q, which is none of the properties; %s", clip(name), hint)
	}
}

// below goes to the schemas in a schema.
func (l linter) below(m map[string]any, steps []string, in *object) {
	for _, keys := range []struct {
		of []string
		in *object
	}{{sameLists, in}, {sameValues, in}, {sameMaps, in}, {partLists, nil}, {partValues, nil}, {partMaps, nil}, {asked, in.maybe()}} {
		for _, key := range keys.of {
			each(m[key], key, func(schema any, at ...string) {
				l.schema(schema, append(slices.Clone(steps), at...), keys.in)
			})
		}
	}
}

// each calls do with the schemas under a key, whether it is one, a list, or a map of them.
func each(v any, key string, do func(schema any, at ...string)) {
	isMap := slices.Contains(partMaps, key) || slices.Contains(sameMaps, key)
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			do(item, key, fmt.Sprint(i))
		}
	case map[string]any:
		if !isMap {
			do(v, key)
			return
		}
		for _, name := range sortedKeys(v) {
			do(v[name], key, name)
		}
	}
}

// object is what all schemas about one value say of its properties.
type object struct {
	names     map[string]bool
	described bool // some are described, or others are excluded
	open      bool // further ones are, somewhere else or by a pattern
	asked     bool // what is required here is a question
}

// collect takes what a schema says, and those in it about the same value.
func (o *object) collect(m map[string]any) {
	if properties, ok := m["properties"].(map[string]any); ok {
		o.described = true
		for name := range properties {
			o.names[name] = true
		}
	}
	for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
		more, said := m[key]
		o.described, o.open = o.described || said && more == false, o.open || said && more != false
	}
	for _, key := range []string{"patternProperties", "$ref", "$dynamicRef", "$recursiveRef"} {
		_, said := m[key]
		o.open = o.open || said
	}
	for _, key := range slices.Concat(sameLists, sameValues, sameMaps, asked) {
		each(m[key], key, func(schema any, _ ...string) {
			if inner, ok := schema.(map[string]any); ok {
				o.collect(inner)
			}
		})
	}
}

// maybe is the same object where a schema only asks about it.
func (o *object) maybe() *object {
	other := *o
	other.asked = true
	return &other
}
