package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

func TestMaxCalls(t *testing.T) {
	s := server(t, "s", "one")
	f := newFixture(t, gateway.Options{MaxCalls: 5}, s)
	require.Equal(t, "5", f.run(`local sum = 0 for i = 1, 5 do sum += sdk.s.one{ n = 1 }.n end return sum`))
	for _, script := range []string{
		`for i = 1, 6 do sdk.s.one{} end`, `while true do sdk.s.one{} end`,
		`return async.map({ 1, 2, 3, 4, 5, 6 }, function(n) return sdk.s.one{ n = n } end)`,
		`local all = {} for i = 1, 6 do all[i] = s.one{} end for _, p in all do p:await() end`,
	} {
		failed := f.fails(script)
		require.Contains(t, failed.Message, "a script may make 5 calls ([gateway] max_calls)", script)
	}
	// Where calls run beside each other, the one too many may end others that had not begun.
	require.LessOrEqual(t, len(s.seen()), 5+4*5, "each run has its own number, and makes no call more")
	require.GreaterOrEqual(t, len(s.seen()), 5+2*5)
}

func TestMaxBytes(t *testing.T) {
	s := server(t, "s", "big")
	s.answer = func(context.Context, *gateway.Call) (*gateway.Result, error) {
		return toolResult(`{"content":[{"type":"text","text":%q}]}`, strings.Repeat("x", 1000)), nil
	}
	f := newFixture(t, gateway.Options{MaxBytes: 5000}, s)
	require.Equal(t, "3000", f.run(`local all = "" for i = 1, 3 do all ..= sdk.s.big() end return #all`))
	failed := f.fails(`for i = 1, 100 do sdk.s.big() end`)
	require.Contains(t, failed.Message, "more than 5000 bytes from its sources ([gateway] max_bytes)")
	require.Less(t, len(s.seen()), 10)
}

// No source gets more calls at once than it is meant to, whoever makes them.
func TestConcurrencyOfOneSource(t *testing.T) {
	for name, o := range map[string]gateway.Options{
		"of the source": {Concurrency: 1, Limits: func(string) int { return 3 }}, "of all": {Concurrency: 3, Limits: func(string) int { return 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			var now, most atomic.Int32
			gate := make(chan struct{})
			s := server(t, "s", "wait")
			s.answer = func(_ context.Context, c *gateway.Call) (*gateway.Result, error) {
				for n := now.Add(1); ; {
					if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
						break
					}
				}
				gate <- struct{}{}
				now.Add(-1)
				return toolResult(`{"content":[],"structuredContent":%s}`, c.Params), nil
			}
			f := newFixture(t, o, s)
			done := make(chan string, 2)
			for range 2 {
				go func() {
					answer, failed := f.host.Call(t.Context(), toolhost.Request{Tool: "execute_script", Caller: bob, Value: map[string]any{"script": `
						local list = {} for i = 1, 10 do list[i] = i end
						return #async.map(list, function(n) return sdk.s.wait{ n = n } end)`}})
					if failed != nil {
						done <- failed.Message
						return
					}
					done <- string(answer.JSON)
				}()
			}
			eventually(t, func() bool { return now.Load() >= 3 })
			for range 20 {
				<-gate
			}
			for range 2 {
				require.JSONEq(t, `{"result":10,"logs":[],"files_touched":[]}`, <-done)
			}
			require.EqualValues(t, 3, most.Load())
		})
	}
}

func TestScriptsAreBounded(t *testing.T) {
	f := newFixture(t, gateway.Options{MaxScript: 100}, server(t, "s", "one"))
	failed := f.fails("return 1 --" + strings.Repeat("x", 100))
	require.Equal(t, toolhost.TooLarge, failed.Code)
	require.Contains(t, failed.Message, "at most 100 are allowed")
}

func TestTimeOfOneScript(t *testing.T) {
	f := newFixture(t, gateway.Options{}, server(t, "s", "one"))
	for _, script := range []string{`while true do end`, `while true do pcall(function() while true do end end) end`, `require("async").sleep(1e6)`} {
		_, failed := f.call("execute_script", map[string]any{"script": script, "timeout_ms": float64(50)})
		require.NotNil(t, failed, script)
		require.Equal(t, toolhost.Timeout, failed.Code, script)
		require.Contains(t, failed.Message, "the script took longer than 50ms", script)
	}
	require.Equal(t, "1", f.run(`return 1`))
}

