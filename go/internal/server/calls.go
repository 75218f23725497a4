package server

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// routeCalls is /calls/{id} and /calls/{id}/events.
func (s *Server) routeCalls(x *exchange, rest string) {
	id, part, nested := strings.Cut(rest, "/")
	switch {
	case !nested && x.r.Method == http.MethodDelete:
		s.cancelCall(x, id)
	case !nested:
		if x.method("GET, HEAD, DELETE, OPTIONS", http.MethodGet, http.MethodHead) {
			s.showCall(x, id)
		}
	case part == "events":
		x.get(func(x *exchange) { s.callEvents(x, id) })
	default:
		x.fail(noRoute(x.r.URL.Path))
	}
}

// keptCall is a call that runs on its own or needed an approval.
type keptCall struct {
	id, tool, owner string
	state           store.CallState
	created         time.Time
	finished        time.Time
	outcome         *store.Outcome
}

// findCall gives a call to who made it, and to an operator. To others it does not exist.
func (s *Server) findCall(x *exchange, id string) (*keptCall, *fault) {
	if s.options.Store == nil {
		return nil, noCall(id)
	}
	found, err := s.lookUp(x, id)
	switch {
	case store.CodeOf(err) == store.CodeNotFound:
		return nil, noCall(id)
	case err != nil:
		return nil, s.storeFault(x, err)
	case found.owner != x.who.name && !x.who.operator:
		return nil, noCall(id)
	}
	return found, nil
}

func (s *Server) lookUp(x *exchange, id string) (*keptCall, error) {
	ctx := x.r.Context()
	c, err := s.options.Store.Calls.Get(ctx, id)
	if err == nil {
		return &keptCall{c.ID, c.Tool, c.Caller, c.State, c.Created, c.Finished, c.Outcome}, nil
	}
	if store.CodeOf(err) != store.CodeNotFound {
		return nil, err
	}
	a, err := s.options.Store.Approvals.Get(ctx, id)
	return &keptCall{a.ID, a.Tool, a.Caller, a.State, a.Created, a.Finished, a.Outcome}, err
}

func noCall(id string) *fault {
	return &fault{status: http.StatusNotFound, code: "not_found", message: "there is no call " + shortened(id) + " of yours that runs on its own or waits for approval"}
}

// storeFault hides from clients what the log may know: names of files.
func (s *Server) storeFault(x *exchange, err error) *fault {
	switch code := store.CodeOf(err); code {
	case store.CodeNotFound:
		return &fault{status: http.StatusNotFound, code: "not_found", message: err.Error()}
	case store.CodeOwn:
		return &fault{status: http.StatusForbidden, code: "permission", message: err.Error()}
	case store.CodeState:
		return &fault{status: http.StatusConflict, code: "conflict", message: err.Error()}
	case store.CodeLimit, store.CodeInvalid:
		return &fault{status: http.StatusBadRequest, code: "bad_request", detail: string(code), message: err.Error()}
	}
	s.options.Logger.Error("the store failed", "request", x.id, "error", err.Error())
	return &fault{status: http.StatusServiceUnavailable, code: "busy", retry: time.Second, message: "the server's store cannot be used now; its log says why under " + x.id}
}

func (s *Server) showCall(x *exchange, id string) {
	if wantsEvents(x.r.Header["Accept"]) {
		s.callEvents(x, id)
		return
	}
	c, f := s.findCall(x, id)
	if f != nil {
		x.fail(f)
		return
	}
	b := newBuffer()
	defer b.free()
	b.data = appendText(append(b.data, `{"call":`...), c.id)
	b.data = appendText(append(b.data, `,"tool":`...), c.tool)
	b.data = appendText(append(b.data, `,"state":`...), string(c.state))
	b.data = appendText(append(b.data, `,"created":`...), timeText(c.created))
	if !c.finished.IsZero() {
		b.data = appendText(append(b.data, `,"finished":`...), timeText(c.finished))
	}
	if c.outcome != nil {
		var inner buffer
		body := s.replyTo(&inner, &toolhost.Answer{JSON: c.outcome.Result}, c.failed()).body
		b.data = append(append(b.data, ','), body[1:len(body)-1]...)
	}
	b.data = append(b.data, '}')
	p := reply{status: http.StatusOK, body: b.data}
	if c.waits() {
		p.retry = time.Second
	}
	x.write(p)
}

