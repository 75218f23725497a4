package toolhost

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/store"
)

// approvalTime is how long an approval may be given, and then used.
const approvalTime = 24 * time.Hour

// approved asks for an operator's approval where the tool wants one. Without it the call ends with
// NeedsApproval, and with the id under which it waits. With it, the approval may be claimed; a call that has ended
// already is answered with what was kept of it.
func (c *call) approved(ctx context.Context) (approval string, answer *Answer, failed *Error) {
	if !c.approve {
		return "", nil, nil
	}
	s := c.host.options.Store
	if s == nil {
		return "", nil, &Error{Code: Permission, Message: fmt.Sprintf("tool '%s' needs the approval of an operator, and this host cannot ask for one", c.tool.Name)}
	}
	text, err := jsonvalue.Encode(c.args)
	if err != nil {
		return "", nil, &Error{Code: BadRequest, Message: err.Error()}
	}
	if c.req.SameApproval {
		return c.sameApproved(ctx, s, text)
	}
	if c.req.Approval == "" {
		return "", nil, c.askApproval(ctx, s, text)
	}
	answer, failed = c.use(ctx, s, text)
	return c.req.Approval, answer, failed
}

// sameApproved is approved for callers that cannot name an approval. What became of the first such call is told
// once; then the same call is another one.
func (c *call) sameApproved(ctx context.Context, s *store.Store, text []byte) (approval string, answer *Answer, failed *Error) {
	key := unapprovedKey{c.req.Caller.Name, c.req.Caller.Session, c.tool.Name, store.HashArguments(text)}
	if approval = c.req.Approval; approval == "" {
		approval = c.host.unapproved.find(key)
	}
	if approval == "" {
		found, err := c.sameApproval(ctx, s, key.arguments)
		if err != nil {
			return "", nil, &Error{Code: Busy, Message: "the approvals cannot be read: " + c.storeTold(err), RetryAfter: time.Minute, cause: err}
		}
		approval = found
	}
	if approval == "" {
		failed = c.askApproval(ctx, s, text)
		approval = c.id
	} else {
		c.req.Approval = approval
		answer, failed = c.use(ctx, s, text)
	}
	if failed != nil && failed.Code == NeedsApproval {
		c.host.unapproved.remember(key, approval)
	} else {
		c.host.unapproved.forget(key)
	}
	return approval, answer, failed
}

// sameApproval finds an approval of this very call that has no outcome yet: one that was given before others. ""
// is none.
func (c *call) sameApproval(ctx context.Context, s *store.Store, hash string) (string, error) {
	for _, state := range []store.CallState{store.Approved, store.Running, store.Pending} {
		list, err := s.Approvals.List(ctx, store.ApprovalFilter{State: state, Tool: c.tool.Name, Caller: c.req.Caller.Name, Limit: 1000})
		if err != nil {
			return "", err
		}
		for _, a := range list {
			if a.Caller == c.req.Caller.Name && a.Session == c.req.Caller.Session && a.ArgumentsHash == hash && a.Version == c.tool.Hash {
				return a.ID, nil
			}
		}
	}
	return "", nil
}

func (c *call) askApproval(ctx context.Context, s *store.Store, text []byte) *Error {
	wanted := store.Approval{
		ID: c.id, Tool: c.tool.Name, Version: c.tool.Hash, Arguments: text, Caller: c.req.Caller.Name, Session: c.req.Caller.Session,
		Reason: c.why, Expires: c.host.options.Now().Add(approvalTime),
	}
	if _, err := s.Approvals.Create(ctx, wanted); err != nil {
		return &Error{Code: Busy, Message: "the call cannot wait for approval: " + c.storeTold(err), RetryAfter: time.Minute, cause: err}
	}
	return c.needsApproval(c.id, wanted.Expires)
}

func (c *call) needsApproval(id string, expires time.Time) *Error {
	data := map[string]any{
		"approval": id, "tool": c.tool.Name, "arguments": c.args, "expires": expires.UTC().Format(time.RFC3339),
	}
	message := fmt.Sprintf("tool '%s' needs the approval of an operator", c.tool.Name)
	if c.why != "" {
		data["reason"] = c.why
		message += " (" + c.why + ")"
	}
	return &Error{Code: NeedsApproval, ID: id, Detail: "pending", Message: message + "; the call waits as " + id, Data: data}
}

