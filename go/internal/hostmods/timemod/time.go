// Package timemod lets scripts wait.
package timemod

import (
	_ "embed"
	"math"
	"time"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed time.d.luau
var Stub string

// Module is the time module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "time" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm}, nil }

type instance struct{ vm hostmod.VM }

func (i *instance) Exports() map[string]any { return nil }

func (i *instance) Native() map[string]any {
	return map[string]any{"sleep": luau.Func{Name: "sleep", Do: i.sleep, MayWait: true}}
}

func (i *instance) EndRun() {}

// maxSleep is the longest wait: what a time.Duration holds.
const maxSleep = float64(math.MaxInt64) / float64(time.Millisecond)

// sleep: (milliseconds: number) -> ()
func (i *instance) sleep(c *luau.Call) error {
	ms, err := c.Number(0)
	if err != nil {
		return err
	}
	if math.IsNaN(ms) || ms < 0 {
		return c.Argument(0, "must be a number of milliseconds, 0 or more")
	}
	d := time.Duration(math.MaxInt64)
	if ms < maxSleep {
		d = time.Duration(ms * float64(time.Millisecond))
	}
	return i.vm.Sleep(c, d)
}
