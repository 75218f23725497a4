package scriptmodel

import (
	"encoding/json"
	"slices"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/models"
)

// requestTable is the request as scripts see it.
func requestTable(r *models.Request) map[string]any {
	messages := []any{}
	for _, m := range r.Messages {
		messages = append(messages, messageTables(m)...)
	}
	table := map[string]any{"model": r.Model, "messages": messages}
	if r.System != "" {
		table["system"] = r.System
	}
	if r.Temperature != nil {
		table["temperature"] = *r.Temperature
	}
	if r.MaxTokens > 0 {
		table["max_tokens"] = r.MaxTokens
	}
	if len(r.Stop) > 0 {
		table["stop"] = r.Stop
	}
	if r.Seed != nil {
		table["seed"] = *r.Seed
	}
	if r.Schema != nil {
		table["schema"] = r.Schema
	}
	tools := []any{}
	for _, tool := range r.Tools {
		tools = append(tools, map[string]any{"name": tool.Name, "description": tool.Description, "schema": models.ObjectSchema(tool.Schema)})
	}
	table["tools"] = tools
	return table
}

func messageTables(m models.Message) []any {
	if m.Role == models.RoleTool {
		var list []any
		for _, p := range m.Parts {
			if p.Result != nil {
				list = append(list, map[string]any{"role": "tool", "content": p.Result.Text,
					"id": p.Result.ID, "name": p.Result.Name, "is_error": p.Result.IsError})
			}
		}
		return list
	}
	table := map[string]any{"role": string(m.Role), "content": content(m)}
	var calls []any
	for _, p := range m.Parts {
		if p.Call != nil {
			calls = append(calls, map[string]any{"id": p.Call.ID, "name": p.Call.Name, "arguments": argumentsValue(p.Call.Arguments)})
		}
	}
	if calls != nil {
		table["tool_calls"] = calls
	}
	return []any{table}
}

// content is the text; with pictures it is a list of parts, as a script gives them to a model.
func content(m models.Message) any {
	if !slices.ContainsFunc(m.Parts, func(p models.Part) bool { return p.Image != nil }) {
		return m.Text()
	}
	var parts []any
	for _, p := range m.Parts {
		switch {
		case p.Image != nil:
			parts = append(parts, imageTable(p.Image))
		case p.IsText():
			parts = append(parts, map[string]any{"text": p.Text})
		}
	}
	return parts
}

func imageTable(image *models.Image) map[string]any {
	table := map[string]any{}
	if image.URL != "" {
		table["url"] = image.URL
	}
	if image.MediaType != "" {
		table["media_type"] = image.MediaType
	}
	if image.Data != nil {
		table["data"] = image.Data // a buffer
	}
	return table
}

// argumentsValue is what the JSON says, with all digits, or the text when it is none.
func argumentsValue(text json.RawMessage) any {
	tree, err := jsonvalue.Decode(text, jsonvalue.Options{})
	if err != nil {
		return string(text)
	}
	return tree
}
