package toolhost

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Caller is who calls, and what the face knows about it.
type Caller struct {
	Name    string // as the log and rate limits know it; "" is nobody in particular
	Face    string // "cli", "http", "mcp", "agent", "tool"
	Session string // whose state it is; "" is that of Name
	Client  string // the connection, where the face knows one
}

// Request is a call of a tool.
type Request struct {
	Tool   string
	Args   []byte // a JSON object; empty is {}
	Value  any    // in place of Args: a JSON tree, which the call may keep
	Caller Caller
	Sink   Sink   // gets what the tool tells meanwhile; nil: nobody listens
	ID     string // of the call; "" makes one
	Inner  bool   // the tool may be one that no face lists
	// Approval is the id of an approval that was given for this very call.
	Approval string
	// SameApproval is for callers that cannot name one: where an approval of the same call by the same caller
	// waits or was given, it is this one's.
	SameApproval bool
}

// Answer is the result of a call.
type Answer struct {
	ID     string
	JSON   []byte // the result
	Value  any    // as tooldef.Output has it
	MCP    []byte // likewise
	Took   time.Duration
	Tokens int64 // of models
}

// Call runs one call through the pipeline. The error carries the call's id.
func (h *Host) Call(ctx context.Context, req Request) (*Answer, *Error) {
	c := &call{host: h, req: req, began: h.options.Now()}
	if c.id = req.ID; c.id == "" {
		c.id = newID()
	}
	c.budget = models.NewBudget(h.options.Tokens)
	h.underway.begin()
	defer h.underway.end()
	defer c.room.free()
	answer, failed := c.run(ctx)
	c.settle(answer, failed)
	c.record(answer, failed)
	return answer, failed
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.NewString()
	}
	return id.String()
}

// call is one call under way. It is what the script finds behind ctx.
type call struct {
	host       *Host
	req        Request
	id         string
	tool       *tooldef.Tool
	runner     *runner
	args       any  // a JSON tree, completed
	asSent     bool // req.Args is the text of args
	room       room // for large values, until the call has ended
	parent     *call
	depth      int
	began      time.Time
	deadline   time.Time        // as the script is told
	runContext context.Context  // of the whole run
	approve    bool             // an operator has to approve it
	why        string           // the reason for that
	claimed    string           // the approval that this call uses
	outside    *hostmod.Outside // nil: the real world
	budget     *models.Budget   // of tokens; shared with the calls that it makes
	spent      spent
	told       told

	sources  sync.Once
	upstream sdkmod.Host // of those that the tool may call; nil: none
}

// run is the pipeline: look at the session, find, validate, defaults, permission, rate, approval, run, validate the result.
func (c *call) run(ctx context.Context) (answer *Answer, failed *Error) {
	ctx, end := c.traced(ctx)
	if end != nil {
		defer func() { end(failed) }()
	}
	defer func() {
		if failed != nil {
			failed = c.clientError(failed)
		}
	}()
	if c.parent == nil { // a tool's own name for a session is longer by what stands before it
		if failed := checkSession(c.req.Caller.Session); failed != nil {
			return nil, failed
		}
	}
	if failed := c.find(); failed != nil {
		return nil, failed
	}
	if failed := c.readArgs(); failed != nil {
		return nil, failed
	}
	if failed := c.guarded(ctx); failed != nil {
		return nil, failed
	}
	// A call that uses an approval was counted when it asked for it.
	if c.req.Approval == "" || !c.approve {
		if failed := c.host.rates.allow(c.tool, c.req.Caller.Name); failed != nil {
			return nil, failed
		}
	}
	approval, answer, failed := c.approved(ctx)
	if answer != nil || failed != nil {
		return answer, failed
	}
	leave, failed := c.enter(ctx)
	if failed != nil {
		return nil, failed
	}
	defer leave()
	if answer, failed := c.claim(ctx, approval); answer != nil || failed != nil {
		return answer, failed
	}
	return c.invoke(ctx)
}

