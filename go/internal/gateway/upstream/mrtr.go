package upstream

import (
	"context"
	"encoding/json"
	"time"
)

// mostRounds is how often a server may ask for more before it answers.
const mostRounds = 10

// inputs are what a request is repeated with.
type inputs struct {
	responses []byte
	state     json.RawMessage
}

// input answers what a result asks for. It is false where the result is one.
func (s *session) input(ctx context.Context, r *rpc, raw json.RawMessage, idle *idle, round int) (inputs, bool, *Error) {
	var more inputs
	var requests json.RawMessage
	wanted := false
	members(raw, func(key, value []byte) {
		switch string(key) {
		case "resultType":
			wanted = string(value) == `"input_required"`
		case "inputRequests":
			requests = value
		case "requestState":
			more.state = value
		}
	})
	switch {
	case !wanted:
		return more, false, nil
	case round >= mostRounds:
		return more, false, &Error{Code: CodeInvalidAnswer, Message: "it asks for more input again and again"}
	case string(requests) == "{}" || requests == nil: // it has too much to do
		if pause(ctx, time.Duration(round+1)*100*time.Millisecond) != nil {
			return more, false, stopped(ctx)
		}
		return more, true, nil
	}
	var responses fields
	var failed *Error
	idle.asking(true)
	defer idle.asking(false)
	asked := 0
	ok := members(requests, func(key, value []byte) {
		if asked++; asked > mostAsked || len(value) > mostQuestion {
			failed = &Error{Code: CodeInvalidAnswer, Message: "it asks for too much at once"}
		}
		if failed == nil {
			var response json.RawMessage
			response, failed = respondTo(ctx, value, r.options)
			responses.raw(string(key), response)
		}
	})
	if !ok {
		return more, false, &Error{Code: CodeInvalidAnswer, Message: "what it asks for is no JSON object"}
	}
	more.responses = responses.end()
	return more, true, failed
}

// respondTo answers one request of a result.
func respondTo(ctx context.Context, raw json.RawMessage, o *CallOptions) (json.RawMessage, *Error) {
	var m message
	members(raw, func(key, value []byte) {
		switch string(key) {
		case "method":
			m.method = str(value)
		case "params":
			m.params = value
		}
	})
	if m.method == "roots/list" {
		return json.RawMessage(`{"roots":[]}`), nil
	}
	result, refusal := ask(ctx, m.method, m.params, &pending{options: o})
	switch {
	case ctx.Err() != nil:
		return nil, stopped(ctx)
	case refusal != nil:
		return nil, &Error{Code: CodePermission, Message: "it asks for " + shown(m.method) + ": " + refusal.message}
	}
	return result, nil
}
