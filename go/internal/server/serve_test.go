package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// cancelled is a context with what ends it; the test does so at its end.
func cancelled(t testing.TB) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return ctx, cancel
}

// served is a server under Serve.
type served struct {
	*fixture
	address string
	stop    context.CancelFunc
	done    chan error
}

func serve(t testing.TB, o server.Options, h toolhost.Options, tools ...*tooldef.Tool) *served {
	t.Helper()
	f := start(t, o, h, tools...)
	f.Server.Close() // its requests go to the other listener
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := cancelled(t)
	s := &served{f, l.Addr().String(), stop, make(chan error, 1)}
	f.URL = "http://" + s.address
	go func() {
		s.done <- f.s.Serve(ctx, l)
		close(s.done)
	}()
	t.Cleanup(func() {
		stop()
		s.ended()
	})
	return s
}

// ended waits until Serve has returned; again it is no wait.
func (s *served) ended() {
	s.t.Helper()
	select {
	case err := <-s.done:
		require.NoError(s.t, err)
	case <-time.After(60 * time.Second):
		s.t.Error("the server does not end")
	}
}

// A server that ends finishes what runs, refuses what comes, and leaves nothing behind.
func TestDrain(t *testing.T) {
	s := serve(t, server.Options{}, toolhost.Options{}, tool(t, "gate", gate), tool(t, "open", `ctx.state.open = true`), echo(t))
	apart := s.do("POST", "/tools/gate", "", "Prefer: respond-async").tree(t)["call"].(string)
	e := s.stream(t.Context(), "POST", "/tools/gate", "{}")
	require.Equal(t, `emit {"text":"began"}`, e.next())
	require.Equal(t, 200, s.do("POST", "/tools/echo", "").status)
	s.stop()
	eventually(t, "nobody is let in", func() bool { return s.do("GET", "/health", "").status == 503 })
	refused := s.do("POST", "/tools/echo", "")
	require.Equal(t, 503, refused.status)
	require.Equal(t, "busy", refused.code(t))
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	require.Equal(t, "running", s.do("GET", "/calls/"+apart, "").tree(t)["state"])
	require.NoError(t, s.store.State.Commit(t.Context(), "caller:local", map[string]json.RawMessage{"open": json.RawMessage("true")}))
	require.Equal(t, []string{`emit {"text":"goes"}`, `result {"result":{}}`}, e.rest())
	s.ended()
	c, err := s.store.Calls.Get(t.Context(), apart)
	require.NoError(t, err)
	require.Equal(t, store.Done, c.State)
	require.Equal(t, "{}", string(c.Outcome.Result))
}

// What takes longer than the time to drain is cancelled: its caller hears so, and it is in the log.
func TestDrainOfWhatDoesNotEnd(t *testing.T) {
	s := serve(t, server.Options{DrainTime: 50 * time.Millisecond}, toolhost.Options{Timeout: time.Hour}, tool(t, "loops", "ctx.emit(1) while true do end"))
	apart := s.do("POST", "/tools/loops", "", "Prefer: respond-async").tree(t)["call"].(string)
	e := s.stream(t.Context(), "POST", "/tools/loops", "{}")
	require.NotEmpty(t, e.next())
	waits := make(chan answer, 1)
	go func() { waits <- s.do("POST", "/tools/loops", "{}", "Idempotency-Key: once") }()
	eventually(t, "all run", func() bool { return s.busy() == 3 })
	follows := s.stream(t.Context(), "GET", "/calls/"+apart+"/events", "")
	require.NotEmpty(t, follows.next())
	s.stop()
	s.ended()
	last := e.rest()
	require.Contains(t, last[len(last)-1], `error {"error":{"code":"cancelled","message":"the call was cancelled: the server is shutting down"`)
	heard := follows.rest()
	require.Contains(t, heard[len(heard)-1], "the server is shutting down", "whoever follows a call hears it, too")
	plain := <-waits
	require.Equal(t, 503, plain.status, plain.body)
	require.Equal(t, "cancelled", plain.code(t))
	require.NotEmpty(t, plain.header.Get("Retry-After"))
	c, err := s.store.Calls.Get(t.Context(), apart)
	require.NoError(t, err)
	require.Equal(t, "cancelled", c.Outcome.Error.Code)
	require.Zero(t, s.busy(), "Serve returns when nothing runs any more")
	require.NoError(t, s.store.Log.Flush(t.Context()))
	logged, err := s.store.Log.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, logged, 3)
}

