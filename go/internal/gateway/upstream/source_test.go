package upstream

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

func function(t *testing.T, tool string) catalog.Function {
	t.Helper()
	parsed, problem := (&Snapshot{room: mostRoom}).parseTool([]byte(tool))
	require.Empty(t, problem)
	return parsed.function()
}

func shownTree(t *testing.T, v any) string {
	t.Helper()
	text, err := jsonvalue.Encode(v)
	require.NoError(t, err)
	return string(text)
}

func TestSourceOfASnapshot(t *testing.T) {
	one, problem := (&Snapshot{room: mostRoom}).parseTool([]byte(`{"name":"get-user","title":"Get","description":"d","inputSchema":{"type":"object"},
		"annotations":{"readOnlyHint":true,"destructiveHint":false}}`))
	require.Empty(t, problem)
	s := &Snapshot{Info: []byte(`{"name":"n","title":"T","version":"1.2"}`), Instructions: "i", Tools: []Tool{one}}
	source := s.Source("my.srv", "")
	require.Equal(t, "my.srv", source.Name)
	require.Equal(t, catalog.MCP, source.Kind)
	require.Equal(t, []string{"T", "1.2", "i"}, []string{source.Title, source.Version, source.Instructions})
	f := source.Functions[0]
	require.Equal(t, []string{"get-user", "Get", "d"}, []string{f.Name, f.Title, f.Description})
	require.Nil(t, f.Params)
	require.Nil(t, f.Result)
	require.True(t, f.Hints.Repeatable())
	require.False(t, *f.Hints.Destructive)
	require.Nil(t, f.Hints.OpenWorld)
	require.Empty(t, (*Snapshot)(nil).Source("x", "d").Functions)
}

func TestSchemasAreLifted(t *testing.T) {
	f := function(t, `{"name":"a","inputSchema":{"$schema":"s","type":"object",
		"properties":{"node":{"$ref":"#/$defs/Node"},"same":{"$ref":"#/definitions/Node"},"self":{"$ref":"#"},"deep":{"$ref":"#/properties/list/items"},
			"list":{"type":"array","items":{"type":"string","const":{"$ref":"x"}}},"$ref":{"type":"number"},"gone":{"$ref":"#/$defs/None"},"far":{"$ref":"http://x/y"},
			"odd":{"$ref":"#/$defs/a~1b%20c"}},
		"$defs":{"Node":{"properties":{"next":{"$ref":"#/$defs/Node"}}},"Unused":{},"a/b c":{"type":"null"}},
		"definitions":{"Node":{"type":"string"}}},
		"outputSchema":{"$ref":"#/$defs/Node","$defs":{"Node":{"type":"number"}}}}`)
	properties := f.Params["properties"].(map[string]any)
	at := func(name string) string { return shownTree(t, properties[name]) }
	require.Equal(t, `{"items":{"const":{"$ref":"x"},"type":"string"},"type":"array"}`, at("list"))
	require.Equal(t, `{"type":"number"}`, at("$ref"), "a parameter may be named so")
	require.Equal(t, `{}`, at("gone"))
	require.Equal(t, `{}`, at("far"))
	require.NotContains(t, f.Params, "$defs")
	require.NotContains(t, f.Params, "$schema")

	follow := func(schema any) any {
		ref := schema.(map[string]any)["$ref"].(string)
		name := ref[len("#/$defs/"):]
		if name == "a~1b c" {
			name = "a/b c"
		}
		require.Contains(t, f.Defs, name)
		return f.Defs[name]
	}
	require.Equal(t, `{"type":"string"}`, shownTree(t, follow(properties["same"])))
	require.Equal(t, `{"type":"number"}`, shownTree(t, follow(f.Result)))
	require.Equal(t, `{"const":{"$ref":"x"},"type":"string"}`, shownTree(t, follow(properties["deep"])))
	require.Equal(t, `{"type":"null"}`, shownTree(t, follow(properties["odd"])))
	node := follow(properties["node"])
	require.Equal(t, node, follow(node.(map[string]any)["properties"].(map[string]any)["next"]), "it refers to itself")
	whole := follow(properties["self"]).(map[string]any)
	require.Contains(t, whole["properties"], "node")
	require.NotContains(t, f.Defs, "Unused")
}

func TestWhatTakesArguments(t *testing.T) {
	for schema, takes := range map[string]bool{
		`{}`: false, `{"type":"object"}`: false, `{"type":"object","properties":{}}`: false, `{"additionalProperties":false}`: false,
		`{"additionalProperties":{}}`: true, `{"additionalProperties":true}`: true, `{"properties":{"a":{}}}`: true,
		`{"$ref":"#/$defs/A","$defs":{"A":{"properties":{"a":{}}}}}`: true, `{"anyOf":[{}]}`: true, `true`: false, `null`: false,
	} {
		require.Equal(t, takes, function(t, `{"name":"a","inputSchema":`+schema+`}`).Params != nil, schema)
	}
}
