package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// prompt is `luau repl` at a pseudo-terminal, with somebody who types.
type prompt struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	home string

	mu    sync.Mutex
	shown strings.Builder
	seen  int // of what was shown, without control sequences
	over  chan struct{}
}

// The keys that are no text.
const (
	enter = "\r"
	tab   = "\t"
	up    = "\x1b[A"
	ctrlC = "\x03"
	ctrlD = "\x04"
)

func startPrompt(t *testing.T, home string) *prompt {
	t.Helper()
	return startPromptAt(t, home, pty.Winsize{Rows: 40, Cols: 200})
}

func startPromptAt(t *testing.T, home string, size pty.Winsize) *prompt {
	t.Helper()
	p := &prompt{t: t, home: home, over: make(chan struct{})}
	p.cmd = exec.Command("luau", "repl")
	p.cmd.Dir = home
	p.cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "LUAU_PATH=", "XDG_STATE_HOME="+filepath.Join(home, "state"))
	tty, err := pty.StartWithSize(p.cmd, &size)
	require.NoError(t, err)
	p.tty = tty
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // it may have been waited for
		tty.Close()
		<-p.over
	})
	go p.read()
	p.see("> ")
	return p
}

func (p *prompt) read() {
	defer close(p.over)
	buf := make([]byte, 4096)
	for {
		n, err := p.tty.Read(buf)
		p.mu.Lock()
		p.shown.Write(buf[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

var control = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]|\r|\x07`)

func (p *prompt) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return control.ReplaceAllString(p.shown.String(), "")
}

// see waits until all of the parts were shown, in this order, after what was seen before.
func (p *prompt) see(parts ...string) {
	p.t.Helper()
	for _, part := range parts {
		deadline := time.Now().Add(30 * time.Second)
		for {
			text := p.text()
			if i := strings.Index(text[p.seen:], part); i >= 0 {
				p.seen += i + len(part)
				break
			}
			if time.Now().After(deadline) {
				require.Fail(p.t, "the terminal does not show it", "%q is missing in %q, after %q", part, text[p.seen:], text[:p.seen])
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
}

func (p *prompt) keys(text string) {
	p.t.Helper()
	_, err := p.tty.WriteString(text)
	require.NoError(p.t, err)
}

// enter types a line whose answer is to be seen, up to the next prompt.
func (p *prompt) enter(line string, answers ...string) {
	p.t.Helper()
	p.keys(line + enter)
	p.see(line + "\n")
	p.see(append(answers, "> ")...)
}

// ends waits for the end of the program and gives its exit code.
func (p *prompt) ends() int {
	p.t.Helper()
	timer := time.AfterFunc(30*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	_ = p.cmd.Wait() // the exit code says it
	return p.cmd.ProcessState.ExitCode()
}

func TestPromptShowsValuesAndErrors(t *testing.T) {
	p := startPrompt(t, t.TempDir())
	p.enter("1 + 1", "2\n")
	p.enter("_ * 21", "42\n")
	p.enter("error('oops')", "repl[3]:1: oops", "error('oops')")
	p.enter("x = )", "repl[4]:1")
	p.enter("'still here'", "\"still here\"\n")
	p.keys(ctrlD)
	require.Zero(t, p.ends())
}

func TestPromptContinuesLines(t *testing.T) {
	p := startPrompt(t, t.TempDir())
	p.keys("function double(x)" + enter)
	p.see("function double(x)\n", ".. ")
	p.keys("return 2 * x" + enter)
	p.see("return 2 * x\n", ".. ")
	p.enter("end")
	p.enter("double(21)", "42\n")
	p.keys("if true then" + enter)
	p.see(".. ")
	p.keys(ctrlC)
	p.see("> ")
	p.enter("'anew'", "\"anew\"\n")
}

func TestPromptKeepsHistory(t *testing.T) {
	home := t.TempDir()
	p := startPrompt(t, home)
	p.enter("'first line'", "\"first line\"\n")
	p.enter("'second line'", "\"second line\"\n")
	p.keys(up)
	p.see("'second line'")
	p.keys(up)
	p.see("'first line'")
	p.keys(enter)
	p.see("\"first line\"\n", "> ")
	p.keys(ctrlD)
	require.Zero(t, p.ends())
	p = startPrompt(t, home)
	p.keys(up)
	p.see("'first line'")
	p.keys(enter)
	p.see("\"first line\"\n", "> ")
}

// completes has a global and its member completed.
func (p *prompt) completes() {
	p.t.Helper()
	p.enter("alphabet = { beta_gamma = 42 }")
	p.keys("alpha" + tab)
	p.see("alphabet")
	p.keys(".be" + tab)
	p.see("alphabet.beta_gamma")
	p.keys(enter)
	p.see("42\n", "> ")
}

func TestPromptCompletes(t *testing.T) {
	p := startPrompt(t, t.TempDir())
	p.completes()
	p.keys("conti" + tab)
	p.see("continue")
	p.keys(ctrlC)
	p.see("> ")
	p.keys("string.re" + tab + tab)
	p.see("rep", "reverse")
	p.keys(ctrlC)
	p.see("> ")
}

func TestPromptAwaitsAndRequires(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "mine.luau"), []byte(`return { answer = 42 }`), 0o644))
	p := startPrompt(t, home)
	p.enter(`require("time").sleep(0.01) return "awake"`, "\"awake\"\n")
	p.enter(`require("./mine").answer`, "42\n")
	p.enter(`json = require("json")`)
	p.enter(`json.encode({1, 2})`, "\"[1,2]\"\n")
	p.enter(`pcall(require("http").get, "http://127.0.0.1:1/")`, "false\n", "connection refused")
}

// Also where the terminal does not say how wide it is, and where it is so narrow that it edits lines itself.
func TestPromptInterrupts(t *testing.T) {
	for name, size := range map[string]pty.Winsize{"wide": {Rows: 40, Cols: 200}, "no size": {}, "narrow": {Rows: 40, Cols: 9}} {
		t.Run(name, func(t *testing.T) { interruptPrompt(startPromptAt(t, t.TempDir(), size)) })
	}
}

func interruptPrompt(p *prompt) {
	t := p.t
	t.Helper()
	p.enter("kept = 'kept'")
	p.keys("print('busy') while true do end" + enter)
	p.see("end\n", "busy\n")
	p.keys(ctrlC)
	p.see("interrupted\n", "> ")
	p.enter("kept", "\"kept\"\n")
	p.keys("print('asleep') require('time').sleep(1000)" + enter)
	p.see("sleep(1000)\n", "asleep\n")
	p.keys(ctrlC)
	p.see("interrupted\n", "> ")
	p.enter("kept, time", "\"kept\"\nnil\n")
	p.keys("print('stubborn') while true do pcall(function() while true do end end) end" + enter)
	p.see("end\n", "stubborn\n")
	p.keys(ctrlC)
	p.see("interrupted\n", "> ")
	p.enter("kept", "\"kept\"\n")
	p.keys("table.sort({2, 1}, function() print('sorting') while true do end end)" + enter)
	p.see("end)\n", "sorting\n")
	p.keys(ctrlC)
	p.see("interrupted\n", "the session begins anew: its globals are gone\n", "> ")
	p.enter("kept", "nil\n")
	p.keys("half of a li")
	p.see("half of a li")
	p.keys(ctrlC)
	p.see("> ")
	p.enter("'whole'", "\"whole\"\n")
	p.keys(ctrlD)
	require.Zero(t, p.ends())
}

func TestPromptEndsByTheScript(t *testing.T) {
	p := startPrompt(t, t.TempDir())
	p.keys("require('process').exit(3)" + enter)
	require.Equal(t, 3, p.ends())
}