// Whatever a script prints, a model gets its beginning and its end.
func TestLogsAreBounded(t *testing.T) {
	f := newFixture(t, gateway.Options{MaxResult: 2000}, server(t, "s", "one"))
	few := f.by(bob, `print("a", 1, nil, { 1 } ~= nil) print("b\nc") print("no line end") return 1`)
	require.Equal(t, []string{"a\t1\tnil\ttrue", "b", "c", "no line end"}, few.Logs)
	many := f.by(bob, `for i = 1, 5000 do print("line " .. i) end return 1`)
	size := 0
	for _, line := range many.Logs {
		size += len(line)
	}
	require.Less(t, size, 2000+20*200)
	require.Equal(t, "line 1", many.Logs[0])
	require.Equal(t, "line 5000", many.Logs[len(many.Logs)-1])
	require.Contains(t, strings.Join(many.Logs, "\n"), " lines more ...")
	long := f.by(bob, `print(string.rep("x", 100000)) return 1`)
	require.Less(t, len(strings.Join(long.Logs, "\n")), 2000)

	failed := f.fails(`for i = 1, 5000 do print("line " .. i) end error("oh")`)
	require.Contains(t, failed.Message, "script:1: oh\nlogs:\nline 4981")
	require.Less(t, len(failed.Message), 5000)
}

// A hostile upstream or script is an error, and the next script runs.
func TestHostileScripts(t *testing.T) {
	s := server(t, "s", "one")
	s.answer = func(context.Context, *gateway.Call) (*gateway.Result, error) {
		return nil, &gateway.Failure{Code: "tool", Message: "\x1b[31mred\x00"}
	}
	f := newFixture(t, gateway.Options{Memory: 8 << 20}, s)
	for _, script := range []string{
		`local t = {} while true do t[#t + 1] = string.rep("x", 1e5) .. #t end`,
		`local function f() return f() + 1 end return f()`,
		`return string.rep("x", 1e9)`,
		`setmetatable(sdk, {})`, `rawset(sdk, "s", nil) return rawget(sdk, "s").x`, `error(setmetatable({}, { __tostring = function() error("deep") end }))`,
		`return sdk.s.one`, `local t = {} t.t = t return t`, `return 0/0`, `return coroutine.create(print)`,
		`coroutine.yield(1)`, `error()`, `error(nil)`, `error({ code = 5 })`, `__native.sdk.call("s")`, `return getfenv()`, "return '\xff'",
		`local p = s.one() p.await = nil return p:await()`, `return sdk.s.one(nil, nil)`, `return sdk.s.one(sdk)`, `return sdk[1].x`, `return read_result()`,
	} {
		_, failed := f.call("execute_script", map[string]any{"script": script})
		require.NotNil(t, failed, script)
		require.NotContains(t, failed.Message, "goroutine", script)
		require.NotContains(t, failed.Message, ".go:", script)
		require.Equal(t, "1", f.run(`return 1`), script)
	}
	require.Equal(t, fmt.Sprint(len("table")), f.run(`return #type(sdk.s)`))
}

// One text of a script counts once for its memory; sent by many calls at once it would be as many copies.
func TestArgumentsUnderWayAreBounded(t *testing.T) {
	s := server(t, "s", "one")
	s.source.Functions[0].Params = tree(t, `{"type":"object","additionalProperties":true}`)
	gate := make(chan struct{})
	s.answer = func(ctx context.Context, _ *gateway.Call) (*gateway.Result, error) {
		select {
		case <-gate:
		case <-ctx.Done():
		}
		return toolResult(`{"content":[]}`), nil
	}
	f := newFixture(t, gateway.Options{}, s)
	for _, script := range []string{
		`local a = string.rep("x", 1e6) for i = 1, 100 do s.one{ a = a } end`,
		`local a = string.rep("x", 1e6) async.map(table.create(100, 1), function() sdk.s.one{ a = a } end, 100)`,
	} {
		require.Contains(t, f.fails(script).Message, "the arguments of the calls that are under way have more than 16777216 bytes")
	}
	close(gate)
	require.Equal(t, "100", f.run(`local a, n = string.rep("x", 1e6), 0 for i = 1, 100 do sdk.s.one{ a = a } n += 1 end return n`))
	large := newFixture(t, gateway.Options{Memory: 256 << 20}, s)
	require.Equal(t, "1", large.run(`sdk.s.one{ a = string.rep("x", 17e6) } return 1`), "one alone may be larger")
}
