package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

func tree(t testing.TB, text string) any {
	t.Helper()
	v, err := jsonvalue.Decode([]byte(text), jsonvalue.Options{})
	require.NoError(t, err, text)
	return v
}

func compiled(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Compile(tree(t, text), "test")
	require.NoError(t, err, text)
	return s
}

// said lists what is wrong as text.
func said(list []Violation) []string {
	out := []string{}
	for _, v := range list {
		out = append(out, v.String())
	}
	return out
}

const ticket = `{"type":"object","additionalProperties":false,"required":["title","body"],"properties":{
	"title":{"type":"string","minLength":1,"maxLength":5},"body":{"type":"string"},"count":{"type":"integer","minimum":1,"exclusiveMaximum":10},
	"level":{"enum":["low","medium","high"]},"when":{"type":"string","format":"date-time"},
	"tags":{"type":"array","items":{"type":"string","pattern":"^[a-z]+$"},"maxItems":2},
	"who":{"type":"object","required":["name"],"properties":{"name":{"type":["string","null"]}}},
	"any":{"anyOf":[{"type":"string"},{"type":"object","required":["id"]},{"type":"null"}]},
	"ratio":{"type":"number","multipleOf":0.5},"kind":{"const":"a b"}}}`

func TestMessages(t *testing.T) {
	s := compiled(t, ticket)
	for text, want := range map[string][]string{
		`{"title":"a","body":"b"}`:                          {},
		`{"body":"b"}`:                                      {"missing required parameter: title"},
		`{}`:                                                {"missing required parameter: body", "missing required parameter: title"},
		`[]`:                                                {"must be an object, not an array"},
		`{"title":"a","body":"b","lvel":"low"}`:             {"unknown parameter: lvel (did you mean level?)"},
		`{"title":5,"body":null}`:                           {"/body: must be a string, not null", "/title: must be a string, not a number"},
		`{"title":"","body":"b"}`:                           {"/title: must have at least 1 character"},
		`{"title":"123456","body":"b"}`:                     {"/title: must have at most 5 characters"},
		`{"title":"a","body":"b","count":"5"}`:              {"/count: must be an integer, not a string"},
		`{"title":"a","body":"b","count":0.5}`:              {"/count: must be an integer, not a number with a fraction"},
		`{"title":"a","body":"b","count":0}`:                {"/count: must be at least 1"},
		`{"title":"a","body":"b","count":10}`:               {"/count: must be less than 10"},
		`{"title":"a","body":"b","count":3.0}`:              {},
		`{"title":"a","body":"b","level":"huge"}`:           {"/level: must be one of low, medium, high"},
		`{"title":"a","body":"b","when":"now"}`:             {"/when: must be a valid date-time"},
		`{"title":"a","body":"b","tags":["x","Y","z"]}`:     {"/tags: must have at most 2 items", "/tags/1: must match the pattern ^[a-z]+$"},
		`{"title":"a","body":"b","who":{}}`:                 {"/who/name: missing required property: name"},
		`{"title":"a","body":"b","who":{"name":null}}`:      {},
		`{"title":"a","body":"b","who":{"name":1}}`:         {"/who/name: must be a string or null, not a number"},
		`{"title":"a","body":"b","any":5}`:                  {"/any: must be an object, a string or null, not a number"},
		`{"title":"a","body":"b","any":{}}`:                 {"/any/id: missing required property: id"},
		`{"title":"a","body":"b","ratio":0.7}`:              {"/ratio: must be a multiple of 0.5"},
		`{"title":"a","body":"b","kind":"c"}`:               {`/kind: must be "a b"`},
		`{"title":"a","body":"b","count":9007199254740993}`: {"/count: must be less than 10"},
	} {
		assert.Equal(t, want, said(s.Validate(tree(t, text))), text)
	}
	assert.Equal(t, []Violation{{"/title", "missing required parameter: title", "required"}}, s.Validate(map[string]any{"body": ""}))
}

// Cases E01 and E03.
func TestStrictness(t *testing.T) {
	integer := compiled(t, `{"type":"integer"}`)
	for text, valid := range map[string]bool{"3.0": true, "1e2": true, "0.5": false, `"5"`: false, "9007199254740993": true, "-0": true, "true": false} {
		assert.Equal(t, valid, len(integer.Validate(tree(t, text))) == 0, text)
	}
	s := compiled(t, `{"type":"object","required":["x"],"properties":{"x":{"type":["null","string","number"]}}}`)
	assert.Empty(t, s.Validate(tree(t, `{"x":null}`)))
	assert.Empty(t, s.Validate(tree(t, `{"x":"null"}`)))
	assert.Equal(t, []string{"missing required parameter: x"}, said(s.Validate(tree(t, `{}`))))
}

