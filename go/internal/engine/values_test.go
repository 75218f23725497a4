package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// A15 to A17 and A19 through scripts; json itself is tested in C++.

func TestA15NumbersRoundTrip(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"771234567890123", "9007199254740991", "-9007199254740991", "100000", "0.1", "69.01", "1e+21", "5e-324", "-0", "1.7976931348623157e+308"} {
		require.Equal(t, text+"\n", w.prints(`print(__native.json_encode(__native.json_decode(...)))`, text))
	}
	require.Equal(t, "-inf\ttrue\n", w.prints(`local n = __native.json_decode("-0") print(1 / n, 1 / __native.json_decode(__native.json_encode(n)) < 0)`))
	for _, n := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		err := w.run(`__native.json_encode({a = {0, {b = ...}}})`, n)
		require.ErrorContains(t, err, ".a[2].b")
	}
}

// A16: tables that JSON cannot say are errors with the path, and what it can say comes back as it was.
func TestA16TablesThatAreNoJSON(t *testing.T) {
	w := newWorld(t)
	for source, path := range map[string]string{
		`{1, nil, 3}`: "", `{[1] = 1, [1e9] = 2}`: "", `{[1.5] = 1}`: "", `{[-1] = 1}`: "", `{1, 2, x = 3}`: "",
		`{deep = {{1, 2, x = 3}}}`: "deep[1]", `{[true] = 1}`: "", `{f = print}`: "f", `{{{co = coroutine.create(print)}}}`: "[1][1].co",
	} {
		err := w.run(`__native.json_encode(` + source + `)`)
		require.Error(t, err, source)
		require.Contains(t, err.Error(), path, source)
		require.Contains(t, err.Error(), "json", source)
	}
	require.Error(t, w.run(`local t = {} t.self = {t} __native.json_encode(t)`))
	require.Equal(t, "[{\"x\":1},{\"x\":1}]\n", w.prints(`local t = {x = 1} print(__native.json_encode({t, t}))`))
	const text = `{"a":[],"b":{},"c":null,"d":[null,1]}`
	require.Equal(t, text+"\n", w.prints(`print(__native.json_encode(__native.json_decode(...)))`, text))
}

func TestA17Unicode(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, "\U0001F9EA\tＡ\t4\n", w.prints(`local d = __native.json_decode print(d('"\\ud83e\\uddea"'), d('"\\uff21"'), #d('"\\ud83e\\uddea"'))`))
	for _, text := range []string{`"\ud83e"`, `"\uddea"`, "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xff\""} {
		require.ErrorContains(t, w.run(`__native.json_decode(...)`, "   "+text), "byte", "%q", text)
	}
	require.ErrorContains(t, w.run(`__native.json_encode({a = {"\xff\x80"}})`), ".a[1]")
}

func TestA19Depth(t *testing.T) {
	w := newWorld(t)
	const nested = `local t = {} for i = 1, 100000 do t = {t} end `
	require.ErrorContains(t, w.run(`__native.json_decode(string.rep("[", 100000))`), "200")
	require.ErrorContains(t, w.run(nested+`__native.json_encode(t)`), "200")
	require.ErrorContains(t, w.run(nested+`__native.probe_echo(t)`), "200")
	require.Error(t, w.run(nested+`error(t)`))
	_, err := w.results(nested + `return t`)
	requireCode(t, luau.CodeConvert, err)
	require.ErrorContains(t, err, "200")
	require.Equal(t, "fine\n", w.prints(`print("fine")`))
}

func TestX02ResultsOfEveryKind(t *testing.T) {
	w := newWorld(t)
	out, err := w.results(`return nil`)
	require.NoError(t, err)
	require.Equal(t, []any{nil}, out)
	out, err = w.results(`return 1, "two", {3}`)
	require.NoError(t, err)
	require.Equal(t, []any{1.0, "two", []any{3.0}}, out)
	out, err = w.results(``)
	require.NoError(t, err)
	require.Empty(t, out)
	out, err = w.results(`return buffer.fromstring("ab"), vector.create(1, 2, 3), 5i, true`)
	require.NoError(t, err)
	require.Equal(t, []any{[]byte("ab"), luau.Vector{1, 2, 3}, luau.Integer(5), true}, out)
	out, err = w.results(`return print, coroutine.create(print)`)
	require.NoError(t, err)
	require.IsType(t, &luau.Function{}, out[0])
	require.IsType(t, &luau.Thread{}, out[1])
	out, err = w.results(`return {f = print, list = {[3] = 1}, [1] = "mixed"}`)
	if err == nil {
		require.NotEmpty(t, out)
	}
	for _, source := range []string{
		`local t = {} t.t = t return t`, `return {[{}] = 1}`, `return {[print] = 1}`, `return setmetatable({}, {__index = error})`,
		`return table.unpack(table.create(100000, 1))`, `return 0/0, 1/0`, `return ("x"):rep(1e7)`, `return {[0/1] = 1}`,
	} {
		_, err := w.results(source)
		if err != nil {
			require.Contains(t, []luau.Code{luau.CodeConvert, luau.CodeLimit, luau.CodeRuntime}, luau.CodeOf(err), source)
		}
	}
	_, err = w.results(`local t = {a = {1, {}}} t.a[2].b = t return t`)
	requireCode(t, luau.CodeConvert, err)
	require.Contains(t, err.Error(), ".a[2].b")
	require.Equal(t, "fine\n", w.prints(`print("fine")`))
}

// A12: what a script may throw. The exit codes are in tests/cli.
func TestA12ThrownValuesAreReadable(t *testing.T) {
	for source, want := range map[string]string{
		`error({})`: "the error value {}", `error({message = "in the table"})`: "in the table", `error(nil)`: "nil", `error(false)`: "false", `error()`: "nil",
		`error(setmetatable({}, {__tostring = function() error("again") end}))`: "cannot be shown",
		`error(setmetatable({}, {__tostring = function() return 5 end}))`:       "5",
		`error(setmetatable({}, {__tostring = function() return "shown" end}))`: "shown",
		`error(print)`: "function", `error(12.5)`: "12.5", `error(buffer.create(1))`: "buffer", `error("a\0b", 0)`: "a\x00b", `error(("x"):rep(1e6), 0)`: strings.Repeat("x", 1e6),
	} {
		w := newWorld(t)
		err := w.run(source)
		require.Error(t, err, source)
		require.Contains(t, err.Error(), want, source)
		require.Equal(t, "fine\n", w.prints(`print("fine")`))
	}
}
