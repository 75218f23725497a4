// Package testmod lets the test library tell a test runner what became of each test. Only test runners
// have it: elsewhere the library reports by itself.
package testmod

import (
	_ "embed"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed test.d.luau
var Stub string

// Status is what became of a test.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Result is one test that ran or was skipped.
type Result struct {
	Name    string // with the names of its suites in front
	Status  Status
	Seconds float64
	Message string // of a failure
	Trace   string // lines of places, innermost first
}

// Options are what a runner wants of the library.
type Options struct {
	Filter  string // only tests whose name has this in it
	Shuffle bool
	Seed    float64
}

// Module is the test module for one file. Its functions are called by the goroutine that runs the file.
type Module struct {
	Options Options
	Report  func(Result)
	// Begin hears of a test that begins to run, with its hooks: what ends the file before the test's Report came
	// while it ran. May be nil.
	Begin func(name string)
	// Pending hears that tests are to come, and when all have ended: a file that ends in between has left
	// some out. May be nil.
	Pending func(bool)
}

var _ hostmod.Module = (*Module)(nil)

// Name implements hostmod.Module.
func (*Module) Name() string { return "test" }

// NewInstance implements hostmod.Module.
func (m *Module) NewInstance(hostmod.VM) (hostmod.Instance, error) { return &instance{module: m}, nil }

type instance struct {
	hostmod.Plain
	module *Module
}

func (i *instance) Exports() map[string]any {
	exports := map[string]any{
		"report":  luau.Func{Name: "test.report", Do: i.report},
		"begin":   luau.Func{Name: "test.begin", Do: i.begin},
		"pending": luau.Func{Name: "test.pending", Do: i.pending},
		"filter":  i.module.Options.Filter,
	}
	if i.module.Options.Shuffle {
		exports["seed"] = i.module.Options.Seed
	}
	return exports
}

// report: (name: string, status: string, seconds: number, message: string?, trace: string?) -> ()
func (i *instance) report(c *luau.Call) (err error) {
	var r Result
	if r.Name, err = c.Text(0); err != nil {
		return err
	}
	status, err := c.Text(1)
	if err != nil {
		return err
	}
	if r.Status = Status(status); r.Status != Passed && r.Status != Failed && r.Status != Skipped {
		return c.Argument(1, `must be "passed", "failed" or "skipped"`)
	}
	if r.Seconds, err = c.Number(2); err != nil {
		return err
	}
	if r.Message, err = c.TextOpt(3, ""); err != nil {
		return err
	}
	if r.Trace, err = c.TextOpt(4, ""); err != nil {
		return err
	}
	i.module.Report(r)
	return nil
}

// begin: (name: string) -> ()
func (i *instance) begin(c *luau.Call) error {
	name, err := c.Text(0)
	if err == nil && i.module.Begin != nil {
		i.module.Begin(name)
	}
	return err
}

// pending: (pending: boolean) -> ()
func (i *instance) pending(c *luau.Call) error {
	pending, err := c.Bool(0)
	if err == nil && i.module.Pending != nil {
		i.module.Pending(pending)
	}
	return err
}
