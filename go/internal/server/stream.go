package server

import (
	"context"
	"errors"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// feed carries events from a call to the request that waits for it. A slow client slows the tool down, but for
// log lines: those beyond the room are counted.
type feed struct {
	teller
	events   chan event
	large    chan struct{} // holds one element while a large event waits
	accepted chan struct{}
}

const (
	feedRoom   = 16       // events that wait for a slow client
	largeEvent = 64 << 10 // bytes; of larger ones only one waits
)

func newFeed() *feed {
	f := &feed{events: make(chan event, feedRoom), large: make(chan struct{}, 1), accepted: make(chan struct{})}
	f.put = func(ctx context.Context, e event, mayDrop bool) error {
		if mayDrop {
			f.offer(e)
			return nil
		}
		return f.wait(ctx, e)
	}
	return f
}

// offer drops the event where there is no room; the operator's log has the line.
func (f *feed) offer(e event) {
	if len(e.data) > largeEvent {
		return
	}
	select {
	case f.events <- e:
	default:
	}
}

func (f *feed) wait(ctx context.Context, e event) error {
	if len(e.data) > largeEvent {
		select {
		case f.large <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	select {
	case f.events <- e:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write writes an event that waited.
func (f *feed) write(w *eventWriter, e event) error {
	err := w.event(e, w.last+1)
	if len(e.data) > largeEvent {
		<-f.large
	}
	return err
}

// Accepted implements toolhost.Follower.
func (f *feed) Accepted(context.Context) *toolhost.Error {
	close(f.accepted)
	return nil
}

var errGone = errors.New("the client went away")

// ended is how a call ended.
type ended struct {
	answer *toolhost.Answer
	failed *toolhost.Error
}

// stream runs a call and writes its events. What fails before the call is accepted has its own status; after
// that the answer is a stream, and its last event says how the call ended.
func (s *Server) stream(x *exchange, req toolhost.Request, finish func(*toolhost.Answer, *toolhost.Error) reply) {
	f := newFeed()
	req.Sink = f
	ctx, cancel := context.WithCancelCause(x.r.Context())
	defer cancel(nil)
	done := make(chan ended, 1)
	go func() {
		answer, failed := s.guarded(ctx, req.ID, func() (*toolhost.Answer, *toolhost.Error) { return s.options.Host.Call(ctx, req) })
		done <- ended{answer, failed}
	}()
	w := &eventWriter{x: x}
	e := s.follow(f, w, done, cancel)
	p := finish(e.answer, e.failed)
	if !x.begun {
		x.write(p)
		return
	}
	_ = w.event(final(p), w.last+1) // a client that is gone needs no answer
}

// follow writes events until the call has ended.
func (s *Server) follow(f *feed, w *eventWriter, done <-chan ended, cancel context.CancelCauseFunc) ended {
	ticks := s.options.Ticker(s.options.Heartbeat)
	defer ticks.Stop()
	gone := func(err error) {
		if err != nil {
			cancel(errors.Join(errGone, err))
		}
	}
	accepted := f.accepted
	for {
		select {
		case <-accepted:
			accepted = nil
			gone(w.begin())
		case e := <-f.events:
			gone(f.write(w, e))
		case <-ticks.C:
			gone(w.comment("alive"))
		case e := <-done:
			for len(f.events) > 0 {
				gone(f.write(w, <-f.events))
			}
			select {
			case <-accepted:
				gone(w.begin())
			default:
			}
			return e
		}
	}
}
