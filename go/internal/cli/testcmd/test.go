// Package testcmd is `luau test [PATHS...]`: it runs test files and reports.
package testcmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/runflags"
	"github.com/hukilau/hukilau/go/internal/visible"
)

type flags struct {
	runflags.Flags
	tests        app.Tests
	reporter     string
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
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd, &f, args) },
	}
	f.Register(cmd, "file", "file", app.DefaultTestTimeout)
	p := cmd.Flags()
	p.StringVar(&f.tests.Filter, "filter", "", "only tests whose name has this `text` in it, and plain scripts whose path has; what is left out is not counted")
	p.StringVar(&f.reporter, "reporter", "pretty", "`form` of the report: pretty, tap or junit")
	p.BoolVar(&f.tests.Coverage, "coverage", false, "say which lines ran: a table with those that did not, and a file for lcov")
	p.StringVar(&f.coverageFile, "coverage-file", "coverage.lcov", "`file` that --coverage writes for lcov")
	p.Uint32Var(&f.tests.Seed, "shuffle", 0, "run files and tests in an order that this `number` decides")
	p.BoolVar(&f.watch, "watch", false, "run again whenever a test file or what it requires changes, until Ctrl-C")
	p.IntVar(&f.tests.Jobs, "jobs", 0, "how `many` files run at once (default: one for each processor)")
	p.BoolVarP(&f.verbose, "verbose", "v", false, "show each test, and what files print also when they pass")
	return cmd
}

func run(cmd *cobra.Command, f *flags, paths []string) error {
	if err := f.Check(cmd); err != nil {
		return err
	}
	switch {
	case newReporter(f, io.Discard, io.Discard) == nil:
		return exit.Usagef("--reporter %s: there are pretty, tap and junit", f.reporter)
	case f.tests.Jobs < 0:
		return exit.Usagef("--jobs must not be negative")
	}
	f.tests.Settings, f.tests.Paths, f.tests.Shuffle = f.Settings, paths, cmd.Flags().Changed("shuffle")
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
	var uncovered []string
	covered, err := app.RunTests(cmd.Context(), f.tests, func(file *app.TestFile) {
		sum.add(file)
		if file.Uncovered {
			uncovered = append(uncovered, file.Path)
		}
		line.clear()
		r.file(legible(file))
	}, line.show)
	line.clear()
	if err != nil {
		return err
	}
	var unsaved error
	if f.tests.Coverage {
		if unsaved = app.SaveLCOV(f.coverageFile, covered); unsaved == nil {
			r.coverage(legibleCoverage(covered), visible.Line(f.coverageFile))
		}
		for _, path := range uncovered {
			app.Warn(errs, fmt.Sprintf("no coverage of %s: it was ended before it could be asked", visible.Line(path)))
		}
	}
	if err := r.end(sum); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	if unsaved == nil && sum.failed > 0 {
		return exit.ErrReported
	}
	return unsaved
}

// pollEvery is how often --watch looks at the files.
const pollEvery = 300 * time.Millisecond

func watch(cmd *cobra.Command, f *flags) error {
	ctx := cmd.Context()
	var loaded loadedFiles
	f.tests.Loaded = loaded.add
	for {
		known := loaded.list()
		before := app.WatchState(f.tests.Paths, known)
		if err := once(cmd, f); err != nil && err != exit.ErrReported {
			if ctx.Err() != nil {
				return err
			}
			_, _ = io.WriteString(cmd.ErrOrStderr(), f.Tell(err))
		}
		if app.WatchState(f.tests.Paths, known) != before {
			continue // something changed meanwhile
		}
		known = loaded.list()
		before = app.WatchState(f.tests.Paths, known)
		fmt.Fprintln(cmd.ErrOrStderr(), "waiting for changes; Ctrl-C ends")
		if err := waitForChange(ctx, func() bool { return app.WatchState(f.tests.Paths, known) != before }); err != nil {
			return err
		}
	}
}

// loadedFiles are what the tests required.
type loadedFiles struct {
	mu    sync.Mutex
	paths map[string]bool
}

func (l *loadedFiles) add(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paths == nil {
		l.paths = map[string]bool{}
	}
	l.paths[path] = true
}

func (l *loadedFiles) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.paths))
}

func waitForChange(ctx context.Context, changed func() bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !changed() {
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
