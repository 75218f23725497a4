package upstream

import (
	"context"
	"encoding/json"
	"time"
)

// State is how a server is.
type State string

// The states of a server.
const (
	Connecting State = "connecting"
	Healthy    State = "healthy"
	Unhealthy  State = "unhealthy"
)

// Status is how a server is.
type Status struct {
	State   State
	Reason  string          // why it is not healthy
	Code    string          // of that
	Version string          // of the protocol that is spoken
	Info    json.RawMessage // what the server says of itself: name, version, title; nil: nothing
	Stderr  []string        // the last lines of its process
}

// Status says how the server is.
func (s *Server) Status() Status {
	s.mu.Lock()
	status := s.status
	s.mu.Unlock()
	for _, line := range s.stderr.last(tailLines) {
		status.Stderr = append(status.Stderr, s.redacted(line))
	}
	return status
}

// Ready waits until the server is healthy. A try to connect that fails is its error; more will follow.
func (s *Server) Ready(ctx context.Context) error {
	for {
		s.mu.Lock()
		state, changed := s.status.State, s.changed
		err := s.unavailable()
		s.mu.Unlock()
		switch {
		case s.ctx.Err() != nil:
			return s.wrapped(&Error{Code: CodeClosed, Message: "it is closed"}, "")
		case state == Healthy:
			return nil
		case state == Unhealthy:
			return s.wrapped(err, "")
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unavailable is why there is no connection. s.mu is held.
func (s *Server) unavailable() *Error {
	e := &Error{Code: CodeUnavailable, Message: s.status.Reason, Retryable: true, unsent: true}
	if s.status.Code == CodeUnauthorized {
		e.Code, e.Retryable = CodeUnauthorized, false
	}
	if e.Message == "" {
		e.Message = "there is no connection to it"
	}
	return e
}

// kickAfter is how long a failed try keeps calls from asking for another one.
const kickAfter = time.Second

// usable waits for a connection other than one that is known to be broken.
func (s *Server) usable(ctx context.Context, not *session) (*session, *Error) {
	kicked := -1
	for {
		s.mu.Lock()
		session, state, attempts, changed := s.session, s.status.State, s.attempts, s.changed
		recent := time.Since(s.last) < kickAfter
		err := s.unavailable()
		s.mu.Unlock()
		switch {
		case s.ctx.Err() != nil:
			return nil, &Error{Code: CodeClosed, Message: "it is closed", unsent: true}
		case session != nil && session != not && session.works():
			return session, nil
		case state == Unhealthy && (recent || kicked >= 0 && attempts > kicked):
			return nil, err
		case state == Unhealthy && kicked < 0:
			kicked = attempts
			select {
			case s.kick <- struct{}{}:
			default:
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			e := stopped(ctx)
			e.unsent = true
			return nil, e
		}
	}
}

// wrapped is an error with what it is about, and without secrets.
func (s *Server) wrapped(err *Error, tool string) *Error {
	e := *err
	e.Server, e.Tool, e.Message = s.config.Name, tool, s.redacted(err.Message)
	return &e
}
