package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// site is a server of MCP over streamable HTTP, of the revision of November 2025.
type site struct {
	*httptest.Server
	t *testing.T
	// script answers a request; false leaves it to the site.
	script func(w http.ResponseWriter, r *http.Request, m message) bool

	mu       sync.Mutex
	session  string // "" is none
	sessions int
	asked    []string // methods
	headers  []http.Header
	without  bool // it has no sessions
}

func newSite(t *testing.T, script func(w http.ResponseWriter, r *http.Request, m message) bool) *site {
	s := &site{t: t, script: script}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	m, _ := parse(text)
	if m.method == "" {
		m.method = r.Method
	}
	s.mu.Lock()
	s.asked = append(s.asked, m.method)
	s.headers = append(s.headers, r.Header)
	s.mu.Unlock()
	if s.script != nil && s.script(w, r, m) {
		return
	}
	s.plain(w, r, m)
}

func (s *site) plain(w http.ResponseWriter, r *http.Request, m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.method != "initialize" && m.method != "server/discover" && !s.without && r.Header.Get("Mcp-Session-Id") != s.session {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	switch m.method {
	case "initialize":
		if !s.without {
			s.sessions++
			s.session = fmt.Sprintf("session-%d", s.sessions)
			w.Header().Set("Mcp-Session-Id", s.session)
		}
		answerJSON(w, m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"site","version":"1"}}`)
	case "tools/list":
		answerJSON(w, m, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`)
	case "tools/call":
		answerJSON(w, m, textResult(s.session))
	case "ping":
		answerJSON(w, m, "{}")
	case "GET":
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		if m.id == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(refusal(m.id, numberMethodNotFound, "no such method"))
	}
}

func answerJSON(w http.ResponseWriter, m message, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(reply(m.id, json.RawMessage(result)))
}

// restart forgets the session.
func (s *site) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session, s.asked, s.headers = "gone", nil, nil
}

func (s *site) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, asked := range s.asked {
		if asked == method {
			n++
		}
	}
	return n
}

func (s *site) open(c Config, o Options) *Server {
	c.Name, c.URL = "site", s.URL
	return open(s.t, c, o)
}

// A server may ask on its own stream alone, and throw away what it asks where there is none: a connection is used when
// that stream is open.
func TestStreamIsOpenBeforeCalls(t *testing.T) {
	var open atomic.Bool
	site := newSite(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch m.method {
		case "GET":
			open.Store(true)
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case "tools/list":
			if !open.Load() {
				t.Error("it is used before its stream is open")
			}
			return false
		default:
			return false
		}
		return true
	})
	site.open(Config{}, Options{})
}

func TestStreamable(t *testing.T) {
	site := newSite(t, nil)
	s := site.open(Config{Headers: map[string]string{"X-Key": "the-secret-key"}}, Options{})
	result, err := call(t, s, "echo", "{}", CallOptions{})
	require.NoError(t, err)
	require.Equal(t, "session-1", textOf(t, result))
	s.Close()
	require.Equal(t, 1, site.count("DELETE"), "the session is given up")
	site.mu.Lock()
	defer site.mu.Unlock()
	for i, h := range site.headers {
		require.Equal(t, "the-secret-key", h.Get("X-Key"))
		if site.asked[i] == "tools/call" {
			require.Equal(t, "2025-11-25", h.Get("Mcp-Protocol-Version"))
			require.Equal(t, "session-1", h.Get("Mcp-Session-Id"))
		}
	}
}

// events begins a stream as an answer.
func beginEvents(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
}

func sayEvent(w http.ResponseWriter, id string, data []byte) {
	if id != "" {
		fmt.Fprintf(w, "id: %s\n", id)
	}
	fmt.Fprintf(w, "data: %s\n\n", data)
	w.(http.Flusher).Flush()
}

func progressOf(m message) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.id)
}

func hangUp(w http.ResponseWriter) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		c.Close()
	}
}

