package gateway

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Names of the arguments of an operation's tool.
const (
	paramsKey = "params"
	bodyKey   = "body"
	rawKey    = "raw"
)

// innerPrefix is what the names of inner tools begin with: no tool of a file has a dot in its name.
const innerPrefix = "sdk."

// function is a function of a source as a tool of the pipeline.
type function struct {
	callable *catalog.Callable
	tool     *tooldef.Tool
	verdict  verdict
}

// InnerName is the name of a function in the pipeline, in the log and in policies.
func InnerName(c *catalog.Callable) string { return innerPrefix + c.FullName() }

// function makes the tool of a function when it is first asked for.
func (g *Gateway) function(v *view, c *catalog.Callable) (*function, error) {
	type made struct {
		f   *function
		err error
	}
	once, found := v.functions.Load(c)
	if !found {
		once, _ = v.functions.LoadOrStore(c, sync.OnceValue(func() made {
			f, err := g.newFunction(c)
			return made{f, err}
		}))
	}
	m := once.(func() made)()
	return m.f, m.err
}

func (g *Gateway) newFunction(c *catalog.Callable) (*function, error) {
	f := &function{callable: c, verdict: judge(g.options.Policy, c)}
	params, err := f.schema()
	if err != nil {
		return nil, err
	}
	f.tool = &tooldef.Tool{
		Name: InnerName(c), Title: c.Title, Description: c.Description, Params: params,
		Timeout: g.options.Timeout, Rate: f.verdict.rate, Guard: f.verdict.guard(c, params), Dry: isDry,
		Annotations: tooldef.Annotations{
			ReadOnly: c.Hints.ReadOnly, Destructive: c.Hints.Destructive, Idempotent: c.Hints.Idempotent, OpenWorld: c.Hints.OpenWorld,
		},
		Tags: c.Tags, Hash: c.Hash(), Inner: true, AsSent: true,
		Native: func(ctx context.Context, args any) (tooldef.Output, error) { return g.callUpstream(ctx, f, args) },
	}
	return f, nil
}

func takes(c *catalog.Callable) (t sdkmod.Takes) {
	if c.Body != nil {
		t |= sdkmod.Body
	}
	if c.Params != nil || c.Body == nil {
		t |= sdkmod.Params
	}
	return t
}

// schema is what the arguments are checked with.
func (f *function) schema() (*schema.Schema, error) {
	c := f.callable
	doc := map[string]any{"type": "object"}
	if c.Scope.Kind == catalog.MCP {
		if c.Params != nil {
			doc = maps.Clone(c.Params)
		}
		doc["type"] = "object"
	} else {
		properties := map[string]any{rawKey: true}
		var required []any
		if c.Params == nil && c.Body == nil { // scripts may give an empty table all the same
			properties[paramsKey] = map[string]any{"type": "object", "additionalProperties": false}
		}
		if c.Params != nil {
			properties[paramsKey] = c.Params
			if c.ParamsRequired() {
				required = append(required, paramsKey)
			}
		}
		if c.Body != nil {
			properties[bodyKey] = c.Body
		}
		doc["properties"], doc["required"], doc["additionalProperties"] = properties, required, false
		if required == nil {
			delete(doc, "required")
		}
	}
	if defs := reachable(doc, c.Defs); len(defs) > 0 {
		doc["$defs"] = defs
	}
	if c.Body != nil {
		doc = takingBytes(doc).(map[string]any)
	}
	made, err := schema.Compile(doc, c.FullName())
	if err == nil {
		return made, nil
	}
	// A server may send what is no schema. Then it checks the arguments itself.
	return schema.Compile(map[string]any{"type": "object"}, c.FullName())
}

// reachable are the definitions that a schema leads to: those of a document are many.
func reachable(doc any, defs map[string]any) map[string]any {
	if len(defs) == 0 {
		return nil
	}
	found := map[string]any{}
	todo := []any{doc}
	for len(todo) > 0 {
		tree := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch v := tree.(type) {
		case []any:
			todo = append(todo, v...)
		case map[string]any:
			if name := definition(v["$ref"]); name != "" && found[name] == nil && defs[name] != nil {
				found[name] = defs[name]
				todo = append(todo, defs[name])
			}
			for _, inner := range v {
				todo = append(todo, inner)
			}
		}
	}
	return found
}

// definition is the name that a reference is of; "" where it leads elsewhere.
func definition(ref any) string {
	text, _ := ref.(string)
	name, ok := strings.CutPrefix(text, "#/$defs/")
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, "/")
	return unescaped.Replace(name)
}

// callUpstream is what runs in the pipeline for one call of a function.
func (g *Gateway) callUpstream(ctx context.Context, f *function, args any) (tooldef.Output, error) {
	if dry := fakesOf(ctx); dry != nil {
		return dry.output(f, args)
	}
	calling, _ := toolhost.CallingOf(ctx)
	u := g.upstream(f.callable.Scope)
	if u == nil {
		return tooldef.Output{}, f.failed(&Failure{Code: "unavailable", Message: "the source " + f.callable.Scope.Name + " is not there any more"})
	}
	call := &Call{Function: f.callable, Client: clientOf(calling.Caller()), Calling: calling}
	if err := f.fill(call, args); err != nil {
		return tooldef.Output{}, err
	}
	leave, err := g.slots.enter(ctx, f.callable.Scope)
	if err != nil {
		return tooldef.Output{}, err
	}
	result, err := u.Call(ctx, call)
	leave()
	if err != nil {
		return tooldef.Output{}, f.failed(err)
	}
	if failure := failureOf(result.Tool); failure != nil {
		return tooldef.Output{}, f.failed(failure)
	}
	text, err := result.text()
	return tooldef.Output{JSON: text, Value: result}, err
}

// fill takes the arguments apart.
func (f *function) fill(call *Call, args any) (err error) {
	table, _ := args.(map[string]any)
	if f.callable.Scope.Kind == catalog.MCP {
		call.Params, err = jsonvalue.Encode(table)
		return err
	}
	if params, given := table[paramsKey]; given {
		if call.Params, err = jsonvalue.Encode(params); err != nil {
			return err
		}
	}
	body, given := table[bodyKey]
	raw, isRaw := table[rawKey]
	switch {
	case isRaw:
		text, _ := withBytes(raw).(string)
		call.RawBody = []byte(text)
	case given:
		call.Body = body
	case f.callable.BodyRequired:
		return &toolhost.Error{
			Code: toolhost.BadRequest, Path: "/" + bodyKey, Detail: "invalid_params",
			Message: "missing required parameter: " + bodyKey,
		}
	}
	return nil
}

// failed is an error of a source as the pipeline tells it.
func (f *function) failed(err error) error {
	var failure *Failure
	if !errors.As(err, &failure) {
		return err
	}
	return &toolhost.Error{Code: toolhost.Upstream, Message: failure.Message, Detail: failure.Code, Data: failure.data(f.callable)}
}