// A client that sends its body, or its headers, too slowly is not waited for; a call may take longer than that.
func TestSlowBodies(t *testing.T) {
	s := serve(t, server.Options{BodyTimeout: 200 * time.Millisecond, HeaderTimeout: 200 * time.Millisecond}, toolhost.Options{},
		tool(t, "sleeps", "__native.sleep(600) return 1"))
	for name, c := range map[string]struct{ request, answer string }{
		"body":    {"POST /tools/sleeps HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{", "HTTP/1.1 408"},
		"chunks":  {"POST /tools/sleeps HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "HTTP/1.1 408"},
		"headers": {"POST /tools/sleeps HTTP/1.1\r\nHost: localhost\r\nContent-", ""},
		"none":    {"POST /tools/sleeps HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 200"},
		"in time": {"POST /tools/sleeps HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.address)
			require.NoError(t, err)
			defer conn.Close()
			_, err = io.WriteString(conn, c.request)
			require.NoError(t, err)
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
			text, err := io.ReadAll(conn) // until the server closes
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(text), c.answer), string(text))
		})
	}
}

// A client that reads nothing of a stream is given up, and its call with it.
func TestClientThatReadsNothing(t *testing.T) {
	s := serve(t, server.Options{WriteTimeout: 200 * time.Millisecond}, toolhost.Options{Timeout: time.Hour},
		tool(t, "floods", `while true do ctx.emit(string.rep("x", 100000)) end`))
	conn, err := net.Dial("tcp", s.address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /tools/floods HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Length: 0\r\n\r\n")
	require.NoError(t, err)
	eventually(t, "the call has ended", func() bool { return s.outcomes("floods")["cancelled"] == 1 })
}

// X11: 200 calls of a tool that loops until its deadline leave room for another tool.
func TestX11AToolThatLoopsHarmsNoOther(t *testing.T) {
	loops := tool(t, "loops", "while true do end")
	loops.Timeout = 300 * time.Millisecond
	s := serve(t, server.Options{}, toolhost.Options{MaxRuns: 16, Queue: 32}, loops, echo(t))
	var mu sync.Mutex
	statuses := map[int]int{}
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			a := s.do("POST", "/tools/loops", "")
			mu.Lock()
			defer mu.Unlock()
			statuses[a.status]++
			if a.status == 503 && a.header.Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
		})
	}
	eventually(t, "all places of the tool are taken", func() bool { return s.busy() >= 15 })
	for s.busy() >= 15 {
		require.Equal(t, 200, s.do("POST", "/tools/echo", "").status)
	}
	all.Wait()
	require.Equal(t, 200, statuses[408]+statuses[503], statuses)
	require.GreaterOrEqual(t, statuses[408], 15)
}

// records are the messages of a log.
type records struct {
	slog.Handler
	mu  sync.Mutex
	all []string
}

func (r *records) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := record.Level.String() + " " + record.Message
	record.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	r.all = append(r.all, text)
	return nil
}

func (r *records) Enabled(context.Context, slog.Level) bool { return true }

func (r *records) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.all, "\n")
}

// A panic in a handler is the end of its request only.
func TestPanic(t *testing.T) {
	var log records
	broken := func() []server.Broken { panic("a fault of ours") }
	f := start(t, server.Options{Logger: slog.New(&log), Broken: broken}, toolhost.Options{}, echo(t))
	a := f.do("GET", "/tools/list", "")
	require.Equal(t, 500, a.status)
	require.Equal(t, "tool_error", a.code(t))
	id := a.header.Get("X-Request-Id")
	require.Contains(t, a.body, id)
	require.NotContains(t, a.body, "a fault of ours")
	require.Contains(t, log.text(), "request="+id)
	require.Contains(t, log.text(), "a fault of ours")
	require.Equal(t, 200, f.do("POST", "/tools/echo", "").status)
}

