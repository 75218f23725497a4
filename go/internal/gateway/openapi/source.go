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
	source.Defs = a.usedDefs()
	for i := range source.Functions {
		source.Functions[i].Defs = source.Defs
	}
	return source
}

// usedDefs are the definitions that the functions refer to; all of them where all operations are there.
func (a *API) usedDefs() map[string]any {
	m := a.model
	if len(a.operations) == len(m.Operations) {
		return m.defs
	}
	parameters, bodies, results := map[int]bool{}, map[int]bool{}, map[int]bool{}
	var queue []any
	once := func(seen map[int]bool, index int, schema func() any) {
		if index >= 0 && !seen[index] {
			seen[index] = true
			queue = append(queue, schema())
		}
	}
	for _, op := range a.operations {
		for _, index := range op.Parameters {
			if !a.isHidden(m.Parameters[index]) {
				once(parameters, index, func() any { return m.Parameters[index].schema })
			}
		}
		once(bodies, op.Body, func() any { return m.Bodies[op.Body].schema })
		once(results, op.Result, func() any { return m.results[op.Result] })
	}
	used := map[string]any{}
	for len(queue) > 0 {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		eachSchema(s, func(object map[string]any) {
			name, ok := refName(object)
			if _, known := used[name]; ok && !known {
				used[name] = m.defs[name]
				queue = append(queue, m.defs[name])
			}
		})
	}
	return used
}

func (a *API) function(op *operation) catalog.Function {
	f := catalog.Function{
		Name: op.Name, Suggested: op.Suggested, Title: op.Summary, Description: op.Description, Tags: op.Tags,
		Deprecated: op.Deprecated, Params: a.params(op), Result: a.model.result(op), NoResult: op.NoResult,
		Hints: hintsOf(op.Method), Method: op.Method, Path: op.Path,
	}
	if f.Description == "" {
		f.Title, f.Description = "", op.Summary
	}
	if b := a.model.body(op); b != nil {
		f.Body, f.BodyRequired, f.BodyDoc = b.schema, b.Required, b.Doc
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
