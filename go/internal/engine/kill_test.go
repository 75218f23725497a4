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

// How late a run may end on a machine that has much else to do. Alone it is a few milliseconds, in
// one library call less than a second.
const (
	soon       = 2 * time.Second
	withinCall = 5 * time.Second
)

func requireEnds(t *testing.T, code luau.Code, most, late time.Duration, err error) {
	t.Helper()
	requireCode(t, code, err)
	require.True(t, luau.IsKilled(err))
	require.Less(t, late, most)
	t.Logf("ended %s late", late.Round(100*time.Microsecond))
}

// A01: a pattern that backtracks for ages ends with the time limit, bare and inside pcall.
func TestA01PatternBacktracking(t *testing.T) {
	const evil = `local s, p = ("x"):rep(30), ("x*"):rep(30) .. "y" `
	cases := map[string]string{
		"find":   evil + `string.find(s, p)`,
		"pcall":  evil + `while true do pcall(string.find, s, p) end`,
		"gsub":   evil + `string.gsub(s, p, "")`,
		"match":  evil + `string.match(s, p)`,
		"gmatch": evil + `for _ in string.gmatch(s, p) do end`,
		"nested": evil + `pcall(function() return pcall(string.gsub, s, p, function() end) end) string.find(s, p)`,
	}
	for name, source := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			late, err := w.deadline(200*time.Millisecond, source)
			requireEnds(t, luau.CodeTimeout, soon, late, err)
			pool := newPool(t, `function invoke(evil) if evil then `+evil+` return pcall(string.find, s, p) end return "fine" end`, engine.PoolOptions{})
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			requireCode(t, luau.CodeTimeout, pool.Invoke(ctx, nil, true))
			require.Equal(t, []any{"fine"}, invoke(t, pool))
		})
	}
}

var endless = map[string]string{
	"top level":        `while true do end`,
	"empty repeat":     `repeat until false`,
	"for":              `for i = 1, math.huge do end`,
	"coroutine":        `coroutine.wrap(function() while true do end end)()`,
	"pcall":            `while true do pcall(function() while true do end end) end`,
	"xpcall handler":   `xpcall(error, function() while true do end end)`,
	"handler's error":  `while true do xpcall(error, function() error("again") end) end`,
	"metamethod":       `local t = setmetatable({}, {__index = function() while true do end end}) return t.x`,
	"tostring":         `print(setmetatable({}, {__tostring = function() while true do end end}))`,
	"error's tostring": `error(setmetatable({}, {__tostring = function() while true do end end}))`,
	"sort comparator":  `table.sort({3, 2, 1}, function() while true do end end)`,
	"gsub callback":    `("x"):gsub("x", function() while true do end end)`,
	"iterator":         `for _ in function() return 1 end do end`,
	"goto next":        `local t = {} while true do t = next({}) end`,
	"concat":           `local t = setmetatable({}, {__concat = function() while true do end end}) return t .. "x"`,
	"host call":        `while true do __native.probe_number(1) end`,
	"host's call":      `__native.probe_call(function() while true do end end)`,
	"close":            `local co = coroutine.create(function() end) while true do coroutine.close(co) co = coroutine.create(function() end) end`,
	"mutual recursion": `local function f() pcall(f) end while true do f() end`,
	"yields":           `local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end`,
	"natives":          `while true do pcall(__native.json_decode, "[") end`,
	"nested coroutines": `local function deep(n) if n == 0 then while true do end end coroutine.wrap(deep)(n - 1) end
		deep(50)`,
	"json of a table": `local t = setmetatable({}, {__index = function() while true do end end}) pcall(__native.json_encode, t) while true do end`,
}

// X01: an endless loop ends on time wherever it is.
func TestX01EndlessScriptsEnd(t *testing.T) {
	for _, native := range []bool{false, true} {
		for name, source := range endless {
			if native {
				name += " in native code"
			}
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				w.config.Native = native
				late, err := w.deadline(50*time.Millisecond, source)
				requireEnds(t, luau.CodeTimeout, soon, late, err)
				require.Equal(t, 1, w.probe.counted("end"))
			})
		}
	}
}

func TestX01EndlessModule(t *testing.T) {
	for name, main := range map[string]string{
		"require":          `require("./slow")`,
		"in pcall":         `while true do pcall(require, "./slow") end`,
		"in a metamethod":  `local t = setmetatable({}, {__index = function() return require("./slow") end}) return t.x`,
		"module's module":  `require("./outer")`,
		"two tasks at one": `__native.probe_spawn(function() require("./slow") end) require("./slow")`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{
				"main.luau": main, "slow.luau": `while true do end`, "outer.luau": `return require("./slow")`,
			})
			w := newWorld(t, withResolver(resolverOf(t, dir)))
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			end, _ := ctx.Deadline()
			err := w.vm.RunSource(ctx, "@"+dir+"/main.luau", main, engine.RunOptions{})
			requireEnds(t, luau.CodeTimeout, soon, time.Since(end), err)
		})
	}
}

