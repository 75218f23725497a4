// Package checktest starts the real type checker, as make builds it, for tests of what asks it.
package checktest

import (
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
func Start(args []string) (typecheck.Process, error) {
	if _, err := os.Stat(Path()); err != nil {
		return nil, fmt.Errorf("the type checker is missing: run make checker: %w", err)
	}
	p := &process{cmd: exec.Command(Path(), args...)}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.Writer, p.Reader = in, out
	return p, p.cmd.Start()
}

// New makes a checker that ends with the test. Its limits are wide: the machine may be slow.
func New(t testing.TB) *typecheck.Checker {
	c := typecheck.New(typecheck.Options{Start: Start, Time: time.Minute, LoadTime: 5 * time.Minute, Memory: 4 << 30})
	t.Cleanup(c.Close)
	return c
}

type process struct {
	io.Reader
	io.Writer
	cmd *exec.Cmd
}

// Kill implements typecheck.Process.
func (p *process) Kill() { _ = p.cmd.Process.Kill() } // it may have ended

// Wait implements typecheck.Process.
func (p *process) Wait() (int, string) {
	_ = p.cmd.Wait() // the code says it
	return p.cmd.ProcessState.ExitCode(), ""
}
