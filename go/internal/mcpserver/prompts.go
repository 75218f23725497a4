package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// offer lists an agent as a prompt where its file asks for it: a client's own model then plays it.
func (s *Server) offer(t *tooldef.Tool) {
	if t.Agent == nil || !t.Agent.Offered {
		s.mcp.RemovePrompts(t.Name)
		return
	}
	s.mcp.AddPrompt(&mcp.Prompt{Name: t.Name, Title: t.Title, Description: t.Description, Arguments: promptArguments(t)},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return prompt(t, req.Params.Arguments)
		})
}

func promptArguments(t *tooldef.Tool) []*mcp.PromptArgument {
	doc, _ := t.Params.Document().(map[string]any)
	properties, _ := doc["properties"].(map[string]any)
	required, _ := doc["required"].([]any)
	var list []*mcp.PromptArgument
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(map[string]any)
		description, _ := property["description"].(string)
		list = append(list, &mcp.PromptArgument{Name: name, Description: description, Required: slices.Contains(required, any(name))})
	}
	return list
}

// prompt is what the agent would be told, as a message of the user.
func prompt(t *tooldef.Tool, given map[string]string) (*mcp.GetPromptResult, error) {
	text := strings.TrimSpace(t.Agent.Prompt)
	for _, argument := range promptArguments(t) {
		value, there := given[argument.Name]
		switch {
		case !there && argument.Required:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("the prompt %s needs the argument %s", t.Name, argument.Name)}
		case !there:
		case argument.Name == "input":
			text += "\n\n" + value
		default:
			text += "\n\n" + argument.Name + ": " + value
		}
	}
	return &mcp.GetPromptResult{
		Description: t.Description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: strings.TrimSpace(text)}}},
	}, nil
}
