package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestChoices(t *testing.T) {
	union := `{"oneOf":[{"type":"object","required":["kind","path"],"properties":{"kind":{"const":"file"},"path":{"type":"string"}}},
		{"type":"object","required":["kind","url"],"properties":{"kind":{"const":"web"},"url":{"type":"string"}}}]}`
	forms := `{"anyOf":[{"required":["a"]},{"required":["b"]},{"required":["a"],"minProperties":3}]}`
	for _, c := range []struct {
		schema, value string
		want          []string
	}{
		{union, `{"kind":"web"}`, []string{"missing required parameter: url"}},
		{union, `{"kind":"file","path":5}`, []string{"/path: must be a string, not a number"}},
		{union, `5`, []string{"must be an object, not a number"}},
		{forms, `{}`, []string{"fits none of the 3 forms that are allowed: missing required parameter: a; or missing required parameter: b; or must have at least 3 properties"}},
		{`{"items":` + forms + `}`, `[{"b":1},{"c":1}]`, []string{"/1: fits none of the 3 forms that are allowed: missing required property: a; or missing required property: b; or must have at least 3 properties"}},
		{`{"properties":{"x":{"anyOf":[{"type":"integer"},{"$ref":"#/$defs/s"}]}},"$defs":{"s":{"type":["string","null"]}}}`, `{"x":[]}`, []string{"/x: must be an integer, a string or null, not an array"}},
		{`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `3`, []string{"must fit one of the forms only, but fits forms 1 and 2"}},
		{`{"propertyNames":{"maxLength":2}}`, `{"abc":1}`, []string{`has a property with a name that is not allowed, "abc": must have at most 2 characters`}},
		{`{"not":{"type":"string"}}`, `"x"`, []string{"must not be what the schema excludes"}},
	} {
		// The library goes through objects in any order: the words must not depend on it.
		for range 20 {
			assert.Equal(t, c.want, said(compiled(t, c.schema).Validate(tree(t, c.value))), c.schema)
		}
	}
}
