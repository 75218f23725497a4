package toolhost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Model is a model that tools may be granted.
type Model struct {
	Provider models.Provider
	Name     string        // as the provider calls it
	Timeout  time.Duration // of one request; 0: none but the call's
}

// spent is what the models of one call used.
type spent struct {
	mu    sync.Mutex
	usage models.Usage
}

func (c *call) usage() models.Usage {
	c.spent.mu.Lock()
	defer c.spent.mu.Unlock()
	return c.spent.usage
}

func (c *call) spend(u models.Usage) {
	for at := c; at != nil; at = at.parent {
		at.spent.mu.Lock()
		at.spent.usage = at.spent.usage.Plus(u)
		at.spent.mu.Unlock()
	}
}

// model finds a model that the tool is granted. What it uses is charged to the call.
func (c *call) model(name string) (Model, error) {
	if c.host.options.Models == nil {
		return Model{}, &luau.Error{Code: "not_available", Message: "this host has no models: add [models." + shortened(name) + "] to hukilau.toml"}
	}
	if granted := c.tool.Permissions.Models; !slices.Contains(granted, name) && !slices.Contains(granted, "*") {
		return Model{}, &hostmod.PermissionError{Key: "models", Message: fmt.Sprintf(
			"the model %s is not granted to the tool %s (permissions: models = [%q])", shortened(name), c.tool.Name, shortened(name))}
	}
	m, known := c.host.options.Models(name)
	if !known {
		return Model{}, &luau.Error{Code: "not_found", Message: fmt.Sprintf("there is no model %q: add [models.%s] to hukilau.toml", shortened(name), shortened(name))}
	}
	m.Provider = c.counted(models.WithBudget(m.Provider, c.budget), name)
	return m, nil
}

// counted notes what p uses, and how long its requests take, in the log of the call. Errors of p name the model.
func (c *call) counted(p models.Provider, name string) models.Provider {
	return models.ProviderFunc(func(ctx context.Context, r *models.Request, emit func(models.Event) error) (*models.Response, error) {
		response, err := p.Stream(ctx, r, emit)
		if response != nil {
			c.spend(response.Usage)
		}
		return response, named(err, name)
	})
}

// named is a failure of a model with the name that the configuration gives it: a tool may use several. A failure of
// the host's own is about none.
func named(err error, name string) error {
	switch failed := err.(type) {
	case *models.Error:
		if failed.Provider != "" {
			copied := *failed
			copied.Model = name
			return &copied
		}
	case *models.OutputError:
		copied := *failed
		copied.Model = name
		return &copied
	}
	return err
}

// asked is a request as the prelude writes it.
type asked struct {
	Call     string          `json:"call"` // what the script called
	Model    string          `json:"model"`
	Messages []askedMessage  `json:"messages"`
	Options  askedOptions    `json:"options"`
	Schema   json.RawMessage `json:"schema"`
}

type askedMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string, or a list of parts
}

type askedPart struct {
	Type      string `json:"type"` // "text", "image"
	Text      string `json:"text"`
	URL       string `json:"url"`
	Data      []byte `json:"data"` // base64 in JSON
	MediaType string `json:"media_type"`
}

type askedOptions struct {
	System      string   `json:"system"`
	Temperature *float64 `json:"temperature"`
	MaxTokens   int      `json:"max_tokens"`
	Stop        stops    `json:"stop"`
	Seed        *int64   `json:"seed"`
	Timeout     float64  `json:"timeout"` // seconds
	Tools       []string `json:"tools"`
	Repairs     *int     `json:"repairs"`
}

// stops are one text, or several.
type stops []string

// UnmarshalJSON implements json.Unmarshaler.
func (s *stops) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*s = stops{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(s))
}

func badRequest(format string, args ...any) error {
	return &luau.Error{Code: luau.CodeArgument, Message: fmt.Sprintf(format, args...)}
}

// called is the function of ctx that the script called, though the rest may be wrong.
func (asked) called(text []byte) string {
	var said struct {
		Call string `json:"call"`
	}
	_ = json.Unmarshal(text, &said)
	return said.Call
}

func (c *call) readRequest(text []byte) (*asked, Model, *models.Request, error) {
	var a asked
	if err := readStrict(text, &a, a.called(text)); err != nil {
		return nil, Model{}, nil, err
	}
	m, err := c.model(a.Model)
	if err != nil {
		return nil, Model{}, nil, err
	}
	r := &models.Request{
		Model: m.Name, System: a.Options.System, Temperature: a.Options.Temperature, MaxTokens: a.Options.MaxTokens,
		Stop: a.Options.Stop, Seed: a.Options.Seed,
	}
	for i, given := range a.Messages {
		message, err := given.message()
		if err != nil {
			return nil, Model{}, nil, badRequest("%s: message %d: %s", a.Call, i+1, err)
		}
		r.Messages = append(r.Messages, message)
	}
	if len(r.Messages) == 0 {
		return nil, Model{}, nil, badRequest("%s: the list of messages is empty", a.Call)
	}
	return &a, m, r, nil
}

