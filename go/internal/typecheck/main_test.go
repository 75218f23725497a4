package typecheck_test

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/checktest"
	"github.com/hukilau/hukilau/go/internal/typecheck"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// started is what a test sees of the processes of its Checker.
type started struct {
	mu       sync.Mutex
	list     []*checktest.Process
	warnings []string
}

func (s *started) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list)
}

func (s *started) last() *checktest.Process {
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
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.last().Cmd.Process.Pid))
	require.NoError(t, err)
	var size, pages int
	_, err = fmt.Sscan(string(text), &size, &pages)
	require.NoError(t, err)
	return pages * os.Getpagesize() >> 20
}

// checker makes a Checker over the real program. Its limits are wide: the machine may be slow.
func checker(t testing.TB, o typecheck.Options) (*typecheck.Checker, *started) {
	t.Helper()
	seen := &started{}
	o.Start = func(args []string) (typecheck.Process, error) {
		p, err := checktest.Launch(args)
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
			require.ErrorIs(t, p.Cmd.Process.Signal(syscall.Signal(0)), os.ErrProcessDone)
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
