package luau_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Engine cases that the binding answers alone; the names are theirs.

func TestA09WrongCallsLeaveNothingBehind(t *testing.T) {
	s := newState(t, luau.Options{})
	require.NoError(t, s.SetGlobal("add", luau.FuncOf("add", func(a, b int, f *luau.Function) int { return a + b })))
	define(t, s, "make", func(c *luau.Call) error {
		return c.Return(luau.Func{Name: "made", Do: func(c *luau.Call) error { return nil }})
	})
	round := load(t, s, `
		for i = 1, 10000 do
			local call = function() return add(i, {f = print, 'text'}, print) end
			local ok, e
			if i % 2 == 0 then
				ok, e = pcall(call)
			else
				ok, e = coroutine.resume(coroutine.create(call))
			end
			assert(not ok and e.code == "invalid_argument", e)
			assert(tostring(e) == "add: argument 2 must be a whole number, got table")
			make()()
		end`)
	measure := func() (refs, memory, heap uint64) {
		_, err := round.Call(background)
		require.NoError(t, err)
		for range 2 {
			runtime.GC()
			time.Sleep(time.Millisecond) // clean-ups run in a goroutine of their own
		}
		require.NoError(t, s.Collect())
		stats, err := s.Stats()
		require.NoError(t, err)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return stats.Refs, stats.MemoryUsed, m.HeapAlloc
	}
	measure()
	refs, memory, heap := measure()
	for range 3 {
		measure()
	}
	refsAfter, memoryAfter, heapAfter := measure()
	runtime.KeepAlive(round)
	require.Equal(t, refs, refsAfter)
	require.InDelta(t, memory, memoryAfter, 64<<10)
	require.Less(t, heapAfter, heap+(4<<20))
}

func TestA10RecursionAndNesting(t *testing.T) {
	each := func(c *luau.Call) error {
		f, err := c.Function(0)
		if err != nil {
			return err
		}
		_, err = f.Call(c.Context())
		return err
	}
	for _, o := range []luau.Options{{}, {Malloc: true}} {
		s := newState(t, o)
		// A handler that fails again and again takes for ever, in a finite depth.
		ctx, cancel := context.WithTimeout(background, 200*time.Millisecond)
		_, err := s.Do(ctx, "=t", "local function f() xpcall(f, f) error('x') end f()")
		cancel()
		require.Error(t, err)
		s = newState(t, o)
		define(t, s, "each", each)
		for name, source := range map[string]string{
			"plain":      "local function f() return 1 + f() end f()",
			"xpcall":     "local function f() return 1 + select(2, xpcall(f, function(e) return e end)) end f()",
			"wrap":       "local function f() coroutine.wrap(f)() end f()",
			"host":       "local function f() each(f) end f()",
			"host, deep": "local function f() table.sort({1, 2}, function() ('x'):gsub('x', function() each(f) end) return false end) end f()",
			"tostring":   "local t = setmetatable({}, {}) getmetatable(t).__tostring = function() return tostring(t) end tostring(t)",
			"index":      "local t = setmetatable({}, {}) getmetatable(t).__index = function(_, k) return t[k .. 'x'] end return t.a",
		} {
			t.Run(name, func(t *testing.T) {
				_, err := s.Do(background, "=t", source)
				require.Error(t, err)
				require.False(t, luau.IsKilled(err))
				require.Equal(t, []any{false}, run(t, s, "return (pcall(function() "+source+" end))"))
			})
		}
	}
	for name, part := range map[string][2]string{
		"parentheses": {"(", ")"}, "tables": {"{", "}"}, "ifs": {"if x then ", " end"}, "interpolation": {"`{", "}`"},
	} {
		source := strings.Repeat(part[0], 100000) + strings.Repeat(part[1], 100000)
		if name != "ifs" {
			source = "return " + source
		}
		_, err := luau.Compile("=deep", source, luau.CompileOptions{})
		requireCode(t, luau.CodeCompile, err)
	}
}

