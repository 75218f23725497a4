package mcpserver

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// offer lists an agent as a prompt where its file asks for it: a client's own model then plays it.
func (s *Server) offer(t *tooldef.Tool) {
	if t.Agent == nil || !t.Agent.Offered {
		s.mcp.RemovePrompts(t.Name)
		return
	}
	s.mcp.AddPrompt(&mcp.Prompt{Name: t.Name, Title: t.Title, Description: t.Description, Arguments: promptArguments(t)},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return s.prompt(t, req.Params.Arguments)
		})
}

func promptArguments(t *tooldef.Tool) []*mcp.PromptArgument {
	doc, _ := t.Params.Document().(map[string]any)
	required, _ := doc["required"].([]any)
	var list []*mcp.PromptArgument
	for name, parameter := range properties(t) {
		property, _ := parameter.(map[string]any)
		description, _ := property["description"].(string)
		_, completed := property["default"]
		list = append(list, &mcp.PromptArgument{Name: name, Description: description, Required: slices.Contains(required, any(name)) && !completed})
	}
	slices.SortFunc(list, func(a, b *mcp.PromptArgument) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// properties are the schemas of a tool's parameters.
func properties(t *tooldef.Tool) map[string]any {
	doc, _ := t.Params.Document().(map[string]any)
	all, _ := doc["properties"].(map[string]any)
	return all
}

// prompt is what the agent would be told, as a message of the user. Its arguments are those of the tool, and are
// completed and checked as they are in a call; a prompt's are all texts.
func (s *Server) prompt(t *tooldef.Tool, given map[string]string) (*mcp.GetPromptResult, error) {
	args := map[string]any{}
	for name, text := range given {
		value, wanted := schema.FromText(properties(t)[name], text)
		if wanted != nil {
			value = text // the schema says what is wrong with it
		}
		args[name] = value
	}
	completed, failed := toolhost.Complete(t, args)
	if failed != nil {
		return nil, s.protocolError(failed)
	}
	text, err := promptText(t.Agent, completed)
	if err != nil {
		return nil, err
	}
	return &mcp.GetPromptResult{
		Description: t.Description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}, nil
}

// promptText is the agent's own prompt with the arguments below it.
func promptText(agent *tooldef.Agent, completed any) (string, error) {
	text := strings.TrimSpace(agent.Prompt)
	args, _ := completed.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		value, plain := args[name].(string)
		if !plain {
			shown, err := jsonvalue.Encode(args[name])
			if err != nil {
				return "", err
			}
			value = string(shown)
		}
		if name == "input" {
			text += "\n\n" + value
		} else {
			text += "\n\n" + name + ": " + value
		}
	}
	return strings.TrimSpace(text), nil
}
