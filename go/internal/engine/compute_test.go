package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// computing is a host module whose one long function ends when a script calls the other.
type computing struct {
	hostmod.Plain
	vm  hostmod.VM
	end chan struct{}
}

func (*computing) Name() string { return "computing" }

func (*computing) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &computing{vm: vm, end: make(chan struct{}, 1)}, nil
}

func (i *computing) Native() map[string]any {
	return map[string]any{
		"compute": luau.Func{Name: "compute", Do: i.compute, MayWait: true},
		"compute_end": luau.Func{Name: "compute_end", Do: func(*luau.Call) error {
			i.end <- struct{}{}
			return nil
		}},
	}
}

func (i *computing) compute(c *luau.Call) error {
	return hostmod.Compute(i.vm, c, true, func(ctx context.Context, room *hostmod.Room) ([]any, error) {
		if err := room.Take(1 << 20); err != nil {
			return nil, err
		}
		select {
		case <-i.end:
			return []any{"computed"}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
}

// In place, the task that ends the work would never begin.
func TestOtherTasksGoOnDuringLongWork(t *testing.T) {
	w := newWorld(t, withModule(&computing{}))
	require.Equal(t, "other\ncomputed\n", w.prints(`
		__native.probe_spawn(function() print("other") __native.compute_end() end)
		print(__native.compute())`))
}

func TestDeadlineEndsLongWork(t *testing.T) {
	w := newWorld(t, withModule(&computing{}))
	late, err := w.deadline(20*time.Millisecond, `__native.compute()`)
	requireCode(t, luau.CodeTimeout, err)
	require.Less(t, late, patience/2)
	require.Equal(t, "next run\n", w.prints(`print("next run")`))
}
