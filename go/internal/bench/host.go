package main

import (
	"context"
	"fmt"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/jsonmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// module has the host functions that are measured.
type module struct{ arrived chan<- struct{} }

func (module) Name() string { return "bench" }

func (m module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &instance{vm, m.arrived}, nil
}

type instance struct {
	vm      hostmod.VM
	arrived chan<- struct{}
}

func (i *instance) Exports() map[string]any { return nil }

func (i *instance) Native() map[string]any {
	return map[string]any{
		"add_one": luau.Func{Name: "add_one", Do: addOne},
		"ready":   luau.Func{Name: "ready", Do: addOne, MayWait: true},
		"pending": luau.Func{Name: "pending", Do: i.pending, MayWait: true},
		"arrive":  luau.Func{Name: "arrive", Do: i.arrive},
	}
}

func (i *instance) EndRun() {}

func addOne(c *luau.Call) error {
	n, err := c.Number(0)
	if err != nil {
		return err
	}
	return c.ReturnNumber(n + 1)
}

// pending gives its argument back later, from another goroutine.
func (i *instance) pending(c *luau.Call) error {
	n, err := c.Number(0)
	if err != nil {
		return err
	}
	return i.vm.Await(c, func(context.Context) ([]any, error) { return []any{n + 1}, nil })
}

func (i *instance) arrive(*luau.Call) error {
	i.arrived <- struct{}{}
	return nil
}

// memoryLimit is the default of the runner, written out: limits are on while we measure.
const memoryLimit = 256 << 20

func config(native bool) *engine.Config {
	return &engine.Config{
		Modules: []hostmod.Module{module{}, jsonmod.Module{}, timemod.Module{}}, MemoryLimit: memoryLimit, Native: native,
	}
}

var limits = engine.Limits{HostCalls: 1 << 40, Output: 1 << 30, Log: 1 << 30}

// deadline is never reached.
func deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Hour)
}

// program is a VM with a loaded script that gave a function, called with a deadline and limits.
type program struct {
	vm  *engine.VM
	fn  *luau.Function
	ctx context.Context
}

// load runs a chunk, which must return a function, in a VM of its own.
func (b *bench) load(chunk, source string, native bool, args ...any) (*program, error) {
	vm, err := engine.New(config(native))
	if err != nil {
		return nil, err
	}
	ctx, cancel := deadline()
	b.closed = append(b.closed, func() { cancel(); _ = vm.Close() })
	options := luau.CompileOptions{}
	if native {
		options = luau.CompileOptions{Optimization: luau.OptimizeFull, Types: true}
	}
	code, err := luau.Compile(chunk, source, options)
	if err != nil {
		return nil, err
	}
	p := &program{vm: vm, ctx: ctx}
	return p, p.start(code, chunk, native, args)
}

// start runs a chunk and keeps the function that it returns.
func (p *program) start(code *luau.Bytecode, chunk string, native bool, args []any) error {
	main, err := p.vm.State().Load(code, chunk, luau.LoadOptions{Native: native})
	if err != nil {
		return err
	}
	p.fn = nil
	use := func(v luau.Values) error { return v.Scan(&p.fn) }
	err = p.vm.Run(p.ctx, main, engine.RunOptions{Limits: limits}, use, args...)
	if err == nil && p.fn == nil {
		err = fmt.Errorf("%s gave no function", chunk)
	}
	return err
}

// repeated makes the function one that calls it n times: a loop in one run, as the peer has one.
func (p *program) repeated() error {
	const source = "local run = ... return function(n) for _ = 1, n do run() end end"
	code, err := luau.Compile("=repeated", source, luau.CompileOptions{})
	if err != nil {
		return err
	}
	return p.start(code, "=repeated", false, []any{p.fn})
}

// run calls the function as a run of its own.
func (p *program) run(args ...any) error {
	return p.vm.Run(p.ctx, p.fn, engine.RunOptions{Limits: limits}, nil, args...)
}

// times calls the function with the number of operations that it shall do.
func (p *program) times(n int) error { return p.run(n) }
