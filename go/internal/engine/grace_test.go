package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// unbreakable are those of the endless scripts that Luau cannot break off where they are.
var unbreakable = map[string]bool{
	"xpcall handler": true, "metamethod": true, "tostring": true, "error's tostring": true, "sort comparator": true,
	"gsub callback": true, "concat": true, "host's call": true,
}

var errStop = errors.New("the user had enough")

// stopped runs source with a grace, and cancels it once it signals.
func (w *world) stopped(grace time.Duration, source string) error {
	return w.stoppedAs("=t", grace, source)
}

func (w *world) stoppedAs(chunk string, grace time.Duration, source string) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		<-w.probe.signal
		cancel(errStop)
	}()
	return w.vm.RunSource(ctx, chunk, source, engine.RunOptions{Grace: grace})
}

const signal = `__native.probe_signal("now"); `

func requireStopped(t *testing.T, err error) {
	t.Helper()
	requireCode(t, luau.CodeCancelled, err)
	require.ErrorIs(t, err, errStop)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, luau.IsKilled(err))
}

func TestRunsAreBrokenOffWithinTheGrace(t *testing.T) {
	for _, native := range []bool{false, true} {
		for name, source := range endless {
			if unbreakable[name] {
				continue
			}
			if native {
				name += " in native code"
			}
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				w.config.Native = native
				require.NoError(t, w.run(`kept = {1}`))
				requireStopped(t, w.stopped(patience, signal+source))
				require.Equal(t, "1\n", w.prints(`print(#kept)`))
			})
		}
	}
}

func TestRunsAreKilledAfterTheGrace(t *testing.T) {
	for name := range unbreakable {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			err := w.stopped(20*time.Millisecond, signal+endless[name])
			requireCode(t, luau.CodeCancelled, err)
			require.ErrorIs(t, err, errStop)
			if name != "host's call" { // which may find the context over before it begins
				require.True(t, luau.IsKilled(err))
			}
		})
	}
}

func TestRunsThatWaitAreBrokenOff(t *testing.T) {
	for name, source := range map[string]string{
		"sleep":          `__native.sleep(1e6)`,
		"host function":  `__native.probe_wait()`,
		"pcall":          `while true do pcall(__native.probe_wait) end`,
		"coroutine":      `co = coroutine.create(function() __native.sleep(1e6) end) coroutine.resume(co)`,
		"task":           async + `async.await(async.spawn(function() while true do __native.sleep(1e6) end end))`,
		"tasks that run": async + `for i = 1, 10 do async.spawn(function() while true do end end) end while true do end`,
		"deadlock": async + `
			async.spawn(function() while true do pcall(function() async.channel(1):receive() end) end end) __native.sleep(1e6)`,
		"main is over":   async + `async.spawn(function() __native.sleep(1e6) end)`,
		"stopped clock":  `__native.async.freeze() __native.probe_wait()`,
		"sleeps at once": `while true do __native.sleep(0) end`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withAsync(t))
			require.NoError(t, w.run(async+`kept = {1}`)) // modules stay
			before := w.refs()
			requireStopped(t, w.stopped(patience, signal+source))
			require.Equal(t, 2, w.probe.counted("end"))
			require.Equal(t, "1\n", w.prints(`print(#kept)`))
			require.LessOrEqual(t, w.refs(), before)
			require.Equal(t, "slept\n", w.prints(`__native.sleep(1) print("slept")`))
		})
	}
}

func (w *world) refs() uint64 {
	stats, err := w.vm.State().Stats()
	require.NoError(w.t, err)
	return stats.Refs
}

// What a script still has of a run that was broken off is dead, not stuck.
func TestCoroutinesOfABrokenRunAreDead(t *testing.T) {
	for name, source := range map[string]string{
		"running": `while true do end`, "waiting": `__native.sleep(1e6)`,
		"in pcall": `pcall(function() while true do end end)`, "inner": `coroutine.wrap(function() while true do end end)()`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			requireStopped(t, w.stopped(patience, `
				local seen = 41
				count = function() seen += 1 return seen end
				idle = coroutine.create(function() coroutine.yield() return "idle" end)
				coroutine.resume(idle)
				main = coroutine.running()
				co = coroutine.create(function() outer = coroutine.running() `+signal+source+` end)
				coroutine.resume(co)`))
			require.Equal(t, "dead\tdead\tdead\tfalse\tcannot resume dead coroutine\n", w.prints(
				`print(coroutine.status(co), coroutine.status(main), coroutine.status(outer), coroutine.resume(co))`))
			require.Equal(t, "true\tidle\t42\n", w.prints(`local ok, what = coroutine.resume(idle) print(ok, what, count())`))
		})
	}
}

// A module whose load was cut short is loaded again.
func TestAModuleThatWasBrokenOffLoadsAgain(t *testing.T) {
	dir := tree(t, map[string]string{"slow.luau": `times = (times or 0) + 1
		if __native.probe_count("load") and wait_for_it then __native.probe_signal("now") __native.sleep(1e6) end return "loaded"`})
	w := newWorld(t, withResolver(resolverOf(t, dir)))
	requireStopped(t, w.stoppedAs("@"+dir+"/main.luau", patience, `wait_for_it = true require("./slow")`))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, w.vm.RunSource(ctx, "@"+dir+"/main.luau", `wait_for_it = false print(require("./slow"))`, engine.RunOptions{}))
	require.Equal(t, "loaded\n", w.printed())
	require.Equal(t, 2, w.probe.counted("load"))
}

// A run under a context that is over does not begin, and leaves nothing behind.
func TestARunThatIsOverBeforeItBegins(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errStop)
	requireStopped(t, w.vm.RunSource(ctx, "=t", `started = true`, engine.RunOptions{Grace: patience}))
	require.Equal(t, "nil\n", w.prints(`print(started)`))
}

func TestManyBrokenRunsLeaveNothingBehind(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	w := newWorld(t, withAsync(t))
	source := async + `
		local function deep(n) if n == 0 then ` + signal + ` while true do %s end end coroutine.wrap(deep)(n - 1) end
		local garbage = table.create(10000, 1)
		for i = 1, 5 do async.spawn(function() __native.probe_wait(#garbage) end) end
		async.spawn(function() local own = table.create(1000, 1) pcall(function() while true do end end) end)
		deep(5)`
	round := func(i int) {
		requireStopped(t, w.stopped(patience, fmt.Sprintf(source, [2]string{"", "__native.sleep(0)"}[i%2])))
	}
	measure := func() (memory, refs uint64) {
		require.NoError(t, w.vm.State().Collect())
		stats, err := w.vm.State().Stats()
		require.NoError(t, err)
		return stats.MemoryUsed, stats.Refs
	}
	for i := range 10 {
		round(i)
	}
	memory, refs := measure()
	goroutines := runtime.NumGoroutine()
	for i := range rounds {
		round(i)
	}
	memoryAfter, refsAfter := measure()
	require.LessOrEqual(t, refsAfter, refs)
	require.Less(t, memoryAfter, memory+64<<10)
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+5 }, patience, time.Millisecond)
}
