package gateway

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

var _ sdkmod.Host = (*run)(nil)

// Script implements sdkmod.Host.
func (r *run) Script() *sdkmod.Script { return r.script }

// Sources implements sdkmod.Host.
func (r *run) Sources() []string {
	names := []string{}
	for _, s := range r.view.catalog.Sources() {
		if r.mayUse(s) {
			names = append(names, s.Ident)
		}
	}
	return names
}

// Source implements sdkmod.Host.
func (r *run) Source(name string) (string, error) {
	scope, err := r.scope(name)
	if err != nil {
		return "", err
	}
	return scope.Ident, nil
}

// Functions implements sdkmod.Host.
func (r *run) Functions(source string) []string {
	names := []string{}
	if scope, err := r.scope(source); err == nil {
		for _, c := range scope.Callables {
			names = append(names, c.Ident)
		}
	}
	return names
}

// Function implements sdkmod.Host.
func (r *run) Function(source, name string) (*sdkmod.Function, error) {
	c, err := r.found(source, name)
	if err != nil {
		return nil, err
	}
	return &sdkmod.Function{Takes: takes(c), Label: InnerName(c)}, nil
}

// Split implements sdkmod.Host.
func (r *run) Split(name string) (source, function string, err error) {
	c, err := r.view.catalog.Find(name)
	if err != nil {
		return "", "", unknown(err)
	}
	return c.Scope.Ident, c.Ident, nil
}

// Operation implements sdkmod.Host.
func (r *run) Operation(name string) string {
	if r.view.catalog.Source(name) != nil {
		return ""
	}
	if c := r.view.catalog.Alias(name); c != nil {
		return c.Scope.Ident
	}
	return ""
}

// Call implements sdkmod.Host.
func (r *run) Call(ctx context.Context, source, name, params, body string, raw bool, as string) (kind, text string, err error) {
	c, err := r.found(source, name)
	if err != nil {
		return "", "", err
	}
	if n := r.calls.Add(1); n > int64(r.gateway.options.MaxCalls) {
		return "", "", &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf(
			"a script may make %d calls ([gateway] max_calls); this one would be one more", r.gateway.options.MaxCalls)}
	}
	args, err := pipelineArgs(c, params, body, raw)
	if err != nil {
		return "", "", err
	}
	answer, failed := r.calling.Call(ctx, InnerName(c), args, toolhost.InnerFace)
	if failed != nil {
		return "", "", &raised{failed, c, args}
	}
	result, err := resultOf(c, answer)
	if err != nil {
		return "", "", err
	}
	if got := r.received.Add(int64(result.size())); got > r.gateway.options.MaxBytes {
		return "", "", &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf(
			"the script has got more than %d bytes from its sources ([gateway] max_bytes)", r.gateway.options.MaxBytes)}
	}
	return result.as(as, authorityOf(c.Scope))
}

// pipelineArgs are the arguments of a function as its tool takes them.
func pipelineArgs(c *catalog.Callable, params, body string, raw bool) ([]byte, error) {
	if c.Scope.Kind == catalog.MCP {
		return []byte(params), nil
	}
	args := map[string]json.RawMessage{}
	switch {
	case c.Params == nil:
		if params != "" && params != "{}" && params != "[]" {
			return nil, &luau.Error{Code: "invalid_params", Message: InnerName(c) + " takes no parameters: call it without arguments"}
		}
	case params != "":
		args[paramsKey] = json.RawMessage(params)
	case c.ParamsRequired():
		args[paramsKey] = json.RawMessage("{}") // the error names what is missing then
	}
	switch {
	case raw:
		text, err := jsonvalue.Encode(rawText(body))
		if err != nil {
			return nil, err
		}
		args[rawKey] = text
	case body != "":
		args[bodyKey] = json.RawMessage(body)
	}
	return marshal(args)
}

// resultOf is the result of a call, also of one that was made before and whose answer was kept.
func resultOf(c *catalog.Callable, answer *toolhost.Answer) (*Result, error) {
	if result, ok := answer.Value.(*Result); ok {
		return result, nil
	}
	return restored(c.Scope.Kind, answer.JSON)
}

// Kept implements sdkmod.Host.
func (r *run) Kept(handle, path string, from, to int) (kind, text string, err error) {
	kept, err := r.gateway.sessions.find(r.client, handle)
	if err != nil {
		return "", "", err
	}
	return part(kept, path, from, to)
}

// Files implements sdkmod.Host.
func (r *run) Files() sdkmod.Files { return noted{r} }
