package engine_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/asyncmod"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/luau"
	"github.com/hukilau/hukilau/libs"
)

const async = "local async = require('async') "

// withAsync gives scripts the async library. What it does is tested by tests/luau/test_async.luau.
func withAsync(t testing.TB) option {
	t.Helper()
	resolver, err := module.New(module.Options{Embedded: fs.FS(libs.FS)})
	require.NoError(t, err)
	return func(c *engine.Config) {
		c.Resolver = resolver
		c.Modules = append(c.Modules, asyncmod.Module{})
	}
}

func TestA08TaskFailsWhileAnotherGoesOn(t *testing.T) {
	w := newWorld(t, withAsync(t))
	err := w.run(async + `
		async.spawn(function()
			local function deep() error("oops") end
			async.sleep(0.001)
			deep()
		end)
		async.spawn(function() for i = 1, 3 do async.sleep(0.002) print("tick", i) end end)`)
	require.ErrorContains(t, err, "oops")
	require.Equal(t, "tick\t1\ntick\t2\ntick\t3\n", w.printed())
	require.Equal(t, []error{err}, w.failed, "reported when it happened")
	var e *luau.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "=t", e.Chunk)
	require.Equal(t, 3, e.Line)
	require.Contains(t, e.Traceback(), "t:3 in deep\nt:5\n")
}

func TestAsyncSleepRefusesWhatIsNoTime(t *testing.T) {
	w := newWorld(t, withAsync(t))
	require.Equal(t, strings.Repeat("async.sleep: argument 1 must be a number of seconds, 0 or more\n", 4), w.prints(async+`
		for _, bad in {-1, 0/0, "1", {}} do print(select(2, pcall(function() async.sleep(bad) end))) end`))
}

func TestErrorOfATaskThatIsAwaitedLaterIsForgiven(t *testing.T) {
	w := newWorld(t, withAsync(t))
	require.NoError(t, w.run(async+`
		local task = async.spawn(error, "early")
		async.sleep(0.001)
		print(task:join())`))
	require.Equal(t, "false\tearly\n", w.printed())
	require.Len(t, w.failed, 1)
}

func TestAwaitedErrorIsNotReported(t *testing.T) {
	w := newWorld(t, withAsync(t))
	requireCode(t, luau.CodeRuntime, w.run(async+`async.await(async.spawn(error, "x"))`))
	require.Empty(t, w.failed)
}

// What ends a task without its own code hearing of it still ends the wait for it.
func TestTaskThatYieldsOutsideOfACoroutine(t *testing.T) {
	out := newWorld(t, withAsync(t)).prints(async + `
		local ok, err = pcall(async.await, async.spawn(coroutine.yield, 1))
		print(ok, err)`)
	require.Equal(t, "false\tcoroutine.yield outside of a coroutine: nobody can resume this thread\n", out)
}

func TestTaskOutOfMemory(t *testing.T) {
	out := newWorld(t, withAsync(t)).prints(async + `
		local task = async.spawn(function() local t = {} while true do table.insert(t, buffer.create(1000000)) end end)
		local ok, err = pcall(async.await, task)
		print(ok, string.find(tostring(err), "memory") ~= nil)`)
	require.Equal(t, "false\ttrue\n", out)
}

func TestDeadlockEndsARun(t *testing.T) {
	w := newWorld(t, withAsync(t))
	requireCode(t, "deadlock", w.run(async+`async.channel():receive()`))
	// Caught again and again.
	requireCode(t, "deadlock", w.run(async+`while true do pcall(__native.async.park) end`))
	// In a task, while the main function has ended.
	requireCode(t, "deadlock", w.run(async+`async.spawn(function() async.channel():receive() end)`))
	require.Len(t, w.failed, 1)
}

func TestCancelReachesAHostCall(t *testing.T) {
	w := newWorld(t, withAsync(t))
	started := time.Now()
	require.NoError(t, w.run(async+`
		local task = async.spawn(function() __native.probe_wait() end)
		async.sleep(0.001)
		task:cancel()
		print(select(2, task:join()).code)`))
	require.Equal(t, "cancelled\n", w.printed())
	require.Less(t, time.Since(started), patience/2)
	require.Eventually(t, func() bool { return w.probe.counted("wait ended") == 1 }, patience, time.Millisecond)
}

