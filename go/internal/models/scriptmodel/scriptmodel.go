// Package scriptmodel plays a model with a Luau file, for tests and for work without a network. The
// file defines a global function:
//
//	function generate(request)
//
// It runs in a VM of its own for each request, so nothing stays between two: what a script needs to
// know of earlier turns is in request.messages.
//
// request is a table: model, system, messages, tools ({name, description, schema}), temperature,
// max_tokens, stop, seed, schema (of the JSON that is asked for). What was not given is nil. A message
// has role and content: a text or, where there are pictures, a list of parts, {text} and {url} or
// {data (a buffer), media_type}. And
//
//	assistant  tool_calls: {id, name, arguments (a table, or a string when it was broken JSON)}
//	tool       id, name, is_error: one message for each result
//
// The function answers with
//
//	a string      the whole text
//	a table       with any of text, reasoning, tool_calls ({id?, name, arguments: a table or a string}),
//	              usage ({input_tokens, output_tokens}), stop ("stop", "length", "content_filter" ...)
//	a list        of strings and such tables: they arrive one after the other
//	a function    that is called until it gives nil: each result is a string or such a table. It may
//	              wait, and is not called again before the last piece was taken
//	an error      error({status = 429, message = "slow down", retry_after = 2}) fails as a provider
//	              that answers so; code names a failure without a status
package scriptmodel

import (
	"context"
	"errors"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

const name = "script"

// Options describe a Provider.
type Options struct {
	Path string // of the file
	// Source is used in place of the file's content when it is not empty.
	Source string
	// Config is of the VMs, with the host modules, grants and library folders that the script may use.
	Config engine.Config
	Limits engine.Limits
}

// Provider is a models.Provider. Any goroutine may use it. Close it.
type Provider struct{ pool *engine.Pool }

var _ models.Provider = (*Provider)(nil)

// New reads and compiles the file.
func New(o Options) (*Provider, error) {
	chunk, source := "@"+o.Path, o.Source
	if source == "" {
		file, err := module.ReadScript(o.Path)
		if err != nil {
			return nil, err
		}
		chunk, source = file.Chunk, string(file.Code)
	}
	config := o.Config
	config.Modules = append(config.Modules[:len(config.Modules):len(config.Modules)], pieces{})
	pool, err := engine.NewPool(&config,
		engine.Program{Chunk: chunk, Source: prelude + source, Entry: entry}, engine.PoolOptions{Limits: o.Limits})
	if err != nil {
		return nil, err
	}
	return &Provider{pool}, nil
}

// Close frees the idle VMs.
func (p *Provider) Close() { p.pool.Close() }

// entry is what an invocation calls. It is on the first line of the source, so that lines keep their
// numbers.
const entry = "__play"

const prelude = `function __play(request) ` +
	`if type(generate) ~= "function" then error("the file defines no global function generate", 0) end ` +
	`local answer = generate(request) ` +
	`if type(answer) ~= "function" then return answer end ` +
	`while true do local piece = answer() if piece == nil then return nil end __native.model_piece(piece) end ` +
	`end; `

// Stream implements models.Provider. The script runs on a goroutine of its own: events go to the
// caller on the caller's, and no VM holds the processor while they are taken.
func (p *Provider) Stream(ctx context.Context, r *models.Request, emit func(models.Event) error) (*models.Response, error) {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces := make(handover)
	done := make(chan outcome, 1)
	go func() { done <- p.play(context.WithValue(running, handoverKey{}, pieces), r) }()

	a := answer{collector: models.NewCollector(r, emit), stop: models.StopEnd}
	for {
		select {
		case piece := <-pieces:
			if err := a.tell(piece.value); err != nil {
				cancel()
				<-done
				return a.collector.Fail(err)
			}
			piece.taken <- struct{}{}
		case last := <-done:
			if last.err == nil {
				last.err = a.tell(last.value)
			}
			if ctx.Err() != nil {
				last.err = ctx.Err()
			}
			if last.err != nil {
				return a.collector.Fail(last.err)
			}
			return a.collector.End(a.stop)
		}
	}
}

type outcome struct {
	value any // the answer, or nil after pieces
	err   error
}

// play runs the function.
func (p *Provider) play(ctx context.Context, r *models.Request) (o outcome) {
	o.err = p.pool.Invoke(ctx, func(v luau.Values) error {
		list, err := v.All()
		if err == nil && len(list) > 0 {
			o.value = list[0]
		}
		return err
	}, requestTable(r))
	if o.err != nil {
		o.err = failure(o.err)
	}
	return o
}

// failure is what a script's error stands for.
func failure(err error) error {
	var raised *luau.Error
	if errors.As(err, &raised) {
		if fields, ok := raised.Value.(map[string]any); ok {
			return upstream(fields, raised.Message)
		}
	}
	return &models.Error{Code: models.CodeUpstream, Provider: name, Message: models.Clip(err.Error()), Cause: err}
}
