package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bothFaces are the ways to the same gateway.
type bothFaces struct {
	stdio func() (*pipes, error)
	http  func() (*web, error)
	pid   func() int // of the one on standard streams
}

// gateway measures the gateway beside clients that call its upstream server themselves.
func (b *bench) gateway() ([]line, error) {
	f, err := b.openFaces("", upstreamFlags{})
	if err != nil {
		return nil, err
	}
	bare := sync.OnceValues(func() (*pipes, error) { return b.openUpstream(upstreamFlags{}) })
	sdk := sync.OnceValues(b.openSDK)
	var lines []line
	for _, l := range callLines() {
		lines = append(lines, l.line(f, bare, sdk)...)
	}
	lines = append(lines,
		line{what: "one upstream call, the gateway's CPU time", unit: microseconds, ours: f.cpu(oneCall)},
		line{what: "trivial script, the gateway's CPU time", unit: microseconds, ours: f.cpu(trivial)})
	lines = append(lines, b.gatewayLimits(f)...)
	more, err := b.gatewayCatalogue()
	lines = append(lines, more...)
	for i := range lines {
		lines[i].what = "gateway: " + lines[i].what
	}
	return lines, err
}

// Scripts that are measured.
const (
	trivial = `return 1 + 1`
	oneCall = `return sdk.upstream.echo{ text = "hello" }`
	inTurn  = `local all = {} for i = 1, 20 do all[i] = sdk.upstream.echo{ text = "n" .. i } end return #all`
	atOnce  = `local list = {} for i = 1, 20 do list[i] = i end
return #async.map(list, function(i) return sdk.upstream.echo{ text = "n" .. i } end, 20)`
	waiting = `local list = {} for i = 1, 20 do list[i] = i end
return #async.map(list, function() return sdk.upstream.wait{ ms = 10 } end, 20)`
)

// callLine is a script beside the same calls without a gateway.
type callLine struct {
	what    string
	script  string
	budget  float64 // in milliseconds, over standard streams
	ratio   float64 // in place of it: beside the client of the Go SDK
	scripts int     // at once; 0: 1
	tool    string  // that it calls; "": none
	args    func(i int) string
	calls   int  // of it
	once    bool // all of them at the same time
}

func callLines() []callLine {
	text := func(i int) string { return fmt.Sprintf(`{"text":"n%d"}`, i) }
	wait := func(int) string { return `{"ms":10}` }
	return []callLine{
		{what: "trivial script", script: trivial, budget: 0.2},
		{what: "one upstream call", script: oneCall, budget: 0.45, tool: "echo", args: text, calls: 1},
		{what: "20 calls, one after the other", script: inTurn, ratio: 1.1, tool: "echo", args: text, calls: 20},
		{what: "20 calls at once", script: atOnce, budget: 2.5, tool: "echo", args: text, calls: 20, once: true},
		{what: "20 calls of 10 ms at once", script: waiting, budget: 13, tool: "wait", args: wait, calls: 20, once: true},
		{what: "100 trivial scripts at once", script: trivial, scripts: 100, budget: 12},
		{what: "100 scripts of one call at once", script: oneCall, scripts: 100, budget: 35, tool: "echo", args: text, calls: 100, once: true},
	}
}

// overHTTP is how much more than over standard streams a script may take.
const overHTTP = 0.15

func (l *callLine) line(f *bothFaces, bare func() (*pipes, error), sdk func() (*mcp.ClientSession, error)) []line {
	own := executes(l.script)
	stdio := line{what: l.what + ", stdio", unit: milliseconds, budget: l.budget, ours: scriptsOver(f.stdio, own, l.scripts)}
	http := line{what: l.what + ", HTTP", unit: milliseconds, ours: scriptsOver(f.http, own, l.scripts)}
	if l.budget > 0 {
		http.budget = l.budget + overHTTP*float64(max(l.scripts, 1))
	}
	if l.ratio > 0 {
		stdio.budget, stdio.ratio = l.ratio, true
	}
	if l.tool != "" {
		// The budget of a ratio is beside what programs call servers with; a bare client shows what is left to gain.
		stdio.peers = []peerMeasurement{{"direct, Go SDK", l.directSDK(sdk)}, {"direct, bare", l.direct(bare)}}
	}
	return []line{stdio, http}
}

// executes are the parameters of a call of the gateway's.
func executes(script string) string {
	return fmt.Sprintf(`{"name":"execute_script","arguments":{"script":%s}}`, strconv.Quote(script))
}

// wall is the median of single operations: a mean would tell more of the machine than of them.
func wall[T any](open func() (T, error), op func(T) error) measurement {
	return func(least time.Duration) (float64, error) {
		on, err := open()
		if err != nil {
			return 0, err
		}
		var took []float64
		for from := time.Now(); len(took) == 0 || time.Since(from) < least; {
			began := time.Now()
			if err := op(on); err != nil {
				return 0, err
			}
			took = append(took, float64(time.Since(began)))
		}
		return median(took), nil
	}
}