// guarded looks whether the call may be made with its arguments, and whether it has to be approved.
func (c *call) guarded(ctx context.Context) *Error {
	c.approve = c.tool.Approve
	if c.tool.Guard == nil {
		return nil
	}
	approve, why, err := c.tool.Guard(c.args)
	if refused := refusedBy(err); refused != nil {
		return refused
	}
	if err != nil {
		return &Error{Code: Permission, Message: err.Error(), cause: err}
	}
	c.why = why
	c.approve = (c.approve || approve) && (c.tool.Dry == nil || !c.tool.Dry(ctx))
	return nil
}

func (c *call) find() *Error {
	served := c.host.current.Load()
	tool, ok := served.tools.Find(c.req.Tool)
	if !ok || tool.Inner && !c.req.Inner {
		return &Error{Code: NotFound, Message: "no tool registered with name: " + shortened(c.req.Tool)}
	}
	c.tool, c.runner = tool, served.runners[tool.Name]
	if c.runner == nil || c.runner.tool != tool && tool.Inner {
		c.runner = c.host.innerRunner(tool)
	}
	c.room = c.newRoom()
	return nil
}

// shortened keeps what a client sent from filling an answer.
func shortened(text string) string { return spelling.Clip(text, 100) }

func (c *call) readArgs() *Error {
	value := c.req.Value
	if value == nil {
		decoded, failed := readArgs(c.req.Args, c.room.taking("the arguments take"))
		if failed != nil {
			return failed
		}
		value = decoded
	}
	if c.parent != nil {
		value = c.tool.Params.Shape(value) // a script wrote it
	}
	completed, failed := Complete(c.tool, value)
	c.asSent = c.req.Value == nil && c.parent == nil && sameMap(value, completed)
	if failed != nil {
		return failed
	}
	c.args = completed
	return nil
}

// Complete fills defaults into the arguments of a tool, and checks them.
func Complete(t *tooldef.Tool, args any) (any, *Error) {
	completed := args
	if !t.AsSent {
		completed = t.Params.Defaults(args)
	}
	if violations := t.Params.Validate(completed); len(violations) > 0 {
		return nil, badArgs(violations)
	}
	return completed, nil
}

// sameMap says whether nothing was added: defaults are filled into a copy.
func sameMap(a, b any) bool {
	before, ok := a.(map[string]any)
	after, too := b.(map[string]any)
	return ok && too && reflect.ValueOf(before).Pointer() == reflect.ValueOf(after).Pointer()
}

// ReadArgs reads the arguments of a call: a JSON object, or nothing.
func ReadArgs(text []byte) (map[string]any, *Error) { return readArgs(text, nil) }

func readArgs(text []byte, room func(int64) error) (map[string]any, *Error) {
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	value, err := jsonvalue.Decode(text, jsonvalue.Options{Room: room})
	var failed *Error
	if errors.As(err, &failed) {
		return nil, failed
	}
	if err != nil {
		return nil, &Error{Code: BadRequest, Message: "the arguments are not JSON: " + err.Error(), Detail: "json"}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, &Error{Code: BadRequest, Message: "the arguments must be a JSON object, not " + kindOf(value), Detail: "invalid_params"}
	}
	return object, nil
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "a number"
}

// badArgs tells the first violation; the others follow it.
func badArgs(violations []schema.Violation) *Error {
	first := violations[0]
	failed := &Error{Code: BadRequest, Message: first.Message, Path: first.Pointer, Detail: "invalid_params"}
	all := make([]any, len(violations))
	for i, v := range violations {
		all[i] = map[string]any{"path": v.Pointer, "message": v.Message}
	}
	if len(all) > 1 {
		failed.Data = map[string]any{"violations": all}
	}
	return failed
}

// enter waits for a place. A call by another tool runs in that one's place.
func (c *call) enter(ctx context.Context) (leave func(), failed *Error) {
	if c.parent != nil {
		return func() {}, nil
	}
	if failed := c.place(ctx); failed != nil {
		return nil, failed
	}
	return func() { c.host.admitted.leave(c.tool.Name) }, nil
}

