package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const toolHost = "build/bin/luau-host"

// echoTool gives its argument back; burnTool burns its whole time.
const (
	echoTool = `name: echo
description: Gives its message back.
params: { type: object, properties: { message: { type: string } }, required: [message] }
lua: |
  function invoke(ctx, args) return { message = args.message } end
`
	burnTool = `name: burn
description: Burns its time.
params: { type: object }
timeout: 1s
lua: |
  function invoke() while true do end end
`
	echoBody = `{"message":"how much does a tool call cost beside a handler?"}`
)

// perSecond shows the time of one request as requests a second.
var perSecond = unit{name: "req/s", shown: func(ns float64) float64 { return 1e9 / ns }, most: true}

// tools measures the tool host beside bare servers that do the same work in Go.
func (b *bench) tools() ([]line, error) {
	if _, err := os.Stat(toolHost); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	host := sync.OnceValues(func() (*served, error) { return b.serveTools(map[string]string{"echo": echoTool, "burn": burnTool}) })
	bare := sync.OnceValues(func() (*served, error) { return b.startServed(exec.Command(self, "-bare", "http"), "") })
	bareMCP := sync.OnceValues(func() (*served, error) { return b.startServed(exec.Command(self, "-bare", "mcp"), "") })
	var lines []line
	for _, n := range []int{1, 16, 64} {
		ours, peer := &load{server: host, connections: n}, &load{server: bare, connections: n}
		name := fmt.Sprintf("POST /tools/echo, %d connections", n)
		lines = append(lines,
			line{what: name, unit: perSecond, budget: 0.6, ratio: true, speed: true,
				ours: ours.run, peers: []peerMeasurement{{"bare net/http", peer.run}}},
			line{what: name + ", p50", unit: milliseconds, ours: ours.percentile(50), peers: []peerMeasurement{{"bare net/http", peer.percentile(50)}}},
			line{what: name + ", p99", unit: milliseconds, ours: ours.percentile(99), peers: []peerMeasurement{{"bare net/http", peer.percentile(99)}}})
	}
	for _, n := range []int{1, 16} {
		lines = append(lines, line{what: fmt.Sprintf("tools/call echo over MCP HTTP, %d connections", n), unit: perSecond, budget: 0.8, ratio: true, speed: true,
			ours:  (&mcpLoad{server: host, path: "/mcp", connections: n}).run,
			peers: []peerMeasurement{{"bare Go SDK", (&mcpLoad{server: bareMCP, connections: n}).run}}})
	}
	burned := &load{server: host, connections: 1}
	lines = append(lines,
		line{what: "POST /tools/echo beside a tool that burns, p99", unit: milliseconds, budget: 25, ours: beside(host, burned)},
		line{what: "memory of luau serve after 100,000 calls", unit: megabytes, ours: b.memoryAfter(host)})
	for _, count := range []int{1, 100, 1000} {
		l := line{what: fmt.Sprintf("luau serve with %d tools, to the first answer, wall", count), unit: milliseconds, ours: b.firstAnswer(count)}
		if count == 1000 {
			l.budget = 300
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// served is a server in a process of its own.
type served struct {
	address string
	pid     int
	stop    func()
}

// serveTools starts luau-host with these tools.
func (b *bench) serveTools(tools map[string]string) (*served, error) {
	dir, err := os.MkdirTemp("", "hukilau-bench-")
	if err != nil {
		return nil, err
	}
	b.closed = append(b.closed, func() { _ = os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "tools"), 0o755); err != nil {
		return nil, err
	}
	for name, text := range tools {
		if err := os.WriteFile(filepath.Join(dir, "tools", name+".yaml"), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	program, err := filepath.Abs(toolHost)
	if err != nil {
		return nil, err
	}
	return b.startServed(exec.Command(program, "serve", "--bind", "127.0.0.1:0", "--log-level", "error"), dir)
}

// startServed starts a program that says on standard error where it listens, as "... http://address ...".
func (b *bench) startServed(cmd *exec.Cmd, dir string) (*served, error) {
	cmd.Dir = dir
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	b.closed = append(b.closed, stop)
	lines := bufio.NewReader(out)
	for {
		text, err := lines.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("%s did not say where it listens: %w", cmd.Path, err)
		}
		if _, after, found := strings.Cut(text, "http://"); found {
			go func() { _, _ = io.Copy(os.Stderr, lines) }()
			return &served{strings.Fields(after)[0], cmd.Process.Pid, stop}, nil
		}
	}
}

// load posts to the echo tool over kept connections, with a client that costs little.
type load struct {
	server      func() (*served, error)
	connections int
	mu          sync.Mutex
	took        []time.Duration // of the requests of the last run
}

// run gives the time of one request, all connections together.
func (l *load) run(least time.Duration) (float64, error) {
	s, err := l.server()
	if err != nil {
		return 0, err
	}
	l.took = nil
	from, deadline := time.Now(), time.Now().Add(max(least, 50*time.Millisecond))
	failed := make(chan error, l.connections)
	for range l.connections {
		go func() { failed <- l.one(s, deadline) }()
	}
	var all error
	for range l.connections {
		all = errors.Join(all, <-failed)
	}
	if all != nil || len(l.took) == 0 {
		return 0, errors.Join(all, errors.New("no answers"))
	}
	return float64(time.Since(from)) / float64(len(l.took)), nil
}

func (l *load) one(s *served, deadline time.Time) error {
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		return err
	}
	defer c.Close()
	request := fmt.Appendf(nil, "POST /tools/echo HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.address, len(echoBody), echoBody)
	answers := bufio.NewReader(c)
	var took []time.Duration
	for time.Now().Before(deadline) {
		from := time.Now()
		if _, err := c.Write(request); err != nil {
			return err
		}
		if err := readAnswer(answers); err != nil {
			return err
		}
		took = append(took, time.Since(from))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, took...)
	return nil
}

// readAnswer reads an answer that has a length.
func readAnswer(r *bufio.Reader) error {
	status, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(status), "HTTP/1.1 200") {
		return fmt.Errorf("answered %q", status)
	}
	length := 0
	for {
		header, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(header) <= 2 {
			break
		}
		if name, value, _ := strings.Cut(string(header), ":"); strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return err
			}
		}
	}
	_, err = r.Discard(length)
	return err
}

// percentile gives the time within which so many of a hundred requests are answered.
func (l *load) percentile(n int) measurement {
	return func(least time.Duration) (float64, error) {
		if _, err := l.run(max(least, 200*time.Millisecond)); err != nil {
			return 0, err
		}
		slices.Sort(l.took)
		return float64(l.took[min(len(l.took)*n/100, len(l.took)-1)]), nil
	}
}

// beside measures while another tool takes all the places that it can get.
func beside(server func() (*served, error), l *load) measurement {
	return func(time.Duration) (float64, error) {
		s, err := server()
		if err != nil {
			return 0, err
		}
		stop := make(chan struct{})
		var burning sync.WaitGroup
		for range 100 {
			burning.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					response, err := http.Post("http://"+s.address+"/tools/burn", "application/json", strings.NewReader("{}"))
					if err == nil {
						_, _ = io.Copy(io.Discard, response.Body)
						response.Body.Close()
					}
				}
			})
		}
		time.Sleep(300 * time.Millisecond) // they burn
		p99, err := l.percentile(99)(2 * time.Second)
		close(stop)
		burning.Wait()
		return p99, err
	}
}

