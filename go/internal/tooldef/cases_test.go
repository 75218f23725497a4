package tooldef

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// args reads arguments as they arrive.
func args(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonvalue.Decode([]byte(text), jsonvalue.Options{})
	require.NoError(t, err)
	return v
}

// paramsOf are the parameters of the same tool in both dialects.
func paramsOf(t *testing.T, yaml, lua string) map[string]*Tool {
	t.Helper()
	tool, broken := readLua(t.Context(), newVM(t), "a.lua", "tool = { name = 'a', parameters = {"+lua+"} } function tool.execute() end")
	require.Empty(t, broken)
	return map[string]*Tool{
		"YAML": readOne(t, "name: a\nlua: x = 1\nparams: {type: object, "+yaml+"}\n"),
		"Lua":  tool,
	}
}

// E01: an integer parameter takes 3.0 and 1e2, and neither 0.5 nor "5".
func TestE01(t *testing.T) {
	for dialect, tool := range paramsOf(t, "properties: {n: {type: integer}}, required: [n]", "{ name = 'n', type = 'integer', required = true }") {
		for text, good := range map[string]bool{`3.0`: true, `1e2`: true, `0.5`: false, `"5"`: false, `9007199254740993`: true, `null`: false} {
			violations := tool.Params.Validate(args(t, `{"n": `+text+`}`))
			require.Equal(t, good, len(violations) == 0, "%s %s: %v", dialect, text, violations)
		}
		require.NotEmpty(t, tool.Params.Validate(args(t, `{}`)), dialect)
	}
}

// E03: null, missing and the text "null" are three things.
func TestE03(t *testing.T) {
	for dialect, tool := range paramsOf(t, `properties: {v: {type: ["null", string, number]}}, required: [v]`, "{ name = 'v', type = { 'null', 'string', 'number' }, required = true }") {
		require.Empty(t, tool.Params.Validate(args(t, `{"v": null}`)), dialect)
		require.Empty(t, tool.Params.Validate(args(t, `{"v": "null"}`)), dialect)
		require.NotEmpty(t, tool.Params.Validate(args(t, `{}`)), dialect)
		require.Equal(t, map[string]any{"v": nil}, tool.Params.Defaults(args(t, `{"v": null}`)), dialect)
	}
}

// E04: a recursive schema of a tree works; a cycle of allOf is an error of its own tool (see also
// TestE04BesideOthers).
func TestE04(t *testing.T) {
	tree := readOne(t, `name: tree
lua: x = 1
params:
  $ref: '#/$defs/node'
  $defs:
    node:
      type: object
      properties:
        value: {type: integer}
        children: {type: array, items: {$ref: '#/$defs/node'}}
      required: [value]
`)
	require.Empty(t, tree.Params.Validate(args(t, `{"value": 1, "children": [{"value": 2, "children": []}]}`)))
	require.NotEmpty(t, tree.Params.Validate(args(t, `{"value": 1, "children": [{"value": "2"}]}`)))

	const cycle = `{ type = "object", allOf = { { ["$ref"] = "#" } } }`
	_, broken := readLua(t.Context(), newVM(t), "a.lua", "tool = { name = 'a',\n schema = "+cycle+" } function tool.execute() end")
	require.Len(t, broken, 1)
	require.Contains(t, broken[0].Err.Error(), "a.lua:2: ")
}

// D20, while tools are read: what they print goes nowhere, also when they fail.
func TestD20(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	out := os.Stdout
	os.Stdout = write
	_, broken := readLua(t.Context(), newVM(t), "a.lua", "print('{\"jsonrpc\": 1}') log.info('x') error('no')")
	os.Stdout = out
	require.NoError(t, write.Close())
	text, err := io.ReadAll(read)
	require.NoError(t, err)
	require.Empty(t, text)
	require.Equal(t, "a.lua:1: no", broken[0].Err.Error())
}

// D23: the digits of an integer stay, in defaults of both dialects.
func TestD23(t *testing.T) {
	for dialect, tool := range paramsOf(t, "properties: {n: {type: integer, default: 9007199254740993}}", "{ name = 'n', type = 'integer', default = 9007199254740993i }") {
		require.Equal(t, map[string]any{"n": json.Number("9007199254740993")}, tool.Params.Defaults(map[string]any{}), dialect)
	}
}

// D19, as far as definitions go: no error shows the folder on this machine or a Go stack.
func TestD19(t *testing.T) {
	f := newFolder(t, map[string]string{
		"tools/a.lua": "error('no')", "tools/a2.lua": "tool = {} error('no')", "tools/b.yaml": "name: a\nlua_file: ../../x.lua\n", "tools/c.yaml": "name: a\nlua_file: x.lua\n",
		"tools/d.lua": "tool = require('./nothing')", "tools/e.lua": "tool = {", "tools/f.yaml": "name: [", "tools/g.lua": "tool = require('fs').read('x')",
	})
	f.o.Dirs = append(f.o.Dirs, "gone")
	_, errs := f.load()
	require.Len(t, errs, 8)
	for _, err := range errs {
		require.NotContains(t, err, f.root)
		require.NotContains(t, err, "goroutine")
		require.True(t, strings.HasPrefix(err, "tools/") || strings.HasPrefix(err, "gone"), err)
	}
}
