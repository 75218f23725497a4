// Package testcmd is `luau test [PATHS...]`: it runs test files and reports.
package testcmd

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/size"
)

type flags struct {
	app.Tests
	memory       size.Bytes
	reporter     string
	seed         uint32
	coverageFile string
	watch        bool
	verbose      bool
}

// Command makes the command.
func Command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "test [flags] [PATHS...]",
		Short: "Run test files",
		Long: `Runs test files: those named, and of folders those named test_*.luau, *_test.luau or *.test.luau.
Each runs in a VM of its own, several at once. A file is a plain script whose asserts hold, or has
tests of the library "test". A file that neither calls assert nor has a test fails, unless it holds
the line "-- luau-test: no checks"; calls of assert count wherever the file's VM makes them.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Paths, f.Memory = args, int64(f.memory)
			if f.Shuffle = cmd.Flags().Changed("shuffle"); f.Shuffle {
				f.Seed = f.seed
			}
			return run(cmd, &f)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usagef("%v", err) })
	p := cmd.Flags()
	p.StringVar(&f.Filter, "filter", "", "only tests whose name has this text in it, and plain scripts whose path has")
	p.StringVar(&f.reporter, "reporter", "pretty", "form of the report: pretty, tap or junit")
	p.BoolVar(&f.Coverage, "coverage", false, "say which lines ran: a table, and a file for lcov")
	p.StringVar(&f.coverageFile, "coverage-file", "coverage.lcov", "where --coverage writes the file for lcov")
	p.Uint32Var(&f.seed, "shuffle", 0, "run files and tests in an order that this number decides")
	p.BoolVar(&f.watch, "watch", false, "run again whenever a Luau file changes, until Ctrl-C")
	p.DurationVar(&f.Timeout, "timeout", app.DefaultTestTimeout, "end a file after this long")
	p.Var(&f.memory, "memory", "most memory that a file may use, as 64MiB (default 256MiB)")
	p.Lookup("memory").DefValue = "" // its zero is no size
	p.StringArrayVar(&f.Libs, "lib", nil, "a folder of modules for require, before those of LUAU_PATH; may be repeated")
	p.BoolVar(&f.Native, "native", false, "make native code of the files and what they require")
	p.IntVar(&f.Jobs, "jobs", 0, "how many files run at once (default: one for each processor)")
	p.BoolVarP(&f.verbose, "verbose", "v", false, "show each test, and what files print also when they pass")
	return cmd
}

func run(cmd *cobra.Command, f *flags) error {
	switch {
	case newReporter(f, io.Discard, io.Discard) == nil:
		return exit.Usagef("--reporter %s: there are pretty, tap and junit", f.reporter)
	case f.Timeout <= 0:
		return exit.Usagef("--timeout must be more than nothing")
	case f.Jobs < 0:
		return exit.Usagef("--jobs must not be negative")
	}
	if f.watch {
		return watch(cmd, f)
	}
	return once(cmd, f)
}

// once runs all files and reports.
func once(cmd *cobra.Command, f *flags) error {
	out, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	r, sum := newReporter(f, out, errs), &summary{}
	line := &progressLine{w: errs, shown: app.Terminal(errs)}
	covered, err := app.RunTests(cmd.Context(), f.Tests, func(file *app.TestFile) {
		sum.add(file)
		line.clear()
		r.file(file)
	}, line.show)
	line.clear()
	if err != nil {
		return err
	}
	if f.Coverage {
		if err := app.SaveLCOV(f.coverageFile, covered); err != nil {
			return err
		}
		r.coverage(covered, f.coverageFile)
	}
	if err := r.end(sum); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	if sum.failed > 0 {
		return exit.ErrReported
	}
	return nil
}

// pollEvery is how often --watch looks at the files.
const pollEvery = 300 * time.Millisecond

func watch(cmd *cobra.Command, f *flags) error {
	ctx := cmd.Context()
	for {
		state := app.WatchState(f.Paths, f.Libs)
		if err := once(cmd, f); err != nil && err != exit.ErrReported {
			if ctx.Err() != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "error: %s\n", err)
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "waiting for changes; Ctrl-C ends")
		if err := waitForChange(ctx, f, state); err != nil {
			return err
		}
	}
}

func waitForChange(ctx context.Context, f *flags, state uint64) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for app.WatchState(f.Paths, f.Libs) == state {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// progressLine counts files on a terminal.
type progressLine struct {
	w     io.Writer
	shown bool
	drawn bool
}

func (p *progressLine) show(done, all int) {
	if p.shown {
		p.drawn = true
		fmt.Fprintf(p.w, "\r%d of %d files", done, all)
	}
}

func (p *progressLine) clear() {
	if p.drawn {
		p.drawn = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
