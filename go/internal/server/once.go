package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// maxKey is the longest Idempotency-Key.
const maxKey = 255

// keptRetry is when to try again where no more answers can be kept: one of the kept ones may be old enough then.
const keptRetry = time.Minute

// callOnce is a call whose sender may send it again: it runs once, and its answer is given again.
func (s *Server) callOnce(x *exchange, req toolhost.Request, m mode, key []string) {
	f := x.checkName("Idempotency-Key", key, maxKey)
	if f == nil && s.options.Store == nil {
		f = &fault{status: http.StatusBadRequest, code: "bad_request", message: "Idempotency-Key: this server keeps no answers"}
	}
	if f != nil {
		x.fail(f)
		return
	}
	// A call that is sent again with its approval is another request than the one that asked for it.
	id := store.NewRequestID(x.who.name, req.Tool, key[0]+"\x00"+req.Approval)
	a, err := s.options.Store.Idempotency.Begin(x.r.Context(), id, requestSum(&req))
	if err == nil && a.Kind == store.InFlight {
		a, err = a.Wait(x.r.Context())
	}
	if err != nil {
		x.fail(s.onceFault(x, err))
		return
	}
	switch a.Kind {
	case store.Mismatch:
		x.fail(&fault{status: http.StatusUnprocessableEntity, code: "bad_request", detail: "idempotency_key",
			message: "the Idempotency-Key was used with another body or Session-Id; a key belongs to one request"})
	case store.Answered:
		s.replay(x, a.Answer, m)
	default:
		s.runOnce(x, req, m, a)
	}
}

// requestSum tells requests with one key apart: by their arguments, and by the session whose state they work on.
func requestSum(req *toolhost.Request) string {
	sum := sha256.New()
	if req.Caller.Session != "" {
		sum.Write([]byte(req.Caller.Session + "\x00"))
	}
	sum.Write(req.Args)
	return hex.EncodeToString(sum.Sum(nil))
}

func (s *Server) onceFault(x *exchange, err error) *fault {
	if x.r.Context().Err() != nil {
		return &fault{status: statusCancelled, code: "cancelled", message: "the call was cancelled"}
	}
	if store.CodeOf(err) == store.CodeFull {
		return &fault{status: http.StatusServiceUnavailable, code: "busy", detail: "kept", retry: keptRetry, message: err.Error()}
	}
	return s.storeFault(x, err)
}

func (s *Server) runOnce(x *exchange, req toolhost.Request, m mode, a *store.Attempt) {
	settled := false
	settle := func(p reply) {
		settled = true
		if err := s.endAttempt(x.r.Context(), a, p); err != nil {
			s.options.Logger.Error("an answer cannot be kept for when its request is sent again", "call", x.id, "error", err.Error())
		}
	}
	defer func() {
		if !settled { // a panic
			_ = a.Abandon(x.r.Context())
		}
	}()
	s.callApart(x, req, m, settle)
}

// endAttempt keeps an answer, but for those that say to try again.
func (s *Server) endAttempt(ctx context.Context, a *store.Attempt, p reply) error {
	switch p.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusRequestTimeout, statusCancelled:
		return a.Abandon(ctx)
	}
	return a.Finish(ctx, store.Answer{Status: p.status, Type: typeJSON[0], Body: p.body})
}

// replay gives the first answer again.
func (s *Server) replay(x *exchange, kept store.Answer, m mode) {
	if kept.Dropped {
		x.fail(&fault{status: http.StatusConflict, code: "conflict", message: "the request was answered before; its answer was too large to be kept, or there was no room"})
		return
	}
	p := reply{status: kept.Status, body: kept.Body, replayed: true}
	if p.status == http.StatusAccepted {
		var waits struct{ Call string }
		if json.Unmarshal(kept.Body, &waits) == nil {
			p.call = waits.Call
		}
	}
	if m == stream && (p.status == http.StatusOK || p.status == http.StatusInternalServerError) {
		x.w.Header()["Idempotent-Replayed"] = []string{"true"}
		w := &eventWriter{x: x}
		_ = w.event(final(p), 1) // a client that is gone needs no answer
		return
	}
	x.write(p)
}
