package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/jsonmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

const (
	fuzzDeadline = 100 * time.Millisecond
	// tooLong is a hang: a run ends within 1 s of its deadline whatever it does, and compiling comes on
	// top. It is processor time, since a busy machine makes everything late.
	tooLong = 2 * time.Second
	// stuck is when what takes no processor time is a hang as well.
	stuck = time.Minute
	// idleBuffers is what a VM may keep for crossing values when it is idle.
	idleBuffers = 2 << 20
)

// walkSource lists all that a script can reach from its globals, in the order in which it comes.
const walkSource = `
local seen, out = {}, {}
local function show(v)
	local kind = typeof(v)
	if kind == "string" or kind == "number" or kind == "boolean" or kind == "nil" or kind == "vector" then
		return kind .. " " .. tostring(v)
	elseif seen[v] then
		return kind .. " #" .. seen[v]
	end
	table.insert(seen, v)
	seen[v] = #seen
	local text = kind .. " #" .. #seen
	if kind == "function" then
		local source, line, name, count, variadic = debug.info(v, "slna")
		text ..= " " .. source .. ":" .. line .. " " .. tostring(name) .. " " .. count .. tostring(variadic)
	elseif kind == "table" then
		text ..= table.isfrozen(v) and " frozen" or ""
	end
	return text
end
local pending, done = { _G, getmetatable("") or 0, getmetatable(_G) or 0 }, {}
while #pending > 0 do
	local v = table.remove(pending)
	if type(v) == "table" and not done[v] then
		done[v] = true
		table.insert(out, show(v) .. " meta " .. show(getmetatable(v)))
		for k, item in next, v do
			table.insert(out, "  " .. show(k) .. " = " .. show(item))
			table.insert(pending, item)
			table.insert(pending, getmetatable(item))
		end
	end
end
return table.concat(out, "\n"), #string.rep("x", 2 ^ 20), select(2, pcall(error, "caught"))`

// fuzzVM is a VM with an image that walks, and what that walk said before any other script ran.
type fuzzVM struct {
	vm     *VM
	walk   *luau.Function
	before []any
	refs   uint64
	memory uint64
}

func newFuzzVM(t testing.TB, native bool) *fuzzVM {
	vm, err := New(&Config{
		Modules: []hostmod.Module{jsonmod.Module{}, timemod.Module{}, probe{}}, MemoryLimit: 64 << 20, Native: native,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, vm.Close()) })
	code, err := luau.Compile("=walk", walkSource, luau.CompileOptions{})
	require.NoError(t, err)
	f := &fuzzVM{vm: vm}
	f.walk, err = vm.state.Load(code, "=walk", luau.LoadOptions{})
	require.NoError(t, err)
	require.NoError(t, vm.state.Save())
	f.reset(t)
	f.before = f.look(t)
	f.reset(t)
	f.refs, f.memory = f.held(t)
	return f
}

func (f *fuzzVM) reset(t testing.TB) {
	require.NoError(t, f.vm.state.Reset())
	f.vm.restoreModules()
}

func (f *fuzzVM) look(t testing.TB) []any {
	var out []any
	err := f.vm.Run(context.Background(), f.walk, RunOptions{}, func(v luau.Values) (err error) {
		out, err = v.All()
		return err
	})
	require.NoError(t, err)
	require.Len(t, out, 3)
	return out
}

func (f *fuzzVM) held(t testing.TB) (refs, memory uint64) {
	stats, err := f.vm.state.Stats()
	require.NoError(t, err)
	return stats.Refs, stats.MemoryUsed
}

