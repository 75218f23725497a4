package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// callMeta is the name under which errors carry the id of the call, by which an operator finds it in the log.
const callMeta = "hukilau/call"

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

// refusal is the result of a call that failed: a model reads it.
func refusal(message, call string) *mcp.CallToolResult {
	told := &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: message}}}
	if call != "" {
		told.Meta = mcp.Meta{callMeta: call}
	}
	return told
}

// maxViolations is how many faults of the arguments are told at once.
const maxViolations = 10

// text is what an error says to a model, with what to do next where that is known.
func text(failed *toolhost.Error) string {
	switch failed.Code {
	case toolhost.NeedsApproval:
		if id := approvalOf(failed); id != "" {
			return fmt.Sprintf("%s\nAn operator approves it with: luau approvals approve %s\nThen call the tool again with the same arguments.", failed.Message, id)
		}
	case toolhost.BadRequest:
		return faults(failed)
	}
	return failed.Message
}

// faults are the messages about arguments, one a line.
func faults(failed *toolhost.Error) string {
	lines := []string{placed(failed.Path, failed.Message)}
	data, _ := failed.Data.(map[string]any)
	all, _ := data["violations"].([]any)
	for i, one := range all {
		if i == 0 {
			continue // it is the message
		}
		if i == maxViolations {
			lines = append(lines, "...")
			break
		}
		violation, _ := one.(map[string]any)
		path, _ := violation["path"].(string)
		message, _ := violation["message"].(string)
		lines = append(lines, placed(path, message))
	}
	return strings.Join(lines, "\n")
}

// placed says where, if the message does not name it itself.
func placed(path, message string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == "" || strings.Contains(message, ": "+name) { // as in "missing required parameter: city"
		return message
	}
	return path + ": " + message
}

func approvalOf(failed *toolhost.Error) string {
	data, _ := failed.Data.(map[string]any)
	id, _ := data["approval"].(string)
	return id
}
