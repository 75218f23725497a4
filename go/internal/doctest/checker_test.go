package doctest

import (
	"io"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// startChecker starts the type checker that make builds, whatever folder a page is in.
func startChecker(args []string) (typecheck.Process, error) {
	_, here, _, _ := runtime.Caller(0)
	path := filepath.Join(filepath.Dir(here), "..", "..", "..", "build", "bin", "luau-check")
	c := &checking{cmd: exec.Command(path, args...)}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.Writer, c.Reader = in, out
	return c, c.cmd.Start()
}

type checking struct {
	io.Reader
	io.Writer
	cmd *exec.Cmd
}

func (c *checking) Kill() { _ = c.cmd.Process.Kill() } // it may have ended

func (c *checking) Wait() (int, string) {
	_ = c.cmd.Wait() // the code says it
	return c.cmd.ProcessState.ExitCode(), ""
}