// memoryAfter is what the process holds after many calls.
func (b *bench) memoryAfter(server func() (*served, error)) measurement {
	return func(time.Duration) (float64, error) {
		s, err := server()
		if err != nil {
			return 0, err
		}
		calls := 100_000
		if b.rounds == 1 {
			calls = 1000
		}
		l := &load{server: server, connections: 16}
		for done := 0; done < calls; done += len(l.took) {
			if _, err := l.run(time.Second); err != nil {
				return 0, err
			}
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
		if err != nil {
			return 0, err
		}
		_, after, _ := strings.Cut(string(text), "VmRSS:")
		kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
		return float64(kilobytes) * 1024, err
	}
}

// firstAnswer is the time from the start of the program to its first answer.
func (b *bench) firstAnswer(count int) measurement {
	tools := map[string]string{}
	for i := range count {
		name := fmt.Sprintf("tool_%d", i)
		tools[name] = strings.Replace(echoTool, "echo", name, 1)
	}
	return func(time.Duration) (float64, error) {
		from := time.Now()
		s, err := b.serveTools(tools)
		if err != nil {
			return 0, err
		}
		defer s.stop()
		response, err := http.Get("http://" + s.address + "/health")
		if err != nil {
			return 0, err
		}
		response.Body.Close()
		took := time.Since(from)
		if response.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("/health answered %s", response.Status)
		}
		return float64(took), nil
	}
}
