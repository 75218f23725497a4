package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary is the program itself when it is started as `luau`, as users know it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"luau": func() { os.Exit(run()) }})
}

func TestTranscripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "..", "tests", "hostcli"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			programs, err := filepath.Abs(filepath.Join("..", "..", "..", "build", "bin"))
			if err != nil {
				return err
			}
			// luau-check is in PATH here, and luau still is this test.
			env.Setenv("PATH_WITHOUT_CHECKER", env.Getenv("PATH"))
			env.Setenv("PATH", env.Getenv("PATH")+string(os.PathListSeparator)+programs)
			env.Setenv("LUAU_PATH", "")
			env.Setenv("NO_COLOR", "")
			env.Setenv("TZ", "UTC")
			env.Setenv("USER", "tester")
			env.Values[servers{}] = &servers{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "serve": serve, "ends": ends, "follow": follow, "await": await, "ask": ask, "until": until, "capture": capture,
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

// patience is how long a transcript waits for what must come.
const patience = 60 * time.Second

// servers are the programs that a transcript has left running: a server, and one that follows.
type servers struct {
	serving, following *process
	addr               string
}

// process runs beside the transcript.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}

	mu   sync.Mutex
	said bytes.Buffer // both streams
}

func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(text)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// start starts the program with what the transcript has set.
func start(ts *testscript.TestScript, args ...string) *process {
	p := &process{cmd: exec.Command(lookPath(ts), args...), done: make(chan struct{})}
	p.cmd.Dir = ts.MkAbs(".")
	p.cmd.Env = append(os.Environ(), "NO_COLOR=", "TZ=UTC", "USER=tester", "HOME="+ts.Getenv("HOME"))
	for _, name := range []string{"API_KEY", "TOKEN", "OPERATOR"} {
		p.cmd.Env = append(p.cmd.Env, name+"="+ts.Getenv(name))
	}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	ts.Check(p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // the exit code says it
		close(p.done)
	}()
	ts.Defer(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

func lookPath(ts *testscript.TestScript) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, "luau"); isFile(path) {
			return path
		}
	}
	ts.Fatalf("no luau in PATH")
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// says waits until what the program says matches.
func (p *process) says(ts *testscript.TestScript, pattern string) []string {
	want := regexp.MustCompile(pattern)
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if found := want.FindStringSubmatch(p.text()); found != nil {
			return found
		}
		select {
		case <-p.done:
			if found := want.FindStringSubmatch(p.text()); found != nil {
				return found
			}
			ts.Fatalf("it ended and never said %s:\n%s", pattern, p.text())
		default:
		}
		if time.Now().After(end) {
			ts.Fatalf("it never said %s:\n%s", pattern, p.text())
		}
	}
}

func running(ts *testscript.TestScript) *servers { return ts.Value(servers{}).(*servers) }

// serve [ARGS...]: `luau serve` on a free port, which runs on.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	s := running(ts)
	s.serving = start(ts, append([]string{"serve", "--bind", "127.0.0.1:0"}, args...)...)
	s.addr = s.serving.says(ts, `on http://(127\.0\.0\.1:\d+) `)[1]
}

// follow ARGS...: a command that runs on.
func follow(ts *testscript.TestScript, neg bool, args []string) {
	running(ts).following = start(ts, args...)
}

func named(ts *testscript.TestScript, name string) *process {
	if name == "serve" {
		return running(ts).serving
	}
	return running(ts).following
}

// await serve|follow PATTERN: until the program has said that.
func await(ts *testscript.TestScript, neg bool, args []string) { named(ts, args[0]).says(ts, args[1]) }

var signals = map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "HUP": syscall.SIGHUP}

// ends serve|follow CODE SIGNAL...: sends the signals; the program ends with that code. What it said becomes the file
// "said".
func ends(ts *testscript.TestScript, neg bool, args []string) {
	p := named(ts, args[0])
	for i, name := range args[2:] {
		if i > 0 { // signals that come at once become one
			time.Sleep(200 * time.Millisecond)
		}
		ts.Check(p.cmd.Process.Signal(signals[name]))
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("it does not end:\n%s", p.text())
	}
	if code := p.cmd.ProcessState.ExitCode(); strconv.Itoa(code) != args[1] {
		ts.Fatalf("exit code %d, want %s:\n%s", code, args[1], p.text())
	}
	ts.Check(os.WriteFile(ts.MkAbs("said"), []byte(p.text()), 0o644))
}

// ask METHOD PATH [BODY] [HEADER: VALUE...]: the status and the body of the server's answer become the file "answer".
func ask(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs("answer"), []byte(answer(ts, args)), 0o644))
}

func answer(ts *testscript.TestScript, args []string) string {
	body := ""
	if len(args) > 2 {
		body = args[2]
	}
	req, err := http.NewRequest(args[0], "http://"+running(ts).addr+args[1], strings.NewReader(body))
	ts.Check(err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, header := range args[min(3, len(args)):] {
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
	}
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	ts.Check(err)
	return fmt.Sprintf("%d %s\n", res.StatusCode, text)
}

// until PATTERN METHOD PATH: asks until the answer matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	want := regexp.MustCompile(args[0])
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got := answer(ts, args[1:])
		if want.MatchString(got) {
			ts.Check(os.WriteFile(ts.MkAbs("answer"), []byte(got), 0o644))
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("the answer never matched %s: %s", args[0], got)
		}
	}
}

// capture VARIABLE FILE PATTERN: sets a variable to what the pattern's group is in a file.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	found := regexp.MustCompile(args[2]).FindStringSubmatch(ts.ReadFile(args[1]))
	if found == nil {
		ts.Fatalf("%s has no %s:\n%s", args[1], args[2], ts.ReadFile(args[1]))
	}
	ts.Setenv(args[0], found[1])
}
