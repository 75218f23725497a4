package hostapp

import (
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
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
		tools = append(tools, map[string]any{"name": t.Name, "description": t.Description, "builtin": false, "parameters": t.Params.Document()})
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
