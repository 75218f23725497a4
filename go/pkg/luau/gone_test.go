package luau_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Gone is called once for each function that scripts lost, and for those they never got.
func TestGone(t *testing.T) {
	s := newState(t, luau.Options{})
	gone := map[float64]int{}
	do := func(*luau.Call) error { return nil }
	require.NoError(t, s.SetGlobal("make", luau.Func{Name: "make", Do: func(c *luau.Call) error {
		n, err := c.Number(0)
		if err != nil {
			return err
		}
		f := luau.Func{Name: "made", Do: do, Gone: func() { gone[n]++ }}
		if n == 0 {
			err := c.Return(f, make(chan int)) // which no script can get
			return errors.Join(errors.New("refused"), err)
		}
		return c.Return(f)
	}}))
	run := func(source string) {
		t.Helper()
		_, err := s.Do(t.Context(), "=gone", source)
		require.NoError(t, err)
	}
	run(`kept = make(1) for i = 2, 40 do make(i) end`)
	require.NoError(t, s.Sweep())
	require.Zero(t, gone[1])
	require.NoError(t, s.Collect())
	require.Len(t, gone, 39)
	require.Zero(t, gone[1])
	run(`kept = nil pcall(make, 0)`)
	require.NoError(t, s.Collect())
	require.Len(t, gone, 41)
	for n, times := range gone {
		require.Equal(t, 1, times, "of %v", n)
	}
	require.NoError(t, s.Sweep())

	run(`kept = make(50)`)
	require.NoError(t, s.Close())
	require.Zero(t, gone[50], "what goes with the State goes unsaid")
}
