// Package app composes a program from its parts: which host modules, which policy, where output
// and logs go. Only this package and main touch the operating system's process state.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/builtin"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/kvmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/processmod"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
	"github.com/hukilau/hukilau/libs"
)

// Script is one script to run. The zero value of a limit means none, but for memory.
type Script struct {
	Path     string   // of the script; with Text what errors call it
	Text     *string  // the script itself, which then is in no file
	Args     []string // what the script gets as `...`
	Libs     []string // library folders, before LUAU_PATH
	Timeout  time.Duration
	Memory   int64 // bytes; 0: the default of package luau
	Native   bool
	Optimize luau.Optimization
	Permissions
	Log    LogFormat
	Stdout io.Writer
	Stderr io.Writer
}

// Permissions are what a script may reach. The zero value is nothing.
type Permissions struct {
	All                                   bool
	Net, NetPrivate, Env, Read, Write     []string // "*" is everything
	DenyNet, DenyEnv, DenyRead, DenyWrite []string // taken away from the rest
}

func (p Permissions) policy() httpmod.Policy {
	return httpmod.Policy{AllowAll: p.All, Net: p.Net, NetPrivate: p.NetPrivate, Deny: p.DenyNet, UseProxyEnv: true}
}

func (p Permissions) grants() *hostmod.Grants {
	return &hostmod.Grants{
		All: p.All, Net: p.Net, NetPrivate: p.NetPrivate, Env: p.Env, Read: p.Read, Write: p.Write,
		DenyNet: p.DenyNet, DenyEnv: p.DenyEnv, DenyRead: p.DenyRead, DenyWrite: p.DenyWrite,
	}
}

// Stats are of one finished run.
type Stats struct {
	Time time.Duration
	luau.Stats
}

// ErrTimeout is the cause of a run that its own timeout ended.
var ErrTimeout = fmt.Errorf("%w", context.DeadlineExceeded)

// Run runs a script to its end.
func Run(ctx context.Context, s Script) (Stats, error) {
	if err := checkFolders(s.Libs); err != nil {
		return Stats{}, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if s.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Timeout, ErrTimeout)
		defer cancel()
	}
	source, err := s.source(ctx)
	if err != nil {
		return Stats{}, err
	}
	terminal := Terminal(s.Stdout)
	s.Stdout, s.Stderr = patient(ctx, s.Stdout), patient(ctx, s.Stderr)
	out := &writer{w: s.Stdout, failed: stop}
	tasks := &taskErrors{w: s.Stderr}
	vm, err := newVM(s, out, tasks, terminal)
	if err != nil {
		return Stats{}, err
	}
	defer vm.Close()
	started := time.Now()
	args := make([]any, len(s.Args))
	for i, a := range s.Args {
		args[i] = a
	}
	err = vm.RunSource(ctx, source.Chunk, string(source.Code), engine.RunOptions{}, args...)
	stats := Stats{Time: time.Since(started)}
	if read, statsErr := vm.State().Stats(); statsErr == nil {
		stats.Stats = read
	}
	if out.err != nil {
		return stats, fmt.Errorf("cannot write what the script prints: %w", out.err)
	}
	return stats, s.withText(exited(tasks.told(err)))
}

// ExitError is the end of a script that asked for an exit code other than 0.
type ExitError struct{ Code int }

// Error says so.
func (e *ExitError) Error() string { return (&processmod.Exit{Code: e.Code}).Error() }

// exited tells a script that ended itself from one that failed.
func exited(err error) error {
	var exit *processmod.Exit
	switch {
	case !luau.IsKilled(err) || !errors.As(err, &exit):
		return err
	case exit.Code == 0:
		return nil
	}
	return &ExitError{exit.Code}
}

// modules are those of a script that has the process to itself, or may believe so.
func modules(client *httpmod.Module, args []string) []hostmod.Module {
	return builtin.Modules(builtin.Parts{
		HTTP:    client,
		Environ: os.Environ,
		Keys:    kvmod.NewStore(kvmod.Options{}).Module(""),
		Process: &processmod.Module{Args: args, Cwd: os.Getwd},
	})
}

// source reads the script. A pipe may let it wait, until ctx ends.
func (s *Script) source(ctx context.Context) (module.Source, error) {
	if s.Text != nil {
		return module.Source{Chunk: "@" + s.Path, Code: []byte(*s.Text)}, nil
	}
	return within(ctx, func() (module.Source, error) { return module.ReadScript(s.Path) })
}

// ReadText reads a script from elsewhere than a file, until ctx ends.
func ReadText(ctx context.Context, name string, r io.Reader) (string, error) {
	text, err := within(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(r, luau.MaxSource+1)) })
	if err != nil {
		return "", fmt.Errorf("cannot read the script from %s: %w", name, err)
	}
	text, err = module.CleanText(name, text)
	return string(text), err
}

// withText lets Report show lines of a script that is in no file.
func (s *Script) withText(err error) error {
	if err == nil || s.Text == nil {
		return err
	}
	return &textError{err, "@" + s.Path, *s.Text}
}

type textError struct {
	error
	chunk, text string
}

func (e *textError) Unwrap() error { return e.error }

// OptionError is an option that names what is not there.
type OptionError struct{ message string }

// Error gives the message.
func (e *OptionError) Error() string { return e.message }

func checkFolders(folders []string) error {
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return &OptionError{fmt.Sprintf("--lib %s: no such folder", folder)}
		}
	}
	return nil
}

func newVM(s Script, out *writer, tasks *taskErrors, terminal bool) (*engine.VM, error) {
	client, err := httpmod.New(httpmod.Options{Policy: s.policy()})
	if err != nil {
		return nil, &OptionError{err.Error()}
	}
	resolver, err := module.New(module.Options{
		Roots:    append(append([]string{}, s.Libs...), filepath.SplitList(os.Getenv("LUAU_PATH"))...),
		Embedded: fs.FS(libs.FS),
		Script:   s.Path,
	})
	if err != nil {
		return nil, err
	}
	return engine.New(&engine.Config{
		Modules:     modules(httpmod.NewModule(client), s.Args),
		Grants:      s.grants(),
		Resolver:    resolver,
		MemoryLimit: s.Memory,
		Native:      s.Native,
		Optimize:    s.Optimize,
		Output:      out.write,
		OutputLines: terminal,
		Log:         s.Log.writer(s.Stderr),
		TaskFailed:  tasks.report,
	})
}

// writer passes on what scripts print. When that fails it ends the run.
type writer struct {
	w      io.Writer
	err    error
	failed func(error)
}

func (w *writer) write(text []byte) {
	if w.err != nil {
		return
	}
	if _, w.err = w.w.Write(text); w.err != nil {
		w.failed(w.err)
	}
}

// taskErrors reports the errors of background tasks when they happen.
type taskErrors struct {
	w        io.Writer
	reported []error
}

func (t *taskErrors) report(err error) {
	t.reported = append(t.reported, err)
	_, _ = io.WriteString(t.w, Report(err, false))
}

// told is the error of a run, without what was reported already.
func (t *taskErrors) told(err error) error {
	if err == nil || !slices.Contains(t.reported, err) {
		return err
	}
	if len(t.reported) == 1 {
		return errors.New("a background task failed, as reported above")
	}
	return fmt.Errorf("%d background tasks failed, as reported above", len(t.reported))
}