// Case E04.
func TestRecursion(t *testing.T) {
	s := compiled(t, `{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","required":["v"],"properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`)
	assert.Empty(t, s.Validate(tree(t, `{"v":1,"kids":[{"v":2,"kids":[]},{"v":3}]}`)))
	assert.Equal(t, []string{"/kids/0/kids/0/v: must be an integer, not a boolean"}, said(s.Validate(tree(t, `{"v":1,"kids":[{"v":2,"kids":[{"v":true}]}]}`))))
	for _, cyclic := range []string{
		`{"allOf":[{"$ref":"#"}]}`, `{"$ref":"#"}`, `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`,
		`{"properties":{"x":{"anyOf":[{"type":"string"},{"$ref":"#/properties/x"}]}}}`, `{"$schema":"http://json-schema.org/draft-07/schema#","allOf":[{"$ref":"#"}]}`,
	} {
		_, err := Compile(tree(t, cyclic), "tree")
		require.ErrorContains(t, err, "applies itself to the same value without an end", cyclic)
	}
	dynamic := compiled(t, `{"$dynamicAnchor":"me","anyOf":[{"type":"string"},{"$dynamicRef":"#me"}]}`)
	assert.NotEmpty(t, dynamic.Validate(5.0))
}

func TestCompileErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"$ref":"http://127.0.0.1/x.json"}`:                `schema of t: "http://127.0.0.1/x.json" is outside of this document, and nothing is loaded from elsewhere: put it under $defs`,
		`{"$ref":"other.json#/a"}`:                          `"other.json" is outside of this document`,
		`{"$ref":"file:///etc/passwd"}`:                     `"file:///etc/passwd" is outside of this document`,
		`{"$ref":"#/$defs/none"}`:                           `$ref "#/$defs/none" leads nowhere`,
		`{"$ref":"#none"}`:                                  `$ref "#none" leads nowhere`,
		`{"$schema":"http://x.test/mine"}`:                  `"http://x.test/mine" is outside of this document`,
		`{"type":"strin"}`:                                  `not a JSON Schema: /type: must be one of`,
		`{"properties":{"a":{"minimum":"1"}}}`:              `not a JSON Schema: /properties/a/minimum: must be a number, not a string`,
		`{"properties":[]}`:                                 `not a JSON Schema: /properties: must be an object, not an array`,
		`"text"`:                                            `not a JSON Schema: must be a boolean or an object, not a string`,
		`{"pattern":"(?=a)b"}`:                              `pattern "(?=a)b": look-ahead and look-behind are not supported`,
		`{"pattern":"(?<!a)b"}`:                             `look-ahead and look-behind are not supported`,
		`{"properties":{"a":{"pattern":"(a)\\1"}}}`:         `references to groups are not supported`,
		`{"patternProperties":{"[":{}}}`:                    `/patternProperties: has a property with a name that is not allowed, "[": must be a valid regex: pattern "[": missing closing ]`,
		`{"pattern":"` + strings.Repeat("a", 10_001) + `"}`: `a pattern of more than 10000 bytes`,
	} {
		_, err := Compile(tree(t, text), "t")
		assert.ErrorContains(t, err, want, text)
	}
	_, err := Compile(map[string]any{"enum": make([]any, 100_000)}, "t")
	require.ErrorContains(t, err, "more than 100000 values")
	wide := map[string]any{}
	for i := range 10_000 {
		wide[fmt.Sprint(i)] = true
	}
	_, err = Compile(map[string]any{"properties": wide}, "t")
	require.ErrorContains(t, err, "more than 10000 objects")
	_, err = Compile(map[string]any{"const": json.Number("1e999999999")}, "t")
	require.ErrorContains(t, err, "has an exponent")
	_, err = Compile(map[string]any{"const": struct{}{}}, "t")
	require.ErrorContains(t, err, "no JSON value")
}

func TestDialects(t *testing.T) {
	for _, text := range []string{"true", "{}", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"string"}`, `{"$schema":"https://json-schema.org/draft/2019-09/schema"}`} {
		assert.Empty(t, compiled(t, text).Validate("x"), text)
	}
	assert.Equal(t, []string{"is not allowed"}, said(compiled(t, "false").Validate(1.0)))
	draft4 := compiled(t, `{"$schema":"http://json-schema.org/draft-04/schema#","minimum":5,"exclusiveMinimum":true,"items":[{"type":"string"}],"additionalItems":false}`)
	assert.Equal(t, []string{"must be more than 5"}, said(draft4.Validate(5.0)))
	assert.NotEmpty(t, draft4.Validate([]any{"a", "b"}))
	meta := compiled(t, `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`)
	assert.Empty(t, meta.Validate(tree(t, ticket)))
	assert.NotEmpty(t, meta.Validate(tree(t, `{"properties":{"a":{"items":{"type":5}}}}`)))
}

