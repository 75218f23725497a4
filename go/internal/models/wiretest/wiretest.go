// Package wiretest is a local server for tests of providers: it gives the answers that a test wrote
// down, byte for byte, and keeps what was asked. It knows no provider's format.
package wiretest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Answer is one answer of a Server.
type Answer struct {
	Status int               // 0: 200
	Header map[string]string // Content-Type: text/event-stream unless set
	Body   string
	Cut    int  // sends what is before it by itself; 0: all at once
	Drop   bool // breaks the connection off behind the body
	// Hold keeps the connection open behind the body until the client goes away.
	Hold bool
}

// Request is what a Server was asked.
type Request struct {
	Method, Path, Query string
	Header              http.Header
	Body                string
}

// Server gives its answers in order, the last one again and again.
type Server struct {
	URL string
	// Transport reaches the server; its connections are closed with the test.
	Transport *http.Transport

	mu       sync.Mutex
	answers  []Answer
	requests []Request
}

// New starts a Server for the time of the test.
func New(t testing.TB, answers ...Answer) *Server {
	s := &Server{answers: answers, Transport: &http.Transport{}}
	server := httptest.NewServer(s)
	s.URL = server.URL
	t.Cleanup(func() {
		s.Transport.CloseIdleConnections()
		server.Close()
	})
	return s
}

// Answer replaces the answers.
func (s *Server) Answer(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = answers
}

// Requests are those that came, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Last is the request that came last.
func (s *Server) Last(t testing.TB) Request {
	list := s.Requests()
	require.NotEmpty(t, list, "no request came")
	return list[len(list)-1]
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	a := s.next(Request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), string(body)})
	w.Header().Set("Content-Type", "text/event-stream")
	for key, value := range a.Header {
		w.Header().Set(key, value)
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	flush := func(text string) {
		_, _ = io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	if a.Cut > 0 {
		flush(a.Body[:a.Cut])
	}
	flush(a.Body[a.Cut:])
	if a.Hold {
		<-r.Context().Done()
	}
	if a.Drop {
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) next(r Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.answers) == 0 {
		return Answer{Status: http.StatusTeapot}
	}
	a := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return a
}
