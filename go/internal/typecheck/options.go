package typecheck

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Process is a luau-check that runs. Kill may be called at any time; Wait returns once it has ended.
type Process interface {
	io.Reader // its standard output
	io.Writer // its standard input
	Kill()
	// Wait gives the exit code, -1 for a signal, and the end of what it wrote to standard error.
	Wait() (code int, said string)
}

// Options are what a Checker is made of.
type Options struct {
	// Start starts luau-check with these arguments. An error that is ErrAbsent says that there is no such program. Needed.
	Start func(args []string) (Process, error)
	// Memory bounds the process, in bytes; 0: 512 MiB.
	Memory int64
	// Time bounds one check; 0: 2 s.
	Time time.Duration
	// Patience is how long a check waits for those before it; 0: as long as its context. There is one process: whoever
	// sends scripts that take long would have all others wait for each of them.
	Patience time.Duration
	// LoadTime bounds the loading of a set of definitions; 0: 20 s.
	LoadTime time.Duration
	// Idle is after how long without a check the process ends; 0: 10 min, less than 0: never.
	Idle time.Duration
	// Cached is how many scripts' findings are remembered; 0: 1,000, less than 0: none.
	Cached int
	// Sets is how many sets of definitions the process keeps; 0: 4.
	Sets int
	// Warn is told once that there is no checker, and of each time that the process ended on its own. nil: nobody is.
	Warn func(message string)
}

func (o Options) withDefaults() Options {
	pick := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	pick(&o.Time, 2*time.Second)
	pick(&o.LoadTime, 20*time.Second)
	pick(&o.Idle, 10*time.Minute)
	if o.Memory == 0 {
		o.Memory = 512 << 20
	}
	if o.Cached == 0 {
		o.Cached = 1000
	}
	if o.Sets == 0 {
		o.Sets = 4
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return o
}

// ErrAbsent says that there is no luau-check: scripts run unchecked.
var ErrAbsent = errors.New("luau-check is neither beside luau nor in PATH: scripts are not type-checked (`make install` puts it there)")

// ErrClosed says that the Checker was closed.
var ErrClosed = errors.New("the type checker is closed")

// Failure says that a script could not be checked, which says nothing about the script's worth.
type Failure struct {
	Code    string // "timeout", "memory", "crash", "definitions", "too_large", "busy"
	Message string
}

// Error is the message.
func (f *Failure) Error() string { return f.Message }

// ErrorCode is the code.
func (f *Failure) ErrorCode() string { return f.Code }

func failure(code, format string, args ...any) *Failure {
	return &Failure{code, fmt.Sprintf(format, args...)}
}