func (g askedMessage) message() (models.Message, error) {
	role := models.Role(g.Role)
	if role == "" {
		role = models.RoleUser
	}
	if role != models.RoleSystem && role != models.RoleUser && role != models.RoleAssistant {
		return models.Message{}, fmt.Errorf("its role must be system, user or assistant, not %q", shortened(g.Role))
	}
	var text string
	if json.Unmarshal(g.Content, &text) == nil {
		return models.TextMessage(role, text), nil
	}
	if !bytes.HasPrefix(g.Content, []byte("[")) {
		return models.Message{}, errors.New("its content must be a string or a list of parts")
	}
	var parts []askedPart
	if err := readStrict(g.Content, &parts, "content"); err != nil {
		return models.Message{}, err
	}
	m := models.Message{Role: role}
	for i, p := range parts {
		switch {
		case p.Type == "image" || p.Type == "" && (p.URL != "" || p.Data != nil):
			if p.URL == "" && (p.Data == nil || p.MediaType == "") {
				return m, fmt.Errorf("part %d: an image needs a url, or data and media_type", i+1)
			}
			m.Parts = append(m.Parts, models.Part{Image: &models.Image{URL: p.URL, Data: p.Data, MediaType: p.MediaType}})
		case p.Type == "text" || p.Type == "":
			m.Parts = append(m.Parts, models.Part{Text: p.Text})
		default:
			return m, fmt.Errorf("part %d: its type must be text or image, not %q", i+1, shortened(p.Type))
		}
	}
	return m, nil
}

// within limits a request to a model.
func (a *asked) within(ctx context.Context, m Model) (context.Context, context.CancelFunc) {
	limit := m.Timeout
	if a.Options.Timeout > 0 {
		limit = time.Duration(a.Options.Timeout * float64(time.Second))
	}
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, &models.Error{
		Code: models.CodeTimeout, Model: a.Model, Message: fmt.Sprintf("no answer within %s", seconds(limit)), Retryable: true,
	})
}

// Generate implements toolmod.Host.
func (c *call) Generate(ctx context.Context, text []byte) ([]byte, error) {
	a, m, r, err := c.readRequest(text)
	if err != nil {
		return nil, err
	}
	ctx, cancel := a.within(ctx, m)
	defer cancel()
	if len(a.Schema) > 0 {
		return c.generateJSON(ctx, a, m, r)
	}
	response, err := c.generateText(ctx, a, m, r)
	if err != nil {
		return nil, timedOut(ctx, err)
	}
	return jsonvalue.Encode(answerOf(response))
}

// timedOut is the error of a request; where its own time was over, that.
func timedOut(ctx context.Context, err error) error {
	if cause, ok := context.Cause(ctx).(*models.Error); ok {
		return cause
	}
	return err
}

func answerOf(r *models.Response) map[string]any {
	return map[string]any{
		"text": r.Text(), "stop": string(r.Stop), "model": r.Model,
		"usage": map[string]any{
			"input_tokens": float64(r.Usage.InputTokens), "output_tokens": float64(r.Usage.OutputTokens), "seconds": r.Usage.Time.Seconds(),
		},
	}
}

func (c *call) generateJSON(ctx context.Context, a *asked, m Model, r *models.Request) ([]byte, error) {
	doc, err := jsonvalue.Decode(a.Schema, jsonvalue.Options{})
	if err != nil {
		return nil, err
	}
	compiled, err := schema.Compile(doc, "the answer")
	if err != nil {
		return nil, badRequest("ctx.generate_json: %s", err)
	}
	o := models.JSONOptions{
		Decode: func(text []byte) (any, error) { return jsonvalue.Decode(text, jsonvalue.Options{}) },
		Validate: func(v any) (list []string) {
			for _, violation := range compiled.Validate(v) {
				list = append(list, strings.TrimSpace(violation.Pointer+" "+violation.Message))
			}
			return list
		},
	}
	if a.Options.Repairs != nil {
		if o.Repairs = *a.Options.Repairs; o.Repairs == 0 {
			o.Repairs = -1
		}
	}
	value, response, err := models.GenerateJSON(ctx, m.Provider, r, doc, o)
	if err != nil {
		return nil, named(timedOut(ctx, err), a.Model)
	}
	answer := answerOf(response)
	answer["value"] = value
	return jsonvalue.Encode(answer)
}

// GenerateStream implements toolmod.Host.
func (c *call) GenerateStream(ctx context.Context, text []byte) (toolmod.Stream, error) {
	a, m, r, err := c.readRequest(text)
	if err != nil {
		return nil, err
	}
	s := newStream()
	// The run's context: the one given ends with this host call.
	ctx, cancel := a.within(c.runContext, m)
	s.cancel = cancel
	go func() {
		defer cancel()
		_, err := m.Provider.Stream(ctx, r, func(e models.Event) error {
			if e.Kind != models.EventText || e.Text == "" {
				return nil
			}
			text, err := jsonvalue.Encode(e.Text)
			if err != nil {
				return err
			}
			return s.send(ctx, text)
		})
		if err != nil {
			err = timedOut(ctx, err)
		}
		s.end(err)
	}()
	return s, nil
}
