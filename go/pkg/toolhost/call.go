package toolhost

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Call is a call of a tool.
type Call struct {
	Tool string
	Args json.RawMessage // a JSON object; empty is {}
	// Caller is who calls, as rate limits, approvals and the log know it. Calls without a session have the caller's
	// state. "" is nobody in particular.
	Caller string
	// Session is whose state the call works on: 1 to 200 printable ASCII characters; "" is the caller's.
	Session string
	// Approval is the id of an approval that was given for this very call; "" is none.
	Approval string
	// Events is told what the tool tells meanwhile, one event after the other. Its error ends the call. May be nil.
	Events func(ctx context.Context, e Event) error
	// Ask asks the user for the tool. nil: nobody can be asked.
	Ask func(ctx context.Context, q Question) (Answer, error)
}

// Question is what a tool asks the user.
type Question struct {
	Message string
	Schema  json.RawMessage // JSON Schema of Answer.Content
}

// Answer is what the user said.
type Answer struct {
	Action  Action
	Content map[string]any // of Accept
}

// Action is what the user did with a question.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// Event is what a tool tells while it runs.
type Event struct {
	Kind EventKind
	Data json.RawMessage // of EventEmit: what the tool emitted

	Progress, Total float64 // of EventProgress; a Total of 0 is not known
	Level           slog.Level
	Message         string         // of EventProgress and EventLog
	Fields          map[string]any // of EventLog
}

// EventKind says what an Event is about.
type EventKind string

// The kinds.
const (
	EventEmit     EventKind = "emit"
	EventProgress EventKind = "progress"
	EventLog      EventKind = "log"
)

// Result is what a tool gave.
type Result struct {
	ID     string          // of the call, in the execution log
	JSON   json.RawMessage // the result
	Took   time.Duration   // of the script
	Tokens int64           // of models
}

// Error is how a call failed. It has no paths of the machine, no stacks and no secrets: the execution log has the
// whole story under its ID.
type Error struct {
	// Code is one of bad_request, unauthorized, permission, not_found, timeout, too_large, rate_limited, cancelled,
	// tool_error, upstream, busy, needs_approval.
	Code    string
	Message string
	Path    string // JSON pointer to the argument that is wrong; "" where none is
	Detail  string // the code that the script raised, or of the engine, as "memory"; "" is none
	Data    any    // what the script raised beside it, as a JSON tree; of needs_approval: the approval
	// RetryAfter is when to try again, after rate_limited and busy; 0 is not said.
	RetryAfter time.Duration
	ID         string // of the call, or of the approval that it waits for
	cause      error
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Unwrap gives what is behind it, as context.Canceled.
func (e *Error) Unwrap() error { return e.cause }

// Call calls a tool and waits for its end. The error is an *Error.
func (h *Host) Call(ctx context.Context, c Call) (*Result, error) {
	ctx, done, err := h.use(ctx)
	if err != nil {
		return nil, &Error{Code: string(toolhost.Busy), Message: "the host is closed", cause: err}
	}
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer, failed := h.host.Call(ctx, toolhost.Request{
		Tool: c.Tool, Args: c.Args, Approval: c.Approval, Sink: sinkOf(&c, cancel),
		Caller: toolhost.Caller{Name: c.Caller, Face: "go", Session: c.Session},
	})
	if failed != nil {
		var behind error = failed
		if cause := context.Cause(ctx); cause != nil {
			behind = errors.Join(cause, failed)
		}
		return nil, &Error{
			Code: string(failed.Code), Message: failed.Message, Path: failed.Path, Detail: failed.Detail, Data: failed.Data,
			RetryAfter: failed.RetryAfter, ID: failed.ID, cause: behind,
		}
	}
	return &Result{ID: answer.ID, JSON: answer.JSON, Took: answer.Took, Tokens: answer.Tokens}, nil
}

// sinkOf is nil where nobody listens: a tool is told nothing of who does not.
func sinkOf(c *Call, cancel context.CancelCauseFunc) toolhost.Sink {
	switch {
	case c.Ask != nil:
		return asking{sink{c, cancel}}
	case c.Events != nil:
		return sink{c, cancel}
	}
	return nil
}

// sink makes events of what a tool tells.
type sink struct {
	call   *Call
	cancel context.CancelCauseFunc
}

func (s sink) tell(ctx context.Context, e Event) error {
	if s.call.Events == nil {
		return nil
	}
	err := s.call.Events(ctx, e)
	if err != nil {
		s.cancel(err) // whatever the script makes of it
	}
	return err
}

// Emit implements toolhost.Sink.
func (s sink) Emit(ctx context.Context, chunk []byte) error {
	return s.tell(ctx, Event{Kind: EventEmit, Data: chunk})
}

// Progress implements toolhost.Sink.
func (s sink) Progress(ctx context.Context, done, total float64, text string) error {
	return s.tell(ctx, Event{Kind: EventProgress, Progress: done, Total: total, Message: text})
}

// Log implements toolhost.Sink.
func (s sink) Log(ctx context.Context, level slog.Level, message string, fields map[string]any) error {
	return s.tell(ctx, Event{Kind: EventLog, Level: level, Message: strings.ToValidUTF8(message, "\uFFFD"), Fields: fields})
}

// asking is a sink whose user can be asked.
type asking struct{ sink }

// Elicit implements toolhost.Elicitor.
func (a asking) Elicit(ctx context.Context, message string, wanted []byte) ([]byte, error) {
	document, err := jsonvalue.Decode(wanted, jsonvalue.Options{})
	if err != nil {
		return nil, err
	}
	form, err := schema.Compile(document, "schema")
	if err != nil {
		return nil, &luau.Error{Code: "invalid_argument", Message: "ctx.elicit: argument 2 must be a JSON Schema: " + err.Error()}
	}
	answer, err := a.call.Ask(ctx, Question{message, wanted})
	if err != nil {
		return nil, err
	}
	told := map[string]any{"action": string(answer.Action)}
	switch answer.Action {
	case Decline, Cancel:
	case Accept:
		content := form.Defaults(orEmpty(answer.Content))
		if wrong := form.Validate(content); len(wrong) > 0 {
			return nil, &luau.Error{Code: "invalid_answer", Message: "ctx.elicit: the answer does not fit what was asked: " + schema.Summary(wrong)}
		}
		told["content"] = content
	default:
		return nil, &luau.Error{Code: "invalid_answer", Message: "ctx.elicit: the answer has no action that there is"}
	}
	return jsonvalue.Encode(told)
}

func orEmpty(content map[string]any) map[string]any {
	if content == nil {
		return map[string]any{}
	}
	return content
}
