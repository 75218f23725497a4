package jsonmod_test

import (
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
