// Package app composes a program from its parts: which host modules, which policy, where output
// and logs go. Only this package and main touch the operating system's process state.
package app

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Script is one script to run.
type Script struct {
	Settings
	Path  string    // of the script; with Text or Input what errors call it
	Text  *string   // the script itself, which then is in no file
	Input io.Reader // where the script comes from, which then is in no file
	Args  []string  // what the script gets as `...`
	// Profile is the file that a profile of the run goes to; "" for none. It is written however the run
	// ends, and whole or not at all.
	Profile string
}

// Stats are of one finished run.
type Stats struct {
	Time time.Duration
	luau.Stats
	Profile *luau.Profile // where the script has one
}

// Run runs a script to its end.
func Run(ctx context.Context, s Script) (Stats, error) {
	if err := s.check(); err != nil {
		return Stats{}, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, cancel := s.limited(ctx)
	defer cancel()
	source, err := s.source(ctx)
	if err != nil {
		return Stats{}, s.hinted(err)
	}
	words := s.console()
	words.begin(ctx, stop)
	vm, err := s.newVM(words)
	if err != nil {
		return Stats{}, err
	}
	defer vm.Close()
	if s.Profile == "" {
		stats, err := s.run(ctx, vm, source)
		return stats, s.outcome(words, err)
	}
	profile, err := profileAt(s.Profile)
	if err != nil {
		return Stats{}, err
	}
	if err := vm.State().StartProfile(luau.ProfileOptions{}); err != nil {
		return Stats{}, err
	}
	stats, err := s.run(ctx, vm, source)
	stats.Profile, err = profile.end(vm.State(), s.Path, words, s.outcome(words, err))
	return stats, err
}

func (s *Script) run(ctx context.Context, vm *engine.VM, source module.Source) (Stats, error) {
	started := time.Now()
	args := make([]any, len(s.Args))
	for i, a := range s.Args {
		args[i] = a
	}
	err := vm.RunSource(ctx, source.Chunk, string(source.Code), engine.RunOptions{}, args...)
	stats := Stats{Time: time.Since(started)}
	if read, statsErr := vm.State().Stats(); statsErr == nil {
		stats.Stats = read
	}
	return stats, err
}

// outcome is the error of a run as it is told.
func (s *Script) outcome(words *console, err error) error {
	return s.withText(s.hinted(exited(words.told(err))))
}

func (s *Script) newVM(words *console) (*engine.VM, error) {
	http, err := s.http()
	if err != nil {
		return nil, err
	}
	config, err := s.config(http, s.Path, s.Args)
	if err != nil {
		return nil, err
	}
	words.attach(config)
	return engine.New(config)
}

// source reads the script. A pipe, or somebody who types, may let it wait, until ctx ends.
func (s *Script) source(ctx context.Context) (module.Source, error) {
	if s.Input != nil {
		text, err := readText(ctx, s.Path, s.Input)
		if err != nil {
			return module.Source{}, err
		}
		s.Text = &text
	}
	if s.Text != nil {
		return module.Source{Chunk: "@" + s.Path, Code: []byte(*s.Text)}, nil
	}
	return within(ctx, func() (module.Source, error) { return module.ReadScript(s.Path) })
}

// readText reads a script from elsewhere than a file, until ctx ends.
func readText(ctx context.Context, name string, r io.Reader) (string, error) {
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
