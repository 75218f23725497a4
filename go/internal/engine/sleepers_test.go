package engine_test

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// statusField reads a number of /proc/self/status, as Threads or VmRSS in KiB.
func statusField(t testing.TB, name string) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("this system has no /proc/self/status")
	}
	_, rest, _ := bytes.Cut(status, []byte(name+":"))
	n, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	require.NoError(t, err)
	return n
}

// X04: ten thousand scripts asleep at once need few threads and little memory, and all end when
// they are cancelled.
func TestX04TenThousandScriptsAsleep(t *testing.T) {
	count := 10_000
	if testing.Short() {
		count = 1000
	}
	config := &engine.Config{Modules: []hostmod.Module{timemod.Module{}, asleep{}}, MemoryLimit: 16 << 20}
	goroutines := runtime.NumGoroutine()
	before := statusField(t, "VmRSS")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	var cancelled atomic.Int64
	sleeping.Store(0)
	for range count {
		wg.Go(func() {
			vm, err := engine.New(config)
			if err != nil {
				t.Errorf("new VM: %v", err)
				return
			}
			defer vm.Close()
			err = vm.RunSource(ctx, "=sleeper", "__native.asleep() __native.sleep(1e9)", engine.RunOptions{})
			if luau.CodeOf(err) == luau.CodeCancelled {
				cancelled.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return sleeping.Load() == int64(count) }, time.Minute, 5*time.Millisecond)
	threads, resident := statusField(t, "Threads"), statusField(t, "VmRSS")
	t.Logf("%d asleep: %d threads, %d KiB each", count, threads, (resident-before)/count)
	require.LessOrEqual(t, threads, 64)
	started := time.Now()
	cancel()
	wg.Wait()
	t.Logf("all ended %v after the cancel", time.Since(started))
	require.Equal(t, int64(count), cancelled.Load())
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+2 }, 10*time.Second, 10*time.Millisecond)
}

var sleeping atomic.Int64

// asleep counts scripts that are about to sleep.
type asleep struct{}

func (asleep) Name() string                                       { return "asleep" }
func (a asleep) NewInstance(hostmod.VM) (hostmod.Instance, error) { return a, nil }
func (asleep) Exports() map[string]any                            { return nil }
func (asleep) EndRun()                                            {}
func (asleep) Native() map[string]any {
	return map[string]any{"asleep": luau.Func{Name: "asleep", Do: func(*luau.Call) error {
		sleeping.Add(1)
		return nil
	}}}
}
