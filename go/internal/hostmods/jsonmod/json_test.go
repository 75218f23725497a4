package jsonmod_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/jsonmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

func TestBothWays(t *testing.T) {
	vm := modtest.New(t, jsonmod.Module{}, jsonmod.Stub)
	out := vm.Run(t, `return __native.json_encode(__native.json_decode('{"b":[1,null,"x"],"a":{}}'))`)
	require.Equal(t, []any{`{"a":{},"b":[1,null,"x"]}`}, out)
}

func TestErrorsHaveACode(t *testing.T) {
	vm := modtest.New(t, jsonmod.Module{}, jsonmod.Stub)
	for source, want := range map[string][2]string{
		"return pcall(__native.json_decode, '[1,')":       {"json", "json_decode: "},
		"return pcall(__native.json_decode, {})":          {"invalid_argument", "json_decode: argument 1 must be a string, got table"},
		"return pcall(__native.json_encode, {a = 0/0})":   {"json", "json_encode: cannot encode NaN at $.a"},
		"return pcall(__native.json_encode, print)":       {"json", "json_encode: cannot encode a function"},
		"return pcall(__native.json_decode, '\"\\xff\"')": {"json", "json_decode: invalid UTF-8"},
	} {
		out := vm.Run(t, source)
		require.Equal(t, false, out[0], source)
		e := out[1].(map[string]any)
		require.Equal(t, want[0], e["code"], source)
		require.Contains(t, e["message"], want[1], source)
	}
}

func TestGoSeesWhatWasDecoded(t *testing.T) {
	vm := modtest.New(t, jsonmod.Module{}, jsonmod.Stub)
	out := vm.Run(t, `return __native.json_decode('{"n":null,"list":[],"big":9007199254740993,"huge":123456789012345678901234567890}')`)
	require.Equal(t, []any{map[string]any{
		"n": nil, "list": []any{}, "big": luau.Integer(9007199254740993), "huge": luau.Exact("123456789012345678901234567890"),
	}}, out)
}

func TestPretty(t *testing.T) {
	vm := modtest.New(t, jsonmod.Module{}, jsonmod.Stub)
	require.NoError(t, vm.State.SetGlobal("commas", "["+strings.Repeat("1,", 200_000)+"1]"))
	deep := strings.Repeat("[", 500) + strings.Repeat("1,", 500_000) + "1" + strings.Repeat("]", 500)
	require.NoError(t, vm.State.SetGlobal("deep", deep))
	for source, want := range map[string]any{
		`pretty('{"b":1.0,"a":[1E5,"],\\\\",{}],"c":[]}', 1)`: "{\n \"b\": 1.0,\n \"a\": [\n  1E5,\n  \"],\\\\\",\n  {}\n ],\n \"c\": []\n}",
		`pretty(buffer.fromstring("[1]"), "\t")`:              "[\n\t1\n]",
		`#pretty(commas, 0)`:                                  600_005.0,
		`pretty("[1", 1)`:                                     "json.pretty: argument 1 is no JSON",
		`pretty('"')`:                                         "json.pretty: argument 1 is no JSON",
		`pretty({})`:                                          "json.pretty: argument 1 must be a string or a buffer, got table",
		`pretty("[1]", 17)`:                                   "json.pretty: argument 2 must be a number of spaces from 0 to 16 or a text of spaces and tabs",
		`pretty("[1]", "\n")`:                                 "json.pretty: argument 2 must be a number of spaces from 0 to 16 or a text of spaces and tabs",
		// Four gigabytes of spaces.
		`pretty(deep, 16)`: "json.pretty: the memory limit was reached",
	} {
		out := vm.Run(t, "return pcall(function() local pretty = __native.json.pretty return "+source+" end)")
		got := out[1]
		if e, failed := got.(map[string]any); failed {
			got = e["message"]
		}
		require.Equal(t, want, got, source)
	}
	require.Equal(t, []string{"json.pretty", "json.pretty"}, vm.Awaited, "long texts only")
}