// place takes a place to run. Whoever follows the call is told before it has to wait for it.
func (c *call) place(ctx context.Context) *Error {
	admitted := c.host.admitted
	ticket, failed := admitted.join(c.tool.Name)
	if failed != nil {
		return failed
	}
	if f, ok := c.req.Sink.(Follower); ok {
		if failed := f.Accepted(ctx); failed != nil {
			admitted.drop(c.tool.Name, ticket)
			return failed
		}
	}
	return admitted.await(ctx, ticket)
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

func (c *call) invoke(outer context.Context) (*Answer, *Error) {
	var pool *engine.Pool
	if c.tool.Native == nil {
		var err error
		if pool, err = c.runner.start(); err != nil {
			return nil, scriptFailure(err, luau.CodeOf(err))
		}
	}
	limit := c.runner.timeout()
	ctx := newCallContext(c.goOutside(outer), c.host.ending.Load().ctx, c, limit)
	defer ctx.end()
	c.runContext = ctx
	c.setDeadline(ctx.deadline, limit)
	began := time.Now()
	output, err := c.produce(ctx, pool)
	c.told.flush(c)
	took := time.Since(began)
	if err != nil {
		return nil, failure(outer, c.tool, limit, err)
	}
	if c.tool.Result != nil && c.tool.Native == nil {
		if output.JSON, err = c.checkResult(output.JSON); err != nil {
			var refused *Error
			if errors.As(err, &refused) {
				return nil, refused
			}
			return nil, &Error{Code: ToolError, Message: err.Error(), Detail: invalidResult}
		}
	}
	return &Answer{
		ID: c.id, JSON: output.JSON, Value: output.Value, MCP: output.MCP, Took: took, Tokens: c.usage().Tokens(),
	}, nil
}

// produce runs what the tool is: its script, or its function.
func (c *call) produce(ctx context.Context, pool *engine.Pool) (output tooldef.Output, err error) {
	if pool == nil {
		return c.native(ctx)
	}
	err = pool.Invoke(ctx, func(values luau.Values) (err error) {
		output.JSON, err = c.take(values)
		return err
	}, c.args)
	return output, err
}

// goOutside gives the run what it sees of the world, where that is not the real one.
func (c *call) goOutside(ctx context.Context) context.Context {
	if c.host.options.Outside != nil {
		c.outside = c.host.options.Outside(ctx, c.tool.Name, c.argsText())
	}
	if c.outside == nil {
		return ctx
	}
	return hostmod.WithOutside(ctx, c.outside)
}

// setDeadline is the deadline that the script is told: by the clock that it sees.
func (c *call) setDeadline(real time.Time, limit time.Duration) {
	c.deadline = real
	if c.outside == nil {
		return
	}
	c.deadline = c.outside.Read(time.Now()).Add(limit)
	if c.parent != nil && c.parent.deadline.Before(c.deadline) {
		c.deadline = c.parent.deadline
	}
}

// take reads the JSON text that the prelude gives.
func (c *call) take(values luau.Values) ([]byte, error) {
	var text []byte
	if err := values.Scan(&text); err != nil {
		return nil, err
	}
	if len(text) > c.host.options.MaxResult {
		return nil, tooLong(len(text), c.host.options.MaxResult)
	}
	return text, nil
}

// checkResult validates the result. Where the schema says array, a script's empty table is one.
func (c *call) checkResult(text []byte) ([]byte, error) {
	value, err := jsonvalue.Decode(text, jsonvalue.Options{Room: c.room.taking("the result takes")})
	if err != nil {
		return nil, err
	}
	value = c.tool.Result.Shape(value)
	if violations := c.tool.Result.Validate(value); len(violations) > 0 {
		first := violations[0]
		place := first.Pointer
		if place == "" {
			place = "the result"
		}
		return nil, fmt.Errorf("the tool's result is not what its schema says: %s: %s", place, first.Message)
	}
	return jsonvalue.Encode(value)
}
