package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/cors"

	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// DefaultBodyLimit is how many bytes the body of a request may have.
const DefaultBodyLimit = 4 << 20

// Options describe a Server. The zero value of a field is its default.
type Options struct {
	Host    *toolhost.Host // required
	Store   *store.Store   // nil: no calls that run on their own, no approvals, no repeated answers
	Logger  *slog.Logger   // nil: nothing is logged
	MCP     http.Handler   // of /mcp; nil: there is none
	Version string         // of the program, for /health and /openapi.json

	Traced bool // requests may belong to a trace, as their header traceparent says

	Bind          string   // the address that is listened on; "" is 127.0.0.1
	Token         string   // what callers must show; "" is nothing, which is refused where Bind is not loopback
	OperatorToken string   // what an operator must show to approve calls; "": nobody can over HTTP
	AllowedHosts  []string // names in the Host header beside loopback ones and Bind; "*" allows all
	Origins       []string // of web pages that may use the server, as "https://app.example.com"; "" is none

	BodyLimit  int64 // bytes of a request's body; 0: 4 MiB
	BodyBudget int64 // bytes of all large bodies at once; 0: 64 MiB
	MaxConns   int   // open connections; 0: 4,096

	HeaderTimeout time.Duration // until the headers are there; 0: 10 s
	BodyTimeout   time.Duration // until the body is there; 0: 30 s
	WriteTimeout  time.Duration // how long a client may leave an answer unread; 0: 30 s
	IdleTimeout   time.Duration // of a kept connection; 0: 2 min
	DrainTime     time.Duration // for calls that run when the server ends; 0: 30 s
	Heartbeat     time.Duration // between signs of life in a stream; 0: 15 s
	ApprovalPoll  time.Duration // between looks for calls that were approved elsewhere; 0: 1 s

	Broken func() []Broken           // definitions that could not be loaded; nil: none
	Redact func(text string) string  // takes secrets out of what is shown; nil: nothing is secret
	Now    func() time.Time          // nil: time.Now
	Ticker func(time.Duration) Ticks // nil: time.NewTicker
}

// Broken is a definition that could not be loaded.
type Broken struct {
	File  string // from the config's folder
	Name  string // of the tool, where it is known
	Error string
}

// Ticks is a running ticker.
type Ticks struct {
	C    <-chan time.Time
	Stop func()
}

// Server serves the tools of a host. Any goroutine may use it.
type Server struct {
	options Options
	guard   guard
	cors    *cors.Cors // nil: no page of another origin may use the server
	bodies  atomic.Int64

	base       context.Context // of calls that run on their own
	cancel     context.CancelCauseFunc
	background sync.WaitGroup
	starting   sync.Mutex // of background
	closed     bool
	draining   atomic.Bool
	live       liveCalls
}

// New makes a Server. What would be unsafe is refused.
func New(o Options) (*Server, error) {
	if o.Host == nil {
		return nil, errors.New("a server needs a tool host")
	}
	setDefaults(&o)
	s := &Server{options: o}
	if err := s.guard.init(&o); err != nil {
		return nil, err
	}
	s.cors = newCORS(o.Origins)
	s.base, s.cancel = context.WithCancelCause(context.Background())
	s.live.calls = map[string]*liveCall{}
	return s, nil
}

func setDefaults(o *Options) {
	setDefault(&o.BodyLimit, DefaultBodyLimit)
	setDefault(&o.BodyBudget, 64<<20)
	setDefault(&o.MaxConns, 4096)
	setDefault(&o.HeaderTimeout, 10*time.Second)
	setDefault(&o.BodyTimeout, 30*time.Second)
	setDefault(&o.WriteTimeout, 30*time.Second)
	setDefault(&o.IdleTimeout, 2*time.Minute)
	setDefault(&o.DrainTime, 30*time.Second)
	setDefault(&o.Heartbeat, 15*time.Second)
	setDefault(&o.ApprovalPoll, time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Broken == nil {
		o.Broken = func() []Broken { return nil }
	}
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Ticker == nil {
		o.Ticker = func(d time.Duration) Ticks {
			t := time.NewTicker(d)
			return Ticks{t.C, t.Stop}
		}
	}
}

func setDefault[T ~int | ~int64](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Handler serves requests. Its limits of time hold under Serve only.
func (s *Server) Handler() http.Handler { return s }

// Close ends calls that run on their own, and waits for them. Serve does so itself.
func (s *Server) Close() {
	s.draining.Store(true)
	s.starting.Lock()
	s.closed = true
	s.starting.Unlock()
	s.cancel(toolhost.ErrShutdown)
	s.background.Wait()
}

// apart runs work that no request waits for, unless the server ends.
func (s *Server) apart(work func()) bool {
	s.starting.Lock()
	defer s.starting.Unlock()
	if s.closed {
		return false
	}
	s.background.Go(work)
	return true
}
