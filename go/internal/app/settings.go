package app

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Settings say how scripts are run, whatever runs them. The zero value of a limit means none, but for
// memory.
type Settings struct {
	Libs     []string // library folders, before LUAU_PATH
	Timeout  time.Duration
	Memory   int64 // bytes; 0: the default of package luau
	Native   bool
	Optimize luau.Optimization
	Grants   hostmod.Grants
	Log      LogFormat
	Stdin    io.Reader // what scripts read; nil: it is at its end
	NoStdin  string    // why scripts may not read it; "": they may
	Stdout   io.Writer
	Stderr   io.Writer
	// Tell words the errors of background tasks. nil: for a person, without colours.
	Tell func(error) string
	// Hint says what to do about an error; "" when there is nothing to say. May be nil.
	Hint func(error) string
}

// ErrTimeout is the cause of a run that its own timeout ended.
var ErrTimeout = fmt.Errorf("%w", context.DeadlineExceeded)

// limited ends with the time limit.
func (s *Settings) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, s.Timeout, ErrTimeout)
}

// hinted adds what to do about err.
func (s *Settings) hinted(err error) error {
	if err == nil || s.Hint == nil {
		return err
	}
	return WithHint(err, s.Hint(err))
}

// check finds what cannot be run with.
func (s *Settings) check() error {
	for _, folder := range s.Libs {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return &OptionError{fmt.Sprintf("--lib %s: no such folder", folder)}
		}
	}
	return s.checkGrants()
}

// http makes the module with the connections of these settings.
func (s *Settings) http() (*httpmod.Module, error) {
	g := s.Grants
	client, err := httpmod.New(httpmod.Options{Policy: httpmod.Policy{
		AllowAll: g.All, Net: g.Net, NetPrivate: g.NetPrivate, Deny: g.DenyNet, UseProxyEnv: true,
	}})
	if err != nil {
		return nil, &OptionError{err.Error()}
	}
	return httpmod.NewModule(client), nil
}

// config is of the VM of one script, which has the process to itself or may believe so.
func (s *Settings) config(http *httpmod.Module, script string, args []string) (*engine.Config, error) {
	resolver, err := module.New(module.Options{Roots: s.roots(), Embedded: libs.FS, Script: script})
	if err != nil {
		return nil, err
	}
	return &engine.Config{
		Modules: builtin.Modules(builtin.Parts{
			HTTP:    http,
			Environ: os.Environ,
			Keys:    kvmod.NewStore(kvmod.Options{}).Module(""),
			Process: &processmod.Module{Args: args, Cwd: os.Getwd, Input: s.Stdin, NoInput: s.NoStdin},
		}),
		Grants:      &s.Grants,
		Resolver:    resolver,
		MemoryLimit: s.Memory,
		Native:      s.Native,
		Optimize:    s.Optimize,
	}, nil
}

// roots are the library folders.
func (s *Settings) roots() []string {
	return slices.Concat(s.Libs, filepath.SplitList(os.Getenv("LUAU_PATH")))
}

// OptionError is an option that names what is not there.
type OptionError struct{ message string }

// Error gives the message.
func (e *OptionError) Error() string { return e.message }

// ErrorCode is that of a wrong command line.
func (e *OptionError) ErrorCode() string { return "usage" }

// ExitError is the end of a script that asked for an exit code other than 0.
type ExitError = processmod.Exit

// exited tells a script that ended itself from one that failed.
func exited(err error) error {
	var exit *ExitError
	switch {
	case !luau.IsKilled(err) || !errors.As(err, &exit):
		return err
	case exit.Code == 0:
		return nil
	}
	return exit
}
