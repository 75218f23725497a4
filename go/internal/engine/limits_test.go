package engine_test

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// residentMiB is the memory of this process that is really there.
func residentMiB(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	n, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	require.NoError(t, err)
	return n >> 10
}

// A09: wrong arguments, again and again, are caught errors and leave nothing behind.
func TestA09WrongArgumentsTenThousandTimes(t *testing.T) {
	w := newWorld(t)
	const source = `
		local host, wrong = __native.probe_number, {"text", true, {}, print, buffer.create(1), vector.create(1, 2, 3)}
		local function try(i)
			local ok, e = pcall(host, wrong[i % #wrong + 1])
			assert(not ok and e.code == "invalid_argument" and string.find(tostring(e), "argument 1 must be a number, got", 1, true))
		end
		for i = 1, 10000 do
			if i % 2 == 0 then try(i) else coroutine.wrap(try)(i) end
		end`
	require.NoError(t, w.run(source))
	require.NoError(t, w.vm.State().Collect())
	before, err := w.vm.State().Stats()
	require.NoError(t, err)
	for range 10 {
		require.NoError(t, w.run(source))
	}
	require.NoError(t, w.vm.State().Collect())
	after, err := w.vm.State().Stats()
	require.NoError(t, err)
	t.Logf("%d bytes after 10,000, %d after 110,000", before.MemoryUsed, after.MemoryUsed)
	require.Less(t, after.MemoryUsed, before.MemoryUsed+16<<10)
	require.Equal(t, before.Refs, after.Refs)
}

func TestA09Panics(t *testing.T) {
	w := newWorld(t)
	for kind, want := range map[string]string{
		"error": "a Go error", "string": "a Go string", "int": "42", "nil": "panic called with nil argument", "runtime": "index out of range",
	} {
		out := w.prints(`
			local ok, e = pcall(__native.probe_panic, ...)
			print(ok, type(e), e.code, e)
			print(coroutine.wrap(function(kind) return (pcall(__native.probe_panic, kind)) end)(...))`, kind)
		require.Contains(t, out, "false\ttable\tpanic\tprobe_panic: panic: ", kind)
		require.Contains(t, out, want, kind)
		require.True(t, strings.HasSuffix(out, "\nfalse\n"), out)
		err := w.run(`__native.probe_panic(...)`, kind)
		requireCode(t, luau.CodePanic, err)
	}
}

func TestA10Recursion(t *testing.T) {
	for name, source := range map[string]string{
		"plain":           `local function f() return 1 + f() end f()`,
		"tail":            `local function f() return f() end f()`,
		"pcall":           `local function f() local ok, e = pcall(f) if not ok then error(e, 0) end end f()`,
		"coroutine.wrap":  `local function f() coroutine.wrap(f)() end f()`,
		"coroutine":       `local function f() assert(coroutine.resume(coroutine.create(f))) end f()`,
		"metamethod":      `local t t = setmetatable({}, {__index = function(_, k) return t[k .. "x"] end}) return t.x`,
		"index chain":     `local t = {} for i = 1, 1e5 do t = setmetatable({}, {__index = t}) end return t.x`,
		"index cycle":     `local t = {} setmetatable(t, {__index = t}) return t.x`,
		"tostring":        `local t t = setmetatable({}, {__tostring = function() return tostring(t) end}) print(t)`,
		"gsub":            `local function f() return (("x"):gsub("x", f)) end f()`,
		"sort":            `local function f() table.sort({1, 2}, f) end f()`,
		"host and back":   `local function f() __native.probe_call(f) end f()`,
		"concat":          `local t t = setmetatable({}, {__concat = function(a, b) return a .. b end}) return t .. t`,
		"error handler":   `local function h() error("h") end local function f() xpcall(error, h) f() end f()`,
		"capture nesting": `("x"):find(("("):rep(1e5))`,
		"pattern depth":   `(("x"):rep(1e6)):find((".-"):rep(1e5) .. "y")`,
		"iterators":       `local function f() for _ in f do end end f()`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			err := w.run(source)
			require.Error(t, err)
			require.False(t, luau.IsKilled(err), "%v", err)
			require.Contains(t, []luau.Code{luau.CodeRuntime, luau.CodeMemory, luau.CodeInvalid, "limit"}, luau.CodeOf(err), "%v", err)
			require.Less(t, len(err.Error()), 4096)
			out := w.prints(`print((pcall(function() ` + source + ` end)))`)
			require.Equal(t, "false\n", out, "caught")
			require.Equal(t, "fine\n", w.prints(`print("fine")`))
		})
	}
}

