package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/testmod"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/visible"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// noChecks is the line by which a file says that it checks nothing on purpose.
const noChecks = "-- luau-test: no checks"

// testRun is one file on its way.
type testRun struct {
	file   *TestFile
	output cappedBuffer
	vm     *engine.VM
	tasks  []error // of background tasks
	// running is the test of the library that has begun and of which nothing was reported; "": none.
	running string
	// pending says that tests of the library are written down and have not all ended.
	pending bool
}

// runFile never fails: what goes wrong is a failure of the file.
func (r *testRunner) runFile(ctx context.Context, path string) *TestFile {
	run := &testRun{file: &TestFile{Path: path}}
	started := time.Now()
	r.run(ctx, run)
	run.file.Time = time.Since(started)
	run.file.Output = run.output.text()
	return run.file
}

func (r *testRunner) run(ctx context.Context, run *testRun) {
	path := run.file.Path
	source, err := module.ReadScript(path)
	if err != nil {
		run.fail(path, err)
		return
	}
	suite, chosen := mentionsLibrary(source.Code), strings.Contains(path, r.options.Filter)
	if !suite && !chosen {
		return
	}
	if run.vm, err = r.newVM(run); err != nil {
		run.fail(path, err)
		return
	}
	defer run.vm.Close()
	limited, cancel := r.options.limited(ctx)
	defer cancel()
	started := time.Now()
	err = run.vm.RunSource(limited, source.Chunk, string(source.Code), engine.RunOptions{})
	run.file.Uncovered = r.options.Coverage && luau.IsKilled(err)
	err = r.options.hinted(run.exited(err))
	run.judge(err, time.Since(started), emptiness{
		leftOut: suite && r.options.Filter != "",
		meant:   bytes.Contains(source.Code, []byte(noChecks)),
		chosen:  chosen,
	})
	if r.options.Coverage && !run.file.Uncovered {
		run.file.covered = run.coverage()
	}
}

// mentionsLibrary says whether a file may have tests of the library: a plain script is known without
// running it.
func mentionsLibrary(code []byte) bool {
	return bytes.Contains(code, []byte("require")) && (bytes.Contains(code, []byte(`"test"`)) || bytes.Contains(code, []byte(`'test'`)) || bytes.Contains(code, []byte("`test`")))
}

func (r *testRunner) newVM(run *testRun) (*engine.VM, error) {
	config, err := r.options.config(r.http, run.file.Path, nil)
	if err != nil {
		return nil, err
	}
	config.Modules = append(config.Modules, &testmod.Module{
		Options: testmod.Options{Filter: r.options.Filter, Shuffle: r.options.Shuffle, Seed: float64(r.options.Seed)},
		Report:  run.reported,
		Begin:   run.begin,
		Pending: func(pending bool) { run.pending = pending },
	})
	if r.options.Loaded != nil {
		config.Resolver = &watchedResolver{config.Resolver, r.options.Loaded}
	}
	config.Coverage, config.CountChecks = r.options.Coverage, true
	config.Output = run.output.write
	config.TaskFailed = func(err error) { run.tasks = append(run.tasks, err) }
	config.Log = r.options.Log.writer(&run.output)
	return engine.New(config)
}

// watchedResolver tells which files modules came from.
type watchedResolver struct {
	engine.Resolver
	loaded func(path string)
}

func (r *watchedResolver) Resolve(requirer, name string) (module.Source, error) {
	source, err := r.Resolver.Resolve(requirer, name)
	if err == nil {
		r.loaded(source.ID)
	}
	return source, err
}

func (t *testRun) begin(name string) { t.running = name }

func (t *testRun) add(r TestResult) { t.file.Results = append(t.file.Results, r) }

// reported adds a result of the library.
func (t *testRun) reported(r TestResult) {
	t.running = ""
	r.Message = visible.Message(r.Message)
	t.add(r)
}

// exited is the error of a file that may have ended itself: with tests left it has failed, whatever its
// exit code.
func (t *testRun) exited(err error) error {
	var exit *ExitError
	if luau.IsKilled(err) && errors.As(err, &exit) && t.pending {
		return fmt.Errorf("%w before all of its tests had ended; let them end, and the file by itself", exit)
	}
	return exited(err)
}

// fail adds a failure; that of the file while one of its tests ran is the test's.
func (t *testRun) fail(name string, err error) {
	if name == t.file.Path && t.running != "" {
		name = t.running
	}
	r := TestResult{Name: name, Status: TestFailed, Message: strings.TrimSuffix(Report(err, false), "\n")}
	r.Message = strings.TrimPrefix(r.Message, "error: ")
	t.add(r)
}

// emptiness says what it means that a file has no tests of the library that ran or were skipped.
type emptiness struct {
	leftOut bool // the filter may have left all of them out
	meant   bool // the file says that it checks nothing
	chosen  bool // as a plain script, by the filter
}

// judge adds what the results of the library do not tell: how the script itself ended. A file without any
// result was left out by the filter.
func (t *testRun) judge(err error, took time.Duration, empty emptiness) {
	path := t.file.Path
	for _, failed := range t.tasks {
		t.fail(path+" (background task)", failed)
	}
	switch {
	case err != nil && slices.Contains(t.tasks, err):
	case err != nil:
		t.fail(path, err)
	case len(t.file.Results) > 0:
	case empty.chosen && t.checks() > 0:
		t.add(TestResult{Name: path, Status: TestPassed, Seconds: took.Seconds()})
	case empty.chosen && empty.meant:
		t.add(TestResult{Name: path, Status: TestSkipped})
	case empty.leftOut:
	default:
		t.fail(path, fmt.Errorf("the file checked nothing: it called no assert and has no tests; if that is meant, write the line %s", noChecks))
	}
}

func (t *testRun) checks() uint64 {
	stats, err := t.vm.State().Stats()
	if err != nil {
		return 0
	}
	return stats.Checks
}

func (t *testRun) coverage() map[string]*FileCoverage {
	chunks, err := t.vm.Coverage()
	if err != nil {
		return nil // the run was killed
	}
	covered := map[string]*FileCoverage{}
	for _, c := range chunks {
		if strings.HasPrefix(c.Chunk, "@") { // embedded ones are not the user's
			addChunk(covered, luau.ChunkName(c.Chunk), c.Functions)
		}
	}
	return covered
}

// cappedBuffer keeps the beginning of what a file prints. Its VM's goroutine writes alone.
type cappedBuffer struct {
	buf     []byte
	dropped int
}

// maxTestOutput is how much is kept of each file.
const maxTestOutput = 1 << 20

func (b *cappedBuffer) write(text []byte) {
	room := min(len(text), maxTestOutput-len(b.buf))
	b.buf = append(b.buf, text[:room]...)
	b.dropped += len(text) - room
}

// Write implements io.Writer.
func (b *cappedBuffer) Write(text []byte) (int, error) {
	b.write(text)
	return len(text), nil
}

func (b *cappedBuffer) text() []byte {
	if b.dropped == 0 {
		return b.buf
	}
	return fmt.Appendf(slices.Clone(b.buf), "\n... and %d bytes more\n", b.dropped)
}
