package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDefaults(t *testing.T) {
	for name, c := range map[string]struct{ schema, value, want string }{
		"missing":           {`{"properties":{"a":{"default":1},"b":{"default":[1,{"x":2}]},"c":{}}}`, `{}`, `{"a":1,"b":[1,{"x":2}]}`},
		"sent values stay":  {`{"properties":{"a":{"default":1},"b":{"default":true},"c":{"default":"x"},"d":{"default":3}}}`, `{"a":0,"b":false,"c":"","d":null}`, `{"a":0,"b":false,"c":"","d":null}`},
		"default null":      {`{"properties":{"a":{"default":null}}}`, `{}`, `{"a":null}`},
		"required":          {`{"required":["a"],"properties":{"a":{"type":"integer","default":1}}}`, `{}`, `{"a":1}`},
		"nested":            {`{"properties":{"o":{"properties":{"a":{"default":1}}}}}`, `{"o":{"z":9}}`, `{"o":{"a":1,"z":9}}`},
		"nested not there":  {`{"properties":{"o":{"properties":{"a":{"default":1}}}}}`, `{}`, `{}`},
		"inside a default":  {`{"properties":{"o":{"default":{"b":2},"properties":{"a":{"default":1}}}}}`, `{}`, `{"o":{"a":1,"b":2}}`},
		"$ref":              {`{"properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"default":5}}}`, `{}`, `{"a":5}`},
		"own before $ref":   {`{"properties":{"a":{"$ref":"#/$defs/d","default":6}},"$defs":{"d":{"default":5}}}`, `{}`, `{"a":6}`},
		"allOf":             {`{"allOf":[{"properties":{"a":{"default":1}}},{"properties":{"a":{"default":2},"b":{"default":3}}}]}`, `{}`, `{"a":1,"b":3}`},
		"not anyOf":         {`{"anyOf":[{"properties":{"a":{"default":1}}}],"oneOf":[{"properties":{"a":{"default":1}}}]}`, `{}`, `{}`},
		"items":             {`{"properties":{"l":{"items":{"properties":{"a":{"default":1}}}}}}`, `{"l":[{},{"a":2},5]}`, `{"l":[{"a":1},{"a":2},5]}`},
		"prefixItems":       {`{"prefixItems":[{"properties":{"a":{"default":1}}}],"items":{"properties":{"b":{"default":2}}}}`, `[{},{},{}]`, `[{"a":1},{"b":2},{"b":2}]`},
		"items of draft 7":  {`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"properties":{"a":{"default":1}}}],"additionalItems":{"properties":{"b":{"default":2}}}}`, `[{},{}]`, `[{"a":1},{"b":2}]`},
		"additional":        {`{"properties":{"x":{}},"additionalProperties":{"properties":{"a":{"default":1}}}}`, `{"x":{},"y":{}}`, `{"x":{},"y":{"a":1}}`},
		"recursive":         {`{"properties":{"v":{"default":0},"kids":{"items":{"$ref":"#"}}}}`, `{"kids":[{"kids":[{}]}]}`, `{"kids":[{"kids":[{"v":0}],"v":0}],"v":0}`},
		"recursive default": {`{"properties":{"v":{"default":0},"next":{"$ref":"#","default":{}}}}`, `{}`, `{"next":{"next":{"next":{},"v":0},"v":0},"v":0}`},
		"no object":         {`{"properties":{"a":{"default":1}}}`, `"text"`, `"text"`},
		"bool":              {`true`, `{}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := compiled(t, c.schema)
			value := tree(t, c.value)
			assert.Equal(t, tree(t, c.want), s.Defaults(value))
			assert.Equal(t, tree(t, c.value), value, "the value stays as it was")
		})
	}
}

func TestDefaultsAreFresh(t *testing.T) {
	s := compiled(t, `{"properties":{"list":{"default":[{"x":1}]}}}`)
	first := s.Defaults(map[string]any{}).(map[string]any)
	first["list"].([]any)[0].(map[string]any)["x"] = "changed"
	assert.Equal(t, tree(t, `{"list":[{"x":1}]}`), s.Defaults(map[string]any{}))
	kept := map[string]any{"list": []any{}}
	assert.Equal(t, tree(t, `{"list":[]}`), s.Defaults(kept))
}

// A default that doubles on each level fills a bounded part of itself.
func TestDefaultsAreBounded(t *testing.T) {
	schema := `{"$ref":"#/$defs/l0","$defs":{`
	for i := range 60 {
		level := string(rune('0'+i/10)) + string(rune('0'+i%10))
		next := string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
		if i == 0 {
			level = "0"
		}
		schema += `"l` + level + `":{"default":{},"properties":{"a":{"$ref":"#/$defs/l` + next + `"},"b":{"$ref":"#/$defs/l` + next + `"}}},`
	}
	s := compiled(t, schema+`"l60":{"default":1}}}`)
	filled := s.Defaults(map[string]any{})
	assert.Less(t, count(filled), mostFilled+1000)
	require.Greater(t, count(filled), mostFilled/2)
}

func count(v any) int {
	n := 1
	if object, is := v.(map[string]any); is {
		for _, item := range object {
			n += count(item)
		}
	}
	return n
}
