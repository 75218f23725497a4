package doctest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hukilau/hukilau/examples/server/fruit"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// address is where pages say that examples/server listens. A page's commands and files get the address of
// a server of its own in its place.
const address = "127.0.0.1:8000"

// A runner runs what one page shows, in a folder of its own, in the order of the page.
type runner struct {
	root, folder, home string
	server             string
	page               *page
	serving            *serving // nil: none
	snippets           []block
	faults             []fault
}

func newRunner(t *testing.T, root string, p *page) *runner {
	t.Helper()
	server := httptest.NewServer(fruit.New())
	t.Cleanup(server.Close)
	r := &runner{
		root: root, folder: t.TempDir(), home: t.TempDir(), page: p,
		server: strings.TrimPrefix(server.URL, "http://"),
	}
	t.Cleanup(func() { r.endServing(1) })
	return r
}

func (r *runner) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, fault{line, fmt.Sprintf(format, args...)})
}

func (r *runner) run() {
	for i, b := range r.page.blocks {
		switch {
		case b.signature:
			r.signature(b)
		case b.lang == "luau" && b.noRun:
			r.compile(b, b.text)
		case b.noRun:
			r.fault(b.line, "no-run is for luau: %s is neither run nor compiled", b.lang)
		case b.name != "":
			r.file(b, i)
		case b.lang == "luau":
			r.alone(b)
		case b.lang == "console":
			r.console(b)
		case b.lang == "sh":
			r.faults = append(r.faults, checkSetup(r.root, b)...)
		case b.lang == "go":
			r.snippets = append(r.snippets, b)
		case b.lang == "text":
			r.text(b)
		case b.lang == "toml":
			r.toml(b)
		case b.lang == "json":
			r.json(b)
		case b.lang == "ini", b.lang == "dockerfile":
			r.deployed(b)
		default:
			r.fault(b.line, "a block of %s without the name of a file: the test cannot run it", b.lang)
		}
	}
	r.endServing(1)
	r.tools()
	r.runSnippets()
}

// text is what is no code: a drawing, a message. It must not be a way past the test.
func (r *runner) text(b block) {
	if strings.HasPrefix(b.text, "$ ") || strings.Contains(b.text, "\n$ ") {
		r.fault(b.line, "commands in a text block are not run: make it a console block")
	}
}

func (r *runner) compile(b block, text string) {
	if _, err := luau.Compile("="+r.page.path, text, luau.CompileOptions{}); err != nil {
		r.fault(b.line, "does not compile: %v", err)
	}
}

// signature compiles the head of a function, to which the page gives no end.
func (r *runner) signature(b block) {
	if b.lang != "luau" || b.name != "" || b.noRun || !strings.HasPrefix(b.text, "function ") {
		r.fault(b.line, "a signature is a block of luau that begins with the word function, and no file")
		return
	}
	r.compile(b, b.text+"end")
}

// file writes a named block to the page's folder. Something on the page must use it.
func (r *runner) file(b block, index int) {
	path := filepath.Join(r.folder, b.name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(r.toServer(b.text)), 0o644)
	}
	if err == nil && b.lang == "go" {
		err = r.goModule()
	}
	if err != nil {
		r.fault(b.line, "%v", err)
	}
	if !r.used(b, index) {
		r.fault(b.line, "no command and no file of the page uses %s", b.name)
	}
}

var testFile = regexp.MustCompile(`^test_.*\.luau$|(_|\.)test\.luau$`)

// used says whether a later command runs the file or another file names it. Settings are used by every
// command, tests by `luau test`.
func (r *runner) used(b block, index int) bool {
	base := filepath.Base(b.name)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	if stem == "init" {
		stem = filepath.Base(filepath.Dir(b.name)) // the module that it is
	}
	name := regexp.MustCompile(`(^|[^\w])` + regexp.QuoteMeta(stem) + `($|[^\w])`)
	for i, other := range r.page.blocks {
		runs := other.lang == "console" && i > index
		switch {
		case isTool(b.name): // it is tested when the page ends
			return true
		case i == index || other.lang == "text":
		case base == "hukilau.toml" && (runs && strings.Contains(other.text, "luau ") || isTool(other.name)):
			return true
		case runs && strings.HasPrefix(base, "."), runs && testFile.MatchString(base) && strings.Contains(other.text, "luau test"):
			return true
		case (runs || other.lang != "console") && name.MatchString(other.text):
			return true
		}
	}
	return false
}

var printed = regexp.MustCompile(`--> ?(.*)`)

// alone runs a block by itself. What it prints stands behind `-->` in it.
func (r *runner) alone(b block) {
	var want strings.Builder
	for _, found := range printed.FindAllStringSubmatch(b.text, -1) {
		want.WriteString(found[1] + "\n")
	}
	out, errors, err := r.exec("luau", "-e", r.toServer(b.text))
	switch {
	case err != nil:
		r.fault(b.line, "%v\n%s", err, errors)
	case want.Len() == 0 && strings.HasPrefix(r.page.path, "docs/reference/"):
		// there what a block prints may stay unsaid
	default:
		if problem := difference(want.String(), out); problem != "" {
			r.fault(b.line, "behind --> %s", problem)
		}
	}
}

func (r *runner) toServer(text string) string {
	if r.serving != nil {
		text = strings.ReplaceAll(text, served, r.serving.address)
	}
	return strings.ReplaceAll(text, address, r.server)
}

func (r *runner) fromServer(text string) string {
	if r.serving != nil && r.serving.address != "" {
		text = strings.ReplaceAll(text, r.serving.address, served)
	}
	return strings.ReplaceAll(text, r.server, address)
}

// environ is what programs of a page find in their environment.
func (r *runner) environ() []string {
	env := append(os.Environ(), "HOME="+r.home, "XDG_STATE_HOME=", "LUAU_PATH=", "NO_COLOR=1", "TERM=xterm", "PWD="+r.folder)
	if npmFolder() != "" {
		env = append(env, "PATH="+r.home+":"+os.Getenv("PATH"))
	}
	return append(env, goFolders()...)
}

// sh runs commands as a reader's shell does; what they write to both streams comes as one.
func (r *runner) sh(script string) string {
	out, _, err := r.exec("sh", "-c", "exec 2>&1\n"+r.toServer(script))
	if err != nil && out == "" {
		return err.Error()
	}
	return out
}

// exec runs a program in the page's folder. What it starts ends with it.
func (r *runner) exec(name string, args ...string) (out, errors string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = r.folder
	cmd.Env = r.environ()
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	return r.fromServer(o.String()), r.fromServer(e.String()), err
}
