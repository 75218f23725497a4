package upstream

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var scanned = []string{
	``, ` `, `{}`, `[]`, ` { "a" : [ 1 , -0.5e+7 , true , false , null , "x\u00e9\n" ] } `, `{"a":1,}`, `[1,]`, `[,]`, `{"a"}`, `{a:1}`, `01`, `-`, `1.`, `.5`,
	`1e`, `1e5`, `-0`, `00`, `tru`, `nulll`, `"\x"`, `"\u12g4"`, `"\u12"`, "\"\x01\"", `"`, `"\"`, `{"a":{"b":[{}]}}`, `1 2`, `{"a":1}{`, `[[[[`, "\"\xff\"", `{"":""}`, "\ufeff{}",
}

// What is taken as JSON is what the standard library takes.
func FuzzScan(f *testing.F) {
	for _, text := range scanned {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if strings.Count(string(text), "[")+strings.Count(string(text), "{") >= maxDepth {
			return
		}
		if want := json.Valid(text) && utf8.Valid(text); valid(text) != want {
			t.Fatalf("%q: %v", text, want)
		}
		var object map[string]json.RawMessage
		got := map[string]string{}
		ok := utf8.Valid(text) && members(text, func(key, value []byte) {
			if !json.Valid(value) {
				t.Fatalf("%q is no value", value)
			}
			got[string(key)] = string(value)
		})
		if !ok {
			return
		}
		require.NoError(t, json.Unmarshal(text, &object))
		require.Len(t, got, len(object))
		for name := range object {
			require.Contains(t, got, name)
		}
	})
}

func TestDepth(t *testing.T) {
	require.True(t, valid([]byte(strings.Repeat("[", maxDepth-1)+strings.Repeat("]", maxDepth-1))))
	require.False(t, valid([]byte(strings.Repeat("[", 1<<20)+strings.Repeat("]", 1<<20))))
}

// Names of members are compared as what they stand for.
func TestEscapedNames(t *testing.T) {
	m, ok := parse([]byte(`{"\u0069d":7,"m\u0065thod":"a\/b","result":{}}`))
	require.True(t, ok)
	require.EqualValues(t, 7, m.number())
	require.Equal(t, "a/b", m.method)
}

func TestMirrors(t *testing.T) {
	schema := func(text string) any {
		var v any
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		return v
	}
	found, ok := mirrors(schema(`{"properties":{"a":{"type":"string","x-mcp-header":"Region"},"b":{"properties":{"c":{"type":"integer","x-mcp-header":"Deep"}}},
		"d":{"type":"boolean","x-mcp-header":"Flag"},"e":{"type":"string","x-mcp-header":"None"}}}`))
	require.True(t, ok)
	require.Equal(t, map[string]string{"Region": "=?base64?w7w=?=", "Deep": "7", "Flag": "true"},
		mirrored(found, json.RawMessage(`{"a":"ü","b":{"c":7},"d":true,"e":null}`)))
	require.Empty(t, mirrored(found, json.RawMessage(`{"a":{},"b":[],"d":1.5}`)))
	for _, bad := range []string{
		`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, `{"properties":{"a":{"type":"string","x-mcp-header":"A b"}}}`,
		`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, `{"properties":{"a":{"type":"string","x-mcp-header":7}}}`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`,
	} {
		_, ok := mirrors(schema(bad))
		require.False(t, ok, bad)
	}
	require.Equal(t, "plain text", headerText("plain text"))
	require.Equal(t, "=?base64?IHg=?=", headerText(" x"))
	require.Equal(t, "=?base64?YQpi?=", headerText("a\nb"))
	require.Equal(t, "=?base64?PT9iYXNlNjQ/eD89?=", headerText("=?base64?x?="))
}
