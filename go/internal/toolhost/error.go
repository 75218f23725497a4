package toolhost

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/units"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Code says what kind of error a call ended with. Every face maps it in one place.
type Code string

// The codes.
const (
	BadRequest    Code = "bad_request"    // the arguments are not what the tool takes
	Unauthorized  Code = "unauthorized"   // nobody knows who calls
	Permission    Code = "permission"     // the caller may not
	NotFound      Code = "not_found"      // there is no such tool
	Timeout       Code = "timeout"        // the tool took too long
	TooLarge      Code = "too_large"      // the arguments or the result
	RateLimited   Code = "rate_limited"   // the caller called too often
	Cancelled     Code = "cancelled"      // the caller went away
	ToolError     Code = "tool_error"     // the script failed, or went over a limit
	Upstream      Code = "upstream"       // what the tool depends on failed
	Busy          Code = "busy"           // too many calls at once
	NeedsApproval Code = "needs_approval" // an operator has to approve the call first
)

// Codes are all codes that a call can end with.
func Codes() []Code {
	return []Code{
		BadRequest, Unauthorized, Permission, NotFound, Timeout, TooLarge, RateLimited, Cancelled, ToolError, Upstream, Busy, NeedsApproval,
	}
}

// Error is how a call of a tool failed, as a client may see it: no paths of the host, no stacks, no secrets.
type Error struct {
	Code       Code
	Message    string
	Path       string        // JSON pointer to the argument that is wrong
	Detail     string        // code of the engine, as "memory", or of what the script raised
	Data       any           // what the script raised, when it was a table; a JSON tree
	RetryAfter time.Duration // for RateLimited and Busy
	ID         string        // of the call: the log has the whole story under it
	cause      error
}

// Error is the message, with the argument that is wrong: what a script that called the tool reads.
func (e *Error) Error() string { return placed(e.Path, e.Message) }

// Unwrap gives what the engine said.
func (e *Error) Unwrap() error { return e.cause }

// ErrorCode is the code as scripts see it.
func (e *Error) ErrorCode() string { return string(e.Code) }

// ErrorFields is what scripts see beside code and message.
func (e *Error) ErrorFields() map[string]any {
	fields := map[string]any{}
	if e.Path != "" {
		fields["path"] = e.Path
	}
	if e.Detail != "" {
		fields["detail"] = e.Detail
	}
	if e.Data != nil && e.Code == ToolError {
		fields["data"] = e.Data
	}
	return fields
}

// The causes of a run's end when its own time is over, or that of whoever called.
var (
	errTime        = fmt.Errorf("%w", context.DeadlineExceeded)
	errCallersTime = fmt.Errorf("%w", context.DeadlineExceeded)
)

// invalidResult is the Detail of a result that is not what the tool says of it.
const invalidResult = "invalid_result"

// ErrShutdown is the cause of a context that ends because its server does. Such a call may be sent again.
var ErrShutdown = errors.New("the server is shutting down")

// shutdown is the Detail of a call that was cancelled for that.
const shutdown = "shutdown"

// IsShutdown says whether the call was cancelled because its server ended.
func (e *Error) IsShutdown() bool { return e.Code == Cancelled && e.Detail == shutdown }

// failure is the Error of a run that ended with err.
func failure(ctx context.Context, tool *tooldef.Tool, limit time.Duration, err error) *Error {
	code := luau.CodeOf(err)
	if refused := refusedBy(err); refused != nil && tool.Native != nil && !isScript(err) {
		return refused // it says so itself
	}
	switch {
	case errors.Is(err, errTime):
		return &Error{Code: Timeout, Message: fmt.Sprintf("tool '%s' timed out after %s", tool.Name, seconds(limit)), Detail: "timeout", cause: err}
	case errors.Is(err, errCallersTime), ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return &Error{Code: Timeout, Message: fmt.Sprintf("tool '%s' timed out: its caller waits no longer", tool.Name), Detail: "timeout", cause: err}
	case errors.Is(err, ErrShutdown), errors.Is(context.Cause(ctx), ErrShutdown):
		return &Error{Code: Cancelled, Message: "the call was cancelled: " + ErrShutdown.Error(), Detail: shutdown, RetryAfter: time.Second, cause: err}
	case ctx.Err() != nil:
		return &Error{Code: Cancelled, Message: "the call was cancelled", Detail: "cancelled", cause: err}
	case saidCode(err) == luau.CodeMemory:
		return &Error{Code: ToolError, Message: fmt.Sprintf("tool '%s' went over its memory limit", tool.Name), Detail: "memory", cause: err}
	}
	return scriptFailure(err, code)
}

