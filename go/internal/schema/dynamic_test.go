package schema

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a dynamic reference finds depends on the way to it, from the very root.
func TestDynamicReferencesSeeTheRoot(t *testing.T) {
	s := compiled(t, `{"$id":"https://x.test/list-of-strings","$ref":"list","$defs":{
		"strings":{"$dynamicAnchor":"item","type":"string"},
		"list":{"$id":"list","type":"array","items":{"$dynamicRef":"#item"},"$defs":{"any":{"$dynamicAnchor":"item"}}}}}`)
	assert.Empty(t, s.Validate([]any{"a"}))
	assert.Equal(t, []string{"/1: must be a string, not a number"}, said(s.Validate([]any{"a", 1.0})))
}

func TestAnchorsAreBounded(t *testing.T) {
	wide := map[string]any{"x": map[string]any{"$dynamicRef": "#a1"}}
	for i := range 1000 {
		wide[fmt.Sprint(i)] = map[string]any{"$dynamicAnchor": fmt.Sprintf("a%d", i)}
	}
	_, err := Compile(map[string]any{"properties": wide}, "t")
	require.ErrorIs(t, err, errComplex)
}
