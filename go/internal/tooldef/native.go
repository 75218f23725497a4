package tooldef

import "context"

// Native is a tool that is a Go function in place of a script. It gets completed arguments, a JSON tree that it may
// not change; ctx is that of the call (see toolhost.Calling).
type Native func(ctx context.Context, args any) (Output, error)

// Output is what a Native gives.
type Output struct {
	JSON  []byte // the result, for every face
	Value any    // for whoever called from Go, where JSON has no word for the result; nil: there is no more to it
	// MCP is the result as clients of that protocol get it, an object with "content"; nil: what follows from JSON.
	MCP []byte
}