func TestDocumentIsCopied(t *testing.T) {
	doc := tree(t, `{"enum":["a"],"default":["x"]}`).(map[string]any)
	s, err := Compile(doc, "t")
	require.NoError(t, err)
	doc["enum"].([]any)[0] = "b"
	assert.Empty(t, s.Validate("a"))
}

func TestBounds(t *testing.T) {
	s := compiled(t, `{"type":"array","items":{"type":"string"}}`)
	list := make([]any, 100_000)
	violations := s.Validate(list)
	require.Len(t, violations, mostViolations)
	long := strings.Repeat("k", 100_000)
	closed := compiled(t, `{"additionalProperties":false,"patternProperties":{"^a":{}}}`)
	for _, v := range append(closed.Validate(map[string]any{long: 1.0}), compiled(t, `{"additionalProperties":false}`).Validate(map[string]any{long: 1.0})...) {
		assert.Less(t, len(v.Message), 1000)
		assert.Less(t, len(v.Pointer), 1000)
	}
	var texts []any
	for i := range 1000 {
		texts = append(texts, fmt.Sprintf("value %d of many", i))
	}
	many, err := Compile(map[string]any{"enum": texts}, "t")
	require.NoError(t, err)
	assert.Less(t, len(many.Validate("x")[0].Message), 400)
}

// A schema that looks at each value twice on each level would take 2^100 steps.
func TestCostsAreBounded(t *testing.T) {
	deep := any("leaf")
	for range 100 {
		deep = map[string]any{"a": deep}
	}
	for _, text := range []string{
		`{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
		`{"type":"object","not":{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}}`,
		`{"$dynamicAnchor":"n","type":"object","oneOf":[{"properties":{"a":{"$dynamicRef":"#n"}}},{"additionalProperties":{"$dynamicRef":"#n"}}]}`,
	} {
		began := time.Now()
		assert.Equal(t, []string{"costs too much to check"}, said(compiled(t, text).Validate(deep)), text)
		assert.Less(t, time.Since(began), 30*time.Second)
	}
	pattern := compiled(t, `{"pattern":"^(a?){900}$"}`)
	assert.Equal(t, []string{"costs too much to check"}, said(pattern.Validate(strings.Repeat("a", 1<<20))))
	assert.Empty(t, pattern.Validate("aaa"))
	unique := compiled(t, `{"uniqueItems":true}`)
	assert.Equal(t, []string{"is a number with too many digits"}, said(unique.Validate([]any{json.Number("1e999999999"), 1.0})))
	assert.Equal(t, []string{"must have no two equal items, but items 0 and 1 are equal"}, said(unique.Validate([]any{1.0, json.Number("1")})))
}

// Two hundred levels of doubled references take 2^200 steps in a row.
func TestDoubledReferences(t *testing.T) {
	defs := map[string]any{"d200": map[string]any{"type": "string"}}
	for i := range 200 {
		next := map[string]any{"$ref": fmt.Sprintf("#/$defs/d%d", i+1)}
		defs[fmt.Sprintf("d%d", i)] = map[string]any{"allOf": []any{next, next}, "properties": map[string]any{"a": next}, "default": map[string]any{}}
	}
	s, err := Compile(map[string]any{"$ref": "#/$defs/d0", "$defs": defs}, "t")
	require.NoError(t, err)
	assert.Equal(t, []string{"costs too much to check"}, said(s.Validate("x")))
	assert.NotNil(t, s.Defaults(map[string]any{}))
}
