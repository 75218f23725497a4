package openapi

import (
	"maps"
	"reflect"
	"slices"
)

// shape is what kind of schemas a keyword of draft 2020-12 holds.
type shape int

const (
	noSchema shape = iota
	oneSchema
	listOfSchemas
	tableOfSchemas
)

var shapes = map[string]shape{
	"items": oneSchema, "additionalProperties": oneSchema, "not": oneSchema, "if": oneSchema, "then": oneSchema, "else": oneSchema,
	"contains": oneSchema, "propertyNames": oneSchema, "unevaluatedItems": oneSchema, "unevaluatedProperties": oneSchema,
	"contentSchema": oneSchema,
	"allOf":         listOfSchemas, "anyOf": listOfSchemas, "oneOf": listOfSchemas, "prefixItems": listOfSchemas,
	"properties": tableOfSchemas, "patternProperties": tableOfSchemas, "dependentSchemas": tableOfSchemas,
}

// eachSchema visits a schema and those in it, without following references.
func eachSchema(s any, do func(map[string]any)) {
	object, ok := s.(map[string]any)
	if !ok {
		return
	}
	do(object)
	for key, item := range object {
		switch shapes[key] {
		case oneSchema:
			eachSchema(item, do)
		case listOfSchemas:
			for _, part := range item.([]any) {
				eachSchema(part, do)
			}
		case tableOfSchemas:
			for _, part := range item.(map[string]any) {
				eachSchema(part, do)
			}
		}
	}
}

// rewrite is a schema with itself and those in it changed; what stays the same is shared with the original, which is
// not changed.
func rewrite(s any, change func(map[string]any) map[string]any) any {
	object, ok := s.(map[string]any)
	if !ok {
		return s
	}
	before := change(object)
	out, copied := before, !sameMap(before, object)
	set := func(key string, value any) {
		if !copied {
			out, copied = maps.Clone(before), true
		}
		out[key] = value
	}
	for key, item := range before {
		switch shapes[key] {
		case oneSchema:
			if next := rewrite(item, change); !same(next, item) {
				set(key, next)
			}
		case listOfSchemas:
			if next, changed := rewriteList(item.([]any), change); changed {
				set(key, next)
			}
		case tableOfSchemas:
			if next, changed := rewriteTable(item.(map[string]any), change); changed {
				set(key, next)
			}
		}
	}
	return out
}

func rewriteList(list []any, change func(map[string]any) map[string]any) ([]any, bool) {
	out, changed := list, false
	for i, item := range list {
		next := rewrite(item, change)
		if same(next, item) {
			continue
		}
		if !changed {
			out, changed = slices.Clone(list), true
		}
		out[i] = next
	}
	return out, changed
}

func rewriteTable(table map[string]any, change func(map[string]any) map[string]any) (map[string]any, bool) {
	out, changed := table, false
	for key, item := range table {
		next := rewrite(item, change)
		if same(next, item) {
			continue
		}
		if !changed {
			out, changed = maps.Clone(table), true
		}
		out[key] = next
	}
	return out, changed
}

// same says whether two schemas are one: no schema is changed once it is made, so that is enough.
func same(a, b any) bool {
	x, isMap := a.(map[string]any)
	y, both := b.(map[string]any)
	if isMap && both {
		return sameMap(x, y)
	}
	return !isMap && !both // true and false are given back as they are
}

func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}
