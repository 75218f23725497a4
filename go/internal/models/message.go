package models

import (
	"encoding/json"
	"strings"
)

// Role says who speaks in a Message.
type Role string

// The roles. Results of tools are messages of role tool.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of a conversation. It is shared by those who hold it: make a new one to
// change it.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is one piece of a Message: exactly one field is set, Text when all others are nil.
type Part struct {
	Text      string      `json:"text,omitempty"`
	Image     *Image      `json:"image,omitempty"`
	Call      *ToolCall   `json:"call,omitempty"`
	Result    *ToolResult `json:"result,omitempty"`
	Reasoning *Reasoning  `json:"reasoning,omitempty"`
}

// Image is a picture, by its bytes or by its address.
type Image struct {
	MediaType string `json:"media_type,omitempty"` // as "image/png"; needed with Data
	Data      []byte `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

// ToolCall is a function that the model asks for.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // as the model wrote it: may be broken JSON; never empty
	// Signature is the provider's own, and goes back to it with the call.
	Signature []byte `json:"signature,omitempty"`
}

// ToolResult answers a ToolCall.
type ToolResult struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
}

// Reasoning is what a model thought before it answered. It is no part of the answer, and goes back
// to the provider that signed it.
type Reasoning struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"` // sealed by the provider, in place of Text
}

// TextMessage is a Message of one text.
func TextMessage(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Text: text}}}
}

// ResultMessage is the Message that answers calls.
func ResultMessage(results ...ToolResult) Message {
	m := Message{Role: RoleTool}
	for i := range results {
		m.Parts = append(m.Parts, Part{Result: &results[i]})
	}
	return m
}

// IsText says whether the part is a text.
func (p Part) IsText() bool {
	return p.Image == nil && p.Call == nil && p.Result == nil && p.Reasoning == nil
}

// Text is all text of the message, in order.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.IsText() {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Calls are the tools that the message asks for, in order.
func (m Message) Calls() []ToolCall {
	var list []ToolCall
	for _, p := range m.Parts {
		if p.Call != nil {
			list = append(list, *p.Call)
		}
	}
	return list
}
