package toolhost

import (
	"context"
	"fmt"
	"strings"
)

// maxName is how many bytes the name of a session or of an agent may have.
const maxName = 200

// checkSession looks at the name of a session, which may come from anywhere. "" is none.
func checkSession(name string) *Error {
	strange := func(r rune) bool { return r < ' ' || r > '~' }
	if len(name) <= maxName && !strings.ContainsFunc(name, strange) {
		return nil
	}
	return &Error{
		Code: BadRequest, Detail: "session",
		Message: fmt.Sprintf("the name of a session has 1 to %d printable ASCII characters; this one has %d bytes", maxName, len(name)),
	}
}

type callerKey struct{}

// WithCaller says who the calls of ctx come from. The server that knows its clients sets it, before a request
// reaches a face.
func WithCaller(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerOf is what WithCaller said; the zero Caller where it said nothing.
func CallerOf(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}

// InnerFace is the Face of calls that reach inner tools: those that a script makes by sdk.
const InnerFace = "sdk"

// Faces are all that a Caller's Face can be.
func Faces() []string {
	return []string{"cli", "http", "mcp", "agent", "tool", "approval", "go", InnerFace}
}
