// Package timemod gives scripts the time: clocks, waiting, and the texts and calendars of moments.
// Moments are seconds since 1970 as a number, which keeps about a quarter of a microsecond.
package timemod

import (
	_ "embed"
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
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &instance{vm: vm, now: hostmod.Now(vm)}, nil
}

type instance struct {
	hostmod.Plain
	vm  hostmod.VM
	now func() time.Time
}

// began is where the monotonic clock starts.
var began = time.Now()

func (i *instance) Exports() map[string]any {
	exports := map[string]any{
		"now": luau.Func{Name: "time.now", Do: func(c *luau.Call) error {
			return c.ReturnNumber(hostmod.Seconds(hostmod.ReadClock(i.vm, i.now())))
		}},
		"monotonic": luau.Func{Name: "time.monotonic", Do: func(c *luau.Call) error {
			return c.ReturnNumber(i.now().Sub(began).Seconds())
		}},
	}
	for name, do := range map[string]func(*luau.Call) error{
		"parse": parse, "format": format, "fields": fields, "make": makeMoment, "add": add,
		"parse_duration": parseDuration, "format_duration": formatDuration,
	} {
		exports[name] = luau.Func{Name: "time." + name, Do: do, Pure: true}
	}
	return exports
}

func (i *instance) Native() map[string]any {
	return map[string]any{"sleep": luau.Func{Name: "sleep", Do: i.sleep, MayWait: true}}
}

// sleep: (milliseconds: number) -> ()
func (i *instance) sleep(c *luau.Call) error {
	ms, err := c.Number(0)
	if err != nil {
		return err
	}
	d, ok := hostmod.Duration(ms, time.Millisecond)
	if !ok {
		return c.Argument(0, "must be a number of milliseconds, 0 or more")
	}
	return i.vm.Sleep(c, d)
}
