package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// site is an MCP server over streamable HTTP, of the revision of November 2025. It writes what no SDK would.
type site struct {
	*httptest.Server
	answer func(session, tool string, args json.RawMessage) string // a CallToolResult

	completesNothing bool

	mu       sync.Mutex
	tools    string // JSON of the list
	prompts  string
	made     int
	sessions map[string]int // calls in each session
	calls    []string       // "tool args"
	streams  map[chan string]bool
	end      chan struct{}
}

func newSite(t testing.TB, tools string) *site {
	s := &site{tools: tools, prompts: `[]`, sessions: map[string]int{}, streams: map[chan string]bool{}, end: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.end)
		s.Close()
	})
	return s
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.stream(w, r)
		return
	}
	var q request
	text, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(text, &q)
	result := s.result(w, r.Header.Get("Mcp-Session-Id"), &q)
	if q.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if result == "" {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, q.ID)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result)
}

func (s *site) result(w http.ResponseWriter, session string, q *request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch q.Method {
	case "initialize":
		s.made++
		session = fmt.Sprint("session-", s.made)
		s.sessions[session] = 0
		w.Header().Set("Mcp-Session-Id", session)
		return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{},"completions":{}},"serverInfo":{"name":"site","version":"1"}}`
	case "tools/list":
		return `{"tools":` + s.tools + `}`
	case "prompts/list":
		return `{"prompts":` + s.prompts + `}`
	case "resources/list":
		return `{"resources":[{"uri":"file:///a b.txt","name":"a","x":1}]}`
	case "resources/templates/list":
		return `{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"files"}]}`
	case "resources/read":
		return fmt.Sprintf(`{"contents":[{"uri":%q,"text":"of %s","x":1}]}`, q.Params.URI, session)
	case "prompts/get":
		return fmt.Sprintf(`{"messages":[{"role":"user","content":{"type":"text","text":%q}}]}`, q.Params.Name+string(q.Params.Arguments))
	case "completion/complete":
		if s.completesNothing {
			return ""
		}
		return `{"completion":{"values":["Hilo"]}}`
	case "ping":
		return `{}`
	case "tools/call":
		s.sessions[session]++
		s.calls = append(s.calls, q.Params.Name+" "+string(q.Params.Arguments))
		if s.answer != nil {
			return s.answer(session, q.Params.Name, q.Params.Arguments)
		}
		return fmt.Sprintf(`{"content":[],"structuredContent":{"tool":%q,"session":%q,"calls":%d}}`, q.Params.Name, session, s.sessions[session])
	}
	return ""
}

// stream is what the server says of its own accord.
func (s *site) stream(w http.ResponseWriter, r *http.Request) {
	lines := make(chan string, 16)
	s.mu.Lock()
	s.streams[lines] = true
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for {
		_ = http.NewResponseController(w).Flush() // where that fails, the write does
		select {
		case line := <-lines:
			fmt.Fprintf(w, "data: %s\n\n", line)
		case <-r.Context().Done():
			return
		case <-s.end:
			return
		}
	}
}

// change changes what there is, and says so.
func (s *site) change(list, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if list == "tools" {
		s.tools = text
	} else {
		s.prompts = text
	}
	for stream := range s.streams {
		stream <- `{"jsonrpc":"2.0","method":"notifications/` + list + `/list_changed"}`
	}
}

func (s *site) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.calls...)
}

// source connects to the site.
func (s *site) source(t testing.TB, name string, c upstream.Config, o upstream.Options) *gateway.MCPSource {
	t.Helper()
	c.Name = name
	if c.URL == "" {
		c.URL = s.URL
	}
	m := gateway.NewMCPSource(upstream.Open(c, o), "")
	t.Cleanup(m.Close)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	require.NoError(t, m.Ready(ctx))
	return m
}

// eventually waits until something holds.
func eventually(t testing.TB, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come true")
		}
	}
}
