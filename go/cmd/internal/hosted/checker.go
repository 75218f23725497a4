package hosted

import (
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"sync"
	"syscall"

	"github.com/hukilau/hukilau/go/cmd/internal/programs"
	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// checkerName is the program of the type checker.
const checkerName = "luau-check"

// startChecker starts the type checker: the one beside this program, else the one in PATH. It gets nothing of ours:
// neither environment nor folder, nor the signals of the terminal.
func startChecker(args []string) (typecheck.Process, error) {
	path, err := findChecker()
	if err != nil {
		return nil, err
	}
	c := &checking{cmd: exec.Command(path, args...)}
	c.cmd.Env, c.cmd.Dir = []string{}, "/"
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.Stderr = &c.said
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

func findChecker() (string, error) {
	path, err := programs.Find(checkerName)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) || errors.Is(err, fs.ErrNotExist) {
		return "", typecheck.ErrAbsent // one in the working directory was not meant
	}
	return path, err
}

// checking is a type checker that runs.
type checking struct {
	io.Reader
	io.Writer
	cmd  *exec.Cmd
	said tail
}

// Kill implements typecheck.Process.
func (c *checking) Kill() { _ = c.cmd.Process.Kill() } // it may have ended

// Wait implements typecheck.Process.
func (c *checking) Wait() (int, string) {
	_ = c.cmd.Wait() // the code says it
	return c.cmd.ProcessState.ExitCode(), c.said.text()
}

// mostSaid is how much of what a process says last is kept.
const mostSaid = 4 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(part []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, part...)
	if over := len(t.kept) - mostSaid; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(part), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
