package toolhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/hukilau/hukilau/go/internal/agent"
	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// generateText asks once, or until the model wants no more of the tools that it was given.
func (c *call) generateText(ctx context.Context, a *asked, m Model, r *models.Request) (*models.Response, error) {
	if len(a.Options.Tools) == 0 {
		return models.Generate(ctx, m.Provider, r)
	}
	tools, err := c.modelTools(a.Options.Tools)
	if err != nil {
		return nil, err
	}
	last := len(r.Messages) - 1
	made := agent.New(ctx, agent.Options{
		Provider: m.Provider, Model: r.Model, Prompt: r.System, Tools: tools, Call: c.callForModel(c.scope()),
		History: r.Messages[:last], Temperature: r.Temperature, MaxTokens: r.MaxTokens, Stop: r.Stop, Seed: r.Seed,
	})
	defer made.Close()
	if err := made.Input(r.Messages[last]); err != nil {
		return nil, err
	}
	answer, err := made.Collect(ctx)
	if err != nil {
		return nil, err
	}
	return &models.Response{Message: models.TextMessage(models.RoleAssistant, answer.Last), Stop: answer.Stop, Usage: answer.Usage, Model: r.Model}, nil
}

// modelTools describes tools for a model: those that this call's tool may call itself.
func (c *call) modelTools(names []string) ([]models.Tool, error) {
	tools := make([]models.Tool, 0, len(names))
	for _, name := range names {
		t, there := c.host.Find(name)
		if !there {
			return nil, &Error{Code: NotFound, Message: "no tool registered with name: " + shortened(name)}
		}
		if !c.mayCall(name) {
			return nil, c.notGranted(name)
		}
		tools = append(tools, models.Tool{Name: t.Name, Description: t.Description, Schema: t.Params.Document()})
	}
	return tools, nil
}

func (c *call) notGranted(name string) error {
	return &hostmod.PermissionError{Key: "tools", Message: fmt.Sprintf(
		"calling the tool %s: it is not in the tools that %s is granted (permissions: tools = [%q])", shortened(name), c.tool.Name, shortened(name))}
}

// callForModel runs what a model asks for. The result, or the error, goes back to it as text.
func (c *call) callForModel(session string) func(context.Context, string, json.RawMessage) (string, bool) {
	return func(ctx context.Context, name string, arguments json.RawMessage) (string, bool) {
		answer, failed := c.child(ctx, name, arguments, "agent", session)
		if failed != nil {
			return failed.Text(), true
		}
		return string(answer.JSON), false
	}
}

// agentConfig is what a script says of an agent.
type agentConfig struct {
	Prompt      string   `json:"prompt"`
	Model       string   `json:"model"`
	Memory      *memory  `json:"memory"`
	Tools       []string `json:"tools"`
	MaxTurns    int      `json:"max_turns"`
	Temperature *float64 `json:"temperature"`
	MaxTokens   int      `json:"max_tokens"`
	Stop        stops    `json:"stop"`
	Seed        *int64   `json:"seed"`
}

type memory struct {
	Recent int `json:"recent"`
}

// recent is how many exchanges are kept; an agent of which nothing was said has the default.
func (m *memory) recent() int {
	switch {
	case m == nil:
		return 0
	case m.Recent == 0:
		return -1
	}
	return m.Recent
}

// NewAgent implements toolmod.Host. The agent lives until it is closed, at most as long as the call.
func (c *call) NewAgent(_ context.Context, name string, config []byte) (toolmod.Agent, error) {
	if len(name) > maxName {
		return nil, badRequest("ctx.create_agent: the name of an agent has at most %d bytes, this one has %d", maxName, len(name))
	}
	var a agentConfig
	if err := readStrict(config, &a, "ctx.create_agent: the agent "+shortened(name)); err != nil {
		return nil, err
	}
	if a.Model == "" {
		return nil, badRequest("ctx.create_agent: the agent %s needs a model", shortened(name))
	}
	m, err := c.model(a.Model)
	if err != nil {
		return nil, err
	}
	tools, err := c.modelTools(a.Tools)
	if err != nil {
		return nil, err
	}
	return &scriptAgent{agent.New(c.runContext, agent.Options{
		Provider: m.Provider, Model: m.Name, Prompt: a.Prompt, Tools: tools, Call: c.callForModel(c.scope() + "/agent:" + name),
		Recent: a.Memory.recent(), MaxTurns: a.MaxTurns, Temperature: a.Temperature, MaxTokens: a.MaxTokens, Stop: a.Stop, Seed: a.Seed,
	})}, nil
}

// scriptAgent is an agent as a script has it.
type scriptAgent struct{ *agent.Agent }

// input is a message with what context providers said to it.
type input struct {
	Message json.RawMessage `json:"message"`
	Context []struct {
		Name    string          `json:"name"`
		Context json.RawMessage `json:"context"`
	} `json:"context"`
}

// Input implements toolmod.Agent. A message is a text, or a table with content.
func (a *scriptAgent) Input(_ context.Context, text []byte) error {
	var given input
	if json.Unmarshal(text, &given) != nil || given.Message == nil {
		given = input{Message: text}
	}
	message, err := readInput(given.Message)
	if err != nil {
		return err
	}
	about := make([]string, len(given.Context))
	for i, said := range given.Context {
		about[i] = said.Name + ": " + string(said.Context)
	}
	return a.Agent.Input(message, about...)
}

func readInput(text []byte) (models.Message, error) {
	var plain string
	if json.Unmarshal(text, &plain) == nil {
		return models.TextMessage(models.RoleUser, plain), nil
	}
	var m askedMessage
	if err := readStrict(text, &m, "agent.input"); err != nil {
		return models.Message{}, err
	}
	message, err := m.message()
	if err != nil {
		return models.Message{}, badRequest("agent.input: %s", err)
	}
	return message, nil
}

// Next implements toolmod.Stream: texts, tool calls and their results, until the exchange ends.
func (a *scriptAgent) Next(ctx context.Context) ([]byte, error) {
	for {
		e, err := a.Agent.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var chunk map[string]any
		switch e.Kind {
		case agent.EventText:
			chunk = map[string]any{"text": e.Text}
		case agent.EventCall:
			chunk = map[string]any{"type": "tool_call", "id": e.Call.ID, "name": e.Call.Name, "arguments": string(e.Call.Arguments)}
		case agent.EventResult:
			chunk = map[string]any{"type": "tool_result", "id": e.Result.ID, "name": e.Result.Name, "result": e.Result.Text, "is_error": e.Result.IsError}
		case agent.EventEnd:
			return nil, nil
		default:
			continue
		}
		return jsonvalue.Encode(chunk)
	}
}
