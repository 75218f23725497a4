package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is the schema as its author wrote it. It is not changed.
func (s *Schema) Document() any { return s.document }

// Shape gives v with empty objects as empty arrays where the schema says array, and the other way round: a
// script's empty table is either. v stays as it is.
func (s *Schema) Shape(v any) any { return shape(v, s.graph.root) }

func shape(v any, schemas ...*jsonschema.Schema) any {
	all := applied(schemas)
	if len(all) == 0 {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 && only(all, "array", "object") {
			return []any{}
		}
		return shapeObject(v, all)
	case []any:
		if len(v) == 0 && only(all, "object", "array") {
			return map[string]any{}
		}
		return shapeArray(v, all)
	}
	return v
}

// applied are the schemas that hold for one value through $ref and allOf. Cycles among them were refused.
func applied(schemas []*jsonschema.Schema) []*jsonschema.Schema {
	all := make([]*jsonschema.Schema, 0, len(schemas))
	for _, s := range schemas {
		if s != nil && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	for i := 0; i < len(all); i++ {
		for _, s := range append([]*jsonschema.Schema{all[i].Ref}, all[i].AllOf...) {
			if s != nil && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// only says whether some schema asks for the wanted type and not for the other.
func only(all []*jsonschema.Schema, wanted, other string) bool {
	return slices.ContainsFunc(all, func(s *jsonschema.Schema) bool {
		if s.Types == nil {
			return false
		}
		types := s.Types.ToStrings()
		return slices.Contains(types, wanted) && !slices.Contains(types, other)
	})
}

func shapeObject(v map[string]any, all []*jsonschema.Schema) any {
	shaped := make(map[string]any, len(v))
	for name, item := range v {
		var inner []*jsonschema.Schema
		for _, s := range all {
			if property := s.Properties[name]; property != nil {
				inner = append(inner, property)
			} else if more, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
				inner = append(inner, more)
			}
		}
		shaped[name] = shape(item, inner...)
	}
	return shaped
}

func shapeArray(v []any, all []*jsonschema.Schema) any {
	shaped := make([]any, len(v))
	for i, item := range v {
		var inner []*jsonschema.Schema
		for _, s := range all {
			inner = append(inner, itemSchema(s, i))
		}
		shaped[i] = shape(item, inner...)
	}
	return shaped
}

// itemSchema is that of one item, in the words of both old and new drafts; nil where there is none.
func itemSchema(s *jsonschema.Schema, i int) *jsonschema.Schema {
	if i < len(s.PrefixItems) {
		return s.PrefixItems[i]
	}
	if s.Items2020 != nil {
		return s.Items2020
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		return items
	case []*jsonschema.Schema:
		if i < len(items) {
			return items[i]
		}
	}
	return nil
}
