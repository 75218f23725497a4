package luau_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

type dialOptions struct {
	Host    string         `luau:"host"`
	Port    uint16         `luau:"port"`
	Retries *int           `luau:"retries"`
	Tags    []string       `luau:"tags"`
	Address netip.Addr     `luau:"address"`
	More    map[string]any `luau:"more"`
}

type contextKey struct{}

func TestFuncOf(t *testing.T) {
	s := newState(t, luau.Options{})
	for name, fn := range map[string]any{
		"add":    func(a, b int) int { return a + b },
		"join":   func(sep string, parts ...string) string { return strings.Join(parts, sep) },
		"maybe":  func(n *float64) bool { return n == nil },
		"both":   func(ok bool) (string, int, error) { return "x", 2, nil },
		"fail":   func() error { return &luau.Error{Code: "not_found", Message: "no such thing"} },
		"plain":  func() (int, error) { return 0, errors.New("plain") },
		"ctx":    func(ctx context.Context, n int) string { return ctx.Value(contextKey{}).(string) },
		"count":  func(c *luau.Call, first any) int { return c.Len() },
		"dial":   func(o dialOptions) string { return o.Host },
		"apply":  func(f *luau.Function, v any) ([]any, error) { return f.Call(background, v) },
		"blob":   func(b []byte) int { return len(b) },
		"none":   func() {},
		"panics": func() { panic("ouch") },
		"any":    func(v any) any { return v },
		"maps":   func(m map[string]int) int { return len(m) },
	} {
		require.NoError(t, s.SetGlobal(name, luau.FuncOf("lib."+name, fn)))
	}
	ctx := context.WithValue(background, contextKey{}, "from the context")
	for source, want := range map[string]any{
		"add(1, 2)":                     3.0,
		"add(1, 2, 'surplus')":          3.0,
		"join('-', 'a', 'b')":           "a-b",
		"join('-')":                     "",
		"maybe()":                       true,
		"maybe(nil)":                    true,
		"maybe(1)":                      false,
		"select(2, both(true))":         2.0,
		"ctx(1)":                        "from the context",
		"count(1, 2, 3)":                3.0,
		"count()":                       0.0,
		"dial({host = 'h', port = 80})": "h",
		"blob('abc')":                   3.0,
		"blob(buffer.create(5))":        5.0,
		"select('#', none())":           0.0,
		"any(nil)":                      nil,
		"maps({})":                      0.0,
		"apply(function(x) return x end, 'y')[1]": "y",
		"select(2, pcall(fail)).code":             "not_found",
		"select(2, pcall(plain)).code":            "host",
		"select(2, pcall(panics)).code":           "panic",
	} {
		out, err := s.Do(ctx, "=t", "return "+source)
		require.NoError(t, err, source)
		require.Equal(t, want, out[0], source)
	}
	for source, message := range map[string]string{
		"add(1)":                        "lib.add: argument 2 must be a whole number, got no value",
		"add(1, nil)":                   "lib.add: argument 2 must be a whole number, got nil",
		"add('1', 2)":                   "lib.add: argument 1 must be a whole number, got string",
		"add(1.5, 2)":                   "lib.add: argument 1 must be a whole number, got 1.5",
		"join('-', 'a', {})":            "lib.join: argument 3 must be a string, got table",
		"maybe('x')":                    "lib.maybe: argument 1 must be a number, got string",
		"both(0)":                       "lib.both: argument 1 must be a boolean, got number",
		"dial()":                        "lib.dial: argument 1 must be a table, got no value",
		"dial({port = 65536})":          "lib.dial: argument 1: .port must fit a Go uint16, got 65536",
		"dial({port = '80'})":           "lib.dial: argument 1: .port must be a whole number not below 0, got string",
		"dial({tags = {'a', 1}})":       "lib.dial: argument 1: .tags[2] must be a string, got number",
		"dial({address = 'nowhere'})":   "lib.dial: argument 1: .address must be a string that is a netip.Addr: ParseAddr(\"nowhere\"): unable to parse IP",
		"apply(1)":                      "lib.apply: argument 1 must be a function, got number",
		"blob(1)":                       "lib.blob: argument 1 must be a string or a buffer, got number",
		"maps({1})":                     "lib.maps: argument 1 must be a table, got table",
		"maps({x = 'y'})":               "lib.maps: argument 1: .x must be a whole number, got string",
		"ctx()":                         "lib.ctx: argument 1 must be a whole number, got no value",
		"add(coroutine.create(add), 1)": "lib.add: argument 1 must be a whole number, got thread",
	} {
		out, err := s.Do(ctx, "=t", "return select(2, pcall(function() return "+source+" end))")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"code": "invalid_argument", "message": message}, out[0], source)
	}
	for _, bad := range []any{nil, 5, (func())(nil)} {
		require.Panics(t, func() { luau.FuncOf("x", bad) })
	}
}

