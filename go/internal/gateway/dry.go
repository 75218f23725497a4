package gateway

import (
	"context"
	"sync"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

type fakesKey struct{}

// fakes are the answers of a dry run.
type fakes struct {
	answers map[string]any
	mu      sync.Mutex
	next    map[string]int // of a list of answers
	calls   []DryCall
}

// DryCall is a call that a dry run did not make.
type DryCall struct {
	Function string `json:"function"`
	Args     any    `json:"args,omitempty"`
	Policy   string `json:"policy,omitempty"` // "approve": an operator would be asked
}

// WithFakes makes the calls of ctx a dry run: no source is called. answers are by full names, as
// "github.list_issues"; a list is one answer after the other. What has none gets an example of its type.
func WithFakes(ctx context.Context, answers map[string]any) context.Context {
	return context.WithValue(ctx, fakesKey{}, &fakes{answers: answers, next: map[string]int{}})
}

func fakesOf(ctx context.Context) *fakes {
	f, _ := ctx.Value(fakesKey{}).(*fakes)
	return f
}

func isDry(ctx context.Context) bool { return fakesOf(ctx) != nil }

// DryCalls are the calls that a dry run would have made so far.
func DryCalls(ctx context.Context) []DryCall {
	f := fakesOf(ctx)
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]DryCall{}, f.calls...)
}

// output is what runs in the pipeline in place of a call.
func (f *fakes) output(fn *function, args any) (tooldef.Output, error) {
	result, err := f.call(fn, args)
	if err != nil {
		return tooldef.Output{}, fn.failed(err)
	}
	text, err := result.text()
	return tooldef.Output{JSON: text, Value: result}, err
}

// call notes a call, and gives the answer that it would have.
func (f *fakes) call(fn *function, args any) (*Result, error) {
	c := fn.callable
	noted := DryCall{Function: c.FullName(), Args: args}
	if guard := fn.tool.Guard; guard != nil {
		if approve, _, _ := guard(args); approve { // what is denied did not come here
			noted.Policy = "approve"
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, noted)
	answer, given := f.answerOf(c)
	if !given {
		answer = luautype.ExampleResult(c)
	}
	return fakeResult(c, answer)
}

// answerOf is the next answer of a function. The lock is held.
func (f *fakes) answerOf(c *catalog.Callable) (any, bool) {
	for _, name := range []string{c.FullName(), c.Scope.Name + "." + c.Name} {
		answer, given := f.answers[name]
		if !given {
			continue
		}
		table, _ := answer.(map[string]any)
		list, isList := table["answers"].([]any)
		if !isList || len(table) != 1 || len(list) == 0 {
			return answer, true
		}
		i := min(f.next[name], len(list)-1)
		f.next[name]++
		return list[i], true
	}
	return nil, false
}

// fakeResult is a value as a source would give it. An object with only "error" is an error of the function.
func fakeResult(c *catalog.Callable, answer any) (*Result, error) {
	if table, ok := answer.(map[string]any); ok && len(table) == 1 {
		if message, ok := table["error"].(string); ok {
			return nil, &Failure{Code: "tool", Message: message}
		}
	}
	text, err := jsonvalue.Encode(answer)
	if err != nil {
		return nil, err
	}
	if c.Scope.Kind == catalog.OpenAPI {
		return &Result{Response: &Response{Status: 200, ContentType: "application/json", JSON: text}}, nil
	}
	result := map[string]any{"content": []any{}}
	switch v := answer.(type) {
	case map[string]any:
		result["structuredContent"] = v
	case string:
		result["content"] = []any{map[string]any{"type": "text", "text": v}}
	case nil:
	default:
		result["content"] = []any{map[string]any{"type": "text", "text": string(text)}}
	}
	whole, err := jsonvalue.Encode(result)
	return &Result{Tool: whole}, err
}
