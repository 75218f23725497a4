package hostapp

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// toolGlobals are those of tools beside what every script finds. Those of Lua tools are what the prelude of package
// toolhost makes; their types are not written down.
const toolGlobals = `
declare tool: any
declare context: any
declare base64: any
declare crypto: any
declare env: any
declare fs: any
declare http: any
declare json: any
declare log: any
declare sleep: any
`

// checkTypes are what the type checker says about the scripts of tools. warn is told when there is none.
func (p *Project) checkTypes(ctx context.Context, warn func(message string)) ([]tooldef.Finding, error) {
	checker := newChecker(warn)
	defer checker.Close()
	var list []tooldef.Finding
	for _, t := range p.Set().Tools() {
		if t.Agent != nil || t.Stale {
			continue
		}
		found, err := p.checkTool(ctx, checker, t)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, typecheck.ErrAbsent):
			return nil, nil
		case err != nil:
			list = append(list, tooldef.Finding{Severity: tooldef.Warning, Tool: t.Name, File: t.File, Line: t.Line, Message: err.Error()})
		}
		list = append(list, found...)
	}
	return list, nil
}

func (p *Project) checkTool(ctx context.Context, checker *typecheck.Checker, t *tooldef.Tool) ([]tooldef.Finding, error) {
	resolver, err := p.resolverOf(t.Chunk)
	if err != nil {
		return nil, err
	}
	definitions := hostDefinitions()
	if t.Dialect == tooldef.Execute {
		definitions = executeDefinitions()
	}
	source := typedTool(t)
	found, err := checker.Check(ctx, typecheck.Request{
		Chunk: t.Chunk, Source: source.text, Definitions: definitions, Mode: typecheck.Nonstrict,
		Modules: modulesOf("tool "+t.Chunk, resolver),
	})
	if err != nil {
		return nil, err
	}
	var list []tooldef.Finding
	for _, f := range found {
		if source.added(f) || f.Kind == typecheck.Syntax || f.Kind == typecheck.UnknownModule { // said already
			continue
		}
		list = append(list, tooldef.Finding{
			Severity: tooldef.Warning, Tool: t.Name, File: strings.TrimPrefix(t.Chunk, "@"), Line: f.Line, Message: f.Text(),
		})
	}
	return list, nil
}

// typedSource is a script with types for what it is called with, each line where it was.
type typedSource struct {
	text       string
	line       int // 0: nothing was added
	begin, end int // columns of what stands before the function
}

func (s typedSource) added(f typecheck.Finding) bool {
	return f.Line == s.line && f.Column >= s.begin && f.Column < s.end
}

// entries find the function that is called, whose parameters have no types.
var entries = map[tooldef.Dialect]*regexp.Regexp{
	tooldef.Invoke:  regexp.MustCompile(`(?m)^[ \t]*function[ \t]+invoke[ \t]*\([ \t]*(\w+)(?:[ \t]*,[ \t]*(\w+))?[ \t]*\)`),
	tooldef.Execute: regexp.MustCompile(`(?m)^[ \t]*function[ \t]+tool\.execute[ \t]*\([ \t]*(\w+)(?:[ \t]*,[ \t]*(\w+))?[ \t]*\)`),
}

const (
	contextType = "ToolContext"
	argsType    = "ToolArgs"
)

// typedTool writes the types of ctx and args at the function.
func typedTool(t *tooldef.Tool) typedSource {
	script := t.Source
	at := entries[t.Dialect].FindStringSubmatchIndex(script)
	if at == nil {
		return typedSource{text: script}
	}
	types := luautype.TypeOf(argsType, filledIn(t.Params.Document())) + " "
	kinds := []string{argsType, ""}
	if t.Dialect == tooldef.Invoke {
		types += `local ToolTypes = require("haivivi/types") type ` + contextType + " = ToolTypes.Context "
		kinds = []string{contextType, argsType}
	}
	var b strings.Builder
	b.WriteString(script[:at[0]] + types)
	from := at[0]
	for i, kind := range kinds {
		if end := at[2*i+3]; end >= 0 && kind != "" {
			b.WriteString(script[from:end] + ": " + kind)
			from = end
		}
	}
	b.WriteString(script[from:])
	begin := at[0] - (strings.LastIndexByte(script[:at[0]], '\n') + 1) + 1
	return typedSource{b.String(), 1 + strings.Count(script[:at[0]], "\n"), begin, begin + len(types)}
}

// filledIn is a schema as a script sees its values: defaults are filled in.
func filledIn(document any) any {
	s, ok := document.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	if !ok || len(properties) == 0 {
		return document
	}
	required, _ := s["required"].([]any)
	required = slices.Clone(required)
	for name, property := range properties {
		if p, _ := property.(map[string]any); p["default"] != nil {
			required = append(required, name)
		}
	}
	filled := maps.Clone(s)
	filled["required"] = required
	return filled
}

func executeDefinitions() typecheck.Definitions {
	host := hostDefinitions()
	return typecheck.Definitions{ID: host.ID + " execute", Text: host.Text + toolGlobals}
}

// warn tells the operator.
func (p *Project) warn(message string) {
	if p.options.Stderr != nil {
		app.Warn(p.options.Stderr, message)
	}
}
