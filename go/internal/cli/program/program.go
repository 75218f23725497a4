// Package program runs a command line: how errors become reports and exit codes is the same for all programs.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/visible"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// JSONFlag is the flag of commands that give JSON in place of words, in their errors as well.
const JSONFlag = "json"

// WantsJSON says whether the errors of a command are to be JSON.
func WantsJSON(cmd *cobra.Command) bool {
	flag := cmd.Flags().Lookup(JSONFlag)
	return flag != nil && flag.Value.String() == "true"
}

// Main runs a command with its verbs and gives the exit code. version is its line of versions.
func Main(ctx context.Context, root *cobra.Command, version string, args []string, s Streams) int {
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetArgs(args)
	root.Version = version
	root.SetVersionTemplate("{{.Version}}\n")
	unwritten := checkedHelp(root)
	cmd, gone, err := execute(ctx, root)
	if gone {
		app.WriteSoon(s.Err, "interrupted\n")
		return exit.Interrupted
	}
	if err == nil {
		err = unwritten()
	}
	var ended *app.ExitError
	switch {
	case err == nil:
		return exit.OK
	case errors.As(err, &ended):
		return ended.Code // the script's own wish, so nothing is reported
	case errors.Is(err, exit.ErrReported):
		return exit.Script
	}
	code := exitCode(ctx, err)
	app.WriteSoon(s.Err, told(cmd, err, code, app.Coloured(s.Err)))
	return code
}

// grace is how long a command may still take when its context has ended: to tell what it has, and to clear up.
const grace = 3 * time.Second

// execute runs a command. One that does not look at its context, or is stuck in the system, is left behind
// when that has ended, as the process is about to end too.
func execute(ctx context.Context, root *cobra.Command) (cmd *cobra.Command, leftBehind bool, err error) {
	ctx, patient := exit.WithPatience(ctx)
	done := make(chan struct{})
	var doneCmd *cobra.Command
	var doneErr error
	go func() {
		defer close(done)
		doneCmd, doneErr = root.ExecuteContextC(ctx)
	}()
	select {
	case <-done:
		return doneCmd, false, doneErr
	case <-ctx.Done():
	}
	over := time.After(grace)
	if patient() {
		over = nil
	}
	select {
	case <-done:
		return doneCmd, false, doneErr
	case <-over:
		return nil, true, nil
	}
}

// told is what a person or program reads about an error.
func told(cmd *cobra.Command, err error, code int, colour bool) string {
	switch {
	case WantsJSON(cmd):
		return app.ReportJSON(err)
	case code == exit.Usage:
		return fmt.Sprintf("error: %s\nRun `%s --help` for how to use it.\n", visible.Message(err.Error()), cmd.CommandPath())
	case code == exit.Interrupted:
		return "interrupted\n"
	}
	return app.Report(err, colour)
}

func exitCode(ctx context.Context, err error) int {
	var coded interface{ ErrorCode() string }
	switch {
	case errors.As(err, &coded) && coded.ErrorCode() == "usage":
		return exit.Usage
	case errors.Is(context.Cause(ctx), exit.ErrInterrupted):
		return exit.Interrupted
	case luau.IsKilled(err) && errors.Is(err, context.DeadlineExceeded):
		return exit.Timeout
	}
	return exit.Script
}
