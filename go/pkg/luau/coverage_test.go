package luau_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

func TestCoverage(t *testing.T) {
	s := newState(t, luau.Options{})
	code, err := luau.Compile("=t", "local function f(x)\n\tif x then\n\t\treturn 1\n\tend\n\n\treturn 2\nend\nf(true)\nf(true)", luau.CompileOptions{Coverage: true})
	require.NoError(t, err)
	chunk, err := s.Load(code, "=t", luau.LoadOptions{})
	require.NoError(t, err)
	_, err = chunk.Call(context.Background())
	require.NoError(t, err)
	list, err := s.Coverage(chunk)
	require.NoError(t, err)
	require.Len(t, list, 2)
	byName := map[string]luau.FunctionCoverage{}
	for _, f := range list {
		byName[f.Name] = f
	}
	f := byName["f"]
	require.Equal(t, 1, f.Line)
	require.Equal(t, 1, f.Depth)
	require.Equal(t, []int{2, 2, -1, -1, 0}, f.Hits[1:6])
	require.Equal(t, 1, byName[""].Hits[8])

	v, err := s.Do(context.Background(), "=p", "return print")
	require.NoError(t, err)
	_, err = s.Coverage(v[0].(*luau.Function))
	require.ErrorContains(t, err, "coverage is of a loaded chunk")
}

func TestCountedChecks(t *testing.T) {
	s := newState(t, luau.Options{})
	for count, want := range map[bool]uint64{false: 0, true: 4} {
		code, err := luau.Compile("=t", "assert(true) for i = 1, 2 do assert(i, 'x') end return pcall(function() assert(false, 'no') end)", luau.CompileOptions{CountChecks: count})
		require.NoError(t, err)
		chunk, err := s.Load(code, "=t", luau.LoadOptions{})
		require.NoError(t, err)
		out, err := chunk.Call(context.Background())
		require.NoError(t, err)
		require.Equal(t, []any{false, "t:1: no"}, out)
		stats, err := s.Stats()
		require.NoError(t, err)
		if count {
			require.Equal(t, want, stats.Checks)
		}
	}
}
