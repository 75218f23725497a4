// Package hostmod is the contract between the engine and host modules: Go code that scripts can
// call. A module knows this package and package luau, never the engine and never another module.
//
// A [Module] is one capability and is shared by all VMs of a process. For each VM it makes an
// [Instance], which gives the functions that scripts see.
package hostmod

import (
	"context"
	"time"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Module is one capability. It may be used by many goroutines.
type Module interface {
	// Name is what its functions are grouped under, as "http".
	Name() string
	// NewInstance makes the module's part in one VM.
	NewInstance(vm VM) (Instance, error)
}

// Instance is a module in one VM. It is used by the goroutine that owns the VM.
type Instance interface {
	// Exports are the functions and values of the module by name: luau.Func, luau.Native, maps of
	// these, constants. Scripts find them in the table `__native.<name of the module>`. It is called
	// when a script first reads that table. May be nil.
	Exports() map[string]any
	// Native are functions that are in `__native` itself, by name. They are made with each VM, so
	// there should be few. May be nil.
	Native() map[string]any
	// EndRun is called when a run is over, also when it failed. What the run left open is closed.
	EndRun()
}

// Work is what a waiting host function does, away from the VM's goroutine. It must return soon
// after ctx ends. The values become the function's results.
type Work func(ctx context.Context) ([]any, error)

// VM is what an instance may use of its VM. Await, Sleep and End are for the goroutine that owns
// the VM, the rest for any.
type VM interface {
	// Await runs work and gives its result to the script. Where the script can yield, other tasks
	// of the VM go on meanwhile; elsewhere the VM waits in place.
	Await(c *luau.Call, work Work) error
	// Sleep lets the script wait for d, as Await does but without a goroutine.
	Sleep(c *luau.Call, d time.Duration) error
	// End ends the current run when the calling host function returns; the script cannot catch it. The
	// cause becomes that of the run's error.
	End(cause error)
	// Context ends with the current run.
	Context() context.Context
	// Charge counts host memory against the memory limit of the VM; false means there is no room.
	Charge(bytes int64) bool
	Uncharge(bytes int64)
	// Log writes one log record for the script.
	Log(level Level, message string, fields map[string]any) error
	// Grants are what the script may do.
	Grants() *Grants
}

// Level is how important a log record is.
type Level int

// The levels, as scripts name them.
const (
	Debug Level = iota
	Info
	Warn
	Error
)

// String is the level's name in lower case.
func (l Level) String() string { return [...]string{"debug", "info", "warn", "error"}[l] }

// ParseLevel finds a level by its name; "warning" is "warn".
func ParseLevel(name string) (Level, bool) {
	switch name {
	case "debug":
		return Debug, true
	case "info":
		return Info, true
	case "warn", "warning":
		return Warn, true
	case "error":
		return Error, true
	}
	return 0, false
}

// Grants say what a script may reach. The zero value is nothing.
type Grants struct {
	All        bool     // everything: a script that its own user runs
	Net        []string // hosts at public addresses
	NetPrivate []string // hosts and CIDRs at private, loopback and link-local addresses
	Env        []string // names of environment variables
	Read       []string // directories
	Write      []string // directories

	// What is taken away from the lists above, and from everything.
	DenyNet, DenyEnv, DenyRead, DenyWrite []string
}
