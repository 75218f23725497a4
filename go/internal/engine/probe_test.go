package engine

import (
	"context"
	"errors"
	"time"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// probe is a host module whose functions do everything that a host function may do.
type probe struct{}

func (probe) Name() string { return "probe" }

func (probe) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &probeInstance{vm: vm.(*VM)}, nil
}

type probeInstance struct {
	vm   *VM
	kept []any
}

func (*probeInstance) Exports() map[string]any { return nil }
func (i *probeInstance) EndRun()               { i.kept = nil }

func (i *probeInstance) Native() map[string]any {
	functions := map[string]luau.Func{
		"echo": {Do: func(c *luau.Call) error { return answer(c, 0) }},
		"fail": {Do: func(c *luau.Call) error {
			v, err := c.Value(0)
			return errors.Join(err, &luau.Error{Code: "probe", Message: "asked to fail", Value: v})
		}},
		"panic": {Do: func(c *luau.Call) error {
			v, _ := c.Value(0)
			panic(v)
		}},
		"call":       {Do: i.call},
		"keep":       {Do: i.keep},
		"spawn":      {Do: i.spawn},
		"await":      {Do: i.await, MayWait: true},
		"await_fail": {Do: i.awaitFail, MayWait: true},
	}
	native := map[string]any{}
	for name, f := range functions {
		f.Name = name
		native[name] = f
	}
	return native
}

// answer returns the arguments from number first on.
func answer(c *luau.Call, first int) error {
	list, err := c.Args().All()
	if err != nil {
		return err
	}
	return c.Return(list[min(first, len(list)):]...)
}

// call: (f: (A...) -> R..., A...) -> R...
func (i *probeInstance) call(c *luau.Call) error {
	f, err := c.Function(0)
	if err != nil {
		return err
	}
	list, err := c.Args().All()
	if err != nil {
		return err
	}
	out, err := f.Call(i.vm.Context(), list[1:]...)
	if err != nil {
		return err
	}
	return c.Return(out...)
}

// keep: (A...) -> A...: Go holds them until the run is over, or for ever.
func (i *probeInstance) keep(c *luau.Call) error {
	list, err := c.Args().All()
	if err != nil {
		return err
	}
	i.kept = append(i.kept, list...)
	return c.Return(list...)
}

// spawn: (f: () -> ()) -> ()
func (i *probeInstance) spawn(c *luau.Call) error {
	f, err := c.Function(0)
	if err == nil {
		i.vm.Background(f)
	}
	return err
}

func (i *probeInstance) pause(c *luau.Call, end func() ([]any, error)) error {
	ms, err := c.Number(0)
	if err != nil {
		return err
	}
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		if ms > 0 {
			select {
			case <-time.After(time.Duration(min(ms, 1000)) * time.Millisecond):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return end()
	})
}

// await: (milliseconds: number, A...) -> A...
func (i *probeInstance) await(c *luau.Call) error {
	list, err := c.Args().All()
	if err != nil {
		return err
	}
	return i.pause(c, func() ([]any, error) { return list[1:], nil })
}

// await_fail: (milliseconds: number) -> never
func (i *probeInstance) awaitFail(c *luau.Call) error {
	return i.pause(c, func() ([]any, error) { return nil, &luau.Error{Code: "probe", Message: "failed after a wait"} })
}