func isScript(err error) bool {
	var script *luau.Error
	return errors.As(err, &script)
}

// saidCode is the code that the engine or a host function gave, not what a script makes look like it.
func saidCode(err error) luau.Code {
	var script *luau.Error
	if errors.As(err, &script) && (script.Value != nil || script.Code == luau.CodeRuntime) {
		return luau.CodeOf(errors.Unwrap(script))
	}
	return luau.CodeOf(err)
}

// scriptFailure is about what a script raised, or a part of it that the script did not catch.
func scriptFailure(err error, code luau.Code) *Error {
	failed := &Error{Code: ToolError, Message: err.Error(), Detail: string(code), cause: err}
	var script *luau.Error
	if !errors.As(err, &script) {
		return failed
	}
	failed.Message = script.Raised()
	if script.Chunk == engine.AroundChunk {
		own := ownPlace(script)
		if own.Line == 0 && code == "json" { // the script's function had returned
			return &Error{Code: ToolError, Message: "the result is not JSON: " + strings.TrimPrefix(own.Message, "json_encode: "), Detail: invalidResult, cause: err}
		}
		failed.Message = own.Error()
	}
	switch saidCode(script) {
	case "permission":
		failed.Code = Permission
	case "upstream":
		failed.Code = Upstream
	}
	raised, isTable := JSONTree(script.Value).(map[string]any)
	if called := calledTool(script); called != nil && (!isTable || raised["message"] == called.Error()) {
		return failed.passOn(called, raised)
	}
	if isTable {
		failed.Data = raised
		if text, ok := raised["message"].(string); ok && text != "" {
			failed.Message = text
		}
		if text, ok := raised["code"].(string); ok && text != "" {
			failed.Detail = text
		}
	}
	return failed
}

// calledTool is the error of a tool that the script called, where the script's own error comes of it.
func calledTool(script *luau.Error) (called *Error) {
	errors.As(errors.Unwrap(script), &called)
	return called
}

// passOn makes e what a tool ended with that let the error of another pass. Through however many tools that comes,
// what the innermost script raised stays.
func (e *Error) passOn(called *Error, raised map[string]any) *Error {
	e.Message = called.Error()
	switch called.Code {
	case ToolError, Permission, Upstream:
		e.Detail, e.Data = called.Detail, called.Data
	default:
		e.Detail = string(called.Code)
		if raised != nil {
			e.Data = raised
		}
	}
	return e
}

// ownPlace is an error without the frames of what is around the script.
func ownPlace(script *luau.Error) *luau.Error {
	own := *script
	own.Frames = nil
	for _, frame := range script.Frames {
		if frame.Chunk != engine.AroundChunk {
			own.Frames = append(own.Frames, frame)
		}
	}
	if own.Chunk != engine.AroundChunk {
		return &own
	}
	own.Chunk, own.Line = "", 0
	for _, frame := range own.Frames {
		if frame.Line > 0 {
			own.Chunk, own.Line = frame.Chunk, frame.Line
			break
		}
	}
	return &own
}

// clientError is an error as the caller gets it: with the call's id, without secrets, and with paths from the
// config's folder.
func (c *call) clientError(failed *Error) *Error {
	copied := *failed
	if copied.ID == "" {
		copied.ID = c.id
	}
	shown := func(text string) string { return strings.ToValidUTF8(c.host.options.Redact(text), "\uFFFD") }
	if folder := strings.TrimSuffix(c.host.options.Folder, "/"); folder != "" {
		inside := strings.NewReplacer(folder+"/", "", folder, ".")
		whole := shown
		shown = func(text string) string { return inside.Replace(whole(text)) }
	}
	copied.Message, copied.Detail, copied.Data = shown(copied.Message), shown(copied.Detail), jsonvalue.EachText(copied.Data, shown)
	return &copied
}

// seconds says how long in words: "30 seconds".
func seconds(d time.Duration) string {
	if d%time.Second == 0 {
		return units.Counted(int(d/time.Second), "second")
	}
	return fmt.Sprintf("%g seconds", d.Seconds())
}

// period says how long in the largest unit that fits: "2 hours".
func period(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if d%unit.length == 0 {
			return units.Counted(int(d/unit.length), unit.name)
		}
	}
	return seconds(d)
}
