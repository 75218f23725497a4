package luautype_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

func TestTypeOf(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}`:                                             "type Args = { city: string, days: number? }",
		`{"type": "object", "properties": {"tree": {"$ref": "#/$defs/node"}}, "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}}`: "type Args_Node = { next: Args_Node? } type Args = { tree: Args_Node? }",
		`true`: "type Args = any",
	} {
		tree, err := jsonvalue.Decode([]byte(schema), jsonvalue.Options{})
		require.NoError(t, err)
		require.Equal(t, want, luautype.TypeOf("Args", tree), schema)
	}
}
