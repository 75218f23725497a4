package openaimodel

import (
	"encoding/base64"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/hukilau/hukilau/go/internal/models"
)

// params is the request as the SDK takes it.
func (p *Provider) params(r *models.Request) (openai.ChatCompletionNewParams, error) {
	params := openai.ChatCompletionNewParams{
		Model:         r.Model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if r.Temperature != nil {
		params.Temperature = openai.Float(*r.Temperature)
	}
	if r.Seed != nil {
		params.Seed = openai.Int(*r.Seed)
	}
	if len(r.Stop) > 0 {
		params.Stop = openai.ChatCompletionNewParamsStopUnion{OfStringArray: r.Stop}
	}
	if r.MaxTokens > 0 {
		// OpenAI's newer models refuse the old name, the other servers know only that.
		if p.compatible {
			params.MaxTokens = openai.Int(int64(r.MaxTokens))
		} else {
			params.MaxCompletionTokens = openai.Int(int64(r.MaxTokens))
		}
	}
	for _, tool := range r.Tools {
		f := shared.FunctionDefinitionParam{Name: tool.Name, Parameters: models.ObjectSchema(tool.Schema)}
		if tool.Description != "" {
			f.Description = openai.String(tool.Description)
		}
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(f))
	}
	system := r.System
	if r.Schema != nil {
		form := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Schema: r.Schema}
		strict := models.IsStrict(r.Schema) && !p.compatible
		if strict {
			form.Strict = openai.Bool(true)
		}
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: form}
		if !strict {
			// Some ignore the schema, others hold the model to it without showing it.
			system = models.JoinPrompts(system, models.SchemaPrompt(r.Schema))
		}
	}
	if system != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(system))
	}
	for _, m := range r.Messages {
		list, err := p.messages(m)
		if err != nil {
			return params, err
		}
		params.Messages = append(params.Messages, list...)
	}
	return params, nil
}

// messages are those of the wire for one of ours: each result of a tool is one of its own there.
func (p *Provider) messages(m models.Message) ([]openai.ChatCompletionMessageParamUnion, error) {
	switch m.Role {
	case models.RoleSystem:
		return []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(m.Text())}, nil
	case models.RoleAssistant:
		return []openai.ChatCompletionMessageParamUnion{assistant(m)}, nil
	case models.RoleTool:
		var list []openai.ChatCompletionMessageParamUnion
		for _, part := range m.Parts {
			if part.Result != nil {
				list = append(list, openai.ToolMessage(part.Result.Text, part.Result.ID))
			}
		}
		return list, nil
	case models.RoleUser:
		return user(m), nil
	}
	return nil, invalid(p.name, "no such role: "+string(m.Role))
}

func user(m models.Message) []openai.ChatCompletionMessageParamUnion {
	var parts []openai.ChatCompletionContentPartUnionParam
	images := false
	for _, part := range m.Parts {
		switch {
		case part.Image != nil:
			images = true
			parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: imageURL(part.Image)}))
		case part.IsText():
			parts = append(parts, openai.TextContentPart(part.Text))
		}
	}
	if !images {
		// Small servers know only the plain form.
		return []openai.ChatCompletionMessageParamUnion{openai.UserMessage(m.Text())}
	}
	return []openai.ChatCompletionMessageParamUnion{openai.UserMessage(parts)}
}

func imageURL(image *models.Image) string {
	if image.URL != "" {
		return image.URL
	}
	return "data:" + image.MediaType + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
}

func assistant(m models.Message) openai.ChatCompletionMessageParamUnion {
	var message openai.ChatCompletionAssistantMessageParam
	calls := m.Calls()
	if text := m.Text(); text != "" || len(calls) == 0 {
		message.Content.OfString = openai.String(text)
	}
	for _, call := range calls {
		message.ToolCalls = append(message.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: call.ID,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name: call.Name, Arguments: string(call.Arguments),
				},
			},
		})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &message}
}
