//go:build soak

package engine_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// soakScript ends in every way that an invocation can.
const soakScript = `
local json = __native.json_decode
function invoke(mode, n)
	if mode == "error" then error({code = "mine", message = "no"}) end
	if mode == "loop" then while true do end end
	if mode == "memory" then local t = {} while true do t[#t + 1] = string.rep("x", 1000) .. #t end end
	if mode == "deep" then local function f() return 1 + f() end return f() end
	if mode == "sleep" then __native.sleep(n) return "slept" end
	if mode == "forever" then __native.sleep(1e9) end
	if mode == "inplace" then table.sort({2, 1}, function(a, b) __native.sleep(1e9) return a < b end) end
	if mode == "leave" then
		leaked = {}
		for i = 1, 20 do leaked[i] = coroutine.create(function() __native.sleep(1e9) end) end
	end
	local out = {}
	for i = 1, n do out[i] = {i = i, s = "item " .. i} end
	return #json(__native.json_encode(out))
end`

type usage struct {
	resident   int // KiB
	threads    int
	goroutines int
	files      int
}

func measure(t *testing.T) usage {
	t.Helper()
	runtime.GC()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	field := func(name string) int {
		_, rest, _ := bytes.Cut(status, []byte(name+":"))
		n, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
		require.NoError(t, err)
		return n
	}
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return usage{field("VmRSS"), field("Threads"), runtime.NumGoroutine(), len(files)}
}

// TestSoak runs 100,000 invocations that end in every way, and looks at what grows.
func TestSoak(t *testing.T) {
	const total, warm, workers = 100_000, 10_000, 8
	var pools []*engine.Pool
	for _, o := range []engine.PoolOptions{{}, {Isolation: engine.Shared}, {Limits: engine.Limits{HostCalls: 1000}}} {
		config := testConfig()
		config.MemoryLimit = 8 << 20
		p, err := engine.NewPool(config, engine.Program{Chunk: "=soak", Source: soakScript}, o)
		require.NoError(t, err)
		defer p.Close()
		pools = append(pools, p)
	}
	run := func(n int) {
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := range n / workers {
					soakOnce(t, pools[(w+i)%len(pools)])
				}
			})
		}
		wg.Wait()
	}
	run(warm)
	before := measure(t)
	t.Logf("after %d: %+v", warm, before)
	for done := warm; done < total; done += (total - warm) / 3 {
		run((total - warm) / 3)
		t.Logf("after %d: %+v", done+(total-warm)/3, measure(t))
	}
	after := measure(t)
	require.Less(t, after.resident, before.resident+before.resident/4+16<<10, "resident memory grows")
	require.LessOrEqual(t, after.threads, before.threads+8, "threads grow")
	require.LessOrEqual(t, after.goroutines, before.goroutines+2, "goroutines grow")
	require.LessOrEqual(t, after.files, before.files, "descriptors grow")
}

func soakOnce(t *testing.T, p *engine.Pool) {
	modes := []string{"", "", "", "", "", "", "", "", "error", "error", "deep", "sleep", "leave", "forever", "inplace", "loop", "memory"}
	mode := modes[rand.IntN(len(modes))]
	timeout := 10 * time.Second
	switch mode {
	case "forever", "inplace", "loop":
		timeout = time.Duration(1+rand.IntN(5)) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if mode == "forever" && rand.IntN(2) == 0 {
		cancel()
	}
	err := p.Invoke(ctx, nil, mode, rand.IntN(20))
	want := map[string][]luau.Code{
		"error": {"mine"}, "deep": {luau.CodeRuntime}, "memory": {luau.CodeMemory},
		"forever": {luau.CodeTimeout, luau.CodeCancelled}, "inplace": {luau.CodeTimeout, luau.CodeLimit}, "loop": {luau.CodeTimeout},
	}[mode]
	if want == nil {
		if err != nil {
			t.Errorf("mode %q: %v", mode, err)
		}
		return
	}
	for _, code := range want {
		if luau.CodeOf(err) == code {
			return
		}
	}
	if errors.Is(err, context.DeadlineExceeded) && timeout < time.Second {
		return
	}
	t.Errorf("mode %q: %v (code %q)", mode, err, luau.CodeOf(err))
}
