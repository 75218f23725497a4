package app

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/testmod"
)

// Tests say which test files to run, and how. The settings are of each file.
type Tests struct {
	Settings
	Paths    []string // files, and folders to look in; none: the working directory
	Filter   string   // only tests whose name has this in it, and plain scripts whose path has
	Shuffle  bool
	Seed     uint32
	Coverage bool
	Jobs     int // files at once; 0: one for each processor
	// Loaded is told of each file that a test required; any goroutine calls it. May be nil.
	Loaded func(path string)
}

// DefaultTestTimeout is how long a test file may take.
const DefaultTestTimeout = time.Minute

// TestResult is one test of a file, or the whole file where it is a plain script.
type TestResult = testmod.Result

// The statuses of a TestResult.
const (
	TestPassed  = testmod.Passed
	TestFailed  = testmod.Failed
	TestSkipped = testmod.Skipped
)

// TestFile is what became of one file.
type TestFile struct {
	Path    string
	Results []TestResult
	Output  []byte // what it printed and logged
	Time    time.Duration
	// Uncovered says that the run was ended before it could be asked which lines ran.
	Uncovered bool
	covered   map[string]*FileCoverage
}

// Count gives how many of its tests have that status.
func (f *TestFile) Count(status testmod.Status) int {
	n := 0
	for _, r := range f.Results {
		if r.Status == status {
			n++
		}
	}
	return n
}

// RunTests runs test files at once, each in a VM of its own, and hands them to report in the order of
// their paths, without those that the filter leaves nothing of. Progress is told how many have ended. Both
// are called by one goroutine at a time. The result is the coverage of all, where it was wanted.
func RunTests(ctx context.Context, o Tests, report func(*TestFile), progress func(done, all int)) ([]*FileCoverage, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	paths, err := FindTests(o.Paths)
	if err != nil {
		return nil, err
	}
	if o.Shuffle {
		shufflePaths(paths, o.Seed)
	}
	http, err := o.http()
	if err != nil {
		return nil, err
	}
	runner := &testRunner{options: o, http: http}
	all, reported := newCoverage(), 0
	runner.runAll(ctx, paths, func(f *TestFile) {
		all.add(f.covered)
		if len(f.Results) > 0 {
			reported++
			report(f)
		}
	}, progress)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case reported == 0:
		return nil, &OptionError{fmt.Sprintf("--filter %s: no test has this in its name, and no plain script in its path; files looked at: %d", o.Filter, len(paths))}
	}
	return all.list(paths), nil
}

type testRunner struct {
	options Tests
	http    *httpmod.Module
}

// runAll keeps the order of paths in what it reports.
func (r *testRunner) runAll(ctx context.Context, paths []string, report func(*TestFile), progress func(done, all int)) {
	jobs := r.options.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var mu sync.Mutex
	ended := make([]*TestFile, len(paths))
	next, reported, done := 0, 0, 0
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1
	}
	finish := func(i int, f *TestFile) {
		mu.Lock()
		defer mu.Unlock()
		ended[i] = f
		done++
		progress(done, len(paths))
		for ; reported < len(paths) && ended[reported] != nil; reported++ {
			report(ended[reported])
		}
	}
	var workers sync.WaitGroup
	for range min(jobs, len(paths)) {
		workers.Go(func() {
			for i := take(); i < len(paths) && ctx.Err() == nil; i = take() {
				finish(i, r.runFile(ctx, paths[i]))
			}
		})
	}
	workers.Wait()
}
