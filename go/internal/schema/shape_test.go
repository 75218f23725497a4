package schema

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShape(t *testing.T) {
	tree := func(kind string) map[string]any { return map[string]any{"type": kind} }
	s, err := Compile(map[string]any{
		"type": "object",
		"properties": map[string]any{
			"list": tree("array"), "map": tree("object"), "either": map[string]any{"type": []any{"array", "object"}},
			"node": map[string]any{"$ref": "#/$defs/node"}, "all": map[string]any{"allOf": []any{tree("array")}},
		},
		"additionalProperties": map[string]any{"type": "array", "items": tree("array")},
		"$defs": map[string]any{"node": map[string]any{
			"type": "object", "properties": map[string]any{"children": map[string]any{"type": "array", "items": map[string]any{"$ref": "#/$defs/node"}}},
		}},
	}, "test")
	require.NoError(t, err)
	empty := map[string]any{}
	value := map[string]any{
		"list": empty, "map": []any{}, "either": empty, "all": empty, "more": []any{empty},
		"node": map[string]any{"children": []any{map[string]any{"children": empty}}},
	}
	require.Equal(t, map[string]any{
		"list": []any{}, "map": empty, "either": empty, "all": []any{}, "more": []any{[]any{}},
		"node": map[string]any{"children": []any{map[string]any{"children": []any{}}}},
	}, s.Shape(value))
	require.Equal(t, empty, value["list"])
}
