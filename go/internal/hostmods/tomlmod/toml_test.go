package tomlmod_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/tomlmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

func run(t *testing.T, text string, source string) []any {
	t.Helper()
	vm := modtest.New(t, tomlmod.Module{}, tomlmod.Stub)
	require.NoError(t, vm.State.SetGlobal("text", text))
	return vm.Run(t, source)
}

func TestDecode(t *testing.T) {
	out := run(t, `
title = "ä" # a comment
big = 9223372036854775807
empty = []
on = 1979-05-27T00:32:00.5-07:00
local = 1979-05-27 07:32:00
day = 1979-05-27
time = 07:32:00
[a.b]
c = { d = 1.5 }
[[list]]
n = 1
[[list]]
`, "return __native.toml.decode(text), __native.toml.decode(buffer.fromstring(''))")
	require.Equal(t, []any{map[string]any{
		"title": "ä", "big": luau.Integer(9223372036854775807), "empty": []any{},
		"on": "1979-05-27T00:32:00.5-07:00", "local": "1979-05-27T07:32:00", "day": "1979-05-27", "time": "07:32:00",
		"a":    map[string]any{"b": map[string]any{"c": map[string]any{"d": 1.5}}},
		"list": []any{map[string]any{"n": 1.0}, map[string]any{}},
	}, map[string]any{}}, out)
}

func TestErrorsSayWhere(t *testing.T) {
	for text, want := range map[string][2]float64{
		"a = 1\nb = \n": {2, 5}, "a = 1\n  ä = 1": {2, 3}, "a = 1\na = 2": {2, 1}, "x = 99999999999999999999": {1, 5},
	} {
		out := run(t, text, "return pcall(__native.toml.decode, text)")
		require.Equal(t, false, out[0], text)
		e := out[1].(map[string]any)
		require.Equal(t, "toml", e["code"], text)
		require.Equal(t, want, [2]float64{e["line"].(float64), e["column"].(float64)}, "%q: %s", text, e["message"])
		require.Contains(t, e["message"], "toml.decode: line ")
	}
}

// Texts made to hurt: each is read or refused at once, and none ends the process.
func TestHostileTexts(t *testing.T) {
	const size = 4 << 20
	const nesting, many = "nesting deeper than 100", "more than 20000 keys in one table, or tables"
	for name, test := range map[string]struct{ text, message string }{
		"arrays":        {"a = " + strings.Repeat("[", size-10), "line 1, column 105: " + nesting},
		"inline tables": {"a = " + strings.Repeat("{a=", size/3-10), "line 1, column 305: " + nesting},
		"closed arrays": {"a = " + strings.Repeat("[", size/2-10) + strings.Repeat("]", size/2-10), "line 1, column 105: " + nesting},
		"dotted key":    {strings.Repeat("a.", size/2-10) + "a = 1", "line 1, column 200: " + nesting},
		"dotted header": {"[" + strings.Repeat("a.", size/2-10) + "a]", "line 1, column 201: " + nesting},
		"quoted keys":   {strings.Repeat(`"a".`, size/4-10) + "a = 1", "line 1, column 400: " + nesting},
		"spaced keys":   {strings.Repeat("a . ", size/4-10) + "a = 1", "line 1, column 399: " + nesting},
		"string first":  {`a = """` + "\n" + `"""` + "\nb = " + strings.Repeat("[", size-100), "line 3, column 105: " + nesting},
		"quote in text": {`a = 'x"'` + "\nb = " + strings.Repeat("[", size-100), "line 2, column 105: " + nesting},
		"too long":      {strings.Repeat("#", size+1), "a text of 4194305 bytes: the limit is 4194304"},
		"keys":          {numbered(300_000, "k%d = 1\n"), "line 20001, column 8: " + many},
		"headers":       {numbered(200_000, "[k%d]\n"), "line 20001, column 1: " + many},
		"tables":        {numbered(200_000, "[[k%d]]\n"), "line 20001, column 1: " + many},
		"inline keys":   {"a = {" + numbered(200_000, "k%d = 1,") + "}", many},
	} {
		started := time.Now()
		out := run(t, test.text, "return pcall(__native.toml.decode, text)")
		require.Equal(t, false, out[0], name)
		e := out[1].(map[string]any)
		require.Equal(t, "limit", e["code"], "%s: %s", name, e["message"])
		require.Contains(t, e["message"], test.message, name)
		require.Less(t, time.Since(started), 5*time.Second, name)
	}
	// Brackets that are no nesting.
	out := run(t, "a = '"+strings.Repeat("[", 1000)+"' # "+strings.Repeat("[", 1000)+"\nb = \"\"\"\n\\\""+strings.Repeat("[\n", 1000)+"\"\"\"\nc = ["+
		strings.Repeat("1.5,", 1000)+"]", "return #__native.toml.decode(text).c")
	require.Equal(t, []any{1000.0}, out)
}

// What the bounds let through ends soon as well.
func TestLargeTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute under a sanitizer")
	}
	for name, text := range map[string]string{
		"keys": numbered(20_000, "k%d = 1\n"), "headers": numbered(19_000, "[k%d.x]\n"),
		"packages": numbered(20_000, "[[package]]\nname = 'p%d'\nversion = '1'\ndependencies = ['a', 'b']\n"),
	} {
		started := time.Now()
		out := run(t, text, "return pcall(__native.toml.decode, text)")
		require.Equal(t, true, out[0], "%s: %v", name, out[1])
		require.Less(t, time.Since(started), 20*time.Second, name)
		t.Log(name, time.Since(started))
	}
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestEncode(t *testing.T) {
	require.Equal(t, []any{"a = 1\nb = 0.5\nc = [1, 'x']\nd = []\n\n[t]\nk = true\n", ""}, run(t, "", `
		return __native.toml.encode({ t = { k = true }, a = 1, c = {1, "x"}, b = 0.5, d = __native.toml.decode("x = []").x }), __native.toml.encode({})`))
	require.Equal(t, []any{9223372036854775807.0}, run(t, "", `
		return tonumber(tostring(__native.toml.decode(__native.toml.encode({ n = __native.toml.decode("x = 9223372036854775807").x })).n))`))
	for value, want := range map[string]string{
		`{ a = { b = print } }`:           "toml.encode: cannot encode a function or userdata at $.a.b",
		`{ a = { 1, buffer.create(1) } }`: "toml.encode: cannot encode a buffer at $.a[2]",
		`{ a = "\xff" }`:                  "toml.encode: cannot encode a text that is no UTF-8 at $.a",
		`{ a = { [2.5] = 1 } }`:           "toml.encode: cannot encode a table with keys that are no texts at $.a",
		`{ 1 }`:                           "toml.encode: argument 1 must be a table with string keys only",
		`5`:                               "toml.encode: argument 1 must be a table, got number",
	} {
		out := run(t, "", "return pcall(__native.toml.encode, "+value+")")
		require.Equal(t, false, out[0], value)
		require.Equal(t, want, out[1].(map[string]any)["message"], value)
	}
}

// A large value is written beside other tasks, a small one in place.
func TestLargeValuesAreAwaited(t *testing.T) {
	vm := modtest.New(t, tomlmod.Module{}, tomlmod.Stub)
	vm.Run(t, `__native.toml.encode({ a = 1 })`)
	require.Empty(t, vm.Awaited)
	vm.Run(t, `__native.toml.encode({ a = table.create(10000, "text") })`)
	require.Equal(t, []string{"toml.encode"}, vm.Awaited)
}
