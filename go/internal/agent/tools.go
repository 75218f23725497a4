package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hukilau/hukilau/go/internal/models"
)

// maxResult is how much of a tool's result a model is told, in bytes.
const maxResult = 1 << 20

// callAll calls what the model asks for, several at once. Results are told in the order of the calls. When it
// returns, no tool runs any more, and each call has a result, also where the user broke it off.
func (x *exchange) callAll(ctx context.Context, calls []models.ToolCall) ([]models.ToolResult, error) {
	results := make([]models.ToolResult, len(calls))
	for i, call := range calls {
		results[i] = models.ToolResult{ID: call.ID, Name: call.Name, IsError: true, Text: "not called: the user said something else"}
	}
	for i := range calls {
		if err := x.emit(Event{Kind: EventCall, Call: &calls[i]}); err != nil {
			return results, err
		}
	}
	return results, x.agent.run(ctx, calls, results, x.emit)
}

// run fills in the results of calls.
func (a *Agent) run(ctx context.Context, calls []models.ToolCall, results []models.ToolResult, emit func(Event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	done := make([]chan struct{}, len(calls))
	for i := range done {
		done[i] = make(chan struct{})
	}
	var next atomic.Int64
	for range min(a.o.Parallel, len(calls)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(calls)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				results[i] = a.call(ctx, calls[i])
				close(done[i])
			}
		})
	}
	for i := range calls {
		select {
		case <-done[i]:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := emit(Event{Kind: EventResult, Result: &results[i]}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// call makes a result of one call, whatever becomes of it.
func (a *Agent) call(ctx context.Context, call models.ToolCall) (result models.ToolResult) {
	result = models.ToolResult{ID: call.ID, Name: call.Name, IsError: true}
	defer func() {
		if p := recover(); p != nil {
			result.Text, result.IsError = fmt.Sprintf("the tool %s failed: panic: %v", call.Name, p), true
		}
	}()
	if problem := a.problem(call); problem != "" {
		result.Text = problem
		return result
	}
	result.Text, result.IsError = a.o.Call(ctx, call.Name, call.Arguments)
	if len(result.Text) > maxResult {
		result.Text = strings.ToValidUTF8(result.Text[:maxResult], "") + fmt.Sprintf("\n(cut off: the result has %d bytes)", len(result.Text))
	}
	return result
}

// problem says why a call cannot be made, in words for the model; "" when it can.
func (a *Agent) problem(call models.ToolCall) string {
	known := slices.ContainsFunc(a.o.Tools, func(t models.Tool) bool { return t.Name == call.Name })
	if !known || a.o.Call == nil {
		return fmt.Sprintf("there is no tool %q; the tools are: %s", call.Name, a.names())
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(call.Arguments, &object); err != nil || object == nil {
		if err == nil || json.Valid(call.Arguments) {
			return "the arguments must be a JSON object"
		}
		return "the arguments are not valid JSON: " + models.Clip(err.Error())
	}
	return ""
}

func (a *Agent) names() string {
	if len(a.o.Tools) == 0 {
		return "none"
	}
	names := make([]string, len(a.o.Tools))
	for i, t := range a.o.Tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}
