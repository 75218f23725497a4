package hostapp

import (
	"maps"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// Tools are the project's tools by name.
func (p *Project) Tools() []*tooldef.Tool { return p.Set().Tools() }

// Broken are the definitions that are no tools.
func (p *Project) Broken() []tooldef.Broken { return p.Set().Errors() }

// ListJSON lists the tools in the form that models take, and what is broken.
func (p *Project) ListJSON() ([]byte, error) {
	tools := []any{}
	for _, t := range p.Tools() {
		tools = append(tools, server.ToolTree(t))
	}
	list := map[string]any{"tools": tools}
	broken := []any{}
	for _, b := range p.Broken() {
		broken = append(broken, map[string]any{"file": b.File, "line": float64(b.Line), "name": b.Name, "error": b.Err.Error()})
	}
	if len(broken) > 0 {
		list["errors"] = broken
	}
	return jsonvalue.Indent(list)
}

// Parameters are the names of a tool's parameters in one line: those that must be given, and the others with a
// question mark.
func Parameters(t *tooldef.Tool) string {
	document, _ := t.Params.Document().(map[string]any)
	properties, _ := document["properties"].(map[string]any)
	required, _ := document["required"].([]any)
	var needed, others []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) {
			needed = append(needed, name)
		} else {
			others = append(others, name+"?")
		}
	}
	return "(" + strings.Join(append(needed, others...), ", ") + ")"
}

// FirstSentence is the beginning of a description.
func FirstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if end := strings.Index(text, ". "); end >= 0 {
		text = text[:end+1]
	}
	if runes := []rune(text); len(runes) > 80 {
		text = string(runes[:77]) + "..."
	}
	return text
}

func nearest(name string, names []string) string { return spelling.Nearest(name, names) }
