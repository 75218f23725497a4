package gateway

import (
	"context"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Upstream is a server or a service whose functions scripts may call. Any goroutine may use it.
type Upstream interface {
	// Name is the one in the configuration.
	Name() string
	Kind() catalog.Kind
	// Source is what it offers now; nil while that is not known. It is the same pointer as long as nothing changes.
	Source() *catalog.Source
	Status() Status
	// Ready waits until what it offers is known, or why it is not.
	Ready(ctx context.Context) error
	// Call makes one call for a client. The error is a *Failure where the other side has said something.
	Call(ctx context.Context, c *Call) (*Result, error)
	// Forget ends what was opened for one client.
	Forget(client string)
	Close()
}

// State says how an upstream is.
type State string

// The states of an upstream.
const (
	Connecting State = "connecting"
	Healthy    State = "healthy"
	Unhealthy  State = "unhealthy"
)

// Status is how an upstream is, for listings.
type Status struct {
	State  State
	Reason string   // why it is not healthy
	Notes  []string // the last that it said for operators, as on its standard error
}

// Call is one call of a function.
type Call struct {
	Function *catalog.Callable
	Params   []byte // a JSON object; empty: none were given
	Body     any    // a JSON tree, in which {"$bytes": base64} stands for bytes; nil: there is none
	RawBody  []byte // the body as it is, in place of Body; nil: there is none
	Client   string // whose call it is: clients have sessions of their own with servers that know any
	Calling  toolhost.Calling
}

// Failure is a call that the other side refused, or that did not come through.
type Failure struct {
	Code      string // "tool": the tool failed; "http": the answer has the status of an error; else as transports say
	Message   string
	Content   any // of a tool's error, a JSON tree
	Status    int // of an HTTP answer
	Body      any // of an HTTP answer, a JSON tree or a text
	Retryable bool
	Cause     error
}

// Error implements error.
func (f *Failure) Error() string { return f.Message }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// data is what scripts and clients see of a failure.
func (f *Failure) data(function *catalog.Callable) map[string]any {
	data := map[string]any{
		"server": function.Scope.Name, "tool": function.Name, "message": f.Message, "retryable": f.Retryable,
	}
	if f.Code != "" {
		data["code"] = f.Code
	}
	if f.Content != nil {
		data["content"] = f.Content
	}
	if f.Status != 0 {
		data["status"] = float64(f.Status)
	}
	if f.Body != nil {
		data["body"] = f.Body
	}
	return data
}
