package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// What runs before the script does so in every invocation, and the script's top level sees what it did.
func TestBeforeRunsBeforeTheTopLevelEachTime(t *testing.T) {
	pool, err := engine.NewPool(&engine.Config{}, engine.Program{
		Chunk: "=x", Source: "top = word .. math.random(1, 1000000) .. os.time() function invoke() end",
		Around: "local n = 0 return function(globals) n += 1 return globals.top, n, globals.word end",
		Before: "math.randomseed(42) word = (word or '') .. 'x' os = {time = function() return '-at' end}",
	}, engine.PoolOptions{})
	require.NoError(t, err)
	defer pool.Close()
	var tops []string
	for range 4 {
		require.NoError(t, pool.Invoke(t.Context(), func(values luau.Values) error {
			var top, word string
			var n int
			err := values.Scan(&top, &n, &word)
			require.Equal(t, 1, n)
			require.Equal(t, "x", word)
			tops = append(tops, top)
			return err
		}))
	}
	require.NotEmpty(t, tops[0])
	for _, top := range tops {
		require.Equal(t, tops[0], top)
		require.Contains(t, top, "-at", "the code was loaded before the library was replaced")
	}
	_, err = engine.NewPool(&engine.Config{}, engine.Program{Chunk: "=x", Before: "this is no Luau"}, engine.PoolOptions{})
	require.Error(t, err)
}
