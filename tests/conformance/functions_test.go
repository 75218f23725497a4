package conformance

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// function runs a script and gives one of its global functions.
func function(t *testing.T, script, name string, m mode) *luau.Function {
	t.Helper()
	s, err := luau.New(luau.Options{MemoryLimit: 64 << 20})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, runIn(s, script, scripts(t)[script], m))
	f, err := s.Global(name)
	require.NoError(t, err)
	require.IsType(t, &luau.Function{}, f, "%s has no function %s", script, name)
	return f.(*luau.Function)
}

// TestEndlessFunctions ends each function of interrupt.luau that would run for ever, or for longer than anybody waits.
func TestEndlessFunctions(t *testing.T) {
	names := []string{"hangpcall"}
	for i := range 10 {
		if i+1 != 9 { // recursion, which the limit of the stack ends before any deadline
			names = append(names, fmt.Sprintf("infloop%d", i+1))
		}
	}
	for i := range 6 {
		names = append(names, fmt.Sprintf("hang%d", i+1))
	}
	for _, m := range modes() {
		for _, name := range names {
			t.Run(m.String()+"/"+name, func(t *testing.T) {
				f := function(t, "interrupt.luau", name, m)
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
				defer cancel()
				begun := time.Now()
				_, err := f.Call(ctx)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Less(t, time.Since(begun), 2*time.Second)
			})
		}
	}
}

// TestRaisedErrors calls the functions of exceptions.luau, each of which fails in its own way.
func TestRaisedErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		code    luau.Code // empty: no error
		message string
		value   any
	}{
		{name: "empty_function"},
		{name: "pass_number_to_error", code: luau.CodeRuntime, message: "42"},
		{name: "pass_string_to_error", code: luau.CodeRuntime, message: "string argument"},
		{name: "pass_table_to_error", code: luau.CodeRuntime, value: map[string]any{"field": "value"}},
		{name: "infinite_recursion_error", code: luau.CodeRuntime, message: "stack overflow"},
	} {
		for _, m := range modes() {
			t.Run(m.String()+"/"+c.name, func(t *testing.T) {
				_, err := function(t, "exceptions.luau", c.name, m).Call(context.Background())
				if c.code == "" {
					require.NoError(t, err)
					return
				}
				var e *luau.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, c.code, e.Code)
				require.Contains(t, e.Message, c.message)
				require.Equal(t, c.value, e.Value)
				require.NotEmpty(t, e.Frames)
			})
		}
	}
}
