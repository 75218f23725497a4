package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

var errCancelled = errors.New("the caller cancelled the call")

// async runs a call on its own. What fails before the call is accepted is answered at once.
func (s *Server) async(x *exchange, b *buffer, req toolhost.Request) reply {
	ctx, cancel := context.WithCancelCause(s.base)
	c := newLiveCall(req.ID, x.who.name, req.Tool, cancel)
	accepted := make(chan struct{})
	c.accepted = func(ctx context.Context) *toolhost.Error {
		if failed := s.keep(ctx, c); failed != nil {
			return failed
		}
		s.live.add(c)
		close(accepted)
		return nil
	}
	req.Args, req.Sink = bytes.Clone(req.Args), c
	done := make(chan ended, 1)
	began := s.apart(func() {
		defer cancel(nil)
		answer, failed := s.guarded(ctx, req.ID, func() (*toolhost.Answer, *toolhost.Error) { return s.options.Host.Call(ctx, req) })
		select {
		case <-accepted:
			s.settle(c, answer, failed)
		default:
		}
		done <- ended{answer, failed}
	})
	if !began {
		cancel(nil)
		return s.replyTo(b, nil, &toolhost.Error{Code: toolhost.Busy, Message: "the server is shutting down", RetryAfter: time.Second})
	}
	select {
	case <-accepted:
	case e := <-done:
		select {
		case <-accepted:
		default:
			return s.replyTo(b, e.answer, e.failed)
		}
	}
	x.w.Header().Set("Preference-Applied", "respond-async")
	b.data = appendText(append(b.data[:0], `{"call":`...), c.id)
	b.data = append(b.data, `,"state":"running"}`...)
	return reply{status: http.StatusAccepted, body: b.data, call: c.id}
}

// keep stores that a call runs, before it does.
func (s *Server) keep(ctx context.Context, c *liveCall) *toolhost.Error {
	version := ""
	if t, ok := s.options.Host.Find(c.tool); ok {
		version = t.Hash
	}
	_, err := s.options.Store.Calls.Create(ctx, store.Call{ID: c.id, Tool: c.tool, Version: version, Caller: c.owner})
	switch {
	case err == nil:
		return nil
	case store.CodeOf(err) == store.CodeFull:
		return &toolhost.Error{Code: toolhost.Busy, Detail: "kept", Message: err.Error(), RetryAfter: keptRetry}
	}
	s.options.Logger.LogAttrs(ctx, slog.LevelError, "a call cannot be kept", slog.String("call", c.id), slog.String("error", err.Error()))
	return &toolhost.Error{Code: toolhost.Busy, Message: "the call cannot be kept now; try again later", RetryAfter: time.Second}
}

// settle stores how a call ended, and tells those who listen.
func (s *Server) settle(c *liveCall, answer *toolhost.Answer, failed *toolhost.Error) {
	defer s.live.remove(c.id)
	ctx := context.WithoutCancel(s.base)
	err := s.options.Store.Calls.Finish(ctx, c.id, toolhost.OutcomeOf(answer, failed))
	if store.CodeOf(err) == store.CodeLimit {
		failed = &toolhost.Error{Code: toolhost.TooLarge, Message: err.Error()}
		err = s.options.Store.Calls.Finish(ctx, c.id, toolhost.OutcomeOf(nil, failed))
	}
	if err != nil {
		s.options.Logger.LogAttrs(ctx, slog.LevelError, "the outcome of a call cannot be kept", slog.String("call", c.id), slog.String("error", err.Error()))
	}
	s.tellEnd(c, answer, failed)
}

func (s *Server) tellEnd(c *liveCall, answer *toolhost.Answer, failed *toolhost.Error) {
	var b buffer
	c.end(final(s.replyTo(&b, answer, failed)))
}
