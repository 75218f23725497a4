package testcmd_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/cli/testcmd"
)

// The rest is in tests/cli/test.txtar.

type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(text)
}

func (o *output) count(text string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Count(o.buf.String(), text)
}

func TestWatchRunsAgain(t *testing.T) {
	dir := t.TempDir()
	tests, part := filepath.Join(dir, "tests"), filepath.Join(dir, "part.luau")
	require.NoError(t, os.Mkdir(tests, 0o755))
	script := filepath.Join(tests, "test_it.luau")
	require.NoError(t, os.WriteFile(script, []byte("assert(require('../part'))"), 0o644))
	require.NoError(t, os.WriteFile(part, []byte("return false"), 0o644))
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	var out, errs output
	cmd := testcmd.Command()
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs([]string{"--watch", tests})
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()
	wait := func(o *output, text string, times int) {
		t.Helper()
		require.Eventually(t, func() bool { return o.count(text) == times }, 30*time.Second, 10*time.Millisecond, text)
	}
	wait(&out, "0 passed, 1 failed, 0 skipped\n", 1)
	wait(&errs, "waiting for changes", 1)
	require.NoError(t, os.WriteFile(part, []byte("return 'a change'"), 0o644))
	wait(&out, "1 passed, 0 failed, 0 skipped\n", 1)
	wait(&errs, "waiting for changes", 2)
	require.NoError(t, os.Rename(script, filepath.Join(tests, "test_at.luau")))
	wait(&out, "1 passed, 0 failed, 0 skipped\n", 2)
	cancel(stop)
	require.ErrorIs(t, <-done, stop)
}

func TestCancelledRun(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "test_loop.luau"), []byte("while true do end"), 0o644))
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
	var out output
	cmd := testcmd.Command()
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs([]string{dir})
	require.ErrorIs(t, cmd.ExecuteContext(ctx), stop)
}