// run runs a script in a pristine VM, and checks that the VM is as good as new after it.
func (f *fuzzVM) run(t *testing.T, source string, mode Mode) {
	defer watchdog(source)()
	ctx, cancel := context.WithTimeout(context.Background(), fuzzDeadline)
	defer cancel()
	begun := processorTime(t)
	err := f.vm.RunSource(ctx, "=fuzz", source, RunOptions{Mode: mode, Limits: Limits{HostCalls: 10000, Output: 1 << 20, Log: 1 << 20}})
	require.Less(t, processorTime(t)-begun, tooLong, "%s", source)
	if err != nil {
		var coded *luau.Error
		require.ErrorAs(t, err, &coded)
		require.NotEmpty(t, coded.Code)
		require.NotContains(t, err.Error(), "internal", "of\n%s", source)
	}
	f.reset(t)
	refs, memory := f.held(t)
	require.Equal(t, f.refs, refs, "references leaked by\n%s", source)
	require.Less(t, memory, f.memory+idleBuffers, "memory leaked by\n%s", source)
	require.Equal(t, f.before, f.look(t), "not pristine after\n%s", source)
	f.reset(t)
}

func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// watchdog ends the process when a script hangs: the fuzzer then keeps the input.
func watchdog(source string) (stop func()) {
	timer := time.AfterFunc(stuck, func() {
		fmt.Fprintf(os.Stderr, "this hangs:\n%s\n", source)
		panic("a script hangs")
	})
	return func() { timer.Stop() }
}

// FuzzScript runs scripts, mutated by the fuzzer and mixed by us: whatever they do, nothing crashes,
// hangs or leaks, and the VM is pristine after its reset. Seed 0 runs the source as it is.
func FuzzScript(f *testing.F) {
	blocks := scriptBlocks(f)
	vms := []*fuzzVM{newFuzzVM(f, false), newFuzzVM(f, true)}
	for i, block := range blocks {
		f.Add(block, uint64(0))
		f.Add(block, uint64(i+1))
	}
	runs, goroutines := 0, 0
	f.Fuzz(func(t *testing.T, source string, seed uint64) {
		if len(source) > 16<<10 {
			return
		}
		if seed != 0 {
			source = mixer{rand.New(rand.NewPCG(seed, 1)), blocks}.mix(source)
		}
		for _, vm := range vms {
			vm.run(t, source, Mode(seed%2))
		}
		if runs++; runs%512 == 0 {
			goroutines = checkGoroutines(t, goroutines)
		}
	})
}

// checkGoroutines waits for the number of goroutines to come back to what it was; 0 takes it as it is.
func checkGoroutines(t *testing.T, before int) int {
	if before == 0 {
		return runtime.NumGoroutine() + 8
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return before
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%d goroutines, at most %d before", runtime.NumGoroutine(), before)
	return 0
}

// FuzzPool invokes programs made the same way, again and again: pristine invocations answer alike.
func FuzzPool(f *testing.F) {
	blocks := scriptBlocks(f)
	for i, block := range blocks {
		f.Add(block, uint64(i))
	}
	config := &Config{Modules: []hostmod.Module{jsonmod.Module{}, timemod.Module{}, probe{}}, MemoryLimit: 64 << 20}
	f.Fuzz(func(t *testing.T, source string, seed uint64) {
		m := mixer{rand.New(rand.NewPCG(seed, 2)), blocks}
		source = source + "\nfunction invoke(...)\nfirst = first == nil\ndo " + blocks[m.IntN(len(blocks))] + "\nend return first end"
		defer watchdog(source)()
		p, err := NewPool(config, Program{Chunk: "=fuzz", Source: source}, PoolOptions{
			Isolation: Isolation(seed % 2), Limits: Limits{HostCalls: 10000, Output: 1 << 20, Log: 1 << 20},
		})
		if err != nil {
			require.True(t, errors.Is(err, &luau.Error{Code: luau.CodeCompile}) || errors.Is(err, &luau.Error{Code: luau.CodeLimit}), "%v", err)
			return
		}
		defer p.Close()
		for range 3 {
			ctx, cancel := context.WithTimeout(context.Background(), fuzzDeadline)
			begun := processorTime(t)
			var out []any
			err := p.Invoke(ctx, func(v luau.Values) (err error) { out, err = v.All(); return err }, 1, "x")
			cancel()
			require.Less(t, processorTime(t)-begun, tooLong, "%s", source)
			if err != nil {
				require.NotEmpty(t, luau.CodeOf(err), "%v", err)
				continue
			}
			require.Equal(t, []any{true}, out, "an invocation saw what another left:\n%s", source)
		}
	})
}
