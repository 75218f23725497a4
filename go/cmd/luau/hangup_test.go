package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// hangUp sends a command that it has gone when it prints, and gives what it said on standard error.
func hangUp(t *testing.T, cmd *exec.Cmd) (code int, lines []string, stderr string) {
	t.Helper()
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	in := bufio.NewScanner(out)
	for in.Scan() {
		if lines = append(lines, in.Text()); len(lines) == 1 {
			require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
		}
	}
	_ = cmd.Wait() // the exit code says it
	return cmd.ProcessState.ExitCode(), lines, errors.String()
}

func scriptFile(t *testing.T, source string) string {
	path := filepath.Join(t.TempDir(), "script.luau")
	require.NoError(t, os.WriteFile(path, []byte(source), 0o644))
	return path
}

// A terminal that goes away ends a run as SIGTERM does, and what it was to leave is there.
func TestHangUpLeavesStatsAndProfile(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the tests run under nohup, and so does what they start")
	}
	path := scriptFile(t, `print("ready") __native.log("info", "go") while true do end`)
	profile := filepath.Join(t.TempDir(), "profile.json")
	code, _, stderr := hangUp(t, exec.Command("luau", "--stats", "--profile", profile, path))
	require.Equal(t, 130, code, stderr)
	require.Contains(t, stderr, "host calls")
	data, err := os.ReadFile(profile)
	require.NoError(t, err)
	require.True(t, json.Valid(data))
}

// nohup starts programs so that they do not hear of it.
func TestHangUpThatIsIgnored(t *testing.T) {
	path := scriptFile(t, `print("ready") __native.log("info", "go") __native.sleep(200) print("done")`)
	code, lines, stderr := hangUp(t, exec.Command("sh", "-c", `trap "" HUP; exec luau "$0"`, path))
	require.Equal(t, 0, code, stderr)
	require.Equal(t, []string{"ready", "done"}, lines)
}
