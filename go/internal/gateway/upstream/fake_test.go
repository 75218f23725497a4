package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// program is a server of MCP that runs in the test, behind the pipes of a Process. Its answers come from a script;
// what the script does not know, it answers as a plain server of the revision of November 2025 does.
type program struct {
	t      *testing.T
	script func(p *running, m message) bool // true: it has dealt with it
	starts atomic.Int32
	lists  atomic.Int32 // that were asked for
	tools  atomic.Value // JSON of the list

	mu   sync.Mutex
	last *running
}

// running is one run of a program.
type running struct {
	*program
	number int // of the run, from 1
	in     *io.PipeReader
	out    *io.PipeWriter
	err    *io.PipeWriter
	ended  chan struct{}
	once   sync.Once
	calls  atomic.Int32

	writing sync.Mutex
}

func newProgram(t *testing.T, script func(p *running, m message) bool) *program {
	p := &program{t: t, script: script}
	p.tools.Store(`[{"name":"echo","inputSchema":{"type":"object"}}]`)
	return p
}

// start is Options.Start.
func (p *program) start(Command) (*Process, error) {
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	errRead, errWrite := io.Pipe()
	r := &running{program: p, number: int(p.starts.Add(1)), in: inRead, out: outWrite, err: errWrite, ended: make(chan struct{})}
	p.mu.Lock()
	p.last = r
	p.mu.Unlock()
	go r.run()
	return &Process{In: inWrite, Out: outRead, Err: errRead, Stop: func() {
		r.die()
		<-r.ended
	}}, nil
}

// now is the run that is on.
func (p *program) now() *running {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// die ends the program at once.
func (r *running) die() {
	r.in.CloseWithError(errors.New("broken pipe"))
	r.out.Close()
	r.err.Close()
}

func (r *running) run() {
	defer r.once.Do(func() { close(r.ended) })
	defer r.die()
	in := bufio.NewReaderSize(r.in, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		m, ok := parse(line)
		if !ok {
			r.t.Errorf("the client wrote what is no message: %s", line)
			return
		}
		if r.script == nil || !r.script(r, m) {
			r.plain(m)
		}
	}
}

// plain answers as a plain server does.
func (r *running) plain(m message) {
	switch m.method {
	case "server/discover":
		r.say(refusal(m.id, numberMethodNotFound, "no such method"))
	case "initialize":
		r.result(m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}`)
	case "tools/list":
		r.lists.Add(1)
		r.result(m, `{"tools":`+r.tools.Load().(string)+`}`)
	case "tools/call":
		r.calls.Add(1)
		r.result(m, `{"content":[{"type":"text","text":"`+fmt.Sprint(r.number)+`"}]}`)
	case "ping":
		r.result(m, `{}`)
	default:
		if m.id != nil && m.method != "" {
			r.say(refusal(m.id, numberMethodNotFound, "no such method"))
		}
	}
}

// say writes a line.
func (r *running) say(line []byte) {
	r.writing.Lock()
	defer r.writing.Unlock()
	_, _ = r.out.Write(append(line, '\n')) // the client may have gone
}

func (r *running) sayf(format string, args ...any) { r.say(fmt.Appendf(nil, format, args...)) }

func (r *running) result(m message, result string) { r.say(reply(m.id, json.RawMessage(result))) }

// text is the result of a call with one text.
func textResult(text string) string {
	return `{"content":[{"type":"text","text":` + string(quote(nil, text)) + `}]}`
}

// open opens a server and waits until it is ready.
func open(t *testing.T, c Config, o Options) *Server {
	t.Helper()
	s := Open(c, o)
	t.Cleanup(s.Close)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	require.NoError(t, s.Ready(ctx))
	return s
}

func (p *program) open(o Options) *Server {
	o.Start = p.start
	return open(p.t, Config{Name: "fake", Command: "fake"}, o)
}

func call(t *testing.T, s *Server, tool, args string, o CallOptions) (*Result, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	return s.Call(ctx, tool, json.RawMessage(args), o)
}

// textOf is the one text of a result.
func textOf(t *testing.T, r *Result) string {
	t.Helper()
	var result struct{ Content []struct{ Text string } }
	require.NoError(t, json.Unmarshal(r.Raw, &result))
	require.Len(t, result.Content, 1)
	return result.Content[0].Text
}

func failure(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	return e
}

// eventually waits until something holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come true")
		}
	}
}

func names(s *Snapshot) string {
	var list []string
	for _, tool := range s.Tools {
		list = append(list, tool.Name)
	}
	return strings.Join(list, " ")
}
