package toolhost

import "context"

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

// Faces are all that a Caller's Face can be.
func Faces() []string { return []string{"cli", "http", "mcp", "agent", "tool", "approval"} }