func TestA11MemoryLimit(t *testing.T) {
	const limit = 64 << 20
	for _, o := range []luau.Options{{MemoryLimit: limit}, {MemoryLimit: limit, Malloc: true}} {
		for name, source := range map[string]string{
			"rep":        "return ('x'):rep(2^30 - 1)",
			"buffer":     "return buffer.create(2^30)",
			"table":      "return table.create(2^26)",
			"append":     "local t = {} while true do t[#t + 1] = {} end",
			"coroutines": "local t = {} for i = 1, 1e6 do t[i] = coroutine.create(print) end",
			"strings":    "local s = 'x' while true do s ..= s end",
		} {
			t.Run(name, func(t *testing.T) {
				s := newState(t, o)
				_, err := s.Do(background, "=t", source)
				requireCode(t, luau.CodeMemory, err)
				require.Equal(t, []any{float64(1 << 20)}, run(t, s, "return buffer.len(buffer.create(2^20))"))
				stats, err := s.Stats()
				require.NoError(t, err)
				require.LessOrEqual(t, stats.MemoryUsed, uint64(limit))
				require.Equal(t, uint64(limit), stats.MemoryLimit)
				// Caught, and the handler wants memory as well.
				out := run(t, s, "return (pcall(function() "+source+" end))")
				require.Equal(t, []any{false}, out)
				_, err = s.Do(background, "=t", "local t = {} xpcall(function() while true do t[#t + 1] = {} end end, function() return {('y'):rep(2^25)} end) t = nil return 'after'")
				require.NoError(t, err)
			})
		}
	}
}

// A report gets out also when not a byte is left.
func TestA11ReportAtTheLimit(t *testing.T) {
	for fill := range 40 {
		s := newState(t, luau.Options{MemoryLimit: 2 << 20})
		_, err := s.Do(background, "=t", `
			local keep = {}
			for size = 19, 3, -1 do
				while pcall(function() keep[#keep + 1] = buffer.create(2 ^ size) end) do end
			end
			for i = 1, ... do keep[i] = nil end
			error("the message")`, fill)
		require.Error(t, err)
		var e *luau.Error
		require.ErrorAs(t, err, &e)
		require.NotContains(t, e.Message, "unreadable")
		require.Contains(t, []luau.Code{luau.CodeMemory, luau.CodeRuntime}, e.Code)
	}
}

func TestA12ThrownValues(t *testing.T) {
	s := newState(t, luau.Options{})
	for source, message := range map[string]string{
		"error({code = 'x', message = 'of a table'})": "of a table",
		"error({})":                            "the error value {}",
		"error({'a' .. string.rep('é', 300)})": "the error value {\"a" + strings.Repeat("\u00e9", 248) + "...", // no half of a character
		"error(nil)":                           "nil",
		"error()":                              "nil",
		"error(false)":                         "false",
		"error(5)":                             "5",
		"error(setmetatable({}, {__tostring = function() return 'shown' end}))": "shown",
		"error(setmetatable({}, {__tostring = function() error('no') end}))":    "the error value cannot be shown: its __tostring failed",
		"error(setmetatable({}, {__tostring = function() return 5 end}))":       "5",
		"error(setmetatable({}, {__tostring = function() return nil end}))":     "the error value cannot be shown: its __tostring failed",
	} {
		_, err := s.Do(background, "=t", source)
		requireCode(t, luau.CodeOf(err), err)
		var e *luau.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, message, e.Message, source)
	}
	_, err := s.Do(background, "=t", "error(('long '):rep(1000000))")
	require.Less(t, len(err.Error()), 2<<20)
	require.Contains(t, err.Error(), "(5000005 bytes in all)")
}

func TestA13NothingSurvivesAReset(t *testing.T) {
	needsImage(t)
	s := newState(t, luau.Options{})
	require.NoError(t, s.Save())
	vandal := `
		local before = {}
		for _, name in {"string", "table", "math", "os", "debug", "coroutine", "buffer", "vector", "bit32", "utf8", "integer"} do
			local lib = _G[name]
			before[name] = not pcall(function() lib.new = 1 end) and not pcall(function() lib[next(lib)] = 1 end)
				and not pcall(setmetatable, lib, {})
			assert(before[name], name .. " can be changed")
		end
		assert(not pcall(function() getmetatable("").__index = {} end), "the metatable of strings can be changed")
		mine, print, string = 1, 2, 3
		setmetatable(_G, {__index = function(_, k) return k end, __newindex = function() end})
		assert(undefined == "undefined")
		return debug.info(1, "s")`
	check := `
		assert(mine == nil and type(print) == "function" and type(string) == "table", "globals survive")
		assert(undefined == nil, "the metatable of globals survives")
		own = 5
		assert(own == 5 and _G.own == 5 and rawget(_G, "own") == 5)
		local names = {}
		for k in pairs(_G) do table.insert(names, k) end
		table.sort(names)
		return table.concat(names, " "), debug.info(1, "s")`
	for range 3 {
		require.NoError(t, s.Reset())
		run(t, s, vandal)
		require.NoError(t, s.Reset())
		require.Equal(t, []any{"_G own", "test"}, run(t, s, check))
	}
}

