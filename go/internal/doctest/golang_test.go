package doctest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// goFolders says where Go keeps what it built and fetched, for programs that run with another home. Nothing is
// fetched: a page can only use what the tree uses.
var goFolders = sync.OnceValue(func() []string {
	list := []string{"GOPROXY=off", "GOFLAGS=-mod=mod " + os.Getenv("GOFLAGS")}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		if value, err := exec.Command("go", "env", name).Output(); err == nil {
			list = append(list, name+"="+strings.TrimSpace(string(value)))
		}
	}
	return list
})

// goModule makes the page's folder a module that uses this tree, as a reader's own would.
func (r *runner) goModule() error {
	mod, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(r.root, "go.sum"))
	if err != nil {
		return err
	}
	text := strings.Replace(string(mod), "module "+module+"\n", "module example\n", 1)
	text += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %[1]s => %q\n", module, r.root)
	if err := os.WriteFile(filepath.Join(r.folder, "go.mod"), []byte(text), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, "go.sum"), sum, 0o644)
}

// Packages that snippets may use without importing them.
var packages = []string{"context", "errors", "fmt", "os", "strings", "time", module + "/go/pkg/luau"}

// A snippet is some lines of a Go function that has a State s and a context ctx. What it prints stands
// behind `// Output:`, as in Go's own examples.
const snippetMain = `
func main() {
	for i, f := range snippets {
		s, err := luau.New(luau.Options{Output: func(text []byte) { os.Stdout.Write(text) }})
		if err == nil {
			err = f(context.Background(), s)
		}
		if err != nil {
			fmt.Println("error:", err)
		}
		s.Close()
		fmt.Printf("\n` + mark + `%d\n", i)
	}
}
`

func (r *runner) snippetProgram() string {
	var body strings.Builder
	body.WriteString("var snippets = []func(context.Context, *luau.State) error{\n")
	for _, b := range r.snippets {
		fmt.Fprintf(&body, "func(ctx context.Context, s *luau.State) error {\n//line %s:%d\n%s\nreturn nil\n},\n", r.page.path, b.line, b.text)
	}
	body.WriteString("}\n//line main.go:1\n" + snippetMain)
	var imports strings.Builder
	for _, path := range packages {
		if regexp.MustCompile(`\b` + filepath.Base(path) + `\.`).MatchString(body.String()) {
			fmt.Fprintf(&imports, "import %q\n", path)
		}
	}
	return "package main\n" + imports.String() + body.String()
}

// runSnippets builds all Go snippets of the page as one program and runs it.
func (r *runner) runSnippets() {
	if len(r.snippets) == 0 || withoutGo() {
		return
	}
	first := r.snippets[0].line
	folder := filepath.Join(r.folder, "snippets")
	err := r.goModule()
	if err == nil {
		err = os.Mkdir(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "main.go"), []byte(r.snippetProgram()), 0o644)
	}
	if err != nil {
		r.fault(first, "%v", err)
		return
	}
	out, errors, err := r.exec("go", "run", "./snippets")
	if err != nil {
		r.fault(first, "the Go of this page: %v\n%s", err, errors)
		return
	}
	for i, b := range r.snippets {
		var text string
		text, out, _ = strings.Cut(out, fmt.Sprintf("\n%s%d\n", mark, i))
		if problem := difference(wantedOutput(b.text), text); problem != "" {
			r.fault(b.line, "%s", problem)
		}
	}
}

var outputComment = regexp.MustCompile(`^\s*// Output:\s*(.*)$`)

// wantedOutput is what comes behind `// Output:`, to the end of the comment.
func wantedOutput(snippet string) string {
	list := lines(snippet)
	at := slices.IndexFunc(list, outputComment.MatchString)
	if at < 0 {
		return ""
	}
	want := outputComment.FindStringSubmatch(list[at])[1]
	if want != "" {
		want += "\n"
	}
	for _, line := range list[at+1:] {
		text, comment := strings.CutPrefix(strings.TrimSpace(line), "//")
		if !comment {
			break
		}
		want += strings.TrimPrefix(text, " ") + "\n"
	}
	return want
}
