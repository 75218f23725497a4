// Package runcmd is `luau SCRIPT [ARGS...]` and `luau run`: it runs one script.
package runcmd

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/permit"
	"github.com/hukilau/hukilau/go/internal/cli/size"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

type flags struct {
	timeout  time.Duration
	memory   size.Bytes
	native   bool
	optimize int
	stats    bool
	libs     []string
	eval     string
	json     bool
	logLevel string
	logStyle string
	permit   permit.Flags
}

const long = `Runs a Luau script: a file, - for standard input, or the text after -e. What follows the script's
name goes to the script, as "...". A script may do everything that its user may; --sandbox changes that.`

// Command makes the command. Flags after the script's name belong to the script.
func Command(name string) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   name + " [flags] SCRIPT [ARGS...]",
		Short: "Run Luau scripts",
		Long:  long,
		Args:  cobra.ArbitraryArgs,
		// Without it cobra lets shells complete the names of verbs only.
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, args []string) error { return run(cmd, &f, args) },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%v", err) })
	cmd.CompletionOptions.DisableDefaultCmd = true
	f.register(cmd.Flags())
	return cmd
}

func (f *flags) register(p *pflag.FlagSet) {
	p.SetInterspersed(false)
	p.StringVarP(&f.eval, "eval", "e", "", "run this `text` in place of a file; all arguments go to it")
	p.DurationVar(&f.timeout, "timeout", 0, "end the script after this `time`, as 30s or 500ms (exit code 124); 0 is no limit")
	p.Lookup("timeout").DefValue = "0" // which help does not show
	p.Var(&f.memory, "memory", "most memory that the script may use, as 64MiB (default 256MiB, at least 1MiB)")
	p.Lookup("memory").DefValue = "" // its zero is no size
	p.BoolVar(&f.native, "native", false, "make native code of the script and what it requires")
	p.IntVarP(&f.optimize, "optimize", "O", -1, "`level` of the compiler: 0, 1 or 2 (default 1, with --native 2)")
	p.Lookup("optimize").DefValue = "0"
	p.BoolVar(&f.stats, "stats", false, "write time, memory and host calls to standard error at the end")
	p.StringArrayVar(&f.libs, "lib", nil, "a `folder` of modules for require, before those of LUAU_PATH; may be repeated")
	p.BoolVar(&f.json, "json", false, "write an error as one line of JSON")
	p.StringVar(&f.logLevel, "log-level", "debug", "least `level` of log records that are shown: debug, info, warn or error")
	p.StringVar(&f.logStyle, "log-format", "text", "`format` of log records: text or json")
	f.permit.Register(p)
}

// script is what the command line asks for.
func (f *flags) script(cmd *cobra.Command, args []string) (app.Script, error) {
	s := app.Script{
		Libs: f.libs, Timeout: f.timeout, Memory: int64(f.memory), Native: f.native,
		Permissions: f.permit.Permissions(), Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
	}
	level, ok := hostmod.ParseLevel(f.logLevel)
	unused := f.permit.Unused(cmd.Flags())
	switch {
	case f.timeout < 0:
		return s, exit.Usagef("--timeout must not be negative")
	case cmd.Flags().Changed("memory") && f.memory < leastMemory:
		return s, exit.Usagef("--memory %s is too little: a script needs at least %s", f.memory.String(), leastMemory.String())
	case cmd.Flags().Changed("optimize") && (f.optimize < 0 || f.optimize > 2):
		return s, exit.Usagef("-O must be 0, 1 or 2, got %d", f.optimize)
	case !ok:
		return s, exit.Usagef("--log-level must be debug, info, warn or error, got %q", f.logLevel)
	case f.logStyle != "text" && f.logStyle != "json":
		return s, exit.Usagef("--log-format must be text or json, got %q", f.logStyle)
	case unused != "":
		return s, exit.Usagef("%s without --sandbox has no effect: without it everything is allowed", unused)
	}
	s.Log = app.LogFormat{Least: level, JSON: f.logStyle == "json"}
	s.Optimize = levels[f.optimize+1]
	return s, f.chooseText(cmd, args, &s)
}

// leastMemory is what a State and a small script take.
const leastMemory size.Bytes = 1 << 20

// The levels by -O, beginning with none given.
var levels = [...]luau.Optimization{luau.OptimizeDefault, luau.OptimizeNone, luau.OptimizeSafe, luau.OptimizeFull}

// chooseText finds the script among what -e and the arguments say.
func (f *flags) chooseText(cmd *cobra.Command, args []string, s *app.Script) error {
	if cmd.Flags().Changed("eval") {
		s.Path, s.Text, s.Args = "-e", &f.eval, args
		return nil
	}
	if len(args) == 0 {
		return exit.Usagef("no script named")
	}
	s.Path, s.Args = args[0], args[1:]
	if s.Path != "-" {
		return nil
	}
	text, err := app.ReadText(cmd.Context(), "stdin", cmd.InOrStdin())
	s.Path, s.Text = "stdin", &text
	return err
}

func run(cmd *cobra.Command, f *flags, args []string) error {
	script, err := f.script(cmd, args)
	if err != nil {
		return err
	}
	stats, err := app.Run(cmd.Context(), script)
	if f.stats {
		writeStats(cmd.ErrOrStderr(), stats)
	}
	err = hint(f, stats, err)
	if err != nil && f.json {
		return &exit.JSONError{Cause: err}
	}
	return err
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
