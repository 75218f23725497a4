package models

import "context"

// Provider is one way to reach models. Any goroutine may use it.
//
// Stream sends one request and calls emit with each event as it arrives, on the goroutine of the
// caller. An error of emit ends the stream and is returned as it is. The Response holds the whole
// answer; beside an error it holds what had arrived, and may be nil when nothing had. Other errors
// are *Error, or the context's.
type Provider interface {
	Stream(ctx context.Context, r *Request, emit func(Event) error) (*Response, error)
}

// ProviderFunc is a function as a Provider.
type ProviderFunc func(ctx context.Context, r *Request, emit func(Event) error) (*Response, error)

// Stream calls the function.
func (f ProviderFunc) Stream(ctx context.Context, r *Request, emit func(Event) error) (*Response, error) {
	return f(ctx, r, emit)
}

// Generate is Stream for callers that want the whole answer only.
func Generate(ctx context.Context, p Provider, r *Request) (*Response, error) {
	return p.Stream(ctx, r, func(Event) error { return nil })
}

// Request is what a model is asked. A Provider does not change it.
type Request struct {
	Model       string
	System      string // before what messages of role system say
	Messages    []Message
	Tools       []Tool
	Temperature *float64 // nil: the model's own
	MaxTokens   int      // of the answer; 0: the provider's default
	Stop        []string
	Seed        *int64 // ignored where the provider has none
	// Schema is a JSON Schema as a tree: the answer shall be JSON that it allows. A provider that
	// cannot see to it tells the model, with SchemaPrompt. What comes is still to be checked.
	Schema any
}

// Tool is a function that the model may ask for.
type Tool struct {
	Name        string
	Description string
	Schema      any // of the arguments, as a tree; nil: an object without properties
}

// Response is a whole answer.
type Response struct {
	Message Message // role assistant
	Stop    StopReason
	Usage   Usage
	Model   string // as the provider names it; may be empty
}

// Text is what the model said, without reasoning and calls.
func (r *Response) Text() string {
	if r == nil {
		return ""
	}
	return r.Message.Text()
}

// Calls are the tools that the model asked for, in order.
func (r *Response) Calls() []ToolCall {
	if r == nil {
		return nil
	}
	return r.Message.Calls()
}

// StopReason says why an answer ended.
type StopReason string

// The reasons. What a provider says beyond them is StopOther.
const (
	StopEnd      StopReason = "stop"
	StopLength   StopReason = "length"
	StopCalls    StopReason = "tool_calls"
	StopFiltered StopReason = "content_filter"
	StopOther    StopReason = "other"
)

// EventKind says what an Event tells.
type EventKind int

// The kinds. A stream has any number of texts, reasonings, calls and usages, and one end, which
// comes last and only when the answer is whole.
const (
	EventText EventKind = iota + 1
	EventReasoning
	EventCall
	EventUsage
	EventEnd
)

// Event is one step of an answer.
type Event struct {
	Kind  EventKind
	Text  string    // EventText, EventReasoning: what came, always whole characters
	Call  *ToolCall // EventCall: complete, its arguments included
	Usage *Usage    // EventUsage: so far, all included
	Stop  StopReason
}
