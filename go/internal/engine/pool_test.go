package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/jsonmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

func testConfig() *engine.Config {
	return &engine.Config{Modules: []hostmod.Module{jsonmod.Module{}, timemod.Module{}}, MemoryLimit: 64 << 20}
}

func newPool(t testing.TB, source string, o engine.PoolOptions) *engine.Pool {
	t.Helper()
	p, err := engine.NewPool(testConfig(), engine.Program{Chunk: "=tool", Source: source}, o)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// invoke gives the results of one invocation.
func invoke(t testing.TB, p *engine.Pool, args ...any) []any {
	t.Helper()
	out, err := tryInvoke(p, args...)
	require.NoError(t, err)
	return out
}

func tryInvoke(p *engine.Pool, args ...any) (out []any, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err = p.Invoke(ctx, func(v luau.Values) (err error) {
		out, err = v.All()
		return err
	}, args...)
	return out, err
}

func TestPoolInvokesWithArguments(t *testing.T) {
	for _, isolation := range []engine.Isolation{engine.Pristine, engine.Shared} {
		p := newPool(t, "local calls = 0 function invoke(a, b) calls += 1 return a + b, calls end", engine.PoolOptions{Isolation: isolation})
		for i := range 5 {
			require.Equal(t, []any{float64(i + 2), 1.0}, invoke(t, p, i, 2), "isolation %d", isolation)
		}
	}
}

// What is around a script is there before it, and is called in its place with its globals.
func TestPoolWithAFunctionAround(t *testing.T) {
	around := `local name = ...
shared = table.freeze({ name = name })
return function(globals, ...)
	assert(globals.shared == shared)
	return globals.tool.run(shared.name, ...), globals.calls
end`
	for _, top := range []string{"local start = 0", "local start = os.clock() * 0"} { // kept in the image, or not
		source := top + "\ncalls = start\ntool = { run = function(name, n) calls += 1 assert(shared.name == name) return name .. n end }"
		for _, isolation := range []engine.Isolation{engine.Pristine, engine.Shared} {
			program := engine.Program{Chunk: "=tool", Source: source, Around: around, AroundArgs: []any{"x"}}
			p, err := engine.NewPool(testConfig(), program, engine.PoolOptions{Isolation: isolation})
			require.NoError(t, err)
			t.Cleanup(p.Close)
			for i := range 5 {
				require.Equal(t, []any{fmt.Sprint("x", i), 1.0}, invoke(t, p, i), "isolation %d, %s", isolation, top)
			}
		}
	}
}

// X07: what the top level draws by chance or reads from the clock differs between invocations.
func TestX07TopLevelThatIsNotPureRunsEachTime(t *testing.T) {
	cases := map[string]string{
		"random":  "token = math.random() function invoke() return token end",
		"address": "id = tostring({}) function invoke() return id end",
		"clock":   "local c = os.clock() function invoke() return c end",
		"host":    "local n = __native.json_decode('1') __native.sleep(0) t = {} function invoke() return tostring(t) end",
	}
	for name, source := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, source, engine.PoolOptions{})
			seen := map[any]bool{}
			for range 10 {
				seen[invoke(t, p)[0]] = true
			}
			require.Len(t, seen, 10)
		})
	}
}

func TestRandomNumbersDifferBetweenInvocations(t *testing.T) {
	p := newPool(t, "function invoke() return math.random(), tostring({}) end", engine.PoolOptions{})
	numbers, addresses := map[any]bool{}, map[any]bool{}
	for range 20 {
		out := invoke(t, p)
		numbers[out[0]], addresses[out[1]] = true, true
	}
	require.Len(t, numbers, 20)
	require.Len(t, addresses, 20)
}

// A14: globals, errors and pending tasks of one invocation stay with it, also among fifty at once.
func TestA14InvocationsShareNothing(t *testing.T) {
	p := newPool(t, `
		function invoke(mode)
			if mode == "spoil" then
				leaked = 1
				_G.other = 2
				coroutine.wrap(function() __native.sleep(10000) end)()
			elseif mode == "fail" then
				leaked = 1
				error("midway")
			end
			return leaked, other
		end`, engine.PoolOptions{})
	require.Equal(t, []any{nil, nil}, invoke(t, p, "read"))
	_, err := tryInvoke(p, "fail")
	require.Error(t, err)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			for range 5 {
				if i%5 == 0 {
					_, _ = tryInvoke(p, "fail")
					continue
				}
				out, err := tryInvoke(p, "read")
				if err != nil || out[0] != nil || out[1] != nil {
					t.Errorf("cross-talk: %v %v", out, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestPoolSurvivesEveryKindOfEnd(t *testing.T) {
	p := newPool(t, `
		function invoke(mode)
			if mode == "loop" then while true do end end
			if mode == "memory" then local t = {} while true do t[#t + 1] = string.rep("x", 1000) .. #t end end
			if mode == "error" then error({code = "mine", message = "no"}) end
			if mode == "deep" then local function f() return 1 + f() end return f() end
			return "fine"
		end`, engine.PoolOptions{})
	for round := range 3 {
		for _, mode := range []string{"loop", "memory", "error", "deep"} {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			if mode == "loop" {
				cancel()
				ctx, cancel = context.WithTimeout(context.Background(), 30*time.Millisecond)
			}
			err := p.Invoke(ctx, nil, mode)
			cancel()
			require.Error(t, err, "%s in round %d", mode, round)
			want := map[string]luau.Code{"loop": luau.CodeTimeout, "memory": luau.CodeMemory, "error": "mine", "deep": luau.CodeRuntime}[mode]
			require.Equal(t, want, luau.CodeOf(err), "%s: %v", mode, err)
			require.Equal(t, []any{"fine"}, invoke(t, p, ""))
		}
	}
}

func BenchmarkInvokePristine(b *testing.B) { benchInvoke(b, engine.Pristine) }
func BenchmarkInvokeShared(b *testing.B)   { benchInvoke(b, engine.Shared) }

func benchInvoke(b *testing.B, isolation engine.Isolation) {
	p := newPool(b, "function invoke(args) return {sum = args.a + args.b} end", engine.PoolOptions{Isolation: isolation})
	args := map[string]any{"a": 1, "b": 2}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	b.ReportAllocs()
	for range b.N {
		if err := p.Invoke(ctx, func(v luau.Values) error { return nil }, args); err != nil {
			b.Fatal(err)
		}
	}
}

func ExamplePool() {
	p, err := engine.NewPool(&engine.Config{}, engine.Program{Chunk: "=add", Source: "function invoke(a, b) return a + b end"}, engine.PoolOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	var sum float64
	err = p.Invoke(context.Background(), func(v luau.Values) error { return v.Scan(&sum) }, 1, 2)
	fmt.Println(sum, err)
	// Output: 3 <nil>
}

// What an invocation requires is gone with it: the next one, in the same VM, loads it again.
func TestModulesOfAnInvocationAreLoadedAnew(t *testing.T) {
	config := testConfig()
	config.Resolver = oneModule("return {n = 4}")
	p, err := engine.NewPool(config, engine.Program{Chunk: "=tool", Source: `function invoke()
		local m = require("m")
		m.n += 1
		return m.n
	end`}, engine.PoolOptions{})
	require.NoError(t, err)
	defer p.Close()
	for range 5 {
		require.Equal(t, []any{5.0}, invoke(t, p))
	}
}
