package toolhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/store"
)

// approvalTime is how long an approval may be given, and then used.
const approvalTime = 24 * time.Hour

// approved asks for an operator's approval where the tool wants one. Without it the call ends with
// NeedsApproval, and with the id under which it waits.
func (c *call) approved(ctx context.Context) *Error {
	if !c.tool.Approve {
		return nil
	}
	s := c.host.options.Store
	if s == nil {
		return &Error{Code: Permission, Message: fmt.Sprintf("tool '%s' needs the approval of an operator, and this host cannot ask for one", c.tool.Name)}
	}
	text, err := jsonvalue.Encode(c.args)
	if err != nil {
		return &Error{Code: BadRequest, Message: err.Error()}
	}
	if c.req.Approval == "" && c.req.SameApproval {
		c.req.Approval, err = c.sameApproval(ctx, s, text)
		if err != nil {
			return &Error{Code: Busy, Message: "the approvals cannot be read: " + err.Error(), RetryAfter: time.Minute, cause: err}
		}
	}
	if c.req.Approval == "" {
		return c.askApproval(ctx, s, text)
	}
	return c.claim(ctx, s, text)
}

// sameApproval finds an approval of this very call: one that was given, else one that waits. "" is none.
func (c *call) sameApproval(ctx context.Context, s *store.Store, text []byte) (string, error) {
	hash := store.HashArguments(text)
	for _, state := range []store.CallState{store.Approved, store.Pending} {
		list, err := s.Approvals.List(ctx, store.ApprovalFilter{State: state, Tool: c.tool.Name, Caller: c.req.Caller.Name, Limit: 1000})
		if err != nil {
			return "", err
		}
		for _, a := range list {
			if a.Caller == c.req.Caller.Name && a.ArgumentsHash == hash && a.Version == c.tool.Hash {
				return a.ID, nil
			}
		}
	}
	return "", nil
}

func (c *call) askApproval(ctx context.Context, s *store.Store, text []byte) *Error {
	wanted := store.Approval{
		ID: c.id, Tool: c.tool.Name, Version: c.tool.Hash, Arguments: text, Caller: c.req.Caller.Name,
		Expires: c.host.options.Now().Add(approvalTime),
	}
	if _, err := s.Approvals.Create(ctx, wanted); err != nil {
		return &Error{Code: Busy, Message: "the call cannot wait for approval: " + err.Error(), RetryAfter: time.Minute, cause: err}
	}
	return c.needsApproval(c.id)
}

func (c *call) needsApproval(id string) *Error {
	return &Error{
		Code: NeedsApproval, ID: c.id, Detail: "pending",
		Message: fmt.Sprintf("tool '%s' needs the approval of an operator; the call waits as %s", c.tool.Name, id),
		Data:    map[string]any{"approval": id, "tool": c.tool.Name, "arguments": c.args},
	}
}

// claim uses an approval: once, for the caller, the tool and the arguments that it was given for.
func (c *call) claim(ctx context.Context, s *store.Store, text []byte) *Error {
	a, err := s.Approvals.Get(ctx, c.req.Approval)
	if err != nil || a.Caller != c.req.Caller.Name {
		return &Error{Code: NotFound, Message: "there is no approval " + shortened(c.req.Approval) + " of a call of yours", cause: err}
	}
	switch {
	case a.Tool != c.tool.Name:
		return &Error{Code: Permission, Message: fmt.Sprintf("the approval %s is for the tool '%s', not for '%s'", a.ID, a.Tool, c.tool.Name)}
	case a.ArgumentsHash != store.HashArguments(text):
		return &Error{Code: Permission, Message: fmt.Sprintf("the approval %s is for other arguments; what was approved cannot be changed", a.ID)}
	case a.Version != c.tool.Hash:
		return &Error{Code: Permission, Message: fmt.Sprintf("the tool '%s' was changed since the approval %s was asked for; ask again", c.tool.Name, a.ID)}
	case a.State == store.Pending:
		return c.needsApproval(a.ID)
	case a.State == store.Denied:
		return &Error{Code: Permission, Detail: "denied", Message: fmt.Sprintf("the call %s was denied", a.ID)}
	}
	if _, err := s.Approvals.Claim(ctx, a.ID); err != nil {
		return &Error{Code: Permission, Detail: string(a.State), Message: "the approval cannot be used: " + err.Error(), cause: err}
	}
	c.claimed = a.ID
	return nil
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
	if _, err := s.Approvals.Decide(ctx, id, approve, by); err != nil {
		failed := &Error{Code: Permission, Message: err.Error(), cause: err}
		if kept := new(store.Error); errors.As(err, &kept) && kept.Code == store.CodeNotFound {
			failed.Code = NotFound
		}
		return failed
	}
	return nil
}

// RunApproved runs a call that an operator has approved, on the caller's behalf.
func (h *Host) RunApproved(ctx context.Context, id string) (*Answer, *Error) {
	s := h.options.Store
	if s == nil {
		return nil, &Error{Code: NotFound, Message: "this host keeps no approvals"}
	}
	a, err := s.Approvals.Get(ctx, id)
	if err != nil {
		return nil, &Error{Code: NotFound, Message: err.Error(), cause: err}
	}
	return h.Call(ctx, Request{Tool: a.Tool, Args: a.Arguments, Caller: Caller{Name: a.Caller, Face: "approval"}, Approval: id})
}