func TestArgumentReaders(t *testing.T) {
	s := newState(t, luau.Options{})
	read := map[string]func(*luau.Call) (any, error){
		"number": func(c *luau.Call) (any, error) { return c.Number(0) },
		"int":    func(c *luau.Call) (any, error) { return c.Int(0) },
		"bool":   func(c *luau.Call) (any, error) { return c.Bool(0) },
		"text":   func(c *luau.Call) (any, error) { return c.Text(0) },
		"bytes":  func(c *luau.Call) (any, error) { return c.Bytes(0) },
		"map":    func(c *luau.Call) (any, error) { return c.Map(0) },
		"list":   func(c *luau.Call) (any, error) { return c.List(0) },
		"func":   func(c *luau.Call) (any, error) { return c.Function(0) },
		"value":  func(c *luau.Call) (any, error) { return c.Value(0) },
		"opts": func(c *luau.Call) (any, error) {
			o := dialOptions{Host: "default"}
			err := c.BindOpt(0, &o)
			return o.Host, err
		},
		"bind":     func(c *luau.Call) (any, error) { var o dialOptions; err := c.Bind(0, &o); return o.Host, err },
		"number?":  func(c *luau.Call) (any, error) { return c.NumberOpt(0, 1.5) },
		"int?":     func(c *luau.Call) (any, error) { return c.IntOpt(0, 7) },
		"bool?":    func(c *luau.Call) (any, error) { return c.BoolOpt(0, true) },
		"text?":    func(c *luau.Call) (any, error) { return c.TextOpt(0, "d") },
		"bytes?":   func(c *luau.Call) (any, error) { return c.BytesOpt(0) },
		"map?":     func(c *luau.Call) (any, error) { return c.MapOpt(0) },
		"list?":    func(c *luau.Call) (any, error) { return c.ListOpt(0) },
		"func?":    func(c *luau.Call) (any, error) { return c.FunctionOpt(0) },
		"type":     func(c *luau.Call) (any, error) { return c.Type(0), nil },
		"bad bind": func(c *luau.Call) (any, error) { return nil, c.Bind(0, dialOptions{}) },
	}
	for _, c := range []struct {
		name, argument string
		want           any // or the message of the error
	}{
		{"number", "1.5", 1.5}, {"number", "5i", "number: argument 1 must be a number, got integer"},
		{"int", "-3", -3}, {"int", "5i", 5}, {"int", "1e300", "int: argument 1 must be a whole number, got 1e+300"},
		{"int", "0/0", "int: argument 1 must be a whole number, got nan"},
		{"int", "'1'", "int: argument 1 must be a whole number, got string"},
		{"bool", "false", false}, {"bool", "nil", "bool: argument 1 must be a boolean, got nil"},
		{"text", "'a\\0b'", "a\x00b"}, {"text", "buffer.create(1)", "text: argument 1 must be a string, got buffer"},
		{"text", "", "text: argument 1 must be a string, got no value"},
		{"text", "print", "text: argument 1 must be a string, got function"},
		{"bytes", "'x'", []byte("x")}, {"bytes", "buffer.fromstring('yz')", []byte("yz")},
		{"map", "{a = 1}", map[string]any{"a": 1.0}}, {"map", "{}", map[string]any{}},
		{"map", "{1, 2}", "map: argument 1 must be a table with string keys only"},
		{"map", "{'x', a = 1}", "map: argument 1 must be a table with string keys only"},
		{"list", "{1, 'x'}", []any{1.0, "x"}}, {"list", "{}", []any{}}, {"list", "{a = 1}", "list: argument 1 must be an array"},
		{"list", "1", "list: argument 1 must be an array, got number"},
		{"func", "1", "func: argument 1 must be a function, got number"},
		{"value", "{nested = {1}}", map[string]any{"nested": []any{1.0}}}, {"value", "", nil},
		{"opts", "", "default"}, {"opts", "{host = 'h'}", "h"}, {"opts", "{host = 1}", "opts: argument 1: .host must be a string, got number"},
		{"bind", "nil", "bind: argument 1 must be a table, got nil"}, {"bind", "{host = 'h', unknown = 1}", "h"},
		{"number?", "", 1.5}, {"number?", "2", 2.0}, {"number?", "'x'", "number?: argument 1 must be a number, got string"},
		{"int?", "nil", 7}, {"bool?", "", true}, {"bool?", "false", false}, {"text?", "", "d"}, {"text?", "''", ""},
		{"bytes?", "", []byte(nil)}, {"map?", "", map[string]any(nil)}, {"list?", "", []any(nil)}, {"func?", "", (*luau.Function)(nil)},
		{"type", "coroutine.create(print)", "thread"}, {"type", "vector.create(1,2,3)", "vector"}, {"type", "", "nil"},
		{"bad bind", "{}", "Bind needs a pointer, got luau_test.dialOptions"},
	} {
		var got any
		var failed error
		define(t, s, "f", func(call *luau.Call) error { return nil })
		f := luau.Func{Name: c.name, Do: func(call *luau.Call) error { got, failed = read[c.name](call); return nil }}
		require.NoError(t, s.SetGlobal("f", f))
		run(t, s, "f("+c.argument+")")
		if message, isText := c.want.(string); isText && failed != nil {
			require.EqualError(t, failed, message)
			continue
		}
		require.NoError(t, failed, "%s(%s)", c.name, c.argument)
		require.Equal(t, c.want, got, "%s(%s)", c.name, c.argument)
	}
}
