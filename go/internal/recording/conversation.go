package recording

import (
	"encoding/json"
	"math"
	"time"

	"github.com/hukilau/hukilau/go/internal/models"
)

// What models and their users say to each other, as it is kept. The arguments of a call are a text, so that they come
// back as the model wrote them, be they JSON or not.

type message struct {
	Role  models.Role `json:"role"`
	Parts []part      `json:"parts"`
}

// part is as models.Part.
type part struct {
	Text      string             `json:"text,omitempty"`
	Image     *models.Image      `json:"image,omitempty"`
	Call      *call              `json:"call,omitempty"`
	Result    *models.ToolResult `json:"result,omitempty"`
	Reasoning *models.Reasoning  `json:"reasoning,omitempty"`
}

type call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Signature []byte `json:"signature,omitempty"`
}

// tool is as models.Tool.
type tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Schema      any    `json:"schema,omitempty"`
}

func toolsOf(list []models.Tool) []tool {
	var all []tool
	for _, t := range list {
		all = append(all, tool(t))
	}
	return all
}

func messagesOf(list []models.Message) []message {
	all := make([]message, len(list))
	for i, m := range list {
		all[i] = messageOf(m)
	}
	return all
}

func messageOf(m models.Message) message {
	kept := message{Role: m.Role}
	for _, p := range m.Parts {
		kept.Parts = append(kept.Parts, part{p.Text, p.Image, callOf(p.Call), p.Result, p.Reasoning})
	}
	return kept
}

func (m message) model() models.Message {
	made := models.Message{Role: m.Role}
	for _, p := range m.Parts {
		made.Parts = append(made.Parts, models.Part{Text: p.Text, Image: p.Image, Call: p.Call.model(), Result: p.Result, Reasoning: p.Reasoning})
	}
	return made
}

func callOf(c *models.ToolCall) *call {
	if c == nil {
		return nil
	}
	return &call{c.ID, c.Name, string(c.Arguments), c.Signature}
}

func (c *call) model() *models.ToolCall {
	if c == nil {
		return nil
	}
	arguments := c.Arguments
	if arguments == "" {
		arguments = "{}"
	}
	return &models.ToolCall{ID: c.ID, Name: c.Name, Arguments: json.RawMessage(arguments), Signature: c.Signature}
}

func usageOf(u models.Usage) usage {
	return usage{u.InputTokens, u.OutputTokens, u.CachedTokens, u.ReasoningTokens, u.Time.Seconds(), u.Estimated}
}

func (u usage) model() models.Usage {
	return models.Usage{
		InputTokens: u.Input, OutputTokens: u.Output, CachedTokens: u.Cached, ReasoningTokens: u.Reasoning,
		Time: seconds(u.Seconds), Estimated: u.Estimated,
	}
}

func seconds(n float64) time.Duration { return time.Duration(math.Round(n * float64(time.Second))) }

func (f *failure) model() *models.Error {
	return &models.Error{
		Code: models.Code(f.Code), Message: f.Message, Provider: f.Provider, Status: f.Status, Retryable: f.Retryable,
		RetryAfter: seconds(f.RetryAfter),
	}
}

func (e event) model() models.Event {
	switch {
	case e.Call != nil:
		return models.Event{Kind: models.EventCall, Call: e.Call.model()}
	case e.Usage != nil:
		u := e.Usage.model()
		return models.Event{Kind: models.EventUsage, Usage: &u}
	case e.Reasoning != "":
		return models.Event{Kind: models.EventReasoning, Text: e.Reasoning}
	case e.Stop != "":
		return models.Event{Kind: models.EventEnd, Stop: e.Stop}
	}
	return models.Event{Kind: models.EventText, Text: e.Text}
}

func (a *answer) response() *models.Response {
	if a == nil {
		return nil
	}
	return &models.Response{Message: a.Message.model(), Stop: a.Stop, Usage: a.Usage.model(), Model: a.Model}
}
