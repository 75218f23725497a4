package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Names in the metadata of a call that failed.
const (
	callMeta  = "hukilau/call"  // the id of the call, by which an operator finds it in the log
	errorMeta = "hukilau/error" // the error, with the names that it has over HTTP
)

// result tells what a tool gave. An object is structured content, and its JSON is text for clients that know
// none; a string is text as it is; all else is its JSON. With structured a value of any kind is structured
// content. No number goes through a float64.
func result(value []byte, structured bool) (*mcp.CallToolResult, error) {
	told := &mcp.CallToolResult{}
	shown := string(value)
	switch kind := bytes.TrimLeft(value, " \t\r\n"); {
	case len(kind) == 0:
		return told, nil
	case kind[0] == '"':
		if err := json.Unmarshal(value, &shown); err != nil {
			return nil, err
		}
	case kind[0] == '{':
		structured = true
	}
	if structured {
		told.StructuredContent = json.RawMessage(value)
	}
	told.Content = []mcp.Content{&mcp.TextContent{Text: shown}}
	return told, nil
}

// asGiven is a result that a tool has made for clients of this protocol itself.
func asGiven(text []byte) (*mcp.CallToolResult, error) {
	var given struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
		Meta       mcp.Meta          `json:"_meta"`
	}
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, fmt.Errorf("the tool gave a result that is none: %w", err)
	}
	told := &mcp.CallToolResult{IsError: given.IsError, Meta: given.Meta, Content: make([]mcp.Content, len(given.Content))}
	for i, item := range given.Content {
		told.Content[i] = rawContent{&mcp.TextContent{}, item}
	}
	if given.Structured != nil {
		told.StructuredContent = given.Structured
	}
	return told, nil
}

// rawContent is an item that stays as it is, of whatever type: the SDK knows those of its own time.
type rawContent struct {
	*mcp.TextContent // for what the SDK asks of an item beside its JSON
	raw              json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (c rawContent) MarshalJSON() ([]byte, error) { return c.raw, nil }

// refusal is the result of a call that failed: a model reads its text, a client its error object. It has no structured
// content: clients hold that against the schema of results.
func (s *Server) refusal(failed *toolhost.Error) *mcp.CallToolResult {
	told := &mcp.CallToolResult{
		IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: s.options.Redact(text(failed))}},
		Meta: mcp.Meta{errorMeta: jsonvalue.EachText(failed.Object(), s.options.Redact)},
	}
	if failed.ID != "" {
		told.Meta[callMeta] = failed.ID
	}
	return told
}

// protocolError is a call that failed, where the protocol wants an error in place of a result.
func (s *Server) protocolError(failed *toolhost.Error) error {
	data, _ := jsonvalue.Encode(jsonvalue.EachText(failed.Object(), s.options.Redact))
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: s.options.Redact(text(failed)), Data: data}
}

// text is what an error says to a model, with what to do next where that is known.
func text(failed *toolhost.Error) string {
	if id := approvalOf(failed); id != "" && failed.Code == toolhost.NeedsApproval {
		return fmt.Sprintf("%s\nAn operator approves it with: luau approvals approve %s\nThen call the tool again with the same arguments.", failed.Message, id)
	}
	return failed.Text()
}

func approvalOf(failed *toolhost.Error) string {
	data, _ := failed.Data.(map[string]any)
	id, _ := data["approval"].(string)
	return id
}
