// Package runcmd is `luau SCRIPT [ARGS...]` and `luau run`: it runs one script.
package runcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/cli/runflags"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/size"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/visible"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

type flags struct {
	runflags.Flags
	optimize int
	stats    bool
	profile  string
	eval     []string
	logLevel string
	logStyle string
	config   string
}

const long = `Runs a Luau script: a file, - for standard input, or the text after -e. What follows the script's
name goes to the script, as "...". A script may do everything that its user may; --sandbox changes that.

--profile writes a flame graph of processor time, by function and by line, however the run ends. A browser
shows it at https://www.speedscope.app, where the file is dropped on the page.`

// Command makes the command. Flags after the script's name belong to the script.
func Command(name string) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:           name + " [flags] SCRIPT [ARGS...]",
		Short:         "Run Luau scripts",
		Long:          long,
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true, // of the commands below as well
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, args []string) error { return run(cmd, &f, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // the shell's own: files
		},
	}
	cmd.SetFlagErrorFunc(exit.FlagError)
	f.Register(cmd, "script", "script", 0)
	f.register(cmd.Flags())
	return cmd
}

func (f *flags) register(p *pflag.FlagSet) {
	p.SetInterspersed(false)
	p.StringArrayVarP(&f.eval, "eval", "e", nil, "run this `text` in place of a file; all arguments go to it; several are lines of one script")
	p.IntVarP(&f.optimize, "optimize", "O", -1, "`level` of the compiler: 0, 1 or 2 (default 1, with --native 2)")
	p.Lookup("optimize").DefValue = "0" // which help does not show
	p.BoolVar(&f.stats, "stats", false, "write time, memory and host calls to standard error at the end")
	p.StringVar(&f.profile, "profile", "", "write where the script spends processor time to this `file`, for https://www.speedscope.app")
	p.Bool(program.JSONFlag, false, "write errors as JSON, one a line")
	p.StringVar(&f.logLevel, "log-level", "debug", "least `level` of log records that are shown: debug, info, warn or error")
	p.StringVar(&f.config, "config", "", "run the script with the sources of this configuration `file`, as sdk: see luau gateway exec")
	p.StringVar(&f.logStyle, "log-format", "text", "`format` of log records: text or json")
}

// script is what the command line asks for.
func (f *flags) script(cmd *cobra.Command, args []string) (app.Script, error) {
	if err := f.Check(cmd); err != nil {
		return app.Script{}, err
	}
	level, ok := hostmod.ParseLevel(f.logLevel)
	switch {
	case cmd.Flags().Changed("optimize") && (f.optimize < 0 || f.optimize > 2):
		return app.Script{}, exit.Usagef("-O must be 0, 1 or 2, got %d", f.optimize)
	case !ok:
		return app.Script{}, exit.Usagef("--log-level must be debug, info, warn or error, got %q", f.logLevel)
	case f.logStyle != "text" && f.logStyle != "json":
		return app.Script{}, exit.Usagef("--log-format must be text or json, got %q", f.logStyle)
	}
	if program.WantsJSON(cmd) {
		f.Tell = app.ReportJSON
	}
	f.Log = app.LogFormat{Least: level, JSON: f.logStyle == "json"}
	if cmd.Flags().Changed("profile") && f.profile == "" {
		return app.Script{}, exit.Usagef("--profile names no file")
	}
	f.Optimize = levels[f.optimize+1]
	s := app.Script{Settings: f.Settings, Profile: f.profile}
	err := f.chooseText(cmd, args, &s)
	return s, err
}

// The levels by -O, beginning with none given.
var levels = [...]luau.Optimization{luau.OptimizeDefault, luau.OptimizeNone, luau.OptimizeSafe, luau.OptimizeFull}

// chooseText finds the script among what -e and the arguments say.
func (f *flags) chooseText(cmd *cobra.Command, args []string, s *app.Script) error {
	if cmd.Flags().Changed("eval") {
		text := strings.Join(f.eval, "\n")
		s.Path, s.Text, s.Args, s.Stdin = "-e", &text, args, cmd.InOrStdin()
		return nil
	}
	if len(args) == 0 {
		return exit.Usagef("%s", noScript)
	}
	s.Path, s.Args = args[0], args[1:]
	if s.Path != "-" {
		s.Stdin = cmd.InOrStdin()
		return nil
	}
	s.Path, s.Input = "stdin", cmd.InOrStdin()
	return nil
}

const noScript = `no script named
  luau FILE       runs a file
  luau -e TEXT    runs a text, luau - what comes from standard input
  luau repl       is a prompt`

// WithSources runs a script that calls MCP servers and services, by the arguments of `luau gateway exec`; main sets it.
var WithSources = func(args []string) error { return errors.New("luau-host cannot be started from here") }

// sourceFlags are those that a script with sources has. All else that it may do is up to the configuration.
var sourceFlags = []string{"config", "eval", "timeout", "log-level", "log-format"}

// runWithSources hands a script to the program that has servers.
func runWithSources(cmd *cobra.Command, f *flags, s app.Script) error {
	args := []string{"exec", "--print", "--config", f.config}
	var other string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch {
		case !slices.Contains(sourceFlags, flag.Name):
			other = flag.Name
		case strings.HasPrefix(flag.Name, "log-"):
			args = append(args, "--"+flag.Name, flag.Value.String())
		}
	})
	if other != "" {
		return exit.Usagef("--%s does not go with --config", other)
	}
	if len(s.Args) > 0 {
		return exit.Usagef("a script that is run with --config takes no arguments, got %q", s.Args[0])
	}
	if s.Timeout > 0 {
		args = append(args, "--timeout", s.Timeout.String())
	}
	switch {
	case s.Text != nil:
		args = append(args, "--code", *s.Text)
	case s.Input != nil:
		args = append(args, "-")
	default:
		args = append(args, "--", s.Path)
	}
	return WithSources(args)
}

func run(cmd *cobra.Command, f *flags, args []string) error {
	script, err := f.script(cmd, args)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("config") {
		return runWithSources(cmd, f, script)
	}
	stats, err := app.Run(cmd.Context(), script)
	if f.stats {
		writeStats(cmd.ErrOrStderr(), stats)
		if stats.Profile != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "profile %s: %d samples of %s processor time\n",
				visible.Line(f.profile), stats.Profile.Samples, stats.Profile.Time.Round(time.Microsecond))
		}
	}
	if unread(err) {
		err = app.WithHint(err, cmp.Or(f.ListHint(cmd, script.Path), verbHint(cmd, script.Path)))
	}
	return err
}

// verbHint is for a script that is not there: its name may be that of a verb, with a slip in it.
func verbHint(cmd *cobra.Command, script string) string {
	if cmd.HasParent() || strings.ContainsAny(script, "./") {
		return ""
	}
	var verbs []string
	for _, verb := range cmd.Commands() {
		verbs = append(verbs, verb.Name())
	}
	if near := spelling.Nearest(script, verbs); near != "" {
		return fmt.Sprintf("did you mean luau %s?", near)
	}
	return ""
}

// unread says whether the script could not be read, rather than failed.
func unread(err error) bool {
	return errors.As(err, new(*module.Error)) && !errors.As(err, new(*luau.Error))
}

func writeStats(w io.Writer, s app.Stats) {
	fmt.Fprintf(w, "time %s, memory %s (peak %s of %s), host calls %d, printed %s\n",
		s.Time.Round(time.Microsecond), size.Bytes(s.MemoryUsed), size.Bytes(s.MemoryPeak), size.Bytes(s.MemoryLimit),
		s.HostCalls, size.Bytes(s.Output))
}
