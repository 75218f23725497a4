// Package runflags has the flags of every verb that runs scripts: limits, libraries, permissions.
package runflags

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/size"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Flags are the flags of one command, and after Check the settings that they stand for.
type Flags struct {
	app.Settings
	timed   string // has the time limit: "script"
	sized   string // has the memory limit
	memory  size.Bytes
	sandbox bool
}

// least is what a State and a small script take.
const least size.Bytes = 1 << 20

// Register adds the flags to a command's. timed and sized are what has the limits of time and memory, as
// "script"; timeout is how long it may take unless the user says otherwise.
func (f *Flags) Register(cmd *cobra.Command, timed, sized string, timeout time.Duration) {
	f.timed, f.sized = timed, sized
	p := cmd.Flags()
	f.Timeout = timeout
	p.Var(span{&f.Timeout}, "timeout", fmt.Sprintf("end the %s after this `time`, as 30s or 500ms; 0 is no limit", timed))
	p.Var(&f.memory, "memory", fmt.Sprintf("most memory that a %s may use, as 64MiB (default %s, at least %s)", sized, normal, least))
	p.Lookup("memory").DefValue = "" // its zero is no size
	p.BoolVar(&f.Native, "native", false, "make native code of scripts and what they require")
	p.StringArrayVar(&f.Libs, "lib", nil, "a `folder` of modules for require, before those of LUAU_PATH; may be repeated")
	f.registerPermissions(p)
}

const normal = size.Bytes(luau.DefaultMemoryLimit)

// Check completes the settings; its errors are of the command line.
func (f *Flags) Check(cmd *cobra.Command) error {
	switch {
	case f.Timeout < 0:
		return exit.Usagef("--timeout must not be negative")
	case cmd.Flags().Changed("memory") && f.memory < least:
		return exit.Usagef("%s", f.tooLittle())
	}
	f.Memory, f.Hint = int64(f.memory), f.hint
	f.Stdout, f.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	colour := app.Coloured(f.Stderr)
	f.Tell = func(err error) string { return app.Report(err, colour) }
	if err := f.checkPermissions(cmd.Flags()); err != nil {
		return err
	}
	for _, text := range f.Doubts() {
		app.Warn(f.Stderr, text)
	}
	return nil
}

// hint names the flag that changes the limit which ended the script.
func (f *Flags) hint(err error) string {
	switch {
	case errors.Is(err, app.ErrTimeout):
		return fmt.Sprintf("the %s had %s; --timeout gives it another time", f.timed, f.Timeout)
	case luau.CodeOf(err) == luau.CodeMemory:
		return fmt.Sprintf("the %s may use %s; --memory gives it more", f.sized, cmp.Or(f.memory, normal))
	}
	return ""
}
