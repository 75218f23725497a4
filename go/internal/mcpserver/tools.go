package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// Changed makes the list of tools what the host serves now, and tells the clients when that is something else.
func (s *Server) Changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	served := map[string]bool{}
	for _, t := range s.host.Tools() {
		served[t.Name] = true
		if hash, there := s.listed[t.Name]; there && hash == t.Hash {
			continue
		}
		if err := s.add(t); err != nil {
			s.options.Logger.Error("a tool cannot be served to MCP clients", slog.String("tool", t.Name), slog.String("error", err.Error()))
			served[t.Name] = false
			continue
		}
		s.listed[t.Name] = t.Hash
	}
	var gone []string
	for name := range s.listed {
		if !served[name] {
			gone = append(gone, name)
			delete(s.listed, name)
		}
	}
	if len(gone) > 0 {
		s.mcp.RemoveTools(gone...)
		s.mcp.RemovePrompts(gone...)
	}
	s.offerAll()
}

// add lists a tool. The SDK panics where it refuses one: the others are still served.
func (s *Server) add(t *tooldef.Tool) (err error) {
	defer func() {
		if refused := recover(); refused != nil {
			err = fmt.Errorf("%v", refused)
		}
	}()
	described, err := describe(t)
	if err != nil {
		return err
	}
	s.mcp.AddTool(described, s.call)
	s.offer(t)
	return nil
}

func describe(t *tooldef.Tool) (*mcp.Tool, error) {
	described := &mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description, Annotations: annotations(&t.Annotations)}
	input, err := document(t.Params)
	if err != nil {
		return nil, fmt.Errorf("the schema of its arguments: %w", err)
	}
	described.InputSchema = input
	if t.Result != nil {
		output, err := document(t.Result)
		if err != nil {
			return nil, fmt.Errorf("the schema of its result: %w", err)
		}
		described.OutputSchema = output
	}
	return described, nil
}

// document is a schema as its author wrote it.
func document(s *schema.Schema) (json.RawMessage, error) { return jsonvalue.Encode(s.Document()) }

func annotations(a *tooldef.Annotations) *mcp.ToolAnnotations {
	if *a == (tooldef.Annotations{}) {
		return nil
	}
	// The SDK always writes the two hints that are no pointers; false is what leaving them out means.
	return &mcp.ToolAnnotations{
		Title: a.Title, ReadOnlyHint: a.ReadOnly != nil && *a.ReadOnly, DestructiveHint: a.Destructive,
		IdempotentHint: a.Idempotent != nil && *a.Idempotent, OpenWorldHint: a.OpenWorld,
	}
}

// listing leaves out, for clients of sessions, the schema of a result that is no object: their revisions know
// none, and some of them would refuse the whole list.
func (s *Server) listing(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		list, ok := result.(*mcp.ListToolsResult)
		request, is := req.(*mcp.ListToolsRequest)
		if err != nil || !ok || !is || request.ProtocolVersion() >= stateless {
			return result, err
		}
		for i, t := range list.Tools {
			if raw, ok := t.OutputSchema.(json.RawMessage); ok && !ofObject(raw) {
				plain := *t
				plain.OutputSchema = nil
				list.Tools[i] = &plain
			}
		}
		return list, nil
	}
}

func ofObject(text json.RawMessage) bool {
	var outer struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(text, &outer) == nil && outer.Type == "object"
}
