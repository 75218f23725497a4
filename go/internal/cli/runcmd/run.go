// Package runcmd is `luau SCRIPT [ARGS...]`: it runs one script.
package runcmd

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/size"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

type flags struct {
	timeout time.Duration
	memory  size.Bytes
	native  bool
	stats   bool
	libs    []string
}

// Command makes the command. Flags after the script's name belong to the script.
func Command(name string) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:           name + " [flags] SCRIPT [ARGS...]",
		Short:         "Run Luau scripts",
		Long:          "Runs a Luau script. What follows the script's name goes to the script, as `...`.",
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usagef("no script named")
			}
			return run(cmd, &f, args)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%v", err) })
	cmd.CompletionOptions.DisableDefaultCmd = true
	p := cmd.Flags()
	p.SetInterspersed(false)
	p.DurationVar(&f.timeout, "timeout", 0, "end the script after this long, as 30s or 500ms (exit code 124)")
	p.Var(&f.memory, "memory", "most memory that the script may use, as 64MiB (default 256MiB)")
	p.Lookup("memory").DefValue = "" // its zero is no size
	p.BoolVar(&f.native, "native", false, "make native code of the script and what it requires")
	p.BoolVar(&f.stats, "stats", false, "write time, memory and host calls to standard error at the end")
	p.StringArrayVar(&f.libs, "lib", nil, "a folder of modules for require, before those of LUAU_PATH; may be repeated")
	return cmd
}

func run(cmd *cobra.Command, f *flags, args []string) error {
	if f.timeout < 0 {
		return exit.Usagef("--timeout must not be negative")
	}
	stats, err := app.Run(cmd.Context(), app.Script{
		Path: args[0], Args: args[1:], Libs: f.libs, Timeout: f.timeout, Memory: int64(f.memory), Native: f.native,
		Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
	})
	if f.stats {
		writeStats(cmd.ErrOrStderr(), stats)
	}
	return hint(f, stats, err)
}

// hint names the flag that changes the limit which ended the script.
func hint(f *flags, stats app.Stats, err error) error {
	switch {
	case luau.IsKilled(err) && errors.Is(err, app.ErrTimeout):
		return exit.WithHint(err, fmt.Sprintf("the script had %s; --timeout gives it another time", f.timeout))
	case luau.CodeOf(err) == luau.CodeMemory:
		return exit.WithHint(err, fmt.Sprintf("the script may use %s; --memory gives it more", size.Bytes(stats.MemoryLimit)))
	}
	return err
}

func writeStats(w io.Writer, s app.Stats) {
	fmt.Fprintf(w, "time %s, memory %s (peak %s of %s), host calls %d, printed %s\n",
		s.Time.Round(time.Microsecond), size.Bytes(s.MemoryUsed), size.Bytes(s.MemoryPeak), size.Bytes(s.MemoryLimit),
		s.HostCalls, size.Bytes(s.Output))
}