func TestA18BytesStayBytes(t *testing.T) {
	const odd = "a\x00b"
	var printed strings.Builder
	s := newState(t, luau.Options{Output: func(b []byte) { printed.Write(b) }})
	require.NoError(t, s.SetGlobal(odd, odd))
	v, err := s.Global(odd)
	require.NoError(t, err)
	require.Equal(t, odd, v)
	out := run(t, s, "local t = {[...] = ...} print(...) return #..., t, _G[...]", odd)
	require.Equal(t, []any{3.0, map[string]any{odd: odd}, odd}, out)
	require.Equal(t, odd+"\n", printed.String())
	_, err = s.Do(background, "=t", "error(..., 0)", odd)
	require.Equal(t, odd, err.(*luau.Error).Message)
	_, err = s.Do(background, "=t", "error({message = ...})", odd)
	require.Equal(t, odd, err.(*luau.Error).Message)
	define(t, s, odd, func(c *luau.Call) error { return fmt.Errorf("%s", odd) })
	require.Equal(t, []any{odd}, run(t, s, "local _, e = pcall(_G[...]) return e.message", odd))
	require.NoError(t, s.SetGlobal("t", map[string]any{}))
	require.NoError(t, s.SetPath([]string{"t", odd}, odd))
	require.Equal(t, []any{odd}, run(t, s, "return t[...]", odd))
	code, err := luau.Compile("=x", "return 1", luau.CompileOptions{})
	require.NoError(t, err)
	_, err = s.Load(code, "=a\x00b", luau.LoadOptions{})
	requireCode(t, luau.CodeInvalid, err)
	require.ErrorContains(t, err, "NUL")
	_, err = luau.Compile("=x", "return 'a\x00b', \"a\\0b\" ==", luau.CompileOptions{})
	requireCode(t, luau.CodeCompile, err)
}

func TestA19Depth(t *testing.T) {
	s := newState(t, luau.Options{})
	require.NoError(t, s.SetGlobal("take", luau.FuncOf("take", func(v any) {})))
	deep := "local t = {} for i = 1, 1e5 do t = {t} end "
	_, err := s.Do(background, "=t", deep+"return t")
	requireCode(t, luau.CodeConvert, err)
	out := run(t, s, deep+"local ok, e = pcall(take, t) return ok, e.code, e.message")
	require.Equal(t, []any{false, "invalid_argument"}, out[:2])
	require.Contains(t, out[2], "take: nesting deeper than 200 tables")
	_, err = s.Do(background, "=t", deep+"error(t)")
	require.Error(t, err)
}

func TestX06HostIsNotCalledAfterTheDeadline(t *testing.T) {
	for name, after := range map[string]string{
		"pcall":     "pcall(host)",
		"metatable": "local t = setmetatable({}, {__index = host}) local y = t.a",
		"wrap":      "coroutine.wrap(host)()",
		"sort":      "table.sort({3, 2, 1}, host)",
		"gsub":      "('abc'):gsub('.', host)",
		"close":     "coroutine.close(coroutine.create(host)) host()",
		"print":     "print(setmetatable({}, {__tostring = host}))",
	} {
		t.Run(name, func(t *testing.T) {
			s := newState(t, luau.Options{})
			calls := 0
			define(t, s, "host", func(c *luau.Call) error { calls++; return c.Return(false) })
			run, err := s.Begin(luau.Limits{})
			require.NoError(t, err)
			define(t, s, "expire", func(c *luau.Call) error { s.Kill(run, context.DeadlineExceeded); return nil })
			_, err = s.Do(background, "=t", "pcall(expire) "+after)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Zero(t, calls)
			_, err = s.Do(background, "=t", after)
			require.Error(t, err)
			require.Zero(t, calls)
		})
	}
}