// Each level catches what the next one did, so this one may end well.
func TestA10SelfRecursiveXpcall(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, "true\n", w.prints(`local function f() return xpcall(f, f) end print((f()))`))
	require.Equal(t, "false\n", w.prints(`local function f() return select(2, xpcall(f, error)) end print((pcall(function() error(f()) end)))`))
	_, err := w.deadline(100*time.Millisecond, `local function f() xpcall(f, f) error("end", 0) end f()`)
	require.Error(t, err)
}

func TestA10NestedSource(t *testing.T) {
	const n = 100_000
	for name, source := range map[string]string{
		"parentheses":            "return " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
		"tables":                 "return " + strings.Repeat("{", n) + strings.Repeat("}", n),
		"ifs":                    strings.Repeat("if a then ", n) + strings.Repeat(" end", n),
		"interpolation":          "return " + strings.Repeat("`{", n) + "1" + strings.Repeat("}`", n),
		"functions":              strings.Repeat("function f() ", n) + strings.Repeat(" end", n),
		"dos":                    strings.Repeat("do ", n) + strings.Repeat(" end", n),
		"unary":                  "return " + strings.Repeat("-", n) + "1",
		"nots":                   "return " + strings.Repeat("not ", n) + "1",
		"calls":                  "return f" + strings.Repeat("(f", n) + strings.Repeat(")", n),
		"types":                  "type T = " + strings.Repeat("{", n) + "number" + strings.Repeat("}", n),
		"else ifs":               "if a then " + strings.Repeat("elseif a then ", n) + " end",
		"operators":              "return 1" + strings.Repeat(" + a", n),
		"powers":                 "return 1" + strings.Repeat(" ^ a", n),
		"concatenation":          "return 'a'" + strings.Repeat(" .. a", n),
		"if expression":          "return " + strings.Repeat("if a then b else ", n) + "c",
		"generics":               "type T = " + strings.Repeat("F<", n) + "number" + strings.Repeat(">", n),
		"functions in arguments": strings.Repeat("f(function() ", n) + strings.Repeat(" end)", n),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			err := w.run(source)
			if err != nil {
				require.Contains(t, []luau.Code{luau.CodeCompile, luau.CodeRuntime}, luau.CodeOf(err), "%v", err)
			}
			require.Equal(t, "fine\n", w.prints(`print("fine")`))
		})
	}
}

