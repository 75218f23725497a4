package luau_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// An error that reaches the host names what had no value; what a script catches is as Luau has it.
func TestErrorsNameTheirSubject(t *testing.T) {
	s := newState(t, luau.Options{})
	ctx := context.Background()
	for source, want := range map[string]string{
		"local lib = { encode = print } lib.encod({})":                     `lib has no "encod"; did you mean lib.encode?`,
		"local lib = { encode = print, decode = print } lib.stringify({})": `lib has no "stringify"; it has decode, encode`,
		"local t = {} t.x()":                   `t has no "x"`,
		"local s = {} s:run()":                 `s has no method "run"`,
		"prnt()":                               `there is no global "prnt"; did you mean print?`,
		"nothing_like_it()":                    `there is no global "nothing_like_it"`,
		"local n = ... print(n.x)":             "n is nil",
		"local f = tostring(1) f()":            "f is of type string",
		"print(tonumber('x') + 1)":             "tonumber(...) is nil",
		"coroutine.wrap(function() q() end)()": `there is no global "q"`,
		"local t = {} for i = 1, 99 do t['name' .. i] = i end print(t.other.x)": `t has no "other"; it has name1, name10, name11, ` +
			`name12, name13, name14, name15, name16, name17, name18, name19, name2 ...`,
	} {
		_, err := s.Do(ctx, "=x", source)
		var e *luau.Error
		require.ErrorAs(t, err, &e, source)
		require.NotNil(t, e.Subject, source)
		require.Equal(t, want, e.Subject.String(), source)
		require.Contains(t, e.Message, "attempt to ", source)
	}
	for _, source := range []string{"error('attempt to call a nil value')", "error({})", "local x = (a or b)()"} {
		_, err := s.Do(ctx, "=x", source)
		var e *luau.Error
		require.ErrorAs(t, err, &e, source)
		require.Nil(t, e.Subject, source)
	}
	values, err := s.Do(ctx, "=x", "return select(2, pcall(function() local t = {} t.x() end))")
	require.NoError(t, err)
	require.Equal(t, []any{"x:1: attempt to call a nil value"}, values)
}

// A host function that lets a script's error through keeps what it was about.
func TestSubjectsPassHostFunctions(t *testing.T) {
	s := newState(t, luau.Options{})
	require.NoError(t, s.SetGlobal("apply", luau.FuncOf("apply", func(ctx context.Context, f *luau.Function) error {
		_, err := f.Call(ctx)
		return err
	})))
	_, err := s.Do(context.Background(), "=x", "apply(function() local t = {} t.x() end)")
	var e *luau.Error
	require.ErrorAs(t, err, &e)
	require.NotNil(t, e.Subject)
	require.Equal(t, "t.x", e.Subject.Expr)
}
