package engine_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

type heldKey struct{}

// An idle VM holds on to nothing that its last run was given: arguments, context, what uses the results.
func TestIdleVMsForgetTheirRuns(t *testing.T) {
	for _, source := range []string{
		"function invoke(given) return 1 end",
		"function invoke(given) error('no') end",
	} {
		for _, isolation := range []engine.Isolation{engine.Pristine, engine.Shared} {
			pool, err := engine.NewPool(&engine.Config{}, engine.Program{Chunk: "=x", Source: source, Entry: "invoke"}, engine.PoolOptions{Isolation: isolation})
			require.NoError(t, err)
			freed := make(chan int, 100)
			const runs = 5
			for i := range runs {
				args, value, result := map[string]any{"x": 1.0}, new([1 << 10]int), new([1 << 10]int)
				runtime.AddCleanup(value, func(int) { freed <- i }, 0)
				runtime.AddCleanup(result, func(int) { freed <- i }, 0)
				ctx := context.WithValue(t.Context(), heldKey{}, value)
				_ = pool.Invoke(ctx, func(luau.Values) error { result[0]++; return nil }, args)
			}
			for range 2 * runs {
				deadline := time.After(30 * time.Second)
				for done := false; !done; {
					runtime.GC()
					select {
					case <-freed:
						done = true
					case <-deadline:
						t.Fatal("an idle VM holds on to its last run")
					case <-time.After(time.Millisecond):
					}
				}
			}
			pool.Close()
		}
	}
}
