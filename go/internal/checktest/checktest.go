// Package checktest starts the real type checker, as make builds it, for tests of what asks it.
package checktest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// Path is the program, whatever folder a test runs in.
func Path() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..", "build", "bin", "luau-check")
}

// Start is typecheck.Options.Start.
func Start(args []string) (typecheck.Process, error) { return Launch(args) }

// Launch starts the program with these arguments.
func Launch(args []string) (*Process, error) {
	if _, err := os.Stat(Path()); err != nil {
		return nil, fmt.Errorf("the type checker is missing: run make checker: %w", err)
	}
	p := &Process{Cmd: exec.Command(Path(), args...)}
	p.Cmd.Stderr = &p.said
	in, err := p.Cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.Cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.Writer, p.Reader = in, out
	if err := p.Cmd.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// New makes a checker that ends with the test. Its limits are wide: the machine may be slow.
func New(t testing.TB) *typecheck.Checker {
	c := typecheck.New(typecheck.Options{Start: Start, Time: time.Minute, LoadTime: 5 * time.Minute, Memory: 4 << 30})
	t.Cleanup(c.Close)
	return c
}

// Process is a luau-check that runs.
type Process struct {
	io.Reader
	io.Writer
	Cmd  *exec.Cmd
	said bytes.Buffer
}

// Kill implements typecheck.Process.
func (p *Process) Kill() { _ = p.Cmd.Process.Kill() } // it may have ended

// Wait implements typecheck.Process.
func (p *Process) Wait() (int, string) {
	_ = p.Cmd.Wait() // the code says it
	return p.Cmd.ProcessState.ExitCode(), p.said.String()
}