// A11: whatever asks for more than the limit gets the error `memory`, and the process stays small.
func TestA11MemoryLimit(t *testing.T) {
	for name, source := range map[string]string{
		"rep":           `string.rep("x", 2^30)`,
		"buffer":        `buffer.create(2^30)`,
		"table.create":  `table.create(5e6)`,
		"append":        `local t = {} while true do t[#t + 1] = "text " .. #t end`,
		"coroutines":    `local t = {} for i = 1, 1e6 do t[i] = coroutine.create(print) end`,
		"doubling":      `local s = "x" while true do s ..= s end`,
		"concat":        `local t = table.create(1e6, ("x"):rep(1000)) table.concat(t)`,
		"captures":      `string.gsub(("x"):rep(1e6), "x", ("y"):rep(1000))`,
		"format":        `string.format(("%99d"):rep(2e5) .. ("%s"):rep(200), table.unpack(table.create(2e5 + 200, 1)))`,
		"closures":      `local t = {} while true do t[#t + 1] = function() return t end end`,
		"nested tables": `local t = {} while true do t = {t} end`,
		"json":          `local s = "[" .. ("[1],"):rep(1e6) .. "1]" __native.json_decode(s) while true do s ..= s end`,
		"split":         `local s = ("x,"):rep(2e7) local t = s:split(",") while true do s ..= s end`,
		"buffers":       `local t = {} while true do t[#t + 1] = buffer.create(1000) end`,
		"stack":         `local t = table.create(7e5, 1) local function f(...) return f(1, ...) end f(table.unpack(t))`,
		"keys":          `local t = {} for i = 1, 1e9 do t["k" .. i] = true end`,
	} {
		t.Run(name, func(t *testing.T) {
			before := residentMiB(t)
			w := newWorld(t)
			err := w.run(source)
			if name == "stack" && luau.CodeOf(err) == luau.CodeRuntime {
				require.ErrorContains(t, err, "stack overflow")
			} else {
				requireCode(t, luau.CodeMemory, err)
			}
			require.Less(t, residentMiB(t)-before, mayGrow(64))
			out := w.prints(`
				local ok, e = pcall(function() ` + source + ` end)
				local b = buffer.create(2^20)
				print(ok, buffer.len(b), #string.rep("x", 2^20))`)
			require.Equal(t, "false\t1048576\t1048576\n", out)
		})
	}
	runtime.GC()
}

// Luau has no table of this size at all, whatever the limit.
func TestA11TableBeyondLuausOwnLimit(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, luau.CodeMemory, luau.CodeOf(w.run(`table.create(2^28)`)))
	require.Equal(t, "false\t1048576\n", w.prints(`print((pcall(table.create, 2^28)), buffer.len(buffer.create(2^20)))`))
}

// A handler that allocates while there is no memory left.
func TestA11AllocatingHandler(t *testing.T) {
	w := newWorld(t)
	out := w.prints(`
		local keep = {}
		local ok = xpcall(function() while true do keep[#keep + 1] = "text " .. #keep end end, function(e)
			local more = {}
			for i = 1, 1e7 do more[i] = "more " .. i end
			return e
		end)
		keep = nil
		local room = string.rep("x", 2^20)
		print(ok, #room)`)
	require.Equal(t, "false\t1048576\n", out)
}

func TestLimitsOfARun(t *testing.T) {
	run := func(limits engine.Limits, source string) (*world, error) {
		w := newWorld(t)
		return w, w.vm.RunSource(t.Context(), "=t", source, engine.RunOptions{Limits: limits})
	}
	w, err := run(engine.Limits{HostCalls: 10}, `while true do pcall(__native.probe_count) end`)
	requireCode(t, luau.CodeLimit, err)
	require.True(t, luau.IsKilled(err))
	require.Equal(t, 10, w.probe.counted("count"))

	w, err = run(engine.Limits{Output: 100}, `while true do pcall(print, "0123456789") end`)
	requireCode(t, luau.CodeLimit, err)
	require.LessOrEqual(t, len(w.printed()), 100)

	_, err = run(engine.Limits{Output: 100}, `print(("x"):rep(1e6))`)
	requireCode(t, luau.CodeLimit, err)

	_, err = run(engine.Limits{Log: 100}, `for i = 1, 100 do __native.log("info", "0123456789") end`)
	requireCode(t, luau.CodeLimit, err)

	_, err = run(engine.Limits{Memory: 4 << 20}, `local s = ("x"):rep(8 * 2^20)`)
	requireCode(t, luau.CodeMemory, err)
	w, err = run(engine.Limits{Memory: 4 << 20, HostCalls: 2, Output: 100, Log: 100}, `__native.probe_count() print("fine")`)
	require.NoError(t, err)
	require.Equal(t, "fine\n", w.printed())
}
