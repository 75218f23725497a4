package luau_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// What a host function does not look at must not stay referenced.
func TestArgumentsLeaveNoReferences(t *testing.T) {
	s := newState(t, luau.Options{})
	ignore := luau.Func{Name: "ignore", Do: func(c *luau.Call) error { return nil }}
	refuse := luau.Func{Name: "refuse", Do: func(c *luau.Call) error { _, err := c.Number(0); return err }}
	require.NoError(t, s.SetGlobal("ignore", ignore))
	require.NoError(t, s.SetGlobal("refuse", refuse))
	_, err := s.Do(context.Background(), "=t", `
		for i = 1, 1000 do
			ignore(print, {f = print, list = {coroutine.create(print), "text", {1.5, 2}}}, vector.create(1, 2, 3), 5i, buffer.create(2))
			pcall(refuse, print)
			pcall(ignore, print, setmetatable({[print] = 1}, {}))
		end`)
	require.NoError(t, err)
	stats, err := s.Stats()
	require.NoError(t, err)
	require.Zero(t, stats.Refs)
}

func TestArgumentReadTwiceIsOneObject(t *testing.T) {
	s := newState(t, luau.Options{})
	var kept *luau.Function
	f := luau.Func{Name: "f", Do: func(c *luau.Call) error {
		a, err := c.Function(0)
		if err != nil {
			return err
		}
		b, err := c.Function(0)
		if err != nil {
			return err
		}
		all, err := c.Args().All()
		require.Same(t, a, b)
		require.Same(t, a, all[0])
		kept = a
		return err
	}}
	require.NoError(t, s.SetGlobal("f", f))
	_, err := s.Do(context.Background(), "=t", `f(function() return "kept" end)`)
	require.NoError(t, err)
	out, err := kept.Call(context.Background())
	require.NoError(t, err)
	require.Equal(t, []any{"kept"}, out)
	kept.Release()
	_, err = kept.Call(context.Background())
	require.Error(t, err)
}
