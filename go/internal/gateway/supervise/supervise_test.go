package supervise

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/gateway/supervise/supervisor"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
)

// A process of the test is a supervisor, a server, or one that starts a server and waits to be killed.
const roleVariable = "HUKILAU_TEST_ROLE"

func TestMain(m *testing.M) {
	supervisor.Main(os.Args)
	switch os.Getenv(roleVariable) {
	case "server":
		server()
	case "speaker":
		speaker()
	case "owner":
		owner()
	default:
		goleak.VerifyTestMain(m)
	}
}

// server answers each line with itself, after its id, and ignores that its input has ended and that it is told to end.
func server() {
	ignoreSignals()
	fmt.Println(os.Getpid())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(in.Text())
	}
	time.Sleep(time.Hour)
}

// owner starts the program of its arguments, says what that says, and stays.
func owner() {
	self, _ := os.Executable()
	p, err := Starter(self)(upstream.Command{Path: os.Args[1], Args: os.Args[2:], Env: append(os.Environ(), roleVariable+"=server")})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = fmt.Print(firstLine(p))
	time.Sleep(time.Hour)
}

func firstLine(p *upstream.Process) string {
	line, _ := bufio.NewReader(p.Out).ReadString('\n')
	return line
}

// launchers are ways to start a server that leave it in odd places. A shell takes the input from what it puts in the
// background, but for a copy of it.
var launchers = map[string][]string{
	"itself":        {"SELF"},
	"a shell":       {"sh", "-c", "SELF; true"},
	"exec":          {"sh", "-c", "exec SELF"},
	"background":    {"sh", "-c", "exec 3<&0; SELF <&3 & wait"},
	"abandoned":     {"sh", "-c", "exec 3<&0; SELF <&3 &"},
	"setsid":        {"sh", "-c", "exec 3<&0; setsid SELF <&3 & wait"},
	"twice removed": {"sh", "-c", "exec 3<&0; (setsid sh -c 'SELF <&3 &' &); sleep 3600"},
}

func command(self string, launcher []string) upstream.Command {
	var words []string
	for _, word := range launcher {
		words = append(words, strings.ReplaceAll(word, "SELF", self))
	}
	return upstream.Command{Path: words[0], Args: words[1:], Env: append(os.Environ(), roleVariable+"=server")}
}

// all does something with each launcher, at the same time: most of it is waiting for servers that do not want to end.
func all(t *testing.T, do func(launcher []string) error) {
	var done sync.WaitGroup
	for name, launcher := range launchers {
		done.Go(func() {
			if err := do(launcher); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	done.Wait()
}

// D05: whatever starts the real server, nothing of it runs after we have stopped it.
func TestD05NothingIsLeftAfterStop(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	all(t, func(launcher []string) error {
		p, err := Starter(self)(command(self, launcher))
		if err != nil {
			return err
		}
		defer closeProcess(p)
		out := bufio.NewReader(p.Out)
		pid, err := out.ReadString('\n')
		if err != nil || !runs(pid) {
			return fmt.Errorf("it does not run: %q, %w", pid, err)
		}
		_, _ = fmt.Fprintln(p.In, "hello")
		if line, err := out.ReadString('\n'); line != "hello\n" {
			return fmt.Errorf("it says %q, %w", line, err)
		}
		_ = p.In.Close()
		p.Stop()
		p.Stop() // again does no harm
		if runs(pid) {
			return errors.New("it runs after Stop")
		}
		return nil
	})
}

func closeProcess(p *upstream.Process) {
	p.Stop()
	_, _, _ = p.In.Close(), p.Out.Close(), p.Err.Close()
}

// D05: nor after we were ended, in whatever way.
func TestD05NothingIsLeftWhenWeAreKilled(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		all(t, func(launcher []string) error { return killOwner(self, launcher, sig) })
	}
}

func killOwner(self string, launcher []string, sig syscall.Signal) error {
	c := command(self, launcher)
	cmd := exec.Command(self, append([]string{c.Path}, c.Args...)...)
	cmd.Env = append(os.Environ(), roleVariable+"=owner")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	pid, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !runs(pid) {
		return fmt.Errorf("it does not run: %q, %w", pid, err)
	}
	_ = cmd.Process.Signal(sig)
	_ = cmd.Wait()
	const most = 30 * time.Second // of a slow machine; 5 seconds is the promise
	for end := time.Now().Add(most); runs(pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return errors.New("it still runs")
		}
	}
	return nil
}

// runs says whether a process is there and no zombie.
func runs(pid string) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(pid), "stat"))
	if err != nil {
		return false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	return len(fields) > 0 && string(fields[0]) != "Z"
}

func TestWhatCannotBeStarted(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	start := Starter(self)
	_, err = start(upstream.Command{Path: "no-such-program-here", Env: os.Environ()})
	require.ErrorContains(t, err, "no-such-program-here")
	require.ErrorContains(t, err, "not found")
	plainFile := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plainFile, []byte("text"), 0o600))
	_, err = start(upstream.Command{Path: plainFile, Env: os.Environ()})
	require.ErrorContains(t, err, "permission denied")
	_, err = start(upstream.Command{Path: "true", Dir: "/no/such/folder", Env: os.Environ()})
	require.ErrorContains(t, err, "folder")
	require.NotContains(t, err.Error(), self)
}

// The program gets the environment, folder and files that it is to get, and nothing else.
func TestWhatAProgramGets(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	script := []string{"-c", `pwd; env; ls /proc/self/fd; echo err >&2; exit 3`}
	env := []string{"PATH=" + os.Getenv("PATH"), "A=b"}
	p, err := Starter(self)(upstream.Command{Path: "sh", Args: script, Dir: dir, Env: env})
	require.NoError(t, err)
	defer closeProcess(p)
	var out, errs bytes.Buffer
	_, err = out.ReadFrom(p.Out)
	require.NoError(t, err)
	_, err = errs.ReadFrom(p.Err)
	require.NoError(t, err)
	require.Equal(t, "err\n", errs.String())

	direct := exec.Command("sh", script...)
	direct.Dir, direct.Env = dir, append(env, "PWD="+dir)
	want, _ := direct.Output() // it exits with 3
	require.Equal(t, lines(string(want)), lines(out.String()))
	require.Contains(t, out.String(), "A=b")
}

func lines(text string) []string {
	list := strings.Fields(text)
	slices.Sort(list)
	return list
}
