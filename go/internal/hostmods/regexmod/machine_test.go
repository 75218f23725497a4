package regexmod

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/modtest"
)

// What a search takes is charged for it: package regexp allocates a thread with all
// groups for each instruction.
func TestMachinesAreCounted(t *testing.T) {
	for name, c := range map[string]struct{ pattern, text string }{
		"groups":       {strings.Repeat("(x)?", 200), strings.Repeat("x", 3000)},
		"steps":        {strings.Repeat("x?", 3000), strings.Repeat("x", 3000)},
		"repetitions":  {`x{1,900}x{1,900}x{1,900}`, strings.Repeat("x", 3000)},
		"backtracking": {`(?:` + strings.Repeat("b??", 100) + `a)*`, strings.Repeat("a", 800)},
	} {
		p, err := compile(c.pattern)
		require.NoError(t, err, name)
		runtime.GC() // twice: what is pooled goes
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p.re.FindSubmatchIndex([]byte(c.text))
		runtime.ReadMemStats(&after)
		took := int64(after.TotalAlloc - before.TotalAlloc)
		charged := p.machine.memory(len(c.text))
		t.Logf("%s: took %d, charged %d", name, took, charged)
		// A list that grows leaves its old places behind, which the collector takes.
		require.LessOrEqual(t, took, 3*charged, name)
	}
}

func TestMachinesAreCharged(t *testing.T) {
	vm := modtest.New(t, &Module{}, Stub)
	p, err := compile(strings.Repeat("(x)?", 200))
	require.NoError(t, err)
	const search = `return pcall(__native.regex.find, string.rep("(x)?", 200), "x")`
	require.Equal(t, []any{true, 1.0, 1.0}, vm.Run(t, search))
	for step := int64(1 << 40); step > 0; step /= 2 {
		for vm.Charge(step) {
		}
	}
	vm.Uncharge(p.machine.memory(1) / 2)
	out := vm.Run(t, search)
	require.Equal(t, false, out[0])
	require.Equal(t, "regex.find: the memory limit was reached", out[1].(map[string]any)["message"])
}

func TestGroupsAreBounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("(x)?", 2000), strings.Repeat("(x)", 250) + "x{900}x{900}", strings.Repeat("()", 300) + "x{900}"} {
		_, err := compile(text)
		require.Error(t, err, "%.20s", text)
		require.Equal(t, "limit", err.(interface{ ErrorCode() string }).ErrorCode(), "%.20s", text)
	}
	for _, text := range []string{strings.Repeat("(x)?", 200), strings.Repeat("(x)", 40) + "x{900}x{900}x{900}"} {
		p, err := compile(text)
		require.NoError(t, err, "%.20s", text)
		require.LessOrEqual(t, p.machine.memory(1<<20), int64(maxMachine+1<<20))
	}
}

func TestLongSearchesTakeTurns(t *testing.T) {
	i := &instance{searching: make(chan struct{}, maxOfVM)}
	var ends []func()
	for range maxOfVM {
		done, err := i.turn(t.Context())
		require.NoError(t, err)
		ends = append(ends, done)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := i.turn(ctx)
	require.ErrorIs(t, err, context.Canceled)
	for _, end := range ends {
		end()
	}
	done, err := i.turn(t.Context())
	require.NoError(t, err)
	done()
	require.Empty(t, searching)
	require.Empty(t, i.searching)
}

func TestLongSearchesWaitForOthers(t *testing.T) {
	vm := modtest.New(t, &Module{}, Stub)
	for range cap(searching) {
		searching <- struct{}{}
	}
	over := make(chan error)
	go func() {
		_, err := vm.State.Do(t.Context(), "=test", `__native.regex.find("(x)?y", string.rep("x", 200000))`)
		over <- err
	}()
	select {
	case <-over:
		require.Fail(t, "it did not wait")
	case <-time.After(100 * time.Millisecond):
	}
	for range cap(searching) {
		<-searching
	}
	require.NoError(t, <-over)
	require.Equal(t, []string{"regex.find"}, vm.Awaited)
}
