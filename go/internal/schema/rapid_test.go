package schema

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// schemas draws schemas of the plain kind, with some that are left to the library in between.
func schemas(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		s := map[string]any{}
		maybe := func(name string, v func() any) {
			if rapid.IntRange(0, 3).Draw(t, name) == 0 {
				s[name] = v()
			}
		}
		small := func() any { return float64(rapid.IntRange(0, 3).Draw(t, "n")) }
		types := rapid.SampledFrom([]any{"null", "boolean", "number", "integer", "string", "array", "object", []any{"string", "null"}})
		maybe("type", func() any { return types.Draw(t, "type") })
		maybe("enum", func() any { return []any{trees(0).Draw(t, "enum"), "a", 1.0} })
		maybe("const", func() any { return trees(0).Draw(t, "const") })
		maybe("minimum", func() any { return rapid.SampledFrom([]float64{0, 0.1, 1, -2.5}).Draw(t, "minimum") })
		maybe("exclusiveMaximum", func() any { return rapid.SampledFrom([]float64{0.1, 1, 3, 1e21}).Draw(t, "maximum") })
		for _, name := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"} {
			maybe(name, small)
		}
		maybe("pattern", func() any { return "^a" })
		maybe("format", func() any { return "date" })
		maybe("required", func() any { return []any{"a"} })
		maybe("uniqueItems", func() any { return true })
		if depth > 0 {
			child := func() any { return schemas(depth-1).Draw(t, "child") }
			maybe("properties", func() any { return map[string]any{"a": child(), "b": child()} })
			maybe("additionalProperties", func() any {
				return rapid.OneOf(rapid.Just(any(false)), rapid.Just(any(true)), rapid.Just(child())).Draw(t, "additional")
			})
			maybe("items", child)
			maybe("anyOf", func() any { return []any{child(), child()} })
			maybe("$ref", func() any { return "#/$defs/d" })
		}
		return s
	})
}

func trees(depth int) *rapid.Generator[any] {
	scalars := rapid.SampledFrom([]any{nil, true, "", "a", "ab", "bcde", "2020-01-01", 0.0, 0.1, 1.0, 2.5, -3.0, 1e21})
	if depth == 0 {
		return scalars
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return trees(depth - 1) })
	return rapid.OneOf(scalars,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(list []any) any { return list }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), inner, 0, 3), func(object map[string]any) any { return object }))
}

// What is decided here must be what the library says, and the words must be the same.
func TestAgreesWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := schemas(2).Draw(t, "schema")
		doc["$defs"] = map[string]any{"d": schemas(0).Draw(t, "def")}
		s, err := Compile(doc, "t")
		require.NoError(t, err)
		for range 5 {
			v := trees(3).Draw(t, "value")
			ours := s.Validate(v)
			all := *s
			all.root = &node{schema: s.graph.root, opaque: true}
			require.Equal(t, said(all.Validate(v)), said(ours), fmt.Sprint(v))
			require.Equal(t, s.graph.root.Validate(v) == nil, len(ours) == 0)
		}
	})
}

// A schema never makes a filled value fail that did not need to; filling twice changes nothing more.
func TestDefaultsSettle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := schemas(2).Draw(t, "schema")
		doc["$defs"] = map[string]any{"d": map[string]any{"default": trees(2).Draw(t, "default"), "properties": map[string]any{"b": map[string]any{"default": 1.0}}}}
		doc["properties"] = map[string]any{"a": map[string]any{"$ref": "#/$defs/d"}, "c": map[string]any{"default": []any{}}}
		s, err := Compile(doc, "t")
		require.NoError(t, err)
		v := trees(3).Draw(t, "value")
		before := fmt.Sprint(v)
		filled := s.Defaults(v)
		require.Equal(t, before, fmt.Sprint(v))
		require.Equal(t, filled, s.Defaults(filled))
	})
}