// storeTold is what a client may know of an error of the store: never the name of its file.
func (c *call) storeTold(err error) string {
	switch store.CodeOf(err) {
	case store.CodeLimit, store.CodeState, store.CodeNotFound, store.CodeInvalid:
		return err.Error()
	}
	c.host.options.Logger.Error("the store failed", "call", c.id, "error", err.Error())
	return "the store cannot be used now; the log says why"
}

// use looks whether an approval is for this caller, tool and arguments, and how far it has come.
func (c *call) use(ctx context.Context, s *store.Store, text []byte) (*Answer, *Error) {
	a, err := s.Approvals.Get(ctx, c.req.Approval)
	if err != nil || a.Caller != c.req.Caller.Name {
		return nil, &Error{Code: NotFound, Message: "there is no approval " + shortened(c.req.Approval) + " of a call of yours", cause: err}
	}
	switch {
	case a.Tool != c.tool.Name:
		return nil, &Error{Code: Permission, Message: fmt.Sprintf("the approval %s is for the tool '%s', not for '%s'", a.ID, a.Tool, c.tool.Name)}
	case a.ArgumentsHash != store.HashArguments(text):
		return nil, &Error{Code: Permission, Message: fmt.Sprintf("the approval %s is for other arguments; what was approved cannot be changed", a.ID)}
	case a.Session != c.req.Caller.Session:
		return nil, &Error{Code: Permission, Message: fmt.Sprintf("the approval %s is for a call of another session", a.ID)}
	case a.State == store.Done:
		return keptAnswer(&a)
	case a.State == store.Running:
		return c.awaitOutcome(ctx, s, a.ID)
	case a.State == store.Pending:
		return nil, c.needsApproval(a.ID, a.Expires)
	case a.State == store.Denied:
		return nil, &Error{Code: Permission, Detail: "denied", Message: fmt.Sprintf("the call %s was denied", a.ID)}
	case a.State != store.Approved:
		return nil, &Error{Code: Permission, Detail: string(a.State), Message: fmt.Sprintf("the approval %s is %s; make the call anew", a.ID, a.State)}
	case a.Version != c.tool.Hash:
		return nil, &Error{Code: Permission, Message: fmt.Sprintf("the tool '%s' was changed since the approval %s was asked for; ask again", c.tool.Name, a.ID)}
	}
	return nil, nil
}

// waits is about a call that has no outcome yet. ID is that under which it will.
func waits(id string, state store.CallState, message string) *Error {
	return &Error{Code: NeedsApproval, Detail: string(state), ID: id, Message: message, Data: map[string]any{"approval": id}}
}

// outcomePoll is how often the store is asked for the outcome of a call that runs elsewhere.
const outcomePoll = 50 * time.Millisecond

// awaitOutcome waits until an approved call that runs already, perhaps in another process, has ended. No longer
// than it may run: then the caller asks again.
func (c *call) awaitOutcome(ctx context.Context, s *store.Store, id string) (*Answer, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.runner.timeout())
	defer cancel()
	tick := time.NewTicker(outcomePoll)
	defer tick.Stop()
	for {
		a, err := s.Approvals.Get(ctx, id)
		switch {
		case err == nil && a.State == store.Done:
			return keptAnswer(&a)
		case err == nil && a.State != store.Running:
			return nil, &Error{Code: Permission, Detail: string(a.State), Message: fmt.Sprintf("the call %s is %s; make it anew", a.ID, a.State)}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, waits(id, store.Running, "the call "+id+" was approved, and runs")
		}
	}
}

// keptAnswer is how an approved call ended before.
func keptAnswer(a *store.Approval) (*Answer, *Error) {
	if f := a.Outcome.Error; f != nil {
		return nil, &Error{Code: Code(f.Code), Message: f.Message, Detail: f.Detail, ID: a.ID}
	}
	return &Answer{ID: a.ID, JSON: a.Outcome.Result, Took: a.Finished.Sub(a.Started)}, nil
}

