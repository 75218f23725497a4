package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hukilau/hukilau/go/internal/engine"
)

// console is where the words of one VM go, from run to run.
type console struct {
	settings *Settings
	lines    bool // somebody watches
	out, err patientWriter
	outErr   error       // the first failure of out
	failed   func(error) // ends the run
	reported []error     // of background tasks, in this run
}

func (s *Settings) console() *console {
	return &console{settings: s, lines: Terminal(s.Stdout), out: patient(s.Stdout), err: patient(s.Stderr)}
}

// begin is called before each run; failed is to end it.
func (c *console) begin(ctx context.Context, failed func(error)) {
	c.out.begin(ctx)
	c.err.begin(ctx)
	c.outErr, c.failed, c.reported = nil, failed, nil
}

// attach makes a VM of the config write here.
func (c *console) attach(config *engine.Config) {
	config.Output, config.OutputLines = c.print, c.lines
	config.Log = c.settings.Log.writer(&c.err)
	config.TaskFailed = c.report
}

// print passes on what scripts print. When that fails it ends the run.
func (c *console) print(text []byte) {
	if c.outErr != nil {
		return
	}
	if _, c.outErr = c.out.Write(text); c.outErr != nil {
		c.failed(c.outErr)
	}
}

// report tells the error of a background task when it happens.
func (c *console) report(err error) {
	c.reported = append(c.reported, err)
	tell := c.settings.Tell
	if tell == nil {
		tell = func(err error) string { return Report(err, false) }
	}
	_, _ = io.WriteString(&c.err, tell(err))
}

// told is the error of a run, without what was reported already.
func (c *console) told(err error) error {
	switch {
	case c.outErr != nil:
		return &runnerError{"output", fmt.Errorf("cannot write what the script prints: %w", c.outErr)}
	case err == nil || !slices.Contains(c.reported, err):
		return err
	case len(c.reported) == 1:
		return &runnerError{"task", errors.New("a background task failed, as reported above")}
	}
	return &runnerError{"task", fmt.Errorf("%d background tasks failed, as reported above", len(c.reported))}
}

// runnerError is an error of the runner rather than of the script.
type runnerError struct {
	code string
	error
}

// ErrorCode is the code for programs.
func (e *runnerError) ErrorCode() string { return e.code }

func (e *runnerError) Unwrap() error { return e.error }
