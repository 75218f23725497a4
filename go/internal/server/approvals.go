package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// routeApprovals is /approvals and /approvals/{id}: for operators alone.
func (s *Server) routeApprovals(x *exchange, id string) {
	switch {
	case strings.Contains(id, "/"):
		x.fail(noRoute(x.r.URL.Path))
	case x.r.Method != http.MethodOptions && !s.operates(x):
	case id == "":
		x.get(s.listApprovals)
	case !x.method("GET, HEAD, POST, OPTIONS", http.MethodGet, http.MethodHead, http.MethodPost):
	case x.r.Method == http.MethodPost:
		s.decide(x, id)
	default:
		s.showApproval(x, id)
	}
}

// operates asks for the operator's token: whoever calls tools must not approve their calls.
func (s *Server) operates(x *exchange) bool {
	switch {
	case x.who.operator && s.options.Store != nil:
		return true
	case x.who.operator:
		x.fail(&fault{status: http.StatusNotFound, code: "not_found", message: "this server has no store, and so no approvals"})
	case !s.guard.hasOperator:
		x.fail(&fault{status: http.StatusForbidden, code: "permission", message: "this server has no operator's token; set [server] operator_token, or use: luau approvals"})
	case x.r.Header.Get("Authorization") == "":
		x.fail(&fault{status: http.StatusUnauthorized, code: "unauthorized", header: "WWW-Authenticate", value: "Bearer",
			message: "send the operator's token: Authorization: Bearer TOKEN"})
	default:
		x.fail(&fault{status: http.StatusForbidden, code: "permission", message: "only an operator may see and decide approvals; a caller's token does not do"})
	}
	return false
}

func (s *Server) listApprovals(x *exchange) {
	query := x.r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if query.Get("limit") != "" && (err != nil || limit < 1) {
		x.fail(&fault{status: http.StatusBadRequest, code: "bad_request", message: "limit must be a whole number above 0"})
		return
	}
	found, err := s.options.Store.Approvals.List(x.r.Context(), store.ApprovalFilter{
		State: store.CallState(query.Get("state")), Tool: query.Get("tool"), Caller: query.Get("caller"), Before: query.Get("before"), Limit: limit,
	})
	if err != nil {
		x.fail(s.storeFault(x, err))
		return
	}
	list := make([]any, len(found))
	for i := range found {
		list[i] = s.approvalTree(&found[i])
	}
	x.value(http.StatusOK, map[string]any{"approvals": list})
}

func (s *Server) showApproval(x *exchange, id string) {
	a, err := s.options.Store.Approvals.Get(x.r.Context(), id)
	if err != nil {
		x.fail(s.storeFault(x, err))
		return
	}
	x.value(http.StatusOK, s.approvalTree(&a))
}

// approvalTree is an approval as operators see it; outcomes are at /calls/{id}.
func (s *Server) approvalTree(a *store.Approval) map[string]any {
	arguments, err := jsonvalue.Decode(redact.Keys(a.Arguments), jsonvalue.Options{})
	if err != nil { // a file that somebody else changed
		arguments = string(a.Arguments)
	}
	tree := map[string]any{
		"id": a.ID, "tool": a.Tool, "version": a.Version, "caller": a.Caller, "state": string(a.State), "arguments": jsonvalue.EachText(arguments, s.options.Redact),
		"created": timeText(a.Created), "expires": timeText(a.Expires),
	}
	if a.Reason != "" {
		tree["reason"] = s.options.Redact(a.Reason)
	}
	if !a.Decided.IsZero() {
		tree["decided"], tree["decided_by"] = timeText(a.Decided), a.DecidedBy
	}
	if !a.Finished.IsZero() {
		tree["finished"] = timeText(a.Finished)
	}
	return tree
}

// decide is POST /approvals/{id}. An approved call runs at once.
func (s *Server) decide(x *exchange, id string) {
	body, f := x.readBody()
	if f != nil {
		x.fail(f)
		return
	}
	approve, f := decision(body)
	if f != nil {
		x.fail(f)
		return
	}
	a, err := s.options.Store.Approvals.DecideOther(x.r.Context(), id, approve, x.who.name)
	if err != nil {
		x.fail(s.storeFault(x, err))
		return
	}
	if approve {
		x.w.Header().Set("Location", x.prefix()+"/calls/"+a.ID)
		s.runApproved(&a)
	}
	x.value(http.StatusOK, s.approvalTree(&a))
}

func decision(body []byte) (approve bool, f *fault) {
	args, failed := toolhost.ReadArgs(body)
	if failed != nil {
		return false, faultOf(failed)
	}
	approve, ok := args["approve"].(bool)
	if !ok || len(args) != 1 {
		return false, &fault{status: http.StatusBadRequest, code: "bad_request", path: "/approve", message: `the body must be {"approve": true} or {"approve": false}`}
	}
	return approve, nil
}

// maxApproved is how many approved calls this process begins on its own at once.
const maxApproved = 64

// runApproved runs an approved call on its own, unless it does already.
func (s *Server) runApproved(a *store.Approval) {
	ctx, cancel := context.WithCancelCause(s.base)
	c := newLiveCall(a.ID, a.Caller, a.Tool, cancel)
	if !s.live.add(c) {
		cancel(nil)
		return
	}
	began := s.apart(func() {
		defer cancel(nil)
		defer s.live.remove(c.id)
		answer, failed := s.guarded(ctx, c.id, func() (*toolhost.Answer, *toolhost.Error) { return s.options.Host.RunApproved(ctx, c.id, c) })
		s.tellEnd(c, answer, failed)
	})
	if !began { // it stays approved, and runs after the next start
		s.live.remove(c.id)
		cancel(nil)
	}
}

// lookForDecided begins what may run now, some at a time. Those of sources that are away do not hold up the others.
func (s *Server) lookForDecided(ctx context.Context) {
	begun := 0
	for last := ""; ; {
		found, err := s.options.Store.Approvals.List(ctx, store.ApprovalFilter{State: store.Approved, Limit: maxApproved, Before: last})
		if err != nil && ctx.Err() == nil {
			s.options.Logger.Error("approved calls cannot be looked for", "error", err.Error())
		}
		for i := range found {
			// Who decides may run it too: a user who was asked within the Model Context Protocol waits for the answer.
			if s.options.Now().Sub(found[i].Decided) >= s.options.ApprovalPoll && !s.options.Host.Absent(found[i].Tool) {
				s.runApproved(&found[i])
				begun++
			}
		}
		if begun > 0 || len(found) < maxApproved {
			return
		}
		last = found[len(found)-1].ID
	}
}

// RunDecided runs calls that were approved elsewhere, on the command line or before a restart, until ctx ends. Serve
// does so itself.
func (s *Server) RunDecided(ctx context.Context) {
	if s.options.Store == nil {
		return
	}
	ticks := s.options.Ticker(s.options.ApprovalPoll)
	defer ticks.Stop()
	for {
		s.lookForDecided(ctx)
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}
