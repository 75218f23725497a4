package toolhost

import (
	"maps"
	"math"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// Bounds of what an error tells.
const (
	maxData       = 64 << 10 // of what a script raised, as JSON, in the object of an error
	maxModelData  = 2 << 10  // and in a text for a model
	maxViolations = 10       // faults of the arguments in a text
)

// Object is the error as a JSON tree, with the names that it has on every face.
func (e *Error) Object() map[string]any {
	object := map[string]any{"code": string(e.Code), "message": e.Message}
	if e.Path != "" {
		object["path"] = e.Path
	}
	if e.Detail != "" {
		object["detail"] = e.Detail
	}
	if data := e.ShownData(); data != nil {
		object["data"] = data
	}
	if e.RetryAfter > 0 {
		object["retry_after"] = math.Ceil(e.RetryAfter.Seconds())
	}
	return object
}

// ShownData is what a script raised, where it is more than a code and a message and has at most 64 KiB as JSON; nil
// otherwise.
func (e *Error) ShownData() any {
	if len(e.more()) == 0 {
		return nil
	}
	if _, ok := shortJSON(e.Data, maxData); !ok {
		return nil
	}
	return e.Data
}

// more is what a table that was raised has beside code and message.
func (e *Error) more() map[string]any {
	table, _ := e.Data.(map[string]any)
	more := maps.Clone(table)
	delete(more, "code")
	delete(more, "message")
	return more
}

func shortJSON(tree any, most int) (string, bool) {
	text, err := jsonvalue.Encode(tree)
	return string(text), err == nil && len(text) <= most
}

// Text is what an error says to a model or a person. The first line is the message, the others are what a client finds
// in the error's object: further faults of the arguments, or the code that a script gave its error, with the rest
// of the table.
func (e *Error) Text() string {
	switch {
	case e.Code == BadRequest:
		return strings.Join(e.faults(), "\n")
	case e.Code == NeedsApproval || e.raisedCode() == "":
		return e.Message
	}
	text := e.Message + "\ncode: " + e.raisedCode()
	if more := e.more(); len(more) > 0 {
		if shown, ok := shortJSON(more, maxModelData); ok {
			text += "\ndata: " + shown
		}
	}
	return text
}

// raisedCode is the code in a table that was raised.
func (e *Error) raisedCode() string {
	table, _ := e.Data.(map[string]any)
	code, _ := table["code"].(string)
	return shortened(code)
}

// faults are the messages about arguments.
func (e *Error) faults() []string {
	lines := []string{placed(e.Path, e.Message)}
	data, _ := e.Data.(map[string]any)
	all, _ := data["violations"].([]any)
	for i, one := range all {
		if i == 0 {
			continue // it is the message
		}
		if i == maxViolations {
			return append(lines, "...")
		}
		violation, _ := one.(map[string]any)
		path, _ := violation["path"].(string)
		message, _ := violation["message"].(string)
		lines = append(lines, placed(path, message))
	}
	return lines
}

// placed says where, if the message does not name it itself.
func placed(path, message string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if name == "" || strings.Contains(message, ": "+name) { // as in "missing required parameter: city"
		return message
	}
	return path + ": " + message
}
