package regexmod

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
