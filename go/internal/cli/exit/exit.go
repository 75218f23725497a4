// Package exit holds the exit codes of the commands and the errors that stand for them.
package exit

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/spelling"
)

// The exit codes.
const (
	OK          = 0
	Script      = 1   // the script failed
	Usage       = 2   // the command line is wrong
	Timeout     = 124 // --timeout ended the script
	Interrupted = 130 // Ctrl-C
)

// ErrInterrupted is the cause of a context that an interrupt signal ended.
var ErrInterrupted = errors.New("interrupted")

// ErrReported is a failure that the command has told of already.
var ErrReported = errors.New("reported")

// UsageError is a wrong command line.
type UsageError struct{ message string }

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Error gives the message.
func (e *UsageError) Error() string { return e.message }

// ErrorCode is the code of the error for programs.
func (e *UsageError) ErrorCode() string { return "usage" }

// OneArg wants one argument; what says what it is.
func OneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return Usagef("%s needs %s", cmd.CommandPath(), what)
		case len(args) > 1:
			return Usagef("%s takes one argument, %s; got %q as well", cmd.CommandPath(), what, args[1])
		}
		return nil
	}
}

// SomeArgs wants at least one argument; what says what they are.
func SomeArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usagef("%s needs %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// Verb refuses arguments of a command that only has commands below it: they are no names of one.
func Verb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, below := range cmd.Commands() {
		names = append(names, below.Name())
	}
	if near := spelling.Nearest(args[0], names); near != "" {
		return Usagef("%s has no command %q; did you mean %s?", cmd.CommandPath(), args[0], near)
	}
	return Usagef("%s has no command %q", cmd.CommandPath(), args[0])
}
