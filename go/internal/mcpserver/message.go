package mcpserver

import (
	"encoding/json"
	"math"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messageOf reads a line. Where it is no message the error says why, with the id where there is one.
func messageOf(line []byte) (message jsonrpc.Message, id jsonrpc.ID, wrong *jsonrpc.Error) {
	if !utf8.Valid(line) || !json.Valid(line) {
		return nil, id, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message is not JSON"}
	}
	invalid := func(text string) *jsonrpc.Error {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: text}
	}
	if line[0] == '[' {
		return nil, id, invalid("batches of messages are not taken; send each on a line of its own")
	}
	var outer map[string]json.RawMessage // a struct would take the keys in any case
	if json.Unmarshal(line, &outer) != nil || outer == nil {
		return nil, id, invalid("a message is a JSON object")
	}
	if text, there := outer["id"]; there {
		if id, wrong = idOf(text); wrong != nil {
			return nil, id, wrong
		}
	}
	// What the SDK makes of a message takes two buffers of 32 KB; a plain request needs none.
	var method string
	if text := outer["method"]; string(outer["jsonrpc"]) == `"2.0"` && text != nil && json.Unmarshal(text, &method) == nil && method != "" {
		return &jsonrpc.Request{ID: id, Method: method, Params: outer["params"]}, id, nil
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, id, invalid(err.Error())
	}
	return message, id, nil
}

// maxID is the largest integer that every client writes and reads exactly.
const maxID = 1<<53 - 1

// idOf reads the id of a message: a string or an integer.
func idOf(text json.RawMessage) (jsonrpc.ID, *jsonrpc.Error) {
	invalid := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the id of a message must be a string, or an integer of at most 53 bits"}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return jsonrpc.ID{}, invalid
	}
	switch v := value.(type) {
	case string:
	case float64:
		if v != math.Trunc(v) || math.Abs(v) > maxID {
			return jsonrpc.ID{}, invalid
		}
	default:
		return jsonrpc.ID{}, invalid
	}
	id, err := jsonrpc.MakeID(value)
	if err != nil {
		return jsonrpc.ID{}, invalid
	}
	return id, nil
}

// isAnswer says whether a line that is no message was meant as an answer.
func isAnswer(line []byte) bool {
	var outer struct {
		Method, Result, Error json.RawMessage
	}
	return json.Unmarshal(line, &outer) == nil && outer.Method == nil && (outer.Result != nil || outer.Error != nil)
}