// All large bodies together have a budget; small ones need none.
func TestBudgetOfBodies(t *testing.T) {
	f := start(t, server.Options{BodyBudget: 1 << 20}, toolhost.Options{}, echo(t))
	large := `{"a":"` + strings.Repeat("x", 700<<10) + `"}`
	require.Equal(t, 503, f.do("POST", "/tools/echo", `{"a":"`+strings.Repeat("x", 1500<<10)+`"}`).status)
	r, w := io.Pipe()
	request, err := http.NewRequest("POST", f.URL+"/tools/echo", r)
	require.NoError(t, err)
	done := make(chan answer)
	go func() { done <- f.send(request) }()
	_, err = io.WriteString(w, large)
	require.NoError(t, err)
	eventually(t, "it is held", func() bool {
		return strings.Contains(f.do("GET", "/metrics", "").body, "hukilau_body_bytes 1.048576e+06")
	})
	require.Equal(t, 503, f.do("POST", "/tools/echo", large).status)
	require.Equal(t, 200, f.do("POST", "/tools/echo", "{}").status)
	require.NoError(t, w.CloseWithError(io.EOF))
	require.Equal(t, 200, (<-done).status)
	require.Equal(t, 200, f.do("POST", "/tools/echo", large).status)
}

// Calls that were approved elsewhere run here: by the command line, or before a restart.
func TestApprovedElsewhere(t *testing.T) {
	deploy := tool(t, "deploy", counts)
	deploy.Approve = true
	gone := tool(t, "gone", "return 1")
	gone.Approve = true
	away := tool(t, "away", counts) // a function of a source
	away.Name, away.Approve = "sdk.source.away", true
	s := serve(t, server.Options{ApprovalPoll: 5 * time.Millisecond}, toolhost.Options{}, deploy, gone, away)
	later := s.do("POST", "/tools/sdk.source.away", `{"to":"source"}`).tree(t)["call"].(string)
	id := s.do("POST", "/tools/deploy", `{"to":"prod"}`, "Session-Id: a").tree(t)["call"].(string)
	other := s.do("POST", "/tools/gone", "").tree(t)["call"].(string)
	s.host.Serve(set{deploy})
	for range 100 { // they wait, and hold up nobody
		a, err := s.store.Approvals.Create(t.Context(), store.Approval{Tool: "sdk.source.gone", Caller: "x", Arguments: []byte("{}"), Expires: time.Now().Add(time.Hour)})
		require.NoError(t, err)
		_, err = s.store.Approvals.Decide(t.Context(), a.ID, true, "cli")
		require.NoError(t, err)
	}
	for _, id := range []string{later, id, other} {
		_, err := s.store.Approvals.Decide(t.Context(), id, true, "cli")
		require.NoError(t, err)
	}
	require.Equal(t, map[string]any{"done": "prod"}, s.finished("/calls/" + id).tree(t)["result"])
	state, err := s.store.State.Load(t.Context(), "session:a")
	require.NoError(t, err)
	require.Equal(t, "1", string(state["ran"]), "the state of the session that asked")
	require.Equal(t, "not_found", s.finished("/calls/" + other).tree(t)["error"].(map[string]any)["code"])
	// A source may come later, as after a start.
	_, failed := s.host.RunApproved(t.Context(), later, nil)
	require.Equal(t, toolhost.Busy, failed.Code, failed.Message)
	require.Equal(t, "approved", s.do("GET", "/calls/"+later, "").tree(t)["state"])
	s.host.Serve(set{deploy, away})
	require.Equal(t, map[string]any{"done": "source"}, s.finished("/calls/" + later).tree(t)["result"])
}

// A listener that fails ends the server.
func TestListenerThatFails(t *testing.T) {
	host, s := newHost(t, toolhost.Options{})
	f, err := server.New(server.Options{Host: host, Store: s})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	err = f.Serve(t.Context(), l)
	require.True(t, errors.Is(err, net.ErrClosed), err)
}
