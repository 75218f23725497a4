package toolhost

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// native runs a tool that is a Go function.
func (c *call) native(ctx context.Context) (output tooldef.Output, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			c.host.options.Logger.Error("a tool failed by a panic", "tool", c.tool.Name, "call", c.id, "panic", cause, "stack", string(debug.Stack()))
			err = &luau.Error{Code: luau.CodePanic, Message: "the tool " + c.tool.Name + " failed; the log has the story"}
		}
	}()
	output, err = c.tool.Native(ctx, c.args)
	if err == nil && len(output.JSON) > c.host.options.MaxResult {
		return output, tooLong(len(output.JSON), c.host.options.MaxResult)
	}
	return output, err
}

func tooLong(has, most int) error {
	return &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf("the result has %d bytes as JSON; at most %d are allowed", has, most)}
}

// innerRunner is the runner of a tool that the set does not list.
func (h *Host) innerRunner(t *tooldef.Tool) *runner {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &runner{host: h, tool: t, counters: h.countersOf(t.Name)}
}

// Calling is a call under way, for the Go function that is its tool. Any goroutine may use it.
type Calling struct{ call *call }

// CallingOf gives the call whose context ctx is, or comes from; false where there is none.
func CallingOf(ctx context.Context) (Calling, bool) {
	c := callOf(ctx)
	return Calling{c}, c != nil
}

// Caller is who called.
func (c Calling) Caller() Caller { return c.call.req.Caller }

// Tool is what was called.
func (c Calling) Tool() *tooldef.Tool { return c.call.tool }

// Limits are those of a run of this call, and its memory limit in bytes.
func (c Calling) Limits() (limits engine.Limits, memory int64) {
	o := &c.call.host.options
	return engine.Limits{HostCalls: o.HostCalls, Output: o.Output, Log: o.Log}, c.call.runner.memory()
}

// Call calls another tool for the same caller, in the place of this call. face is how the log names the way.
func (c Calling) Call(ctx context.Context, name string, args []byte, face string) (*Answer, *Error) {
	return c.call.child(ctx, name, args, face, c.call.req.Caller.Session)
}

// Room accounts for the memory of a large value, as package jsonvalue asks for it, until free is called: it shares the
// bound of all calls.
func (c Calling) Room() (take func(bytes int64) error, free func()) {
	held := int64(0)
	take = func(bytes int64) error {
		if failed := c.call.host.hold(bytes); failed != nil {
			return failed
		}
		held += bytes
		return nil
	}
	return take, func() { c.call.host.held.Add(-held) }
}

// Progress tells how much of total is done; total 0 is unknown.
func (c Calling) Progress(ctx context.Context, done, total float64, text string) error {
	return c.call.Progress(ctx, done, total, text)
}

// Elicit asks the client's user; the answer and schema are JSON.
func (c Calling) Elicit(ctx context.Context, message string, schema []byte) ([]byte, error) {
	return c.call.Elicit(ctx, message, schema)
}

// Sink gets what the call tells; nil: nobody listens. Clients that can do more say so by what it implements.
func (c Calling) Sink() Sink { return c.call.req.Sink }

// Waited notes a host call that the log is to have.
func (c Calling) Waited(w engine.Wait) { c.call.waited(w) }

// sdk is what the script of a tool reaches of sources; nil: it reaches none.
func (c *call) sdk() sdkmod.Host {
	if c.tool.Native != nil || c.host.options.Sources == nil {
		return nil
	}
	c.sources.Do(func() { c.upstream = c.host.options.Sources(Calling{c}) })
	return c.upstream
}

// refusedBy is the Error that a Go function ended with, where it is one.
func refusedBy(err error) *Error {
	var refused *Error
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}

// Approver is a Sink whose client can ask its user to approve a call within the one that it made.
type Approver interface {
	// Approve asks for the approval that needs is about. decided is false where the user did not answer.
	Approve(ctx context.Context, tool string, needs *Error) (approved, decided bool)
}

// decidedByUser asks the client's user for what a call within this one needs; "" is what they leave to an operator.
func (c *call) decidedByUser(ctx context.Context, tool string, needs *Error) (approval string, failed *Error) {
	approver, can := c.req.Sink.(Approver)
	data, _ := needs.Data.(map[string]any)
	id, _ := data["approval"].(string)
	if !can || id == "" || needs.Detail != "pending" {
		return "", nil
	}
	approved, decided := approver.Approve(ctx, tool, needs)
	if !decided {
		return "", nil
	}
	return id, c.host.DecideApproval(ctx, id, approved, "user of the client")
}
