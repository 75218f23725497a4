package schema

import (
	"testing"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// FuzzSchema: no document and no value crashes or hangs what reads them.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		ticket, `{"$ref":"#"}`, `{"$id":"http://x/","$ref":"y"}`, `{"$schema":"http://json-schema.org/draft-04/schema#","id":"#a"}`, `false`,
		`{"$dynamicAnchor":"n","oneOf":[{"properties":{"a":{"$dynamicRef":"#n"}}}]}`, `{"properties":{"a":{"default":{}}},"allOf":[{"if":true,"then":{"not":{}}}]}`,
		`{"pattern":"\\u0041[^]\\s\\cA","minLength":1e300,"format":"regex"}`, `{"$defs":{"a":{"$anchor":"x"}},"$ref":"#x","unevaluatedProperties":false}`,
	} {
		f.Add([]byte(seed), []byte(`{"title":"a","a":{"a":[1,"x",null]}}`))
	}
	f.Fuzz(func(t *testing.T, document, value []byte) {
		doc, err := jsonvalue.Decode(document, jsonvalue.Options{})
		if err != nil {
			return
		}
		v, err := jsonvalue.Decode(value, jsonvalue.Options{})
		if err != nil {
			return
		}
		s, err := Compile(doc, "fuzz")
		if err != nil {
			return
		}
		for _, violation := range s.Validate(v) {
			if violation.Message == "" {
				t.Fatal("a violation without words")
			}
		}
		s.Validate(s.Defaults(v))
	})
}
