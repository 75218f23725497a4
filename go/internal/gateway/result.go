package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// Result is what a call gave. It is immutable.
type Result struct {
	Tool     json.RawMessage // of a tool: the CallToolResult as it came
	Response *Response       // of an operation
}

// Response is the answer of a service.
type Response struct {
	Status      int               `json:"status"`
	ContentType string            `json:"content_type,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	JSON        json.RawMessage   `json:"json,omitempty"`
	Text        *string           `json:"text,omitempty"`
	Bytes       []byte            `json:"bytes,omitempty"`
}

// toolResult are the parts of a CallToolResult that decide what a script gets.
type toolResult struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent"`
	IsError    bool              `json:"isError"`
}

// text is the JSON of the whole result: for the log, and to restore it from.
func (r *Result) text() ([]byte, error) {
	if r.Response == nil {
		return r.Tool, nil
	}
	return marshal(r.Response)
}

// restored is a result that was kept as its text.
func restored(kind catalog.Kind, text []byte) (*Result, error) {
	if kind == catalog.MCP {
		return &Result{Tool: text}, nil
	}
	r := &Result{Response: &Response{}}
	return r, json.Unmarshal(text, r.Response)
}

// size is about how many bytes the other side sent.
func (r *Result) size() int {
	if r.Response == nil {
		return len(r.Tool)
	}
	size := len(r.Response.JSON) + len(r.Response.Bytes)
	if r.Response.Text != nil {
		size += len(*r.Response.Text)
	}
	return size
}

// as gives the result in the way that a script asks for. server names resources in results of the other dialect.
func (r *Result) as(way, server string) (kind, text string, err error) {
	if r.Response != nil {
		return r.Response.as(way)
	}
	if way == sdkmod.Whole {
		return sdkmod.JSON, string(r.Tool), nil
	}
	raw := r.Tool
	if way == sdkmod.Parsed {
		raw = namespaced(raw, server)
	}
	var parts toolResult
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", "", &Failure{Code: "protocol", Message: "the server sent a result that is none: " + err.Error()}
	}
	switch {
	case len(parts.Structured) > 0 && string(parts.Structured) != "null":
		return sdkmod.JSON, string(parts.Structured), nil
	case len(parts.Content) == 0:
		return sdkmod.Absent, "", nil
	case len(parts.Content) == 1:
		if text, ok := textOf(parts.Content[0]); ok {
			if way == sdkmod.Parsed && isJSON(text) {
				return sdkmod.JSON, text, nil
			}
			return sdkmod.Text, text, nil
		}
	}
	list, err := marshal(parts.Content)
	return sdkmod.JSON, string(list), err
}

// as gives the body, or all that is known of the answer.
func (r *Response) as(way string) (kind, text string, err error) {
	switch {
	case way == sdkmod.Whole:
		whole, err := marshal(r)
		return sdkmod.JSON, string(whole), err
	case len(r.JSON) > 0:
		return sdkmod.JSON, string(r.JSON), nil
	case r.Text != nil:
		return sdkmod.Text, *r.Text, nil
	case r.Bytes != nil:
		return sdkmod.Text, string(r.Bytes), nil
	}
	return sdkmod.Absent, "", nil
}

// textOf is the text of a content item that is nothing but a text.
func textOf(item json.RawMessage) (string, bool) {
	var content struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if json.Unmarshal(item, &content) != nil || content.Type != "text" || content.Text == nil {
		return "", false
	}
	return *content.Text, true
}

// isJSON says whether a text is an object or an array of JSON: other texts stay what they are.
func isJSON(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid([]byte(text))
}

// failureOf is the error that a tool told in its result; nil where it is none.
func failureOf(raw json.RawMessage) *Failure {
	if !bytes.Contains(raw, []byte(`"isError"`)) {
		return nil
	}
	var parts toolResult
	if json.Unmarshal(raw, &parts) != nil || !parts.IsError {
		return nil
	}
	f := &Failure{Code: "tool"}
	var lines []string
	for _, item := range parts.Content {
		if text, ok := textOf(item); ok {
			lines = append(lines, text)
		}
	}
	f.Message = strings.Join(lines, "\n")
	if f.Message == "" && len(parts.Structured) > 0 {
		f.Message = string(parts.Structured)
	}
	if f.Message == "" {
		f.Message = "the tool failed and did not say why"
	}
	if list, err := marshal(parts.Content); err == nil {
		f.Content, _ = jsonvalue.Decode(list, jsonvalue.Options{})
	}
	return f
}

// mcpScheme is that of resources of upstream servers, as our clients know them.
const mcpScheme = "mcp://"

// namespacedURI is the URI of a server's resource as our clients know it. The server is named as authority gives it.
func namespacedURI(server, uri string) string { return mcpScheme + server + "/" + uri }

// authority is how a server is named in URIs: by its name, or as scripts know it where that cannot stand there.
func authority(name, ident string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~", r)
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return ident
	}
	return name
}

// namespaced names the resources in a result, where there are any, as our clients can read them.
func namespaced(raw json.RawMessage, server string) json.RawMessage {
	if !bytes.Contains(raw, []byte(`"resource`)) {
		return raw
	}
	tree, err := jsonvalue.Decode(raw, jsonvalue.Options{})
	result, ok := tree.(map[string]any)
	if err != nil || !ok {
		return raw
	}
	content, _ := result["content"].([]any)
	for _, item := range content {
		entry, _ := item.(map[string]any)
		switch entry["type"] {
		case "resource_link":
			rename(entry, server)
		case "resource":
			if inner, ok := entry["resource"].(map[string]any); ok {
				rename(inner, server)
			}
		}
	}
	if named, err := jsonvalue.Encode(result); err == nil {
		return named
	}
	return raw
}

func rename(entry map[string]any, server string) {
	if uri, ok := entry["uri"].(string); ok {
		entry["uri"] = namespacedURI(server, uri)
	}
}

func authorityOf(s *catalog.Scope) string { return authority(s.Name, s.Ident) }

// bytesKey is the one key of a table that stands for bytes, where a script's text is no UTF-8.
const bytesKey = "$bytes"

// bytesSchema is that of a table that stands for bytes.
var bytesSchema = map[string]any{
	"type": "object", "required": []any{bytesKey}, "additionalProperties": false,
	"properties": map[string]any{bytesKey: map[string]any{"type": "string"}},
}

// takingBytes is a schema in which what is bytes may be such a table, too.
func takingBytes(schema any) any {
	switch v := schema.(type) {
	case map[string]any:
		made := make(map[string]any, len(v))
		for key, inner := range v {
			made[key] = takingBytes(inner)
		}
		if v["type"] == "string" && v["format"] == "binary" {
			return map[string]any{"anyOf": []any{made, bytesSchema}}
		}
		return made
	case []any:
		made := make([]any, len(v))
		for i, inner := range v {
			made[i] = takingBytes(inner)
		}
		return made
	}
	return schema
}

// withBytes puts bytes in the place of the tables that stand for them. A text has no need of one: it would only hide
// from whoever approves the call or wrote a rule about it, so such a table stays what it is.
func withBytes(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if text, ok := v[bytesKey].(string); ok && len(v) == 1 {
			if raw, err := base64.StdEncoding.DecodeString(text); err == nil && !utf8.Valid(raw) {
				return string(raw)
			}
		}
		for key, inner := range v {
			v[key] = withBytes(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = withBytes(inner)
		}
	}
	return value
}

// rawText is a raw body as a JSON tree.
func rawText(body string) any {
	if utf8.ValidString(body) {
		return body
	}
	return map[string]any{bytesKey: base64.StdEncoding.EncodeToString([]byte(body))}
}
