package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

func TestA04SleepEverywhere(t *testing.T) {
	const sleep = `local sleep = __native.sleep `
	for name, source := range map[string]string{
		"comparator":              `local t = {3, 1, 2} table.sort(t, function(a, b) sleep(0.1) return a < b end) print(table.concat(t))`,
		"gsub callback":           `print((("ab"):gsub(".", function(c) sleep(1) return c .. c end)))`,
		"__index":                 `print(setmetatable({}, {__index = function() sleep(1) return "i" end}).x)`,
		"__newindex":              `local t = setmetatable({}, {__newindex = function(t, k, v) sleep(1) rawset(t, k, v) end}) t.x = 5 print(t.x)`,
		"__tostring":              `print(setmetatable({}, {__tostring = function() sleep(1) return "s" end}))`,
		"__eq":                    `local m = {__eq = function() sleep(1) return true end} print(setmetatable({}, m) == setmetatable({}, m))`,
		"__lt":                    `local m = {__lt = function() sleep(1) return true end} print(setmetatable({}, m) < setmetatable({}, m))`,
		"__concat":                `print(setmetatable({}, {__concat = function() sleep(1) return "c" end}) .. "x")`,
		"__len":                   `print(#setmetatable({}, {__len = function() sleep(1) return 7 end}))`,
		"__call":                  `print(setmetatable({}, {__call = function() sleep(1) return 8 end})())`,
		"__iter":                  `for k in setmetatable({}, {__iter = function() sleep(1) return next, {a = 1} end}) do print(k) end`,
		"iterator":                `local n = 0 for i in function() sleep(1) n += 1 return n < 4 and n or nil end do print(i) end`,
		"coroutine in comparator": `table.sort({2, 1}, function(a, b) coroutine.wrap(function() sleep(1) print("in") end)() return a < b end)`,
		"pcall":                   `print(pcall(function() sleep(1) return "p" end))`,
		"pcall of it":             `print(pcall(sleep, 1))`,
		"xpcall":                  `print(xpcall(function() sleep(1) error("x", 0) end, function(e) return e .. "!" end))`,
		"xpcall handler":          `print(xpcall(error, function(e) sleep(1) return "handled" end, "x"))`,
		"coroutine":               `local co = coroutine.create(function(a) sleep(1) local b = coroutine.yield(a + 1) sleep(1) return b * 2 end) print(coroutine.resume(co, 1)) print(coroutine.resume(co, 10)) print(coroutine.status(co))`,
		"coroutine in coroutine":  `print(coroutine.wrap(function() return coroutine.wrap(function() sleep(1) return "deep" end)() end)())`,
		"pcall in coroutine":      `print(coroutine.wrap(function() return pcall(function() sleep(1) error("e", 0) end) end)())`,
		"callback of the host":    `print(__native.probe_call(function() sleep(1) return "called" end))`,
		"table.foreach":           `table.foreach({a = 1}, function(k, v) sleep(1) print(k, v) end)`,
		"iterator of coroutines":  `for v in coroutine.wrap(function() for i = 1, 3 do sleep(1) coroutine.yield(i) end end) do print(v) end`,
		"nothing":                 `print(select("#", sleep(0)))`,
	} {
		t.Run(name, func(t *testing.T) {
			want := strings.ReplaceAll(source, "sleep(0.1)", "")
			want = newWorld(t).prints("local function sleep() end " + want)
			require.NotEmpty(t, want)
			require.Equal(t, want, newWorld(t).prints(sleep+source))
		})
	}
}

func TestA05NestedPcallKeepsTheValue(t *testing.T) {
	out := newWorld(t).prints(`
		__native.probe_spawn(function()
			local e = {}
			local function f() __native.sleep(1) error(e) end
			local a, b, c = pcall(pcall, f)
			print(a, b, c == e, select("#", pcall(pcall, f)))
		end)`)
	require.Equal(t, "true\tfalse\ttrue\t3\n", out)
}

func TestA08FailingTaskBesideATicker(t *testing.T) {
	w := newWorld(t)
	err := w.run(`
		__native.probe_spawn(function() __native.sleep(2) error("task failed") end)
		__native.probe_spawn(function() for i = 1, 5 do __native.sleep(2) print("tick", i) end end)
		print("main done")`)
	require.Equal(t, "main done\ntick\t1\ntick\t2\ntick\t3\ntick\t4\ntick\t5\n", w.printed())
	require.ErrorContains(t, err, "task failed")
	require.Len(t, w.failed, 1)
	var e *luau.Error
	require.ErrorAs(t, w.failed[0], &e)
	require.Contains(t, e.Traceback(), "t:2")
}

// In an invocation an error of a task ends it at once.
func TestTaskErrorEndsAnInvocation(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := w.vm.RunSource(ctx, "=t", `
		__native.probe_spawn(function() error("task failed") end)
		__native.sleep(60000)`, engine.RunOptions{Mode: engine.EndWithMain})
	require.ErrorContains(t, err, "task failed")
	require.NoError(t, ctx.Err())
}

