package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/fsmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// Many reads at once are held against the memory limit until the script has their results, also when it
// is busy meanwhile, and a run that ends leaves nothing charged.
func TestReadsAtOnce(t *testing.T) {
	dir := t.TempDir()
	const size, limit = 4 << 20, 64 << 20
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte(strings.Repeat("x", size)), 0o644))
	p := newProbe()
	vm, err := engine.New(&engine.Config{
		Modules: []hostmod.Module{p, timemod.Module{}, fsmod.Module{Dir: dir}}, Grants: &hostmod.Grants{All: true}, MemoryLimit: limit,
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, vm.Close()) }()
	run := func(mode engine.Mode, source string) error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return vm.RunSource(ctx, "=reads", source, engine.RunOptions{Mode: mode})
	}
	const busy = `
		for i = 1, 100 do __native.probe_spawn(function()
			local ok, result = pcall(__native.fs.read, "f")
			-- The VM's own "not enough memory" is a text.
			__native.probe_count(if ok then "read" elseif result == "not enough memory" then "memory" else result.code)
		end) end
		__native.sleep(0)
		table.sort({2, 1}, function(a, b) __native.sleep(200) return a < b end)
	`
	before := heap()
	require.NoError(t, run(engine.WaitForTasks, busy))
	require.Equal(t, 100, p.counted("read")+p.counted("memory"))
	require.Positive(t, p.counted("read"))
	require.Positive(t, p.counted("memory"), "100 files of 4 MiB do not fit into 64")
	require.Less(t, heap()-before, int64(limit), "nothing is kept")
	for range 20 {
		require.NoError(t, run(engine.EndWithMain, `for i = 1, 10 do __native.probe_spawn(function() __native.fs.read("f") end) end __native.sleep(0)`))
	}
	// Work of ended runs may still give back what it holds.
	require.Eventually(t, func() bool {
		return run(engine.WaitForTasks, fmt.Sprintf(`for i = 1, 30 do assert(#__native.fs.read("f") == %d) end`, size)) == nil
	}, patience, 10*time.Millisecond)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
