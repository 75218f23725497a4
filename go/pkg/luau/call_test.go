package luau_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// A host function may use the State that called it, to any depth that the limit allows; no other
// goroutine may meanwhile.
func TestStateInsideHostFunctionBelongsToItsGoroutine(t *testing.T) {
	s := newState(t, luau.Options{})
	ctx := context.Background()
	busy := func() error {
		out := make(chan error)
		go func() {
			_, err := s.Stats()
			out <- err
		}()
		return <-out
	}
	deepest := 0
	require.NoError(t, s.SetGlobal("dive", luau.Func{Name: "dive", Do: func(c *luau.Call) error {
		n, err := c.Int(0)
		if err != nil {
			return err
		}
		deepest = max(deepest, n)
		require.Equal(t, luau.CodeBusy, luau.CodeOf(busy()))
		if n == 5 {
			return c.ReturnNumber(0)
		}
		got, err := c.State().Do(ctx, "=deeper", "return 1 + dive(...)", n+1)
		if err != nil {
			return err
		}
		require.Equal(t, luau.CodeBusy, luau.CodeOf(busy()), "a nested use must not free the State")
		return c.Return(got...)
	}}))
	got, err := s.Do(ctx, "=t", "return dive(1)")
	require.NoError(t, err)
	require.Equal(t, []any{4.0}, got)
	require.Equal(t, 5, deepest)
	require.NoError(t, busy(), "the State is free after the run")
}

func TestCloseInsideHostFunctionIsRefused(t *testing.T) {
	s := newState(t, luau.Options{})
	require.NoError(t, s.SetGlobal("close", luau.Func{Name: "close", Do: func(c *luau.Call) error { return s.Close() }}))
	got, err := s.Do(context.Background(), "=t", "local ok, e = pcall(close) return ok, e.code")
	require.NoError(t, err)
	require.Equal(t, []any{false, string(luau.CodeBusy)}, got)
}

// What a script prints reaches Output while the script runs: the State is in use then.
func TestStateIsBusyInsideOutput(t *testing.T) {
	var s *luau.State
	var inOutput error
	s = newState(t, luau.Options{Output: func([]byte) { _, inOutput = s.Stats() }})
	require.NoError(t, s.SetGlobal("nested", luau.Func{Name: "nested", Do: func(c *luau.Call) error {
		_, err := s.Do(context.Background(), "=n", "print('x') for i = 1, 3 do end")
		return err
	}}))
	_, err := s.Do(context.Background(), "=t", "nested()")
	require.NoError(t, err)
	require.Equal(t, luau.CodeBusy, luau.CodeOf(inOutput))
}

// What was printed is given before a host call shows anything, and before the script waits or blocks.
func TestOutputComesBeforeWhatIsSeen(t *testing.T) {
	var seen []string
	s := newState(t, luau.Options{Output: func(text []byte) { seen = append(seen, string(text)) }})
	call := func(c *luau.Call) error {
		seen = append(seen, c.Name())
		return nil
	}
	require.NoError(t, s.SetGlobal("loud", luau.Func{Name: "loud", Do: call, MayWait: true}))
	require.NoError(t, s.SetGlobal("quiet", luau.Func{Name: "quiet", Do: call, MayWait: true, Quiet: true}))
	require.NoError(t, s.SetGlobal("wait", luau.Func{Name: "wait", MayWait: true, Quiet: true, Do: func(c *luau.Call) error {
		c.Wait(1)
		return nil
	}}))
	for source, want := range map[string][]string{
		"print(1) loud() print(2)":  {"1\n", "loud", "2\n"},
		"print(1) quiet() print(2)": {"quiet", "1\n2\n"},
		"print(1) wait() print(2)":  {"1\n", "2\n"},
		"table.sort({1, 2}, function() print(1) quiet() return false end)": {"1\n", "quiet"},
	} {
		seen = nil
		code, err := luau.Compile("=t", source, luau.CompileOptions{})
		require.NoError(t, err)
		f, err := s.Load(code, "=t", luau.LoadOptions{})
		require.NoError(t, err)
		id, out := s.Start(f, luau.StartOptions{})
		if out.Status == luau.StatusWaiting {
			out = s.Deliver(id, luau.ResumeOptions{})
		}
		require.NoError(t, out.Err)
		require.Equal(t, luau.StatusDone, out.Status)
		require.Equal(t, want, seen, source)
		s.Drop(id)
	}
}