func TestLimitsOfARun(t *testing.T) {
	needsImage(t)
	var printed int
	s := newState(t, luau.Options{Output: func(b []byte) { printed += len(b) }, Limits: luau.Limits{HostCalls: 10, Output: 100}})
	define(t, s, "f", func(*luau.Call) error { return nil })
	require.NoError(t, s.Save())
	for range 3 { // each call is a run of its own
		run(t, s, "for i = 1, 10 do f() end print(('x'):rep(99))")
	}
	_, err := s.Do(background, "=t", "for i = 1, 100 do pcall(f) end")
	requireCode(t, luau.CodeLimit, err)
	require.EqualError(t, err, "t:1: more than 10 host calls in one run")
	require.NoError(t, s.Reset())
	printed = 0
	_, err = s.Do(background, "=t", "while true do pcall(print, 'xxxxxxxxx') end")
	require.EqualError(t, err, "t:1: more than 100 bytes printed in one run")
	require.Equal(t, 100, printed)
	require.NoError(t, s.Reset())
	_, err = s.Begin(luau.Limits{HostCalls: 5})
	require.NoError(t, err)
	run(t, s, "f() f() f()")
	_, err = s.Do(background, "=t", "f() f() f()")
	requireCode(t, luau.CodeLimit, err) // one run for both calls
}

// Reading a field of a lazy table is no host call, also where it fails: it leaves nothing for the next call.
func TestLazyFieldsCountForNothing(t *testing.T) {
	asked, calls := 0, 0
	s := newState(t, luau.Options{Limits: luau.Limits{HostCalls: 10}})
	define(t, s, "f", func(*luau.Call) error { calls++; return nil })
	require.NoError(t, s.SetGlobal("lazy", luau.Lazy{Find: luau.Func{Name: "lazy", Do: func(c *luau.Call) error {
		asked++
		return c.Return(nil)
	}}}))
	run(t, s, "for i = 1, 100 do local _ = lazy['n' .. i] end for i = 1, 10 do f() end")
	require.Equal(t, 100, asked)
	require.Equal(t, 10, calls)

	calls = 0
	_, err := s.Do(background, "=t", `
		local function read() return lazy.x end
		local function deep()
			if not pcall(read) then for i = 1, 100 do pcall(read) f() end end
			string.gsub("x", "x", deep)
		end
		pcall(deep)`)
	requireCode(t, luau.CodeLimit, err)
	require.Equal(t, 10, calls)
}

// A lazy table is filled past its read-only mark, so a reset has to empty it again: also where no memory was collected.
func TestLazyFieldsEndWithTheRun(t *testing.T) {
	needsImage(t)
	s := newState(t, luau.Options{})
	asked := 0
	require.NoError(t, s.SetGlobal("lazy", luau.Lazy{Find: luau.Func{Name: "lazy", Do: func(c *luau.Call) error {
		asked++
		n := asked
		return c.Return(luau.Func{Name: "f", Do: func(c *luau.Call) error { return c.Return(float64(n)) }})
	}}}))
	const read = `local sum = 0 for i = %d, %d do sum += lazy["field" .. i]() end return sum`
	run(t, s, fmt.Sprintf(read, 1, 20)) // a table with room for more
	require.NoError(t, s.Save())
	for range 20 {
		asked = 20
		out, err := s.Do(background, "=t", fmt.Sprintf(read, 1, 31))
		require.NoError(t, err)
		require.Equal(t, []any{31.0 * 32 / 2}, out)
		require.Equal(t, 31, asked)
		require.NoError(t, s.Reset())
	}
}

// Whoever gets hold of the function that fills lazy tables fills no others with it.
func TestNobodyFillsATableThatIsReadOnly(t *testing.T) {
	s := newState(t, luau.Options{})
	require.NoError(t, s.SetGlobal("lazy", luau.Lazy{Find: luau.Func{Name: "lazy", Do: func(c *luau.Call) error {
		if name, err := c.Text(0); err != nil || name == "fails" {
			return errors.New("no")
		}
		return c.Return("found")
	}}}))
	out, err := s.Do(background, "=t", `
		local got = {}
		xpcall(function() return lazy.fails end, function()
			for level = 1, 10 do
				local ok, f = pcall(debug.info, level, "f")
				if ok and type(f) == "function" and f ~= xpcall and debug.info(f, "s") == "[C]" then
					table.insert(got, f)
				end
			end
		end)
		local frozen, other = table.freeze({ a = 1 }), setmetatable({}, { __index = function() return nil end })
		for _, f in got do
			pcall(f, string, "field")
			pcall(f, frozen, "field")
			pcall(f, other, "field")
		end
		return #got > 1, string.field, frozen.field, rawget(other, "field"), lazy.field`)
	require.NoError(t, err)
	require.Equal(t, []any{true, nil, nil, nil, "found"}, out)
}