func (c *keptCall) waits() bool {
	return c.state == store.Pending || c.state == store.Approved || c.state == store.Running
}

// failed is the error that the call ended with; nil when it has a result.
func (c *keptCall) failed() *toolhost.Error {
	if c.outcome == nil || c.outcome.Error == nil {
		return nil
	}
	e := c.outcome.Error
	return &toolhost.Error{Code: toolhost.Code(e.Code), Message: e.Message, Detail: e.Detail, ID: c.id}
}

// reply is the call's answer, or how far it has come.
func (s *Server) replyOf(c *keptCall) reply {
	var b buffer
	switch {
	case c.outcome != nil:
		return s.replyTo(&b, &toolhost.Answer{JSON: c.outcome.Result}, c.failed())
	case c.waits():
		return waiting(&b, &toolhost.Error{ID: c.id, Detail: string(c.state), Message: "the call " + c.id + " is " + string(c.state)})
	}
	return s.replyTo(&b, nil, &toolhost.Error{Code: toolhost.Cancelled, Detail: string(c.state), Message: "the call " + c.id + " is " + string(c.state)})
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// cancelCall is DELETE /calls/{id}: a call that runs on its own has no connection that could be closed. One that
// waits for approval is withdrawn.
func (s *Server) cancelCall(x *exchange, id string) {
	c, f := s.findCall(x, id)
	if f != nil {
		x.fail(f)
		return
	}
	running := s.live.find(id)
	if running == nil && c.state == store.Pending {
		s.withdraw(x, id)
		return
	}
	if running == nil || !c.waits() { // one that has just ended is still there
		x.fail(&fault{status: http.StatusConflict, code: "conflict", message: "the call " + c.id + " does not run here, it is " + string(c.state)})
		return
	}
	running.cancel(errCancelled)
	x.w.WriteHeader(http.StatusNoContent)
}

// withdraw denies a call that waits for approval, in the name of who made it.
func (s *Server) withdraw(x *exchange, id string) {
	if _, err := s.options.Store.Approvals.Decide(x.r.Context(), id, false, x.who.name); err != nil {
		x.fail(s.storeFault(x, err))
		return
	}
	x.w.WriteHeader(http.StatusNoContent)
}

// callEvents streams what a call tells, from Last-Event-ID on.
func (s *Server) callEvents(x *exchange, id string) {
	running := s.live.find(id) // before the store is asked: what ends in between is kept there
	c, f := s.findCall(x, id)
	if f != nil {
		x.fail(f)
		return
	}
	last, err := strconv.Atoi(x.r.Header.Get("Last-Event-ID"))
	if err != nil || last < 0 || last > math.MaxInt32 { // no event of ours
		last = 0
	}
	w := &eventWriter{x: x, last: last}
	if x.r.Method == http.MethodHead {
		_ = w.begin() // a client that is gone needs no answer
		return
	}
	if running == nil {
		s.retell(w, c)
		return
	}
	s.listen(x, w, running)
}

// retell tells what a call told that has ended, as far as that is still known, and how it ended.
func (s *Server) retell(w *eventWriter, c *keptCall) {
	number := unnumbered
	if told := s.live.last(c.id); told != nil {
		number = told.first + len(told.events)
		if w.last >= number {
			w.x.w.WriteHeader(http.StatusNoContent) // it has seen the end, and need not come again
			return
		}
		events, first, _, _ := told.after(w.last)
		for i, e := range events {
			if w.event(e, first+i) != nil {
				return
			}
		}
	}
	_ = w.event(final(s.replyOf(c)), number) // a client that is gone needs no answer
}

func (s *Server) listen(x *exchange, w *eventWriter, c *liveCall) {
	ticks := s.options.Ticker(s.options.Heartbeat)
	defer ticks.Stop()
	err := w.begin()
	for err == nil {
		events, first, last, changed := c.after(w.last)
		for i := 0; i < len(events) && err == nil; i++ {
			err = w.event(events[i], first+i)
		}
		if last != nil {
			_ = w.event(*last, max(w.last, first+len(events)-1)+1) // a client that is gone needs no answer
			return
		}
		if err != nil || len(events) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ticks.C:
			err = w.comment("alive")
		case <-x.r.Context().Done():
			return
		}
	}
}