// The last answer counts, whichever way it was given.
func TestLastAnswerOfHostFunctionCounts(t *testing.T) {
	s := newState(t, luau.Options{})
	answers := map[string]func(*luau.Call) error{
		"number": func(c *luau.Call) error { return c.ReturnNumber(math.Inf(-1)) },
		"text":   func(c *luau.Call) error { return c.ReturnString("t") },
		"values": func(c *luau.Call) error { return c.Return(true, "v") },
		"none":   func(c *luau.Call) error { return c.Return() },
	}
	want := map[string][]any{"number": {math.Inf(-1)}, "text": {"t"}, "values": {true, "v"}, "none": {}}
	for first, one := range answers {
		for second, two := range answers {
			require.NoError(t, s.SetGlobal("f", luau.Func{Name: "f", Do: func(c *luau.Call) error {
				if err := one(c); err != nil {
					return err
				}
				return two(c)
			}}))
			got, err := s.Do(context.Background(), "=t", "return f()")
			require.NoError(t, err)
			require.Equal(t, want[second], got, "%s, then %s", first, second)
		}
	}
}

// Arguments are read in any order, however many there are and of whatever kind.
func TestArgumentsInAnyOrder(t *testing.T) {
	s := newState(t, luau.Options{})
	const count = 12
	require.NoError(t, s.SetGlobal("f", luau.Func{Name: "f", Do: func(c *luau.Call) error {
		require.Equal(t, count, c.Len())
		for _, i := range []int{11, 0, 7, 8, 3, 9, 10, 1, 2, 4, 5, 6, 11} {
			v, err := c.Value(i)
			require.NoError(t, err)
			switch i % 4 {
			case 0:
				require.Equal(t, float64(i), v)
			case 1:
				require.Equal(t, "text", v)
			case 2:
				require.Equal(t, []any{1.0, "x"}, v)
			default:
				require.Nil(t, v)
			}
		}
		return c.Return()
	}}))
	_, err := s.Do(context.Background(), "=t",
		"f(0, 'text', {1, 'x'}, nil, 4, 'text', {1, 'x'}, nil, 8, 'text', {1, 'x'}, nil)")
	require.NoError(t, err)
}

// A run may be given host functions of its own, with an image as without.
func TestHostFunctionAmongArgumentsOfResetRun(t *testing.T) {
	needsImage(t)
	s := newState(t, luau.Options{})
	ctx := context.Background()
	out, err := s.Do(ctx, "=t", "return function(f) return f and f() end")
	require.NoError(t, err)
	f := out[0].(*luau.Function)
	require.NoError(t, s.Save())
	for i := range 3 {
		_, err := s.PrepareRun(luau.Limits{HostCalls: 10})
		require.NoError(t, err)
		give := luau.Func{Name: "give", Do: func(c *luau.Call) error { return c.ReturnNumber(float64(i)) }}
		_, o := s.Start(f, luau.StartOptions{Reset: true}, give)
		require.NoError(t, o.Err)
		got, err := o.Values.All()
		require.NoError(t, err)
		require.Equal(t, []any{float64(i)}, got)
	}
}

// A failed start leaves the VM of the run before, whose host functions are gone.
func TestHostFunctionOfEarlierRun(t *testing.T) {
	needsImage(t)
	s := newState(t, luau.Options{})
	ctx := context.Background()
	out, err := s.Do(ctx, "=t", "return function(f) kept = kept or f return kept() end")
	require.NoError(t, err)
	f := out[0].(*luau.Function)
	require.NoError(t, s.Save())
	_, err = f.Call(ctx, luau.Func{Name: "give", Do: func(c *luau.Call) error { return c.ReturnNumber(1) }})
	require.NoError(t, err)
	_, err = s.PrepareRun(luau.Limits{})
	require.NoError(t, err)
	_, o := s.Start(f, luau.StartOptions{Reset: true}, make(chan int))
	require.ErrorContains(t, o.Err, "chan int")
	_, err = f.Call(ctx)
	require.ErrorContains(t, err, "earlier run")
}
