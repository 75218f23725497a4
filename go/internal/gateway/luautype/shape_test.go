package luautype

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestShape(t *testing.T) {
	items := make([]any, 1_204)
	for i := range items {
		items[i] = map[string]any{"id": float64(i), "title": "t"}
	}
	assert.Equal(t, "{ items: {{ id: number, title: string }} (1,204 items), total: number }",
		Shape(map[string]any{"items": items, "total": 1_204.0}))
	for text, want := range map[string]string{
		`null`: "nil", `5`: "number", `"x"`: "string", `true`: "boolean", `[]`: "{any} (0 items)", `{}`: "{}",
		`[1]`:                         "{number} (1 item)",
		`[1, "a", null]`:              "{(number | string)?} (3 items)",
		`[{"a": 1}, {"b": 2}]`:        "{{ a: number?, b: number? }} (2 items)",
		`[{"a": null}, {"a": "x"}]`:   "{{ a: string? }} (2 items)",
		`{"x-y": [[1, 2], [3]]}`:      `{ ["x-y"]: {{number}} (2 items) }`,
		`{"a": {"b": {"c": [null]}}}`: "{ a: { b: { c: {nil} (1 item) } } }",
		`[1, [2]]`:                    "{number | {number}} (2 items)",
	} {
		assert.Equal(t, want, Shape(tree(t, text)), text)
	}
	assert.Equal(t, "number", Shape(json.Number("12345678901234567890")))
	wide := map[string]any{}
	for i := range 10_000 {
		wide[fmt.Sprint("k", i)] = wide["k0"]
	}
	assert.Less(t, len(Shape(wide)), maxShapeBytes+1)
	assert.Contains(t, Shape(wide), "more }")
	var deep any = 1.0
	for range 10_000 {
		deep = map[string]any{"a": []any{deep}}
	}
	assert.Less(t, len(Shape(deep)), maxShapeBytes)
	loop := map[string]any{}
	loop["me"] = loop
	assert.Less(t, len(Shape(loop)), maxShapeBytes)
}

func TestInferSchema(t *testing.T) {
	for _, test := range []struct{ samples, want string }{
		{`[]`, `{}`},
		{`[null]`, `{}`},
		{`["a"]`, `{"type": "string"}`},
		{`["a", null]`, `{"type": ["string", "null"]}`},
		{`[{"a": 1, "b": "x"}, {"a": 2}]`, `{"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "string"}}, "required": ["a"]}`},
		{`[[1, 2], ["a"]]`, `{"type": "array", "items": {"type": ["number", "string"]}}`},
		{`[[]]`, `{"type": "array"}`},
		{`[{"list": [{"x": 1}, {"x": null}]}]`, `{"type": "object", "required": ["list"], "properties": {"list": {"type": "array",
			"items": {"type": "object", "required": ["x"], "properties": {"x": {"type": ["number", "null"]}}}}}}`},
	} {
		samples, _ := tree(t, test.samples).([]any)
		assert.Equal(t, tree(t, test.want), any(InferSchema(samples...)), test.samples)
	}
	byID := map[string]any{}
	for i := range 100 {
		byID[fmt.Sprint(i)] = float64(i)
	}
	assert.Equal(t, tree(t, `{"type": "object", "additionalProperties": {"type": "number"}}`), any(InferSchema(byID)))
}

func values(depth int) *rapid.Generator[any] {
	scalars := rapid.SampledFrom([]any{nil, true, false, "", "a", 0.0, 1.5, "end"})
	if depth == 0 {
		return scalars
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return values(depth - 1) })
	return rapid.OneOf(scalars,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(list []any) any { return list }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b-c", "end", "日"}), inner, 0, 3), func(object map[string]any) any { return object }))
}

// A schema that is made of samples takes them, and its types are valid.
func TestInferredSchemasTakeTheirSamples(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		samples := rapid.SliceOfN(values(3), 1, 3).Draw(r, "samples")
		inferred := InferSchema(samples...)
		text, err := json.Marshal(inferred)
		require.NoError(r, err)
		compiled, err := schema.Compile(inferred, "samples")
		require.NoError(r, err, string(text))
		for _, sample := range samples {
			require.Empty(r, compiled.Validate(sample), string(text))
		}
		_, f := returning(t, string(text), "")
		requireCompiles(r, Docs(f))
		require.False(r, strings.Contains(Shape(samples), "\n"))
	})
}

// Whatever a schema says, its types are valid.
func TestSchemasGiveValidTypes(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "end", "x-y", "Node", "", "é", "a\nb"})
	var schemas func(depth int) *rapid.Generator[any]
	schemas = func(depth int) *rapid.Generator[any] {
		return rapid.Custom(func(r *rapid.T) any {
			s := map[string]any{}
			maybe := func(word string, value func() any) {
				if rapid.IntRange(0, 4).Draw(r, word) == 0 {
					s[word] = value()
				}
			}
			maybe("type", func() any {
				return rapid.SampledFrom([]any{"string", "object", "array", "null", "integer", []any{"string", "null"}, []any{"object", "array"}, 5.0}).Draw(r, "t")
			})
			maybe("enum", func() any { return rapid.SliceOfN(values(1), 0, 3).Draw(r, "enum") })
			maybe("const", func() any { return values(1).Draw(r, "const") })
			maybe("$ref", func() any {
				return rapid.SampledFrom([]any{"#", "#/$defs/Node", "#/$defs/a", "#/definitions/x-y", "#/properties/a", "#/anyOf/0", "#/nothing"}).Draw(r, "ref")
			})
			maybe("description", func() any { return "]] --[[ \n x" })
			maybe("default", func() any { return values(2).Draw(r, "default") })
			maybe("nullable", func() any { return true })
			maybe("required", func() any { return []any{names.Draw(r, "required")} })
			if depth == 0 {
				return s
			}
			inner := rapid.OneOf(rapid.Just(any(true)), rapid.Just(any(false)), schemas(depth-1))
			list := rapid.SliceOfN(inner, 0, 3)
			for _, word := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
				maybe(word, func() any { return list.Draw(r, word) })
			}
			for _, word := range []string{"items", "additionalProperties"} {
				maybe(word, func() any { return inner.Draw(r, word) })
			}
			for _, word := range []string{"properties", "$defs", "patternProperties", "definitions"} {
				maybe(word, func() any { return rapid.MapOfN(names, inner, 0, 3).Draw(r, word) })
			}
			return s
		})
	}
	rapid.Check(t, func(r *rapid.T) {
		function := function(schemas(3).Draw(r, "params"), schemas(2).Draw(r, "body"), schemas(2).Draw(r, "result"))
		function.Defs = rapid.MapOfN(names, schemas(2), 0, 3).Draw(r, "defs")
		c, f := one(sourceOfOne(function))
		requireCompiles(r, Docs(f))
		requireCompiles(r, asScript(Definitions(c, DefinitionOptions{})))
		for _, file := range Stubs(c, DefinitionOptions{}) {
			requireCompiles(r, asScript(file))
		}
	})
}
