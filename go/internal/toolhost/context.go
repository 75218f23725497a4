package toolhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

var _ toolmod.Host = (*call)(nil)

// About implements toolmod.Host.
func (c *call) About() map[string]any {
	about := map[string]any{
		"id": c.shownID(), "tool": c.tool.Name, "caller": c.req.Caller.Name, "face": c.req.Caller.Face,
		"deadline": hostmod.Seconds(c.deadline),
	}
	if c.req.Caller.Session != "" {
		about["session"] = c.req.Caller.Session
	}
	if c.parent != nil {
		about["parent"] = c.parent.shownID()
	}
	return about
}

func (c *call) shownID() string {
	if c.outside != nil {
		return c.outside.ID
	}
	return c.id
}

// Config implements toolmod.Host.
func (c *call) Config() map[string]any {
	if c.tool.Config == nil {
		return map[string]any{}
	}
	return c.tool.Config
}

// Emit implements toolmod.Host. Nobody has to listen.
func (c *call) Emit(ctx context.Context, chunk []byte) error {
	room := c.newRoom() // one of its own: several may be emitted at once
	defer room.free()
	value, err := jsonvalue.Decode(chunk, jsonvalue.Options{Room: room.taking("the chunk takes")}) // a script may have made the text itself
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return refused
	case err != nil:
		return notJSON("ctx.emit", err)
	}
	if c.req.Sink == nil {
		return nil
	}
	chunk, err = jsonvalue.Encode(jsonvalue.EachText(value, c.host.options.Redact))
	if err != nil {
		return err
	}
	return c.req.Sink.Emit(ctx, chunk)
}

func notJSON(what string, err error) *luau.Error {
	return &luau.Error{Code: "json", Message: what + ": it is not JSON: " + err.Error()}
}

// Progress implements toolmod.Host.
func (c *call) Progress(ctx context.Context, done, total float64, text string) error {
	if c.req.Sink == nil {
		return nil
	}
	return c.req.Sink.Progress(ctx, done, total, c.host.options.Redact(strings.ToValidUTF8(text, "\uFFFD")))
}

// Elicit implements toolmod.Host.
func (c *call) Elicit(ctx context.Context, message string, schema []byte) ([]byte, error) {
	if sink, ok := c.req.Sink.(Elicitor); ok {
		return sink.Elicit(ctx, message, schema)
	}
	return nil, &luau.Error{Code: "not_available", Message: "ctx.elicit: this client cannot ask its user"}
}

// Tools implements toolmod.Host.
func (c *call) Tools() []string {
	names := []string{}
	for _, t := range c.host.Tools() {
		if c.mayCall(t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

func (c *call) mayCall(name string) bool {
	return slices.Contains(c.tool.Permissions.Tools, name) || slices.Contains(c.tool.Permissions.Tools, "*")
}

// CallTool implements toolmod.Host.
func (c *call) CallTool(ctx context.Context, name string, args []byte) ([]byte, error) {
	if _, there := c.host.Find(name); !there {
		return nil, &Error{Code: NotFound, Message: "no tool registered with name: " + shortened(name)}
	}
	if !c.mayCall(name) {
		return nil, c.notGranted(name)
	}
	answer, failed := c.child(ctx, name, args, "tool", c.req.Caller.Session)
	if failed != nil {
		return nil, failed
	}
	return answer.JSON, nil
}

// child calls another tool for the same caller, in the place of this call.
func (c *call) child(ctx context.Context, name string, args []byte, face, session string) (*Answer, *Error) {
	answer, failed := c.childOnce(ctx, name, args, face, session, "")
	if failed == nil || failed.Code != NeedsApproval {
		return answer, failed
	}
	approval, undecided := c.decidedByUser(ctx, name, failed)
	switch {
	case undecided != nil:
		return nil, undecided
	case approval == "":
		return nil, failed
	}
	return c.childOnce(ctx, name, args, face, session, approval)
}

func (c *call) childOnce(ctx context.Context, name string, args []byte, face, session, approval string) (*Answer, *Error) {
	if c.depth >= c.host.options.Depth {
		return nil, &Error{Code: ToolError, Detail: "limit", Message: fmt.Sprintf(
			"tools call tools more than %d deep ([limits] depth)", c.host.options.Depth)}
	}
	child := &call{
		host: c.host, id: newID(), parent: c, depth: c.depth + 1, began: c.host.options.Now(), budget: c.budget,
		req: Request{
			Tool: name, Args: args, Sink: c.req.Sink, Inner: face == InnerFace, Approval: approval, SameApproval: true,
			Caller: Caller{Name: c.req.Caller.Name, Face: face, Session: session, Client: c.req.Caller.Client},
		},
	}
	c.host.underway.begin() // its parent may be given up while it ends
	defer c.host.underway.end()
	defer child.room.free()
	answer, failed := child.run(ctx)
	child.settle(answer, failed)
	child.record(answer, failed)
	return answer, failed
}

// State implements toolmod.Host.
func (c *call) State() toolmod.State { return stateOf{c, c.host.options.Store, c.scope()} }

// scope is whose state it is: the session's, or the caller's where there is none. An agent's has its own.
func (c *call) scope() string {
	switch {
	case c.req.Caller.Session != "":
		return "session:" + c.req.Caller.Session
	case c.req.Caller.Name != "":
		return "caller:" + c.req.Caller.Name
	}
	return "shared"
}

type stateOf struct {
	call  *call
	store *store.Store
	scope string
}

// told is an error of the store as scripts may know it.
func (s stateOf) told(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &luau.Error{Code: luau.Code(orCode(store.CodeOf(err))), Message: "ctx.state: " + strings.TrimPrefix(s.call.storeTold(err), "ctx.state: ")}
}

func orCode(code store.Code) store.Code {
	if code == "" {
		return "not_available"
	}
	return code
}

var errNoStore = &luau.Error{Code: "not_available", Message: "ctx.state: this host keeps no state"}

// stateValue looks at what a script wants to keep: what is no JSON would be so for all tools that have the same state.
func stateValue(key string, value json.RawMessage) error {
	if value == nil {
		return nil
	}
	if _, err := jsonvalue.Decode(value, jsonvalue.Options{}); err != nil {
		return notJSON("ctx.state."+strings.ToValidUTF8(key, "\uFFFD"), err)
	}
	return nil
}

func (s stateOf) Load(ctx context.Context) (map[string]json.RawMessage, error) {
	if s.store == nil {
		return nil, errNoStore
	}
	values, err := s.store.State.Load(ctx, s.scope)
	return values, s.told(err)
}

func (s stateOf) Commit(ctx context.Context, changes map[string]json.RawMessage) error {
	if s.store == nil {
		return errNoStore
	}
	for key, value := range changes {
		if err := stateValue(key, value); err != nil {
			return err
		}
	}
	return s.told(s.store.State.Commit(ctx, s.scope, changes))
}

func (s stateOf) Get(ctx context.Context, key string) (json.RawMessage, int64, error) {
	if s.store == nil {
		return nil, 0, errNoStore
	}
	value, version, err := s.store.State.Get(ctx, s.scope, key)
	return value, version, s.told(err)
}

func (s stateOf) Swap(ctx context.Context, key string, version int64, value json.RawMessage) (bool, error) {
	if s.store == nil {
		return false, errNoStore
	}
	if err := stateValue(key, value); err != nil {
		return false, err
	}
	done, err := s.store.State.Swap(ctx, s.scope, key, version, value)
	return done, s.told(err)
}
