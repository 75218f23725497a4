package upstream

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// stream is a server of MCP over the transport of 2024. What the program says goes out on the stream.
type stream struct {
	*httptest.Server
	endpoint string
	refuse   atomic.Int32 // status of posts
	program  *program

	mu    sync.Mutex
	drops []chan struct{}
	opens atomic.Int32
}

func newStream(t *testing.T, endpoint string, script func(*running, message) bool) *stream {
	s := &stream{endpoint: endpoint, program: newProgram(t, script)}
	var now atomic.Pointer[running]
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if status := s.refuse.Load(); status != 0 {
				w.WriteHeader(int(status))
				return
			}
			text, _ := io.ReadAll(r.Body)
			m, _ := parse(text)
			w.WriteHeader(http.StatusAccepted)
			if run := now.Load(); script == nil || !script(run, m) {
				run.plain(m)
			}
			return
		}
		drop := make(chan struct{})
		s.mu.Lock()
		s.drops = append(s.drops, drop)
		s.mu.Unlock()
		read, write := io.Pipe()
		now.Store(&running{program: s.program, number: int(s.opens.Add(1)), out: write})
		beginEvents(w)
		fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", s.endpoint)
		w.(http.Flusher).Flush()
		go func() {
			select {
			case <-drop:
			case <-r.Context().Done():
			}
			write.Close()
			read.Close()
		}()
		follow(read, func(line string) { fmt.Fprintf(w, "event: message\ndata: %s\n\n", line); w.(http.Flusher).Flush() })
	}))
	t.Cleanup(s.Close)
	return s
}

// drop ends the stream that is open.
func (s *stream) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.drops[len(s.drops)-1])
}

func (s *stream) config() Config { return Config{Name: "old", URL: s.URL + "/sse", Transport: SSE} }

// D06: a stream that drops ends in a prompt error, or goes on from the last event.
func TestD06OldStreamDrops(t *testing.T) {
	var s *stream
	var once atomic.Bool
	s = newStream(t, "/messages?session=1", func(r *running, m message) bool {
		if m.method == "tools/call" && once.CompareAndSwap(false, true) {
			r.say(progressOf(m))
			s.drop()
			return true
		}
		return false
	})
	server := open(t, s.config(), Options{})
	_, err := call(t, server, "echo", "{}", CallOptions{})
	e := failure(t, err)
	require.Equal(t, CodeLost, e.Code)
	require.Contains(t, e.Message, "event stream has ended; the call may have run")
	once.Store(false)
	result, err := call(t, server, "echo", "{}", CallOptions{Repeatable: true})
	require.NoError(t, err)
	require.Equal(t, "3", textOf(t, result), "each time on a new stream")
}

func TestOldServerForgetsTheStream(t *testing.T) {
	s := newStream(t, "messages", nil)
	server := open(t, s.config(), Options{})
	s.refuse.Store(http.StatusNotFound)
	eventually(t, func() bool { // until the refusal has ended the stream and a new one is there
		_, err := call(t, server, "echo", "{}", CallOptions{})
		if s.opens.Load() > 1 {
			s.refuse.Store(0)
		}
		return err == nil
	})
	s.refuse.Store(http.StatusInternalServerError)
	_, err := call(t, server, "echo", "{}", CallOptions{})
	require.Equal(t, 500, failure(t, err).Status)
}

// The address for requests must be on the server's own host.
func TestEndpointElsewhere(t *testing.T) {
	for _, endpoint := range []string{"http://evil.example/messages", "//evil.example/x", "http://127.0.0.1:1/x", "http://[", "javascript:x"} {
		s := newStream(t, endpoint, nil)
		server := Open(s.config(), Options{})
		require.ErrorContains(t, server.Ready(t.Context()), "not on its own host", endpoint)
		server.Close()
	}
}

func TestNoStream(t *testing.T) {
	for answer, problem := range map[string]string{
		"text/html": `it answered with "text/html" where an event stream belongs: check url and transport`,
		"":          "check url and transport",
	} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", answer)
			if answer == "" {
				w.WriteHeader(http.StatusNotFound)
			}
		}))
		server := Open(Config{Name: "old", URL: h.URL, Transport: SSE}, Options{})
		require.ErrorContains(t, server.Ready(t.Context()), problem)
		server.Close()
		h.Close()
	}
}
