package openapi

import (
	"maps"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// Source is what scripts can call. Its functions are in the order of their paths and share their definitions.
func (a *API) Source() *catalog.Source {
	m := a.model
	source := &catalog.Source{
		Name: a.config.Name, Kind: catalog.OpenAPI, Title: m.Title, Description: m.Description, Version: m.Version, Tags: m.Tags,
	}
	for _, op := range m.Operations {
		if a.operations[op.Name] == op {
			source.Functions = append(source.Functions, a.function(op))
		}
	}
	source.Defs = a.usedDefs(source.Functions)
	for i := range source.Functions {
		source.Functions[i].Defs = source.Defs
	}
	return source
}

// usedDefs are the definitions that functions refer to; all of them where all operations are there.
func (a *API) usedDefs(functions []catalog.Function) map[string]any {
	if len(a.operations) == len(a.model.Operations) {
		return a.model.defs
	}
	used := map[string]any{}
	var queue []any
	for i := range functions {
		if functions[i].Params != nil {
			queue = append(queue, functions[i].Params)
		}
		queue = append(queue, functions[i].Body, functions[i].Result)
	}
	for len(queue) > 0 {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		eachSchema(s, func(object map[string]any) {
			name, ok := refName(object)
			if _, known := used[name]; ok && !known {
				used[name] = a.model.defs[name]
				queue = append(queue, a.model.defs[name])
			}
		})
	}
	return used
}

func (a *API) function(op *operation) catalog.Function {
	f := catalog.Function{
		Name: op.Name, Suggested: op.Suggested, Title: op.Summary, Description: op.Description, Tags: op.Tags,
		Deprecated: op.Deprecated, Params: a.params(op), Result: op.result, NoResult: op.NoResult,
		Hints: hintsOf(op.Method), Method: op.Method, Path: op.Path,
	}
	if f.Description == "" {
		f.Title, f.Description = "", op.Summary
	}
	if op.Body != nil {
		f.Body, f.BodyRequired, f.BodyDoc = op.Body.schema, op.Body.Required, op.Body.Doc
	}
	return f
}

// params is the schema of the table of parameters; nil: there are none.
func (a *API) params(op *operation) map[string]any {
	properties := map[string]any{}
	required := []any{}
	for i, index := range op.Parameters {
		p := a.model.Parameters[index]
		if a.isHidden(p) {
			continue
		}
		properties[op.Keys[i]] = described(p)
		if p.Required {
			required = append(required, op.Keys[i])
		}
	}
	if len(properties) == 0 {
		return nil
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// described is the schema of a parameter with what the parameter says about itself.
func described(p *parameter) any {
	object, _ := p.schema.(map[string]any)
	if p.Description == "" && !p.Deprecated {
		return p.schema
	}
	if object = maps.Clone(object); object == nil {
		object = map[string]any{}
	}
	if p.Description != "" {
		object["description"] = p.Description
	}
	if p.Deprecated {
		object["deprecated"] = true
	}
	return object
}

// hintsOf is what HTTP says about a method.
func hintsOf(method string) catalog.Hints {
	is := func(among string) *bool {
		yes := strings.Contains(among, " "+method+" ")
		return &yes
	}
	open := true
	return catalog.Hints{
		ReadOnly: is(" GET HEAD OPTIONS TRACE "), Destructive: is(" DELETE "), Idempotent: is(" GET HEAD OPTIONS TRACE PUT DELETE "),
		OpenWorld: &open,
	}
}
