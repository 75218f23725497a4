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
	// Native are functions that are in `__native` itself, by name. It is called when a script first
	// reads a field that is no module's table. May be nil.
	Native() map[string]any
	// EndRun is called when a run is over, also when it failed. What the run left open is closed.
	EndRun()
}

// Work is what a waiting host function does, away from the VM's goroutine. It must return soon
// after ctx ends. The values become the function's results.
type Work func(ctx context.Context) ([]any, error)

// VM is what an instance may use of its VM. Await, Sleep, End and Collect are for the goroutine that
// owns the VM, the rest for any.
type VM interface {
	// Await runs work and gives its result to the script. Where the script can yield, other tasks
	// of the VM go on meanwhile; elsewhere the VM waits in place.
	Await(c *luau.Call, work Work) error
	// Sleep lets the script wait for d, as Await does but without a goroutine.
	Sleep(c *luau.Call, d time.Duration) error
	// End ends the current run when the calling host function returns; the script cannot catch it. The
	// cause becomes that of the run's error.
	End(cause error)
	// Collect runs a full garbage collection and calls luau.Func.Gone of what it took: the last resort
	// of a module that has no room for one more of what scripts forget to close.
	Collect()
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

// TaskID names a task of a VM: the main function, one that a script spawned, or one that loads a
// module. It is never given twice by one VM. Zero names none.
type TaskID uint64

// Tasks is what a VM with a scheduler offers beyond [VM]. Module async needs it, and asks by a type
// assertion. All of it is for the goroutine that owns the VM.
type Tasks interface {
	// Spawn makes a task that calls body, without arguments, when the scheduler comes to it. When it
	// ends in another way than by body's return, body is called again, in a thread of its own, with
	// the code and the message of what ended it.
	Spawn(body *luau.Function) (TaskID, error)
	// Current is the task that runs.
	Current() TaskID
	// Park makes the current task wait for Wake, at most for d, or without end where d is negative.
	// The script gets true when it was woken. A Wake that came first counts.
	Park(c *luau.Call, d time.Duration) error
	// AwaitMain makes the current task wait until the main function has ended.
	AwaitMain(c *luau.Call) error
	// Wake lets a parked task go on; false when it cannot hear of it.
	Wake(id TaskID) bool
	// Cancel ends a spawned task: what it waits for fails with code "cancelled", and when it waits
	// once more, it does not go on. False when there is no such task any more.
	Cancel(id TaskID) bool
	// Shield keeps a cancel of the current task from its waits, for clean-up.
	Shield(on bool)
	// Caught notes an error of the current task while its frames are there.
	Caught(code, message string)
	// Raise says that the current task raises the error that another one ended with.
	Raise(id TaskID)
	// Report makes the run fail with what Caught noted last; Forgive takes back what a task reported.
	Report()
	Forgive(id TaskID)
	// Clock is the time by which the VM sleeps.
	Clock() Clock
}

// Clock is the time by which a VM sleeps. It can be stopped for tests, until the end of the run.
type Clock interface {
	Now() time.Time
	// Freeze stops it; Thaw lets it go on with the real time.
	Freeze()
	Thaw()
	// Advance moves a stopped clock on, while all that wakes up meanwhile runs, and the current task
	// waits for that.
	Advance(c *luau.Call, d time.Duration) error
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
	Tool       string   // whose script it is, and whose operator grants; "": whoever starts the script: see Advice
	Instead    string   // what a script does in place of asking for grants that it never gets; "": see Advice

	// What is taken away from the lists above, and from everything.
	DenyNet, DenyEnv, DenyRead, DenyWrite []string
}
