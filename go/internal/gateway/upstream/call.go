package upstream

import (
	"context"
	"encoding/json"
	"fmt"
)

// Call calls a tool. Errors are *Error; that a tool says it failed is none.
func (s *Server) Call(ctx context.Context, tool string, args json.RawMessage, o CallOptions) (*Result, error) {
	if !s.config.Allows(tool) {
		return nil, s.wrapped(&Error{Code: CodePermission, Message: fmt.Sprintf("the tool %q is not allowed by the configuration", tool)}, tool)
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if first(args) != '{' || !valid(args) {
		return nil, s.wrapped(&Error{Code: CodeInvalid, Message: "the arguments are no JSON object"}, tool)
	}
	r := &rpc{method: "tools/call", name: tool, options: &o}
	r.params.string("name", tool)
	r.params.raw("arguments", args)
	if wanted := s.Snapshot().tool(tool); wanted != nil {
		r.mirrored = mirrored(wanted.mirrors, args)
	}
	raw, err := s.do(ctx, r)
	if err != nil {
		return nil, s.wrapped(err, tool)
	}
	result := &Result{Raw: raw}
	members(raw, func(key, value []byte) {
		if string(key) == "isError" {
			result.IsError = string(value) == "true"
		}
	})
	return result, nil
}

// ReadResource reads a resource: the whole result as the server wrote it.
func (s *Server) ReadResource(ctx context.Context, uri string, o CallOptions) (json.RawMessage, error) {
	o.Repeatable = true
	r := &rpc{method: "resources/read", name: uri, options: &o}
	r.params.string("uri", uri)
	return s.other(ctx, r)
}

// GetPrompt gets a prompt: the whole result as the server wrote it. args is a JSON object of texts, or nil.
func (s *Server) GetPrompt(ctx context.Context, name string, args json.RawMessage, o CallOptions) (json.RawMessage, error) {
	o.Repeatable = true
	r := &rpc{method: "prompts/get", name: name, options: &o}
	r.params.string("name", name)
	if len(args) > 0 {
		if first(args) != '{' || !valid(args) {
			return nil, s.wrapped(&Error{Code: CodeInvalid, Message: "the arguments are no JSON object"}, "")
		}
		r.params.raw("arguments", args)
	}
	return s.other(ctx, r)
}

// Complete asks for values of an argument: params and result are those of completion/complete.
func (s *Server) Complete(ctx context.Context, params json.RawMessage, o CallOptions) (json.RawMessage, error) {
	o.Repeatable = true
	r := &rpc{method: "completion/complete", options: &o}
	if !members(params, func(key, value []byte) {
		if string(key) != "_meta" {
			r.params.raw(string(key), value)
		}
	}) || !valid(params) {
		return nil, s.wrapped(&Error{Code: CodeInvalid, Message: "the params are no JSON object"}, "")
	}
	return s.other(ctx, r)
}

func (s *Server) other(ctx context.Context, r *rpc) (json.RawMessage, error) {
	raw, err := s.do(ctx, r)
	if err != nil {
		return nil, s.wrapped(err, "")
	}
	return raw, nil
}

// rpc is a request of a caller. It may be sent more than once.
type rpc struct {
	method   string
	name     string
	params   fields // without _meta
	mirrored map[string]string
	options  *CallOptions
}

// do sends a request when there is room, and once more where that does no harm.
func (s *Server) do(ctx context.Context, r *rpc) (json.RawMessage, *Error) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		e := stopped(ctx)
		e.unsent = true
		return nil, e
	}
	defer func() { <-s.slots }()
	var broken *session
	for again := false; ; again = true {
		session, err := s.usable(ctx, broken)
		if err != nil {
			return nil, err
		}
		raw, err := session.run(ctx, r)
		if err == nil {
			return raw, nil
		}
		if err.broken {
			broken = session
			session.retire(err)
		}
		if err.Code == CodeTimeout && session.alone() && session.underWay() == 0 {
			go session.probe()
		}
		transport := err.broken || err.Code == CodeLost
		if !transport || ctx.Err() != nil || again || !err.unsent && !r.options.Repeatable {
			return nil, settled(err, r.options)
		}
		s.options.Logger.Info("a call is made again on another connection", "method", r.method, "name", shown(r.name), "error", s.redacted(err.Message))
	}
}

// settled says whether somebody else may try again, and what is not known.
func settled(err *Error, o *CallOptions) *Error {
	e := *err
	switch e.Code {
	case CodeLost:
		e.Retryable = e.unsent || o.Repeatable
		if !e.unsent && !o.Repeatable {
			e.Message += "; the call may have run, and is not made again"
		}
	case CodeTimeout:
		e.Retryable = o.Repeatable
	case CodeUnavailable:
		e.Retryable = e.Retryable || e.unsent || o.Repeatable
	}
	return &e
}

// run sends a request over this connection, again and again while the server wants to know more.
func (s *session) run(ctx context.Context, r *rpc) (json.RawMessage, *Error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	idle := newIdle(s.owner.config.CallTimeout, stop)
	defer idle.end()
	var more inputs
	for round := 0; ; round++ {
		raw, err := s.once(ctx, r, idle, more)
		if err != nil || s.version < stateless {
			return raw, err
		}
		var wanted bool
		if more, wanted, err = s.input(ctx, r, raw, idle, round); err != nil || !wanted {
			return raw, err
		}
	}
}

// once is one request with its answer.
func (s *session) once(ctx context.Context, r *rpc, idle *idle, more inputs) (json.RawMessage, *Error) {
	q := newPending(ctx, r.method)
	q.options, q.idle, q.name, q.mirrored = r.options, idle, r.name, r.mirrored
	if r.options.Progress != nil {
		q.progress = make(chan json.RawMessage, 64)
	}
	if err := s.begin(q); err != nil {
		return nil, err
	}
	s.questions.enter(q)
	defer s.questions.leave(q)
	params := r.params
	params.text = append(make([]byte, 0, len(r.params.text)+256), r.params.text...)
	token := int64(0)
	if r.options.Progress != nil {
		token = q.id
	}
	params.raw("_meta", s.owner.meta(s.version, r.options.client(), token))
	params.raw("inputResponses", more.responses)
	params.raw("requestState", more.state)
	return s.exchange(ctx, q, params.end())
}

// client is what our client can for this call.
func (o *CallOptions) client() Client {
	return Client{Elicitation: o.Elicit != nil, Sampling: o.Sample != nil}
}
