package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
)

// roles are what other processes do with the store at path; each prints lines as it goes.
var roles = map[string]func(context.Context, *store.Store) error{
	"write": func(ctx context.Context, s *store.Store) error {
		for i := range 1000 {
			if err := s.State.Commit(ctx, "a", values(strconv.Itoa(i), strconv.Itoa(i))); err != nil {
				return err
			}
			fmt.Println(i)
		}
		return nil
	},
	"log": func(ctx context.Context, s *store.Store) error {
		for i := range 1_000_000 {
			if err := s.Log.Record(ctx, store.Entry{ID: strconv.Itoa(i), Status: store.StatusOK}); err != nil {
				return err
			}
			if i%100 == 99 {
				if err := s.Log.Flush(ctx); err != nil {
					return err
				}
				fmt.Println(i)
			}
		}
		return nil
	},
	"claim": func(ctx context.Context, s *store.Store) error {
		list, err := s.Approvals.List(ctx, store.ApprovalFilter{})
		for _, a := range list {
			if _, err := s.Approvals.Claim(ctx, a.ID); err == nil {
				fmt.Println(a.ID)
			}
		}
		fmt.Println("end")
		return err
	},
	"call": func(ctx context.Context, s *store.Store) error {
		call, err := s.Calls.Create(ctx, store.Call{})
		fmt.Println(call.ID)
		return err
	},
	"request": func(ctx context.Context, s *store.Store) error {
		request, err := s.Idempotency.Begin(ctx, store.NewRequestID("c", "t", "k"), "h")
		if err != nil {
			return err
		}
		fmt.Println(request.Kind)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		return request.Finish(ctx, store.Answer{Status: 200, Body: []byte("done")})
	},
}

// play is the main function of such a process. It goes on until its input ends.
func play(role, path string) int {
	s, err := store.Open(context.Background(), store.Options{Path: path})
	if err == nil {
		err = roles[role](context.Background(), s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if err := s.Close(); err != nil {
		return 1
	}
	return 0
}

type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Reader
	input interface{ Write([]byte) (int, error) }
}

func start(t *testing.T, role, path string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_ROLE="+role, "STORE_TEST_PATH="+path)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{t: t, cmd: cmd, lines: bufio.NewReader(output), input: input}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return p
}

func (p *process) line() string {
	p.t.Helper()
	text, err := p.lines.ReadString('\n')
	require.NoError(p.t, err)
	return strings.TrimSuffix(text, "\n")
}

// kill ends the process as kill -9 does, and returns the lines it had still written.
func (p *process) kill() []string {
	require.NoError(p.t, p.cmd.Process.Kill())
	var lines []string
	for {
		text, err := p.lines.ReadString('\n')
		if err != nil {
			_ = p.cmd.Wait()
			return lines
		}
		lines = append(lines, strings.TrimSuffix(text, "\n"))
	}
}

// X14.
func TestKilledWhileWritingKeepsEachFinishedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	for _, after := range []int{1, 40, 300} {
		p := start(t, "write", path)
		var finished []string
		for range after {
			finished = append(finished, p.line())
		}
		finished = append(finished, p.kill()...)
		s := open(t, store.Options{Path: path})
		got, err := s.State.Load(t.Context(), "a")
		require.NoError(t, err)
		for _, key := range finished {
			require.Equal(t, key, string(got[key]))
		}
		require.NoError(t, s.State.Drop(t.Context(), "a"))
	}
}

func TestKilledWhileLoggingKeepsWhatWasFlushed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	p := start(t, "log", path)
	for range 5 {
		p.line()
	}
	last := "499"
	if lines := p.kill(); len(lines) > 0 {
		last = lines[len(lines)-1]
	}
	s := open(t, store.Options{Path: path})
	_, err := s.Log.Get(t.Context(), last)
	require.NoError(t, err)
	n, err := strconv.Atoi(last)
	require.NoError(t, err)
	seq, err := s.Log.LastSeq(t.Context())
	require.NoError(t, err)
	require.Greater(t, seq, int64(n), "none is missing")
}

func TestEachApprovalIsClaimedOnceByAnyProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	clock := newClock()
	clock.now = time.Now()
	s := open(t, store.Options{Path: path, Now: clock.Now})
	ctx := t.Context()
	for range 20 {
		a, err := s.Approvals.Create(ctx, store.Approval{Expires: clock.Now().Add(time.Hour)})
		require.NoError(t, err)
		_, err = s.Approvals.Decide(ctx, a.ID, true, "op")
		require.NoError(t, err)
	}
	processes := []*process{start(t, "claim", path), start(t, "claim", path), start(t, "claim", path)}
	claimed := map[string]int{}
	for _, p := range processes {
		for line := p.line(); line != "end"; line = p.line() {
			claimed[line]++
		}
	}
	require.Len(t, claimed, 20)
	for id, times := range claimed {
		require.Equal(t, 1, times, id)
		a, err := s.Approvals.Get(ctx, id)
		require.NoError(t, err)
		require.Equal(t, store.Running, a.State)
		requireCode(t, s.Approvals.Finish(ctx, id, store.Outcome{}), store.CodeState, "another process")
	}
	for _, p := range processes {
		p.kill()
	}
	clock.Advance(time.Minute)
	running, err := s.Approvals.List(ctx, store.ApprovalFilter{State: store.Running})
	require.NoError(t, err)
	require.Empty(t, running)
	for id := range claimed {
		a, err := s.Approvals.Get(ctx, id)
		require.NoError(t, err)
		require.Equal(t, store.Interrupted, a.State)
		_, err = s.Approvals.Claim(ctx, id)
		requireCode(t, err, store.CodeState, "interrupted")
	}
}

func TestCallOfADeadProcessIsInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	clock := newClock()
	clock.now = time.Now()
	p := start(t, "call", path)
	id := p.line()
	s := open(t, store.Options{Path: path, Now: clock.Now})
	call, err := s.Calls.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, store.Running, call.State)
	p.kill()
	clock.Advance(time.Minute)
	call, err = s.Calls.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, store.Interrupted, call.State)
}

func TestWaitForTheAnswerOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	p := start(t, "request", path)
	require.Equal(t, "new", p.line())
	s := open(t, store.Options{Path: path})
	request, err := s.Idempotency.Begin(t.Context(), store.NewRequestID("c", "t", "k"), "h")
	require.NoError(t, err)
	require.Equal(t, store.InFlight, request.Kind)
	_, err = p.input.Write([]byte("\n"))
	require.NoError(t, err)
	request, err = request.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.Answered, request.Kind)
	require.Equal(t, store.Answer{Status: 200, Body: []byte("done")}, request.Answer)
}

func TestRequestOfADeadProcessIsTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	clock := newClock()
	clock.now = time.Now()
	p := start(t, "request", path)
	require.Equal(t, "new", p.line())
	s := open(t, store.Options{Path: path, Now: clock.Now})
	request, err := s.Idempotency.Begin(t.Context(), store.NewRequestID("c", "t", "k"), "h")
	require.NoError(t, err)
	require.Equal(t, store.InFlight, request.Kind)
	p.kill()
	clock.Advance(time.Minute)
	request, err = request.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.New, request.Kind)
	require.NoError(t, request.Finish(t.Context(), store.Answer{Status: 200}))
}
