package geminimodel

import (
	"encoding/json"
	"math"

	"google.golang.org/genai"

	"github.com/hukilau/hukilau/go/internal/models"
)

// newRequest is the request as the SDK takes it.
func newRequest(r *models.Request) ([]*genai.Content, *genai.GenerateContentConfig, error) {
	continued := false
	config := &genai.GenerateContentConfig{
		StopSequences: r.Stop, MaxOutputTokens: int32(min(r.MaxTokens, math.MaxInt32)),
		AutomaticContinuation: &continued,
	}
	if r.Temperature != nil {
		config.Temperature = genai.Ptr(float32(*r.Temperature))
	}
	if r.Seed != nil {
		config.Seed = genai.Ptr(int32(*r.Seed)) // the API has 32 bits: the low ones do
	}
	system := r.System
	if r.Schema != nil {
		config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", r.Schema
	}
	if len(r.Tools) > 0 {
		config.Tools = []*genai.Tool{newTools(r.Tools)}
	}
	names := map[string]string{} // of calls, by id
	var contents []*genai.Content
	for _, m := range r.Messages {
		if m.Role == models.RoleSystem {
			system = models.JoinPrompts(system, m.Text())
			continue
		}
		content, err := newContent(m, names)
		if err != nil {
			return nil, nil, err
		}
		if len(content.Parts) > 0 {
			contents = append(contents, content)
		}
	}
	if r.Schema != nil && !models.IsStrict(r.Schema) {
		system = models.JoinPrompts(system, models.SchemaPrompt(r.Schema))
	}
	if system != "" {
		config.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: system}}}
	}
	return contents, config, nil
}

func newTools(tools []models.Tool) *genai.Tool {
	all := &genai.Tool{}
	for _, tool := range tools {
		all.FunctionDeclarations = append(all.FunctionDeclarations, &genai.FunctionDeclaration{
			Name: tool.Name, Description: tool.Description, ParametersJsonSchema: models.ObjectSchema(tool.Schema),
		})
	}
	return all
}

func newContent(m models.Message, names map[string]string) (*genai.Content, error) {
	content := &genai.Content{}
	switch m.Role {
	case models.RoleUser, models.RoleTool:
		content.Role = "user"
	case models.RoleAssistant:
		content.Role = "model"
	default:
		return nil, &models.Error{Code: models.CodeInvalidRequest, Provider: name, Message: "no such role: " + string(m.Role)}
	}
	for _, p := range m.Parts {
		if part := newPart(p, names); part != nil {
			content.Parts = append(content.Parts, part)
		}
	}
	return content, nil
}

func newPart(p models.Part, names map[string]string) *genai.Part {
	switch {
	case p.Image != nil && p.Image.URL != "":
		return &genai.Part{FileData: &genai.FileData{FileURI: p.Image.URL, MIMEType: p.Image.MediaType}}
	case p.Image != nil:
		return &genai.Part{InlineData: &genai.Blob{Data: p.Image.Data, MIMEType: p.Image.MediaType}}
	case p.Call != nil:
		names[p.Call.ID] = p.Call.Name
		return &genai.Part{
			FunctionCall:     &genai.FunctionCall{ID: p.Call.ID, Name: p.Call.Name, Args: arguments(p.Call.Arguments)},
			ThoughtSignature: p.Call.Signature,
		}
	case p.Result != nil:
		return newResult(p.Result, names)
	case p.Reasoning != nil || p.Text == "":
		return nil // thoughts are for people here: the signature of a call is what goes back
	}
	return &genai.Part{Text: p.Text}
}

func newResult(r *models.ToolResult, names map[string]string) *genai.Part {
	function, key := r.Name, "output"
	if function == "" {
		function = names[r.ID]
	}
	if r.IsError {
		key = "error"
	}
	return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: r.ID, Name: function, Response: map[string]any{key: r.Text}}}
}

// arguments are an object also when the model wrote broken JSON: the result tells it what was wrong.
func arguments(text json.RawMessage) map[string]any {
	var object map[string]any
	if json.Unmarshal(text, &object) != nil || object == nil {
		return map[string]any{}
	}
	return object
}
