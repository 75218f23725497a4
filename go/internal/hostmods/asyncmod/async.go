// Package asyncmod gives scripts what the async library is made of: tasks by number, parking and
// waking them, and the clock of tests. Values of tasks stay in the script; only numbers cross.
package asyncmod

import (
	_ "embed"
	"time"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed async.d.luau
var Stub string

// Module is the async module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "async" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	tasks, _ := vm.(hostmod.Tasks)
	return &instance{tasks: tasks}, nil
}

type instance struct {
	hostmod.Plain
	tasks hostmod.Tasks // nil: the program has no scheduler
}

func (i *instance) Exports() map[string]any {
	functions := map[string]func(*luau.Call) error{
		"spawn": i.spawn, "current": i.current, "park": i.park, "await_main": i.awaitMain, "wake": i.wake, "cancel": i.cancel,
		"shield": i.shield, "caught": i.caught, "report": i.report, "forgive": i.forgive, "raise": i.raise,
		"now": i.now, "freeze": i.freeze, "thaw": i.thaw, "advance": i.advance,
	}
	waits := map[string]bool{"park": true, "await_main": true, "advance": true}
	exports := make(map[string]any, len(functions))
	for name, do := range functions {
		exports[name] = luau.Func{Name: "async." + name, MayWait: waits[name], Do: i.needTasks(do)}
	}
	return exports
}

func (i *instance) needTasks(do func(*luau.Call) error) func(*luau.Call) error {
	if i.tasks != nil {
		return do
	}
	return func(c *luau.Call) error {
		return &luau.Error{Code: luau.CodeInvalid, Message: c.Name() + ": this program runs scripts without tasks"}
	}
}

// spawn: (body: (code: string?, message: string?) -> ()) -> number
func (i *instance) spawn(c *luau.Call) error {
	body, err := c.Function(0)
	if err != nil {
		return err
	}
	id, err := i.tasks.Spawn(body)
	if err != nil {
		body.Release()
		return err
	}
	return c.ReturnNumber(float64(id))
}

// current: () -> number
func (i *instance) current(c *luau.Call) error { return c.ReturnNumber(float64(i.tasks.Current())) }

// park: (seconds: number?) -> boolean?
func (i *instance) park(c *luau.Call) error {
	if c.IsNil(0) {
		return i.tasks.Park(c, -1)
	}
	d, err := seconds(c, 0)
	if err != nil {
		return err
	}
	return i.tasks.Park(c, d)
}

// await_main: () -> ()
func (i *instance) awaitMain(c *luau.Call) error { return i.tasks.AwaitMain(c) }

// task reads the argument that names one.
func task(c *luau.Call) (hostmod.TaskID, error) {
	n, err := c.Int(0)
	if err == nil && n < 0 {
		err = c.Argument(0, "must be the number of a task")
	}
	return hostmod.TaskID(n), err
}

// wake: (task: number) -> boolean
func (i *instance) wake(c *luau.Call) error {
	id, err := task(c)
	if err != nil {
		return err
	}
	return c.Return(i.tasks.Wake(id))
}

// cancel: (task: number) -> boolean
func (i *instance) cancel(c *luau.Call) error {
	id, err := task(c)
	if err != nil {
		return err
	}
	return c.Return(i.tasks.Cancel(id))
}

// shield: (on: boolean) -> ()
func (i *instance) shield(c *luau.Call) error {
	on, err := c.Bool(0)
	if err == nil {
		i.tasks.Shield(on)
	}
	return err
}

// caught: (message: string, code: string?) -> ()
func (i *instance) caught(c *luau.Call) error {
	message, err := c.Text(0)
	if err != nil {
		return err
	}
	code, err := c.TextOpt(1, "")
	if err == nil {
		i.tasks.Caught(code, message)
	}
	return err
}

// raise: (task: number) -> ()
func (i *instance) raise(c *luau.Call) error {
	id, err := task(c)
	if err == nil {
		i.tasks.Raise(id)
	}
	return err
}

// report: () -> ()
func (i *instance) report(*luau.Call) error {
	i.tasks.Report()
	return nil
}

// forgive: (task: number) -> ()
func (i *instance) forgive(c *luau.Call) error {
	id, err := task(c)
	if err == nil {
		i.tasks.Forgive(id)
	}
	return err
}

// now: () -> number
func (i *instance) now(c *luau.Call) error {
	return c.ReturnNumber(hostmod.Seconds(i.tasks.Clock().Now()))
}

// freeze: () -> ()
func (i *instance) freeze(*luau.Call) error {
	i.tasks.Clock().Freeze()
	return nil
}

// thaw: () -> ()
func (i *instance) thaw(*luau.Call) error {
	i.tasks.Clock().Thaw()
	return nil
}

// advance: (seconds: number) -> ()
func (i *instance) advance(c *luau.Call) error {
	d, err := seconds(c, 0)
	if err != nil {
		return err
	}
	return i.tasks.Clock().Advance(c, d)
}

func seconds(c *luau.Call, index int) (time.Duration, error) {
	n, err := c.Number(index)
	if err != nil {
		return 0, err
	}
	d, ok := hostmod.Duration(n, time.Second)
	if !ok {
		return 0, c.Argument(index, "must be a number of seconds, 0 or more")
	}
	return d, nil
}