func scriptsOver[C client](open func() (C, error), params string, scripts int) measurement {
	many := slices.Repeat([]string{params}, scripts)
	return wall(open, func(c C) error {
		if scripts > 0 {
			return c.all("tools/call", many)
		}
		_, err := c.call("tools/call", params)
		return err
	})
}

func (l *callLine) direct(open func() (*pipes, error)) measurement {
	params := make([]string, l.calls)
	for i := range params {
		params[i] = fmt.Sprintf(`{"name":%q,"arguments":%s}`, l.tool, l.args(i))
	}
	return wall(open, func(p *pipes) error {
		if l.once {
			return p.all("tools/call", params)
		}
		for _, one := range params {
			if _, err := p.call("tools/call", one); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *callLine) directSDK(open func() (*mcp.ClientSession, error)) measurement {
	return wall(open, func(s *mcp.ClientSession) error {
		failed := make(chan error, l.calls)
		for i := range l.calls {
			one := func() {
				result, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: l.tool, Arguments: rawJSON(l.args(i))})
				if err == nil && result.IsError {
					err = errors.New("the upstream failed")
				}
				failed <- err
			}
			if l.once {
				go one()
			} else {
				one()
			}
		}
		var all error
		for range l.calls {
			all = errors.Join(all, <-failed)
		}
		return all
	})
}

// rawJSON is a JSON text as arguments.
type rawJSON string

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// cpu measures the processor time that the gateway's process takes for a script.
func (f *bothFaces) cpu(script string) measurement {
	params := executes(script)
	return func(least time.Duration) (float64, error) {
		p, err := f.stdio()
		if err != nil {
			return 0, err
		}
		return each(func() time.Duration { return processTime(f.pid()) }, func(n int) error {
			for range n {
				if _, err := p.call("tools/call", params); err != nil {
					return err
				}
			}
			return nil
		})(least)
	}
}

// processTime is what the threads of a process that still live have used.
func processTime(pid int) time.Duration {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	var all time.Duration
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		used, _, _ := strings.Cut(string(text), " ")
		nanoseconds, _ := strconv.ParseInt(used, 10, 64)
		all += time.Duration(nanoseconds)
	}
	return all
}

// openFaces makes a project whose only source is the upstream, with further lines of its configuration, and what
// starts both faces of it.
func (b *bench) openFaces(settings string, u upstreamFlags) (*bothFaces, error) {
	dir, err := b.gatewayProject(settings, u)
	if err != nil {
		return nil, err
	}
	f := &bothFaces{}
	var pid int
	f.pid = func() int { return pid }
	f.stdio = sync.OnceValues(func() (*pipes, error) {
		p, err := b.openPipes(gatewayCommand(dir))
		if err == nil {
			pid = p.cmd.Process.Pid
		}
		return p, err
	})
	f.http = sync.OnceValues(func() (*web, error) {
		serving := gatewayCommand(dir)
		serving.Args = []string{serving.Path, "serve", "--bind", "127.0.0.1:0", "--log-level", "error"}
		s, err := b.startServed(serving, dir)
		if err != nil {
			return nil, err
		}
		w, err := dialWeb(s.address)
		if err == nil {
			b.closed = append(b.closed, w.close)
		}
		return w, err
	})
	return f, nil
}

func (b *bench) gatewayProject(settings string, upstreams ...upstreamFlags) (dir string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "hukilau-bench-"); err != nil {
		return "", err
	}
	b.closed = append(b.closed, func() { _ = os.RemoveAll(dir) })
	text := settings
	for i, u := range upstreams {
		name := "upstream"
		if i > 0 {
			name += strconv.Itoa(i + 1)
		}
		text += fmt.Sprintf("\n[mcp_servers.%s]\ncommand = %q\nargs = [", name, self)
		for _, arg := range u.args() {
			text += strconv.Quote(arg) + ", "
		}
		text += "]\n"
	}
	return dir, os.WriteFile(filepath.Join(dir, "hukilau.toml"), []byte(text), 0o600)
}

// gatewayCommand is `luau gateway`, which becomes another program.
func gatewayCommand(dir string) *exec.Cmd {
	program, err := filepath.Abs(runner)
	if err != nil {
		program = runner
	}
	cmd := exec.Command(program, "gateway", "--log-level", "error")
	cmd.Dir = dir
	return cmd
}

// openPipes starts a server of MCP that ends with the bench.
func (b *bench) openPipes(cmd *exec.Cmd) (*pipes, error) {
	p, err := dial(cmd)
	if err == nil {
		b.closed = append(b.closed, p.close)
	}
	return p, err
}

func (b *bench) openUpstream(u upstreamFlags) (*pipes, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return b.openPipes(exec.Command(self, u.args()...))
}

func (b *bench) openSDK() (*mcp.ClientSession, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.CommandTransport{Command: exec.Command(self, upstreamFlags{}.args()...)}, nil)
	if err == nil {
		b.closed = append(b.closed, func() { _ = session.Close() })
	}
	return session, err
}
