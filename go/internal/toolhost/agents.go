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
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// generateText asks once, or until the model wants no more of the tools that it was given.
func (c *call) generateText(ctx context.Context, a *asked, m Model, r *models.Request) (*models.Response, error) {
	if len(a.tools) == 0 {
		return models.Generate(ctx, m.Provider, r)
	}
	tools, err := c.modelTools(a.tools)
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
	prompt, model string
	tools, stop   []string
	recent        *int // exchanges that are kept
	maxTurns      *int
	maxTokens     *int
	temperature   *float64
	seed          *int64
}

func (a *agentConfig) fields() fields {
	memory := fields{"recent": wholeField(&a.recent, 0, maxRecent)}
	return fields{
		"prompt": textField(&a.prompt), "model": textField(&a.model), "tools": textsField(&a.tools, false), "stop": textsField(&a.stop, true),
		"max_turns": wholeField(&a.maxTurns, 1, tooldef.MaxTurns), "max_tokens": tokensField(&a.maxTokens),
		"temperature": temperatureField(&a.temperature), "seed": seedField(&a.seed),
		"memory": func(value any) error {
			table, ok := value.(map[string]any)
			if !ok {
				return must("a table", value)
			}
			return memory.read("option", "memory.", table)
		},
	}
}

// maxRecent is how many exchanges an agent may remember: what it remembers is in the host's memory.
const maxRecent = 1000

// kept is Recent of the agent's options; an agent of which nothing was said has the default.
func (a *agentConfig) kept() int {
	switch {
	case a.recent == nil:
		return 0
	case *a.recent == 0:
		return -1
	}
	return *a.recent
}

// NewAgent implements toolmod.Host. The agent lives until it is closed, at most as long as the call.
func (c *call) NewAgent(_ context.Context, name string, config []byte) (toolmod.Agent, error) {
	if len(name) > maxName {
		return nil, badRequest("ctx.create_agent: the name of an agent has at most %d bytes, this one has %d", maxName, len(name))
	}
	where := "ctx.create_agent: the agent " + shortened(name)
	table, err := decoded(where, config)
	if err != nil {
		return nil, err
	}
	var a agentConfig
	if err := a.fields().read("option", "", table); err != nil {
		return nil, badRequest("%s: %s", where, err)
	}
	if a.model == "" {
		return nil, badRequest("%s: it needs a model: model = \"NAME\", one of those that the tool is granted", where)
	}
	m, err := c.model(a.model)
	if err != nil {
		return nil, err
	}
	tools, err := c.modelTools(a.tools)
	if err != nil {
		return nil, err
	}
	return &scriptAgent{agent.New(c.runContext, agent.Options{
		Provider: m.Provider, Model: m.Name, Prompt: a.prompt, Tools: tools, Call: c.callForModel(c.scope() + "/agent:" + name),
		Recent: a.kept(), MaxTurns: orZero(a.maxTurns), Temperature: a.temperature, MaxTokens: orZero(a.maxTokens), Stop: a.stop, Seed: a.seed,
	})}, nil
}

// scriptAgent is an agent as a script has it.
type scriptAgent struct{ *agent.Agent }

// Input implements toolmod.Agent: a message, with what context providers said to it.
func (a *scriptAgent) Input(_ context.Context, text []byte) error {
	given, err := decoded("agent.input", text)
	if err != nil {
		return err
	}
	message, err := readInput(given["message"])
	if err != nil {
		return badRequest("agent.input: %s", err)
	}
	said, _ := listOf(given["context"])
	about := make([]string, 0, len(said))
	for _, one := range said {
		table, _ := one.(map[string]any)
		text, err := jsonvalue.Encode(table["context"])
		if err != nil {
			return err
		}
		name, _ := table["name"].(string)
		about = append(about, name+": "+string(text))
	}
	return a.Agent.Input(message, about...)
}

// readInput reads a text, or a table with content.
func readInput(given any) (models.Message, error) {
	if text, ok := given.(string); ok {
		return models.TextMessage(models.RoleUser, text), nil
	}
	table, ok := given.(map[string]any)
	if !ok {
		return models.Message{}, errors.New("argument 1 must be a string, or a table with content, not a list: { content = ... }")
	}
	message, err := readMessage(table)
	if err == nil && message.Role != models.RoleUser {
		return message, fmt.Errorf("its role must be user, not %s: the prompt is said when the agent is made", message.Role)
	}
	return message, err
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
