package upstream

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/redact"
)

// Server is one connection to an MCP server, which is made anew whenever it breaks. Many goroutines may use it.
type Server struct {
	config  Config
	options Options
	slots   chan struct{} // of calls at the same time
	secrets *redact.Redactor
	stderr  tail
	model   *Server // whose lists these are; nil: its own

	ctx    context.Context
	stop   context.CancelFunc
	done   chan struct{}
	ending sync.WaitGroup
	kick   chan struct{} // somebody wants a connection now

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when something of what follows has changed
	session  *session      // nil: none is usable
	snapshot *Snapshot
	status   Status
	attempts int       // to connect, that have ended
	older    bool      // the server did not know the stateless revision
	last     time.Time // that no connection could be made
}

// Open begins to connect to a server, and does not wait for it.
func Open(c Config, o Options) *Server {
	s := newServer(c, o)
	s.slots = make(chan struct{}, s.config.MaxConcurrent)
	go s.run()
	return s
}

// Another is one more connection to the same server, for a session of its own. Both share the cap of concurrent calls
// and the lists, which the first keeps up to date. Of the options, a Client that is not the zero value and OnChange do
// matter; the rest is that of the first.
func (s *Server) Another(o Options) *Server {
	mixed := s.options
	mixed.OnChange = o.OnChange
	if o.Client != (Client{}) {
		mixed.Client = o.Client
	}
	n := newServer(s.config, mixed)
	n.slots, n.model = s.slots, s
	s.mu.Lock()
	n.older = s.older
	s.mu.Unlock()
	go n.run()
	return n
}

func newServer(c Config, o Options) *Server {
	s := &Server{
		config: c.withDefaults(), options: o,
		done: make(chan struct{}), kick: make(chan struct{}, 1), changed: make(chan struct{}),
	}
	if s.options.Logger == nil {
		s.options.Logger = slog.New(slog.DiscardHandler)
	}
	s.options.Logger = s.options.Logger.With("server", c.Name)
	s.secrets = secretsOf(c)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.status = Status{State: Connecting}
	return s
}

// Name is the name of the server in the configuration.
func (s *Server) Name() string { return s.config.Name }

// Config is how the server is configured.
func (s *Server) Config() Config { return s.config }

// Close ends the connection, and with it the process of a server that has one. Calls under way fail.
func (s *Server) Close() {
	s.stop()
	s.mu.Lock()
	s.wake()
	s.mu.Unlock()
	<-s.done
}

// wake lets those look again that wait for a change. s.mu is held.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// run connects, serves, and connects again, until Close.
func (s *Server) run() {
	defer close(s.done)
	defer s.ending.Wait()
	failures := 0
	for {
		session, err := s.connect(s.ctx)
		if err == nil {
			err = s.serve(session)
			s.leave(session)
			if time.Since(session.began) >= steady {
				failures = 0
			}
		}
		if s.ctx.Err() != nil {
			return
		}
		s.failed(err, session == nil, failures > 0)
		if session != nil && failures == 0 { // it has worked: at once
			failures++
			continue
		}
		if !s.await(backoff(failures)) {
			return
		}
		failures++
	}
}

// leave ends a connection. Over HTTP, requests that are under way have connections of their own: they may be answered
// while the next one is made already.
func (s *Server) leave(session *session) {
	if session.process != nil || s.ctx.Err() != nil {
		session.end()
		return
	}
	s.ending.Go(func() {
		session.drain(s.ctx)
		session.end()
	})
}

// steady is how long a connection lives that was no failure.
const steady = 10 * time.Second

// backoff is how long to wait after so many failures in a row.
func backoff(failures int) time.Duration {
	return min(500*time.Millisecond<<min(failures, 10), time.Minute)
}

// await waits before the next try. It is false after Close.
func (s *Server) await(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.kick:
	case <-s.ctx.Done():
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.State = Connecting
	s.wake()
	return true
}

// failed notes why there is no connection: none could be made, or one was lost, perhaps again.
func (s *Server) failed(err *Error, none, again bool) {
	reason := s.redacted(err.Message)
	if lines := s.stderr.last(1); len(lines) > 0 && s.config.Command != "" {
		reason += "; it said: " + lines[0]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = nil
	s.attempts++
	if none {
		s.last = time.Now()
	}
	s.status.State = Connecting
	if none || again {
		s.status.State = Unhealthy
	}
	level := slog.LevelWarn
	if s.status.Reason == reason { // it was said, and is tried again and again
		level = slog.LevelDebug
	}
	s.status.Reason, s.status.Code = reason, err.Code
	s.wake()
	s.options.Logger.Log(context.Background(), level, "an upstream server is not connected", "reason", reason)
}

// serve keeps the lists up to date until the connection breaks, and says why it did.
func (s *Server) serve(session *session) *Error {
	s.mu.Lock()
	s.session = session
	s.older = session.version < stateless
	s.wake()
	s.mu.Unlock()
	if s.model == nil {
		if err := s.list(session); err != nil {
			return err
		}
	}
	s.healthy(session)
	session.subscribe()
	for {
		select {
		case <-session.gone:
			return session.why()
		case <-s.ctx.Done():
			return &Error{Code: CodeClosed, Message: "it is closed"}
		case <-session.changes:
			if err := s.update(session); err != nil {
				return err
			}
		}
	}
}

// settle is how long further changes of a list are waited for, and the shortest time between two readings.
const (
	settle  = 50 * time.Millisecond
	between = time.Second
)

// update reads the lists again after a change.
func (s *Server) update(session *session) *Error {
	if s.model != nil {
		s.model.mayHaveChanged()
		return nil
	}
	if pause(s.ctx, settle) != nil {
		return nil // serve sees it
	}
	select {
	case <-session.changes:
	default:
	}
	began := time.Now()
	if err := s.list(session); err != nil {
		if err.broken || s.ctx.Err() != nil {
			return err
		}
		s.options.Logger.Warn("the lists of a server cannot be read again", "error", s.redacted(err.Message))
	}
	_ = pause(s.ctx, between-time.Since(began)) // serve sees the end
	return nil
}

func (s *Server) mayHaveChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		s.session.mark()
	}
}

func (s *Server) healthy(session *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = Status{State: Healthy, Version: session.version, Info: session.said.Info}
	s.wake()
}

// redacted takes secrets out of a text that is shown to people.
func (s *Server) redacted(text string) string {
	text = s.secrets.Text(text)
	if s.options.Redact != nil {
		text = s.options.Redact(text)
	}
	return text
}

// secretsOf are what the configuration gives a server to prove who we are.
func secretsOf(c Config) *redact.Redactor {
	var secrets []string
	for _, values := range []map[string]string{c.Headers, c.Env} {
		for _, value := range values {
			value = strings.TrimSpace(strings.TrimPrefix(value, "Bearer "))
			if len(value) >= shortestSecret {
				secrets = append(secrets, value)
			}
		}
	}
	return redact.New(secrets)
}

// shortestSecret keeps values that are words of messages, as "true" and "8080".
const shortestSecret = 8

func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeLost, Message: shown(err.Error()), cause: err}
}
