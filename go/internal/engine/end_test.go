package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/processmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// A host function that ends the run does so wherever it is called, and leaves a VM that runs again.
func TestEnd(t *testing.T) {
	const end = `__native.process.exit(3) __native.probe_count("after") `
	for name, source := range map[string]string{
		"main":                  end,
		"task":                  `__native.probe_spawn(function() ` + end + ` end) __native.sleep(60000)`,
		"task, main over":       `__native.probe_spawn(function() __native.sleep(1) ` + end + ` end)`,
		"coroutine in a task":   `__native.probe_spawn(function() coroutine.wrap(function() pcall(function() ` + end + ` end) end)() end) __native.sleep(60000)`,
		"while others wait":     `for i = 1, 50 do __native.probe_spawn(function() __native.sleep(60000) end) end __native.sleep(1) ` + end,
		"after an await, pcall": `pcall(function() __native.sleep(1) ` + end + ` end) __native.probe_count("after")`,
		"comparator":            `table.sort({2, 1}, function() __native.sleep(1) ` + end + ` return true end)`,
		"twice":                 `pcall(__native.process.exit, 3) pcall(__native.process.exit, 4)`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newProbe()
			vm, err := engine.New(&engine.Config{Modules: []hostmod.Module{p, timemod.Module{}, &processmod.Module{}}})
			require.NoError(t, err)
			defer func() { require.NoError(t, vm.Close()) }()
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			began := time.Now()
			err = vm.RunSource(ctx, "=end", source, engine.RunOptions{})
			var exit *processmod.Exit
			require.True(t, luau.IsKilled(err), "%v", err)
			require.True(t, errors.As(err, &exit), "%v", err)
			require.Equal(t, 3, exit.Code)
			require.Less(t, time.Since(began), patience)
			require.Zero(t, p.counted("after"))
		})
	}
}