// claim uses up an approval. Whoever comes second gets the answer of the first.
func (c *call) claim(ctx context.Context, approval string) (*Answer, *Error) {
	if approval == "" {
		return nil, nil
	}
	s := c.host.options.Store
	a, err := s.Approvals.Claim(ctx, approval)
	if err == nil {
		c.claimed = a.ID
		return nil, nil
	}
	var known *store.Error
	if errors.As(err, &known) && (known.State == store.Running || known.State == store.Done) {
		return c.awaitOutcome(ctx, s, approval)
	}
	return nil, &Error{Code: Permission, Message: "the approval cannot be used: " + c.storeTold(err), cause: err}
}

// settle stores how an approved call ended, for whoever asks later.
func (c *call) settle(answer *Answer, failed *Error) {
	if c.claimed == "" {
		return
	}
	outcome := OutcomeOf(answer, failed)
	if err := c.host.options.Store.Approvals.Finish(context.Background(), c.claimed, outcome); err != nil {
		c.host.options.Logger.Error("the outcome of an approved call cannot be kept", "call", c.claimed, "error", err.Error())
	}
}

// OutcomeOf is an answer as the store keeps it.
func OutcomeOf(answer *Answer, failed *Error) store.Outcome {
	if failed != nil {
		return store.Outcome{Error: &store.Failure{Code: string(failed.Code), Message: failed.Message, Detail: failed.Detail}}
	}
	return store.Outcome{Result: answer.JSON}
}

// DecideApproval approves or denies a call that waits; by is who does.
func (h *Host) DecideApproval(ctx context.Context, id string, approve bool, by string) *Error {
	s := h.options.Store
	if s == nil {
		return &Error{Code: NotFound, Message: "this host keeps no approvals"}
	}
	_, err := s.Approvals.Decide(ctx, id, approve, by)
	switch {
	case err == nil:
		return nil
	case store.CodeOf(err) == store.CodeNotFound:
		return &Error{Code: NotFound, Message: err.Error(), cause: err}
	case store.CodeOf(err) == store.CodeState:
		return &Error{Code: Permission, Message: err.Error(), cause: err}
	}
	h.options.Logger.Error("the store failed", "approval", id, "error", err.Error())
	return &Error{Code: Busy, Message: "the decision cannot be kept now; the log says why", RetryAfter: time.Minute, cause: err}
}

// RunApproved runs a call that an operator has approved, on the caller's behalf. sink may be nil.
func (h *Host) RunApproved(ctx context.Context, id string, sink Sink) (*Answer, *Error) {
	s := h.options.Store
	if s == nil {
		return nil, &Error{Code: NotFound, Message: "this host keeps no approvals"}
	}
	a, err := s.Approvals.Get(ctx, id)
	if err != nil {
		return nil, &Error{Code: NotFound, Message: "there is no approval " + shortened(id), cause: err}
	}
	if h.Absent(a.Tool) {
		return nil, &Error{Code: Busy, ID: id, Message: fmt.Sprintf("the source of '%s' is not reached now; the call is made when it is", shortened(a.Tool)), RetryAfter: time.Minute}
	}
	answer, failed := h.Call(ctx, Request{Tool: a.Tool, Args: a.Arguments, Caller: Caller{Name: a.Caller, Face: "approval", Session: a.Session}, Approval: id, Inner: true, Sink: sink})
	if failed != nil {
		h.giveUp(ctx, id, failed)
	}
	return answer, failed
}

// Absent says whether a tool is a function of a source that is not there now: names of tools have no dots. One that is
// slow to start, or is down, may come later.
func (h *Host) Absent(tool string) bool {
	_, there := h.current.Load().tools.Find(tool)
	return !there && strings.Contains(tool, ".")
}

// giveUp ends an approved call that can never run, as its tool is gone or another one by now: whoever asks for it
// hears why. One that found no place may still run later.
func (h *Host) giveUp(ctx context.Context, id string, failed *Error) {
	if failed.Code == Busy || failed.Code == Cancelled || failed.Code == NeedsApproval {
		return
	}
	approvals := h.options.Store.Approvals
	if _, err := approvals.Claim(ctx, id); err != nil {
		return // it ran, and has its outcome
	}
	if err := approvals.Finish(context.WithoutCancel(ctx), id, OutcomeOf(nil, failed)); err != nil {
		h.options.Logger.Error("the outcome of an approved call cannot be kept", "call", id, "error", err.Error())
	}
}
