package server_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// events is a stream that is read.
type events struct {
	t        testing.TB
	response *http.Response
	lines    *bufio.Scanner
}

// stream begins a request whose answer is a stream.
func (f *fixture) stream(ctx context.Context, method, path, body string, headers ...string) *events {
	f.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, f.URL+path, strings.NewReader(body))
	require.NoError(f.t, err)
	r.Header.Set("Accept", "text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	response, err := f.Client().Do(r)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return &events{f.t, response, lines}
}

// next is the next event as "name data", or ": comment"; "" at the end.
func (e *events) next() string {
	e.t.Helper()
	var name string
	var data []string
	for e.lines.Scan() {
		line := e.lines.Text()
		field, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && name != "":
			return name + " " + strings.Join(data, "\n")
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		case strings.HasPrefix(line, ":"):
			return line
		}
	}
	return ""
}

func (e *events) rest() []string {
	var all []string
	for next := e.next(); next != ""; next = e.next() {
		all = append(all, next)
	}
	return all
}

func TestStream(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, tool(t, "tells", `
		ctx.emit("a\nb") ctx.emit({ n = 1 })
		ctx.progress(1, 4, "a quarter") ctx.progress(2)
		print("printed") ctx.log.warn("careful")
		if args.fail then error("failed") end
		return { ok = true }`))
	e := f.stream(t.Context(), "POST", "/tools/tells", "{}")
	require.Equal(t, 200, e.response.StatusCode)
	require.Equal(t, "text/event-stream", e.response.Header.Get("Content-Type"))
	require.NotEmpty(t, e.response.Header.Get("X-Request-Id"))
	require.Equal(t, []string{
		`emit {"text":"a\nb"}`, `emit {"n":1}`, `progress {"message":"a quarter","progress":1,"total":4}`, `progress {"progress":2}`,
		`log {"level":"info","message":"printed"}`, `log {"level":"warn","message":"careful"}`, `result {"result":{"ok":true}}`,
	}, e.rest())
	all := f.stream(t.Context(), "POST", "/tools/tells", `{"fail":true}`).rest()
	require.Equal(t, `error {"error":{"code":"tool_error","message":"tools/tells.yaml:6: failed","detail":"runtime"}}`, all[len(all)-1])
}

// What fails before the tool runs has its own status.
func TestStreamThatIsRefused(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, echo(t))
	for path, status := range map[string]int{"/tools/nothing": 404, "/tools/echo": 400} {
		a := f.do("POST", path, "[", "Accept: text/event-stream")
		require.Equal(t, status, a.status)
		require.Equal(t, "application/json", a.header.Get("Content-Type"))
		a.code(t)
	}
}

func TestWhoWantsEvents(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, echo(t))
	for accept, events := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/event-stream": true, "TEXT/Event-Stream": true, "text/event-stream;q=0": false,
		"application/json, text/event-stream": false, "text/event-stream, application/json": true,
		"application/json;q=0.5, text/event-stream": true, "text/event-stream;q=0.2, */*;q=0.1": true,
	} {
		a := f.do("POST", "/tools/echo", "", "Accept: "+accept)
		require.Equal(t, events, a.header.Get("Content-Type") == "text/event-stream", accept)
	}
}

// ticker is a clock that a test moves.
type ticker struct {
	mu  sync.Mutex
	all []chan time.Time
}

func (k *ticker) make(time.Duration) server.Ticks {
	c := make(chan time.Time)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, c)
	return server.Ticks{C: c, Stop: func() {}}
}

func (k *ticker) tick(i int) { k.at(i) <- time.Time{} }

func (k *ticker) at(i int) chan time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all[i]
}

func TestHeartbeats(t *testing.T) {
	var clock ticker
	f := start(t, server.Options{Ticker: clock.make}, toolhost.Options{}, tool(t, "waits", `ctx.emit("ready") while true do task.wait(1) end`),
		tool(t, "loops", `ctx.emit("ready") while true do end`))
	e := f.stream(t.Context(), "POST", "/tools/loops", "")
	require.Equal(t, `emit {"text":"ready"}`, e.next())
	for range 3 {
		go clock.tick(0)
		require.Equal(t, ": alive", e.next())
	}
}

// busy is how many calls run.
func (f *fixture) busy() int { return f.host.Stats().Running }

// D18: a client that goes away ends its call, with and without a stream.
func TestD18AClientThatGoesAway(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts, nor answers
	require.NoError(t, err)
	defer silent.Close()
	f := start(t, server.Options{}, toolhost.Options{Timeout: 10 * time.Minute, HTTP: loopback(t)}, tool(t, "loops", "while true do end"),
		tool(t, "waits", `require("http").get("http://`+silent.Addr().String()+`/")`),
		tool(t, "floods", `while true do ctx.emit(string.rep("x", 10000)) end`))
	for _, accept := range []string{"application/json", "text/event-stream"} {
		for _, name := range []string{"loops", "waits", "floods"} {
			ctx, cancel := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, "POST", f.URL+"/tools/"+name, strings.NewReader("{}"))
			require.NoError(t, err)
			r.Header.Set("Accept", accept)
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				if response, err := f.Client().Do(r); err == nil {
					<-ctx.Done()
					response.Body.Close()
				}
			}()
			eventually(t, "the call runs", func() bool { return f.busy() == 1 })
			cancel()
			<-gone
			eventually(t, "the call has ended", func() bool { return f.busy() == 0 })
			eventually(t, "it is counted", func() bool { return f.outcomes(name)["cancelled"] > 0 })
		}
	}
}

// loopback lets all tools reach this machine.
func loopback(t testing.TB) func(*tooldef.Tool) (*httpmod.Module, error) {
	client, err := httpmod.New(httpmod.Options{Policy: httpmod.Policy{NetPrivate: []string{"127.0.0.1"}}})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdle)
	return func(*tooldef.Tool) (*httpmod.Module, error) { return httpmod.NewModule(client), nil }
}

// What a tool depends on failed, and the tool with it.
func TestUpstreamFails(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	f := start(t, server.Options{}, toolhost.Options{HTTP: loopback(t)}, tool(t, "asks", `return require("http").get("http://`+closed.Addr().String()+`/").body`))
	a := f.do("POST", "/tools/asks", "")
	require.Equal(t, 502, a.status, a.body)
	require.Equal(t, "upstream", a.code(t))
}

// outcomes is how calls of a tool ended.
func (f *fixture) outcomes(name string) map[string]uint64 {
	for _, s := range f.host.Stats().Tools {
		if s.Tool == name {
			return s.Status
		}
	}
	return nil
}

// A tool waits for a client that reads slowly, and loses nothing but log lines.
func TestStreamOfASlowClient(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, tool(t, "floods", `
		for i = 1, args.count or 500 do ctx.emit({ i = i, text = string.rep("x", args.size or 20000) }) end
		return "done"`))
	e := f.stream(t.Context(), "POST", "/tools/floods", "")
	eventually(t, "the tool waits", func() bool { return f.busy() == 1 })
	all := e.rest()
	require.Len(t, all, 501)
	require.Contains(t, all[499], `"i":500`)
	require.Equal(t, `result {"result":"done"}`, all[500])
	e = f.stream(t.Context(), "POST", "/tools/floods", `{"size":200000,"count":50}`)
	require.Len(t, e.rest(), 51, "large ones too")
}
