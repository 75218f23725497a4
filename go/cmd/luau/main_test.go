package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// The test binary is the program itself when it is started as `luau`.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"luau": func() { os.Exit(run()) }})
}

func TestTranscripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "..", "tests", "cli"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("LUAU_PATH", "")
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "xterm")
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition " + name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "bytes": writeBytes, "fill": fill, "within": within,
		},
	})
}

// exits CODE COMMAND [ARGS...]: the command ends with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var failed *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case err == nil && want != 0:
		ts.Fatalf("exit code 0, want %d", want)
	case errors.As(err, &failed) && failed.ExitCode() != want:
		ts.Fatalf("exit code %d, want %d", failed.ExitCode(), want)
	case err != nil && failed == nil:
		ts.Check(err)
	}
}

// bytes FILE TEXT: writes a file; TEXT is quoted as in Go.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// fill FILE SIZE: writes a file of that many spaces.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte(" "), size), 0o644))
}

// within DURATION CODE COMMAND [ARGS...]: exits, in that time.
func within(ts *testscript.TestScript, neg bool, args []string) {
	most, err := time.ParseDuration(args[0])
	ts.Check(err)
	started := time.Now()
	exits(ts, neg, args[1:])
	if took := time.Since(started); took > most {
		ts.Fatalf("took %s, more than %s", took, most)
	}
}

// interrupt starts a script, sends a signal for each line that it prints and gives what became of it.
func interrupt(t *testing.T, source string, signal os.Signal) (code int, stderr string, took time.Duration) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.luau")
	require.NoError(t, os.WriteFile(path, []byte(source), 0o644))
	cmd := exec.Command("luau", path)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	in, err := cmd.StdinPipe() // where nothing comes
	require.NoError(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var sent time.Time
	for lines := bufio.NewScanner(out); lines.Scan(); {
		sent = time.Now()
		require.NoError(t, cmd.Process.Signal(signal))
	}
	_ = cmd.Wait() // the exit code says it
	return cmd.ProcessState.ExitCode(), errors.String(), time.Since(sent)
}

func TestInterrupt(t *testing.T) {
	for name, source := range map[string]string{
		"running":    `print("ready") __native.log("info", "go") while true do end`,
		"asleep":     `print("ready") __native.sleep(60000)`,
		"comparator": `table.sort({2, 1}, function(a, b) print("ready") __native.sleep(60000) return a < b end)`,
		"reading":    `local read = require("process").read_line print("ready") while true do pcall(read) end`,
		"catching":   `print("ready") while true do pcall(function() __native.sleep(60000) end) end`,
	} {
		for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				code, stderr, took := interrupt(t, source, signal)
				require.Equal(t, 130, code)
				require.True(t, strings.HasSuffix(stderr, "interrupted\n"), stderr)
				require.NotContains(t, stderr, "goroutine")
				require.Less(t, took, 5*time.Second)
				t.Logf("ended after %s", took)
			})
		}
	}
}

// A script from standard input that never comes to its end: the time limit and Ctrl-C hold already.
func TestInputThatDoesNotEnd(t *testing.T) {
	for name, c := range map[string]struct {
		flags  []string
		signal bool
		code   int
		says   string
	}{
		"time limit": {[]string{"--timeout", "300ms"}, false, 124, "error: the time limit was reached\nhint: the script had 300ms"},
		"Ctrl-C":     {nil, true, 130, "interrupted\n"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("luau", append(c.flags, "-")...)
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			defer in.Close()
			var errors bytes.Buffer
			cmd.Stderr = &errors
			require.NoError(t, cmd.Start())
			// More than a pipe holds: when it is written, the program reads.
			_, err = in.Write(bytes.Repeat([]byte("\n"), 1<<20))
			if c.signal {
				require.NoError(t, err)
				require.NoError(t, cmd.Process.Signal(os.Interrupt))
			}
			ended := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
			defer ended.Stop()
			_ = cmd.Wait() // the exit code says it
			require.Equal(t, c.code, cmd.ProcessState.ExitCode(), errors.String())
			require.Contains(t, errors.String(), c.says)
		})
	}
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	for name, source := range map[string]string{"once": `print("text")`, "for ever": `while true do print("text") end`} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "script.luau")
			require.NoError(t, os.WriteFile(path, []byte(source), 0o644))
			cmd := exec.Command("luau", path)
			var errors bytes.Buffer
			cmd.Stdout, cmd.Stderr = full, &errors
			require.Error(t, cmd.Run())
			require.Equal(t, 1, cmd.ProcessState.ExitCode())
			require.Contains(t, errors.String(), "cannot write what the script prints: ")
		})
	}
}