// D06: a stream that drops ends in a prompt error, or goes on from the last event.
func TestD06StreamDropsAfterProgress(t *testing.T) {
	for _, end := range []string{"cut", "closed"} {
		t.Run("no ids, "+end, func(t *testing.T) {
			site := newSite(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
				if m.method != "tools/call" {
					return false
				}
				beginEvents(w)
				sayEvent(w, "", progressOf(m))
				if end == "cut" {
					hangUp(w)
				}
				return true
			})
			s := site.open(Config{}, Options{})
			heard := 0
			_, err := call(t, s, "echo", "{}", CallOptions{Progress: func(json.RawMessage) { heard++ }})
			e := failure(t, err)
			require.Equal(t, CodeLost, e.Code)
			require.False(t, e.Retryable)
			require.Contains(t, e.Message, "before the answer came")
			require.Equal(t, 1, heard)
			require.Equal(t, 1, site.count("tools/call"), "it may have run")
			_, err = call(t, s, "echo", "{}", CallOptions{Repeatable: true})
			require.Equal(t, CodeLost, failure(t, err).Code)
			require.Equal(t, 3, site.count("tools/call"), "once more, not for ever")
		})
	}
	t.Run("resumed", func(t *testing.T) {
		var asked message
		site := newSite(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
			switch {
			case m.method == "tools/call":
				asked = m
				beginEvents(w)
				fmt.Fprint(w, "retry: 1\n")
				sayEvent(w, "event-1", progressOf(m))
				hangUp(w)
			case m.method == "GET" && r.Header.Get("Last-Event-Id") == "event-1":
				beginEvents(w)
				sayEvent(w, "event-2", reply(asked.id, json.RawMessage(textResult("resumed"))))
			default:
				return false
			}
			return true
		})
		result, err := call(t, site.open(Config{}, Options{}), "echo", "{}", CallOptions{})
		require.NoError(t, err)
		require.Equal(t, "resumed", textOf(t, result))
		require.Equal(t, 1, site.count("tools/call"))
	})
	t.Run("resuming leads nowhere", func(t *testing.T) {
		site := newSite(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
			if m.method != "tools/call" && r.Header.Get("Last-Event-Id") == "" {
				return false
			}
			beginEvents(w)
			fmt.Fprint(w, "retry: 1\nid: same\n\n")
			sayEvent(w, "same", progressOf(message{id: json.RawMessage("99")}))
			return true
		})
		_, err := call(t, site.open(Config{}, Options{}), "echo", "{}", CallOptions{})
		require.Equal(t, CodeLost, failure(t, err).Code)
	})
}

// D08: a restart costs one new session, and each call is made once more.
func TestD08SessionIsGone(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusBadRequest} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var together sync.WaitGroup
			var restarted atomic.Bool
			site := newSite(t, nil)
			site.script = func(w http.ResponseWriter, r *http.Request, m message) bool {
				if !restarted.Load() || r.Header.Get("Mcp-Session-Id") != "session-1" {
					return false
				}
				if m.method == "tools/call" { // all of them are under way
					together.Done()
					together.Wait()
				}
				w.WriteHeader(status)
				return true
			}
			s := site.open(Config{}, Options{})
			site.restart()
			restarted.Store(true)
			together.Add(5)
			var done sync.WaitGroup
			for range 5 {
				done.Go(func() {
					result, err := s.Call(t.Context(), "echo", nil, CallOptions{})
					if err != nil || !strings.Contains(string(result.Raw), "session-2") {
						t.Error(err)
					}
				})
			}
			done.Wait()
			require.Equal(t, 1, site.count("initialize"))
			require.Equal(t, 10, site.count("tools/call"), "each once more")
			site.mu.Lock()
			defer site.mu.Unlock()
			for i, method := range site.asked {
				if method == "initialize" {
					require.Empty(t, site.headers[i].Get("Mcp-Session-Id"))
				}
			}
		})
	}
}

// A server that cannot be reached any more is so said, and is back when it is.
func TestServerGoesAndComesBack(t *testing.T) {
	site := newSite(t, nil)
	site.without = true
	s := site.open(Config{}, Options{})
	address := site.Listener.Addr().String()
	site.Close()
	var e *Error
	eventually(t, func() bool { // a request may have gone out on a connection that has just ended
		_, err := call(t, s, "echo", "{}", CallOptions{})
		e = failure(t, err)
		return e.Code == CodeUnavailable
	})
	require.True(t, e.Retryable)
	require.Contains(t, e.Message, "cannot be reached")
	require.Equal(t, Unhealthy, s.Status().State)

	again := &http.Server{Addr: address, Handler: site}
	done := make(chan struct{})
	go func() { _ = again.ListenAndServe(); close(done) }()
	defer func() { again.Close(); <-done }()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for s.Ready(ctx) != nil && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	_, err := call(t, s, "echo", "{}", CallOptions{})
	require.NoError(t, err)
}

func TestBadAnswersOverHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		answer  func(w http.ResponseWriter, m message)
		code    string
		message string
	}{
		"a page": {func(w http.ResponseWriter, m message) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>")
		}, CodeInvalidAnswer, "text/html"},
		"no JSON": {func(w http.ResponseWriter, m message) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{")
		}, CodeInvalidAnswer, "not the answer"},
		"another's answer": {func(w http.ResponseWriter, m message) { answerJSON(w, message{id: []byte("99")}, "{}") }, CodeInvalidAnswer, "not the answer"},
		"202":              {func(w http.ResponseWriter, m message) { w.WriteHeader(http.StatusAccepted) }, CodeInvalidAnswer, "where JSON"},
		"500":              {func(w http.ResponseWriter, m message) { http.Error(w, "oh \x1b[1m", 500) }, CodeUpstream, `500: oh \x1b[1m`},
		"429":              {func(w http.ResponseWriter, m message) { w.Header().Set("Retry-After", "7"); w.WriteHeader(429) }, CodeUpstream, "429, to be tried again after 7"},
		"403":              {func(w http.ResponseWriter, m message) { w.WriteHeader(403) }, CodePermission, "403"},
		"401":              {func(w http.ResponseWriter, m message) { w.WriteHeader(401) }, CodeUnauthorized, "luau gateway login site"},
		"an error": {func(w http.ResponseWriter, m message) {
			w.WriteHeader(400)
			_, _ = w.Write(refusal(m.id, -32000, "because"))
		}, CodeUpstream, "because"},
		"an error, no id": {func(w http.ResponseWriter, m message) {
			w.WriteHeader(400)
			_, _ = w.Write(refusal([]byte("null"), -32000, "because"))
		}, CodeUpstream, "because"},
		"too large":     {func(w http.ResponseWriter, m message) { answerJSON(w, m, textResult(strings.Repeat("x", 1<<20))) }, CodeTooLarge, "larger than 1MiB"},
		"far too large": {func(w http.ResponseWriter, m message) { answerJSON(w, m, textResult(strings.Repeat("x", 10<<20))) }, CodeTooLarge, "larger than 1MiB"},
		"a large event": {func(w http.ResponseWriter, m message) {
			beginEvents(w)
			sayEvent(w, "", reply(m.id, []byte(textResult(strings.Repeat("x", 10<<20)))))
		}, CodeTooLarge, "larger than 1MiB"},
		"half of an answer": {func(w http.ResponseWriter, m message) {
			w.Header().Set("Content-Length", "100")
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{")
		}, CodeLost, "before the answer came"},
		"nothing": {func(w http.ResponseWriter, m message) { hangUp(w) }, CodeLost, "EOF"},
		"a redirect": {func(w http.ResponseWriter, m message) {
			w.Header().Set("Location", "https://evil.example/x?key=1")
			w.WriteHeader(307)
		}, CodeUnavailable, "redirects to https://evil.example/x, which"},
	} {
		t.Run(name, func(t *testing.T) {
			site := newSite(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
				if m.method == "tools/call" {
					c.answer(w, m)
				}
				return m.method == "tools/call"
			})
			site.without = true
			_, err := call(t, site.open(Config{MaxBytes: 1 << 20}, Options{}), "echo", "{}", CallOptions{})
			e := failure(t, err)
			require.Equal(t, c.code, e.Code, e.Message)
			require.Contains(t, e.Message, c.message)
		})
	}
}

// Events as servers write them: several lines of data, comments, other kinds, carriage returns.
func TestAnswerAsEvents(t *testing.T) {
	site := newSite(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.method != "tools/call" {
			return false
		}
		beginEvents(w)
		fmt.Fprintf(w, ": hello\r\nevent: other\r\ndata: {}\r\n\r\ndata:\r\n\r\nevent: message\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata:\"id\":%s,\"result\":%s}\r\n\r\n",
			m.id, textResult("hi"))
		return true
	})
	result, err := call(t, site.open(Config{}, Options{}), "echo", "{}", CallOptions{})
	require.NoError(t, err)
	require.Equal(t, "hi", textOf(t, result))
}

// Credentials go where they belong only.
func TestRedirects(t *testing.T) {
	var seen atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen.Add(1) }))
	defer other.Close()
	var to atomic.Value
	to.Store("/mcp")
	site := newSite(t, nil)
	site.script = func(w http.ResponseWriter, r *http.Request, m message) bool {
		if r.URL.Path == "/mcp" {
			return false
		}
		http.Redirect(w, r, to.Load().(string), http.StatusTemporaryRedirect)
		return true
	}
	s := site.open(Config{Headers: map[string]string{"X-Key": "k"}}, Options{})
	_, err := call(t, s, "echo", "{}", CallOptions{})
	require.NoError(t, err, "within the host")
	to.Store(other.URL + "/mcp")
	_, err = call(t, s, "echo", "{}", CallOptions{})
	require.Contains(t, failure(t, err).Message, "set url to where it is")
	require.Zero(t, seen.Load())
}

func TestHangingServersOverHTTP(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	site := newSite(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.method == "tools/call" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		return m.method == "tools/call"
	})
	s := site.open(Config{CallTimeout: 100 * time.Millisecond}, Options{})
	_, err := call(t, s, "echo", "{}", CallOptions{})
	require.Equal(t, CodeTimeout, failure(t, err).Code)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	eventually(t, func() bool { return site.count("notifications/cancelled") >= site.count("tools/call") })
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	_, err = s.Call(ctx, "echo", nil, CallOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

// A session that is gone for one call does not end another that the server still works on.
func TestCallsAreFinishedOnAnOldSession(t *testing.T) {
	working, release := make(chan struct{}), make(chan struct{})
	site := newSite(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		if !strings.Contains(string(m.params), "slow") {
			return false
		}
		close(working)
		<-release
		answerJSON(w, m, textResult("finished"))
		return true
	})
	s := site.open(Config{}, Options{})
	var done sync.WaitGroup
	done.Go(func() {
		result, err := s.Call(t.Context(), "echo", json.RawMessage(`{"slow":true}`), CallOptions{})
		if err != nil || !strings.Contains(string(result.Raw), "finished") {
			t.Error(err)
		}
	})
	<-working
	site.restart()
	result, err := call(t, s, "echo", "{}", CallOptions{})
	require.NoError(t, err)
	require.Equal(t, "session-2", textOf(t, result))
	close(release)
	done.Wait()
}
