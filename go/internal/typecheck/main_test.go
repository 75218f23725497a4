package typecheck_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/typecheck"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program is the real checker.
func program(t testing.TB) string {
	t.Helper()
	path, err := filepath.Abs("../../../build/bin/luau-check")
	require.NoError(t, err)
	_, err = os.Stat(path)
	require.NoError(t, err, "the type checker is missing: run make checker")
	return path
}

// process is a luau-check as main starts it.
type process struct {
	io.Reader
	io.Writer
	cmd    *exec.Cmd
	stderr bytes.Buffer
	waited chan struct{}
}

func start(path string, args []string) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), waited: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.Reader, p.Writer = out, in
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) Kill() { _ = p.cmd.Process.Kill() }

func (p *process) Wait() (int, string) {
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), p.stderr.String()
}

// started is what a test sees of the processes of its Checker.
type started struct {
	mu       sync.Mutex
	list     []*process
	warnings []string
}

func (s *started) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list)
}

func (s *started) last() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list[len(s.list)-1]
}

func (s *started) warned() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.warnings...)
}

// resident is the memory of the last process in MiB.
func (s *started) resident(t testing.TB) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.last().cmd.Process.Pid))
	require.NoError(t, err)
	var size, pages int
	_, err = fmt.Sscan(string(text), &size, &pages)
	require.NoError(t, err)
	return pages * os.Getpagesize() >> 20
}

// checker makes a Checker over the real program. Its limits are wide: the machine may be slow.
func checker(t testing.TB, o typecheck.Options) (*typecheck.Checker, *started) {
	t.Helper()
	path, seen := program(t), &started{}
	o.Start = func(args []string) (typecheck.Process, error) {
		p, err := start(path, args)
		if err != nil {
			return nil, err
		}
		seen.mu.Lock()
		defer seen.mu.Unlock()
		seen.list = append(seen.list, p)
		return p, nil
	}
	o.Warn = func(message string) {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		seen.warnings = append(seen.warnings, message)
	}
	if o.Time == 0 {
		o.Time = 30 * time.Second
	}
	if o.LoadTime == 0 {
		o.LoadTime = time.Minute
	}
	c := typecheck.New(o)
	t.Cleanup(func() {
		c.Close()
		for _, p := range seen.list {
			require.ErrorIs(t, p.cmd.Process.Signal(syscall.Signal(0)), os.ErrProcessDone)
		}
	})
	return c, seen
}

// sdk is what a gateway declares.
const sdk = `
type Issue = { number: number, title: string, state: "open" | "closed", labels: { string }?, user: { login: string }? }
type Shape = { kind: "circle", radius: number } | { kind: "square", side: number }
declare sdk: {
	github: {
		create_issue: (args: { title: string, body: string?, labels: { string }?, milestone: { number: number, title: string? }? }) -> Issue,
		list_issues: (args: { state: ("open" | "closed" | "all")?, limit: number?, filter: { author: string?, since: string? }? }?) -> { Issue },
		get_issue: (args: { number: number }) -> Issue?,
		draw: (args: { shape: Shape, extra: { [string]: number }? }) -> string,
		move: (args: { from: string, to: string, points: { { x: number, y: number } }? }) -> (),
		ping: () -> string,
	},
	files: { read: (args: { path: string }) -> string },
}
declare github: typeof(sdk.github)
declare function result(value: any): never
`

var definitions = typecheck.NewDefinitions(sdk)
