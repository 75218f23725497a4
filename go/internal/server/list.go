package server

import (
	"net/http"
	"strings"

	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// list is GET /tools/list: the form in which models are told of functions.
func (s *Server) list(x *exchange) {
	tools := []any{}
	for _, t := range s.options.Host.Tools() {
		tools = append(tools, ToolTree(t))
	}
	tree := map[string]any{"tools": tools}
	if broken := s.options.Broken(); len(broken) > 0 {
		tree["errors"] = s.brokenTree(broken)
	}
	x.value(http.StatusOK, tree)
}

// ToolTree describes a tool as a list of tools does, as a JSON tree. Its configuration and what it may reach are
// nobody's business.
func ToolTree(t *tooldef.Tool) map[string]any {
	tree := map[string]any{"name": t.Name, "description": t.Description, "builtin": false, "parameters": document(t.Params)}
	if t.Title != "" {
		tree["title"] = t.Title
	}
	if t.Version != "" {
		tree["version"] = t.Version
	}
	if t.Result != nil {
		tree["result"] = document(t.Result)
	}
	if t.Approve {
		tree["approve"] = true
	}
	if len(t.Tags) > 0 {
		tree["tags"] = texts(t.Tags)
	}
	return tree
}

func texts(list []string) []any {
	all := make([]any, len(list))
	for i, text := range list {
		all[i] = text
	}
	return all
}

// document is the JSON of a schema.
func document(s *schema.Schema) any { return s.Document() }

func (s *Server) brokenTree(broken []Broken) []any {
	list := make([]any, len(broken))
	for i, b := range broken {
		entry := map[string]any{"file": b.File, "error": strings.ToValidUTF8(s.options.Redact(b.Error), "\uFFFD")}
		if b.Name != "" {
			entry["name"] = b.Name
		}
		list[i] = entry
	}
	return list
}