// The deadline fires while results are converted: a table whose parts are shared so often that it
// would unfold to more than any limit. Memory is enough for far longer than the deadline.
func TestX01ResultConversion(t *testing.T) {
	for name, source := range map[string]string{
		"shared parts":  `local t = {} for i = 1, 60 do t = {t, t} end return t`,
		"numbers":       `local n = table.create(1000, 1) local t = {} for i = 1, 40 do t = {n, t, t} end return t`,
		"json":          `local t = {} for i = 1, 60 do t = {t, t} end return __native.json_encode(t)`,
		"host argument": `local t = {} for i = 1, 60 do t = {t, t} end return __native.probe_echo(t)`,
		"error value":   `local t = {} for i = 1, 60 do t = {t, t} end error(t)`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withMemory(2<<30))
			code, err := luau.Compile("=t", source, luau.CompileOptions{})
			require.NoError(t, err)
			fn, err := w.vm.State().Load(code, "=t", luau.LoadOptions{})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			end, _ := ctx.Deadline()
			err = w.vm.Run(ctx, fn, engine.RunOptions{}, func(v luau.Values) error { _, err := v.All(); return err })
			late := time.Since(end)
			requireEnds(t, luau.CodeTimeout, withinCall, late, err)
		})
	}
}

func TestX01AgainAfterADeadline(t *testing.T) {
	pool := newPool(t, `function invoke(loop) if loop then while true do end end return "fine" end`, engine.PoolOptions{})
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		requireCode(t, luau.CodeTimeout, pool.Invoke(ctx, nil, true))
		cancel()
		require.Equal(t, []any{"fine"}, invoke(t, pool))
	}
}

// X03: cancelling ends a run, whatever it is doing.
func TestX03Cancel(t *testing.T) {
	const ready = `__native.probe_signal("ready") `
	big := map[string]string{
		"plain find": `local s = ("a"):rep(2e6) local p = ("a"):rep(1e6) .. "b" ` + ready + `while true do string.find(s, p, 1, true) end`,
		"sort":       `local t = table.create(3e6) for i = 1, 3e6 do t[i] = math.random() end ` + ready + `table.sort(t) while true do end`,
	}
	for name, source := range map[string]string{
		"running":          ready + `while true do end`,
		"asleep":           ready + `__native.sleep(60000)`,
		"in a comparator":  `table.sort({2, 1}, function(a, b) __native.probe_signal("ready") __native.sleep(60000) return a < b end)`,
		"in a coroutine":   `coroutine.wrap(function() __native.probe_signal("ready") __native.sleep(60000) end)()`,
		"in pcall":         ready + `while true do pcall(__native.sleep, 60000) end`,
		"catching it":      `while true do pcall(table.sort, {2, 1}, function(a, b) __native.probe_signal("ready") __native.sleep(60000) end) end`,
		"background tasks": `for i = 1, 100 do __native.probe_spawn(function() __native.sleep(60000) end) end ` + ready,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			late, err := w.cancelled(source, 5*time.Millisecond)
			requireEnds(t, luau.CodeCancelled, soon, late, err)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
	for name, source := range big {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withMemory(256<<20))
			late, err := w.cancelled(source, 20*time.Millisecond)
			requireEnds(t, luau.CodeCancelled, withinCall, late, err)
		})
	}
}

func TestX03CancelWhileCompiling(t *testing.T) {
	w := newWorld(t)
	source := strings.Repeat("a = {1, 2, 3} a[1] = a[2] + a[3] do end ", 20_000)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at time.Time
	timer := time.AfterFunc(5*time.Millisecond, func() { at = time.Now(); cancel() })
	defer timer.Stop()
	err := w.vm.RunSource(ctx, "=t", source, engine.RunOptions{})
	requireEnds(t, luau.CodeCancelled, soon, time.Since(at), err)
}

// X06: after the deadline no way of calling it reaches the host.
func TestX06NoHostCallAfterTheDeadline(t *testing.T) {
	w := newWorld(t)
	_, err := w.deadline(50*time.Millisecond, `
		local host = __native.probe_count
		local function f() while true do end end
		for i = 1, 3 do pcall(f) end
		pcall(host, "pcall")
		local t = setmetatable({}, {__index = host})
		local y = t.a
		coroutine.wrap(host)()
		table.sort({3, 2, 1}, host)
		xpcall(f, host)
		host()`)
	requireCode(t, luau.CodeTimeout, err)
	require.Zero(t, w.probe.counted("count"))
	require.Zero(t, w.probe.counted("pcall"))
	require.Zero(t, w.probe.counted("a"))
}

// A handler that is a host function sees no kill.
func TestX06HandlerIsAHostFunction(t *testing.T) {
	w := newWorld(t)
	_, err := w.deadline(50*time.Millisecond, `
		xpcall(function() while true do end end, __native.probe_count)
		__native.probe_count()`)
	requireCode(t, luau.CodeTimeout, err)
	require.Zero(t, w.probe.counted("count"))
}