func TestMainErrorEndsTheRun(t *testing.T) {
	w := newWorld(t)
	err := w.run(`__native.probe_spawn(function() __native.sleep(60000) print("late") end) error("main failed")`)
	require.ErrorContains(t, err, "main failed")
	require.Empty(t, w.printed())
}

// A task that only calculates must not keep another from waking up.
func TestSleeperWakesBesideABusyTask(t *testing.T) {
	for name, source := range map[string]string{
		"one busy task": `
			local awake = false
			__native.probe_spawn(function() __native.sleep(5) awake = true end)
			__native.sleep(0)
			while not awake do end
			print("awake")`,
		"two busy tasks": `
			local awake = false
			local function busy() while not awake do end end
			__native.probe_spawn(busy)
			__native.probe_spawn(function() __native.sleep(5) awake = true end)
			busy()
			print("awake")`,
		"busy coroutine": `
			local awake = false
			__native.probe_spawn(function() __native.sleep(5) awake = true end)
			__native.sleep(0)
			coroutine.wrap(function() pcall(function() while not awake do end end) end)()
			print("awake")`,
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, "awake\n", newWorld(t).prints(source))
		})
	}
}

// A coroutine that waits for the host is not there for others to resume.
func TestWaitingCoroutineCannotBeResumed(t *testing.T) {
	out := newWorld(t).prints(`
		local co = coroutine.create(function() __native.sleep(5) return "slept" end)
		__native.probe_spawn(function()
			print(coroutine.status(co), pcall(coroutine.close, co))
			print(coroutine.resume(co))
		end)
		print(coroutine.resume(co))`)
	require.Contains(t, out, "normal\tfalse")
	require.Contains(t, out, "false\tcannot resume normal coroutine")
	require.True(t, strings.HasSuffix(out, "true\tslept\n"), out)
}

func TestYieldAtTheTopIsAnError(t *testing.T) {
	require.ErrorContains(t, newWorld(t).run(`coroutine.yield(1)`), "coroutine.yield outside of a coroutine")
	require.ErrorContains(t, newWorld(t).run(`__native.probe_spawn(function() coroutine.yield() end)`), "coroutine.yield outside of a coroutine")
}

// A host call whose goroutine ends without a word fails; the script does not wait for ever.
func TestHostGoroutineThatEnds(t *testing.T) {
	out := newWorld(t).prints(`local ok, e = pcall(__native.probe_exit) print(ok, e.code, e)`)
	require.Equal(t, "false\tpanic\tprobe_exit: its goroutine ended without a result\n", out)
}

// A20: odd formats and times far out are answered or refused, and crash nothing.
func TestA20Times(t *testing.T) {
	w := newWorld(t)
	out := w.prints(`
		for _, f in {"%Q", "%", "%E", "%O", "%5", "%\0", "%%", "", "%c", "!%c", "*t", "!*t", "%é", string.rep("%Y", 1000)} do
			local ok, v = pcall(os.date, f)
			print("date", ok, type(v))
		end
		for _, t in {1e300, -1e300, 0/0, 1/0, -1/0, 0, -1, 2^31, 2^53, 253402300799, 253402300800, -62135596800} do
			print("time", pcall(os.date, "!%Y", t))
			print("difftime", (pcall(os.difftime, t, t)))
			local ok, v = pcall(os.time, {year = t, month = 1, day = 1})
			local ok2 = pcall(os.time, {year = 2000, month = t, day = t, hour = t, min = t, sec = t})
			print("fields", ok, ok2)
		end
		print(pcall(os.time, {}), pcall(os.time, {year = "x", month = {}, day = print}))`)
	require.Equal(t, 14, strings.Count(out, "date\t"))
	require.Equal(t, 12, strings.Count(out, "fields\t"))
}

// A hundred scripts that never end share the processors with one that does.
func TestEndlessScriptsDoNotStarveAShortOne(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a hundred VMs")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	const many = 100
	started, ended := make(chan struct{}, many), make(chan error, many)
	for range many {
		w := newWorld(t, withMemory(8<<20))
		go func() {
			started <- struct{}{}
			ended <- w.vm.RunSource(ctx, "=t", "while true do end", engine.RunOptions{})
		}()
	}
	for range many {
		<-started
	}
	w := newWorld(t)
	begin := time.Now()
	err := w.vm.RunSource(ctx, "=t", `for i = 1, 3 do __native.sleep(1) end print("done")`, engine.RunOptions{})
	t.Logf("the short script took %s", time.Since(begin))
	cancel()
	for range many {
		requireCode(t, luau.CodeCancelled, <-ended)
	}
	require.NoError(t, err)
	require.Equal(t, "done\n", w.printed())
}
