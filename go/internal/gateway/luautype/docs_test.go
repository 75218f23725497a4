package luautype

import (
	"context"
	"strings"
	"testing"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/pkg/luau"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func docs(f catalog.Function) string {
	_, callable := one(sourceOfOne(f))
	return Docs(callable)
}

func TestDocsOfParameters(t *testing.T) {
	assert.Equal(t, `-- Finds things.
--
-- In two paragraphs.
-- Deprecated: use another function where there is one.
-- @param query - What to look for (length at most 80)
-- @param limit - How many (default 10, at least 1, at most 100)
-- @param options.deep - Look into folders, too
-- @param since - (date-time)
-- @param body - Bytes to compare with (bytes)
-- @return What was found
-- Example: sdk.s.f({ query = "cats" }, "...")
function sdk.s.f(params: { query: string, limit: number?, options: { deep: boolean?, ["x-y"]: string? }?, since: string? }, body: string | buffer): {string} end
`, docs(catalog.Function{
		Name: "f", Description: "Finds things.\r\n\r\nIn two\tparagraphs.\n", Deprecated: true,
		Params: object(t, `{"type": "object", "required": ["query"], "properties": {
			"query": {"type": "string", "description": "What to look for", "maxLength": 80, "examples": ["cats"]},
			"limit": {"type": "integer", "description": "How\nmany", "default": 10, "minimum": 1, "maximum": 100},
			"options": {"type": "object", "properties": {"deep": {"type": "boolean", "description": "Look into folders, too"}, "x-y": {"type": "string"}}},
			"since": {"type": "string", "format": "date-time"}}}`),
		Body: object(t, `{"type": "string", "format": "binary", "description": "Bytes to compare with"}`), BodyRequired: true,
		Result: object(t, `{"type": "array", "items": {"type": "string"}, "description": "What was found"}`),
	}))
}

func TestDocsOfFields(t *testing.T) {
	text := docs(catalog.Function{Name: "f", Title: "Shows a pet", Result: object(t, `{"$ref": "#/$defs/pet"}`), Defs: object(t, `{
		"pet": {"type": ["object", "null"], "description": "An animal", "required": ["id"], "properties": {
			"id": {"type": "integer", "description": "Its number\nin the books"}, "tags": {"type": "object", "additionalProperties": {"type": "string"}}},
			"additionalProperties": {"$ref": "#/$defs/extra"}},
		"extra": {"enum": ["a", "b"]}}`)})
	assert.Equal(t, `-- Shows a pet
function sdk.s.f(params: { [string]: any }?): Pet end

-- An animal
export type Pet = {
    -- Its number in the books
    id: number,
    tags: { [string]: string }?,
    [string]: Extra,
}?

export type Extra = ("a" | "b")
`, strings.Replace(text, "f()", "f(params: { [string]: any }?)", 1))
}

// Which functions take a table, and whether it may be left out.
func TestArguments(t *testing.T) {
	for params, want := range map[string]string{
		`null`: "()", `{"type": "object", "properties": {}}`: "()", `{"type": "object", "additionalProperties": false}`: "()",
		`{"type": "object"}`:                                       "(params: { [string]: any }?)",
		`{"properties": {"a": {}}}`:                                "(params: { a: any? }?)",
		`{"properties": {"a": {"default": 1}}, "required": ["a"]}`: "(params: { a: any })",
		`{"$ref": "#/$defs/P"}`:                                    "(params: P)",
		`{"anyOf": [{"required": ["a"], "properties": {"a": {"const": 1}}}, {"properties": {"b": {"const": "x"}}}]}`: `(params: ({ a: number } | { b: "x"? })?)`,
	} {
		f := function(tree(t, params), nil, nil)
		f.Defs = object(t, `{"P": {"type": "object"}}`)
		_, callable := one(sourceOfOne(f))
		assert.Equal(t, "function sdk.s.f"+want+": any end", Signature(callable), params)
	}
	f := catalog.Function{Name: "f", Body: object(t, `{"type": "string"}`), NoResult: true}
	_, callable := one(sourceOfOne(f))
	assert.Equal(t, "function sdk.s.f(body: string?): nil end", Signature(callable))
}

// An example can be called as it stands.
func TestExamples(t *testing.T) {
	for params, want := range map[string]string{
		`{"properties": {"a": {"type": "integer", "minimum": 3}, "b": {"enum": ["x", "y"]}, "c": {"type": "array", "items": {"type": "boolean"}},
			"d": {"$ref": "#/$defs/D"}, "e-f": {"const": "z"}}, "required": ["a", "b", "c", "d", "e-f"]}`: `sdk.s.f({ a = 3, b = "x", c = {true}, d = { n = { n = { n = { n = "..." } } } }, ["e-f"] = "z" })`,
		`{"properties": {"a": {"type": "string"}}}`:                                    "sdk.s.f()",
		`{"properties": {"a": {"type": "string"}, "b": {"default": {"x": [1, "q"]}}}}`: `sdk.s.f({ b = { x = {1, "q"} } })`,
	} {
		f := function(tree(t, params), nil, nil)
		f.Defs = object(t, `{"D": {"type": "object", "required": ["n"], "properties": {"n": {"$ref": "#/$defs/D"}}}}`)
		assert.Contains(t, docs(f), "-- Example: "+want+"\n", params)
	}
	assert.NotContains(t, docs(function(nil, nil, nil)), "Example")
}

func TestLiteralsAreTheirValues(t *testing.T) {
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	defer s.Close()
	rapid.Check(t, func(r *rapid.T) {
		v := withoutNil(values(3).Draw(r, "value"))
		results, err := s.Do(context.Background(), "=literal", "return "+literal(v, 0))
		require.NoError(r, err, literal(v, 0))
		require.Equal(r, literal(v, 0), literal(results[0], 0))
	})
}

// withoutNil replaces what a list of Luau cannot end with.
func withoutNil(v any) any {
	switch v := v.(type) {
	case nil:
		return "nil"
	case []any:
		for i := range v {
			v[i] = withoutNil(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withoutNil(v[name])
		}
	}
	return v
}