func TestNothingOfTasksIsLeft(t *testing.T) {
	w := newWorld(t, withAsync(t))
	source := async + `
		for i = 1, 200 do
			local task = async.spawn(function() async.defer(print) async.timeout(60, async.sleep, 60) end)
			if i % 2 == 0 then async.sleep(0) task:cancel() end
		end
		async.spawn(function() __native.probe_wait() end)
		async.sleep(0.005)
		error("the end")`
	refs, memory := uint64(0), uint64(0)
	for i := range 20 {
		require.ErrorContains(t, w.run(source), "the end")
		require.NoError(t, w.run("return 1")) // what was dropped goes with the next use
		require.NoError(t, w.vm.State().Collect())
		stats, err := w.vm.State().Stats()
		require.NoError(t, err)
		if i == 5 {
			refs, memory = stats.Refs, stats.MemoryUsed
		}
		if i > 5 {
			require.LessOrEqual(t, stats.Refs, refs)
			require.Less(t, stats.MemoryUsed, memory+(64<<10))
		}
	}
}

func TestKillEndsTasks(t *testing.T) {
	w := newWorld(t, withAsync(t))
	late, err := w.deadline(50*time.Millisecond, async+`
		for i = 1, 100 do async.spawn(function() async.defer(function() async.sleep(60) end) while true do pcall(async.sleep, 0.001) end end) end
		async.spawn(function() while true do end end)
		async.sleep(60)`)
	requireEnds(t, luau.CodeTimeout, soon, late, err)
}

func TestInvocationFailsWithItsTask(t *testing.T) {
	w := newWorld(t, withAsync(t))
	code, err := luau.Compile("=t", async+`async.spawn(error, "in a task") async.sleep(60)`, luau.CompileOptions{})
	require.NoError(t, err)
	fn, err := w.vm.State().Load(code, "=t", luau.LoadOptions{})
	require.NoError(t, err)
	err = w.vm.Run(context.Background(), fn, engine.RunOptions{Mode: engine.EndWithMain}, nil)
	require.ErrorContains(t, err, "in a task")
}

func TestStoppedClock(t *testing.T) {
	w := newWorld(t, withAsync(t))
	started := time.Now()
	out := w.prints(async + `
		local n = __native.async
		n.freeze()
		local start = n.now()
		for i = 3, 1, -1 do
			async.spawn(function() __native.sleep(i * 3600000) print(i, math.round(n.now() - start)) end)
		end
		local every = async.spawn(function() while true do async.sleep(2000) end end)
		n.advance(7200)
		print("two hours")
		n.advance(3600)
		every:cancel()
		print(pcall(async.timeout, 5, function() n.advance(100) end))
		print((select(2, pcall(async.sleep, 1000)).message))
		n.thaw()
		async.sleep(0.001)`)
	require.Equal(t, "1\t3600\n2\t7200\ntwo hours\n3\t10800\nfalse\tasync.timeout: not done within 5 s\n"+
		"deadlock: this waits for something that cannot happen any more, because the clock of the test is stopped: move it on from another task\n", out)
	require.Less(t, time.Since(started), patience)
}

// The library may be part of an image, or be shared by invocations, one of which left tasks behind.
func TestInvocationsWithTasks(t *testing.T) {
	source := async + `
		local seen = 0
		function invoke(n)
			seen += 1
			if n == 3 then
				for i = 1, 10 do async.spawn(async.sleep, 60) end
				error("midway")
			end
			return async.all({ function() async.sleep(0.001) return n end, function() return seen end })
		end`
	for _, isolation := range []engine.Isolation{engine.Pristine, engine.Shared} {
		config := testConfig()
		withAsync(t)(config)
		p, err := engine.NewPool(config, engine.Program{Chunk: "=tool", Source: source}, engine.PoolOptions{Isolation: isolation})
		require.NoError(t, err)
		for n := range 8 {
			out, err := tryInvoke(p, n)
			if n == 3 {
				require.ErrorContains(t, err, "midway")
				continue
			}
			require.NoError(t, err)
			require.Equal(t, []any{[]any{float64(n), 1.0}}, out, "isolation %d", isolation)
		}
		p.Close()
	}
}

// A task is a thread of Luau and a little of Go: ten thousand of them are ordinary.
func TestMemoryOfATask(t *testing.T) {
	w := newWorld(t, withAsync(t))
	used := func(n int) uint64 {
		require.NoError(t, w.run(async+`
			local list = {}
			for i = 1, (...) do list[i] = async.spawn(async.sleep, 0.2) end
			async.sleep(0)
			async.all(list)`, n))
		stats, err := w.vm.State().Stats()
		require.NoError(t, err)
		return stats.MemoryPeak
	}
	few := used(1)
	each := (used(10_000) - few) / 10_000
	t.Logf("%d bytes for each task", each)
	require.Less(t, each, uint64(6<<10))
}
