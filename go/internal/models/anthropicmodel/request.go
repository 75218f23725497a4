package anthropicmodel

import (
	"encoding/base64"
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/hukilau/hukilau/go/internal/models"
)

// newParams is the request as the SDK takes it. There is no seed in this API.
func newParams(r *models.Request) (anthropic.MessageNewParams, error) {
	params := anthropic.MessageNewParams{
		Model: anthropic.Model(r.Model), MaxTokens: defaultMaxTokens, StopSequences: r.Stop,
	}
	if r.MaxTokens > 0 {
		params.MaxTokens = int64(r.MaxTokens)
	}
	system := r.System
	for _, m := range r.Messages {
		if m.Role == models.RoleSystem {
			system = models.JoinPrompts(system, m.Text())
			continue
		}
		message, err := newMessage(m)
		if err != nil {
			return params, err
		}
		if message != nil {
			params.Messages = append(params.Messages, *message)
		}
	}
	switch {
	case models.IsStrict(r.Schema):
		params.OutputConfig.Format.Schema = r.Schema.(map[string]any)
	case r.Schema != nil:
		system = models.JoinPrompts(system, models.SchemaPrompt(r.Schema))
	}
	if system != "" {
		params.System = []anthropic.TextBlockParam{{Text: system}}
	}
	for _, tool := range r.Tools {
		params.Tools = append(params.Tools, newTool(tool))
	}
	return params, nil
}

func newTool(tool models.Tool) anthropic.ToolUnionParam {
	schema := anthropic.ToolInputSchemaParam{ExtraFields: map[string]any{}}
	for keyword, value := range models.ObjectSchema(tool.Schema) {
		if keyword != "type" {
			schema.ExtraFields[keyword] = value
		}
	}
	param := anthropic.ToolParam{Name: tool.Name, InputSchema: schema}
	if tool.Description != "" {
		param.Description = anthropic.String(tool.Description)
	}
	return anthropic.ToolUnionParam{OfTool: &param}
}

// newMessage is one message of the wire; nil when there would be nothing in it, which the API
// refuses.
func newMessage(m models.Message) (*anthropic.MessageParam, error) {
	var blocks []anthropic.ContentBlockParamUnion
	for _, part := range m.Parts {
		if b, ok := newBlock(part); ok {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return nil, nil
	}
	var message anthropic.MessageParam
	switch m.Role {
	case models.RoleAssistant:
		message = anthropic.NewAssistantMessage(blocks...)
	case models.RoleUser, models.RoleTool:
		message = anthropic.NewUserMessage(blocks...)
	default:
		return nil, &models.Error{Code: models.CodeInvalidRequest, Provider: name, Message: "no such role: " + string(m.Role)}
	}
	return &message, nil
}

func newBlock(p models.Part) (anthropic.ContentBlockParamUnion, bool) {
	switch {
	case p.Image != nil && p.Image.URL != "":
		return anthropic.NewImageBlock(anthropic.URLImageSourceParam{URL: p.Image.URL}), true
	case p.Image != nil:
		return anthropic.NewImageBlockBase64(p.Image.MediaType, base64.StdEncoding.EncodeToString(p.Image.Data)), true
	case p.Call != nil:
		return anthropic.NewToolUseBlock(p.Call.ID, input(p.Call.Arguments), p.Call.Name), true
	case p.Result != nil:
		return newResult(p.Result), true
	case p.Reasoning != nil && p.Reasoning.Redacted != "":
		return anthropic.NewRedactedThinkingBlock(p.Reasoning.Redacted), true
	case p.Reasoning != nil:
		// Unsigned thoughts are another provider's, and would be refused.
		return anthropic.NewThinkingBlock(p.Reasoning.Signature, p.Reasoning.Text), p.Reasoning.Signature != ""
	}
	return anthropic.NewTextBlock(p.Text), p.Text != ""
}

// newResult answers a tool call. An empty text block would be refused.
func newResult(r *models.ToolResult) anthropic.ContentBlockParamUnion {
	b := anthropic.NewToolResultBlock(r.ID, r.Text, r.IsError)
	if r.Text == "" {
		b.OfToolResult.Content = nil
	}
	return b
}

// input is an object also when the model wrote broken JSON: the API takes nothing else, and the
// result tells the model what was wrong.
func input(arguments json.RawMessage) any {
	var object map[string]json.RawMessage
	if json.Unmarshal(arguments, &object) != nil || object == nil {
		return map[string]any{}
	}
	return arguments
}
