package tooldef

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// Agent is a tool without a script of its own: a model answers its input, and may call tools.
type Agent struct {
	Model       string
	Prompt      string
	Tools       []string
	MaxTurns    int // 0: the default
	MaxTokens   int // of each answer; 0: the provider's default
	Temperature *float64
	// Offered says that MCP clients get it as a prompt as well, for their own models.
	Offered bool
}

var agentFields = map[string]field{
	"model":       agentText(func(a *Agent) *string { return &a.Model }),
	"prompt":      agentText(func(a *Agent) *string { return &a.Prompt }),
	"tools":       func(d *draft, path []string, v any) { d.tool.Agent.Tools = d.texts(path, v) },
	"max_turns":   agentCount(MaxTurns, func(a *Agent) *int { return &a.MaxTurns }),
	"max_tokens":  agentCount(maxTokens, func(a *Agent) *int { return &a.MaxTokens }),
	"temperature": readTemperature,
	"mcp_prompt": func(d *draft, path []string, v any) {
		if offered, ok := d.flag(path, v); ok {
			d.tool.Agent.Offered = offered
		}
	},
}

func agentText(to func(*Agent) *string) field {
	return func(d *draft, path []string, v any) {
		if text, ok := d.text(path, v); ok {
			*to(d.tool.Agent) = text
		}
	}
}

// MaxTurns is how many answers of its model one exchange of an agent may be given.
const MaxTurns = 1000

const maxTokens = 1_000_000_000

func agentCount(most float64, to func(*Agent) *int) field {
	return func(d *draft, path []string, v any) {
		n, ok := v.(float64)
		if !ok || n < 1 || n != math.Trunc(n) || n > most {
			d.wrong(path, fmt.Sprintf("a whole number from 1 to %.0f", most), v)
			return
		}
		*to(d.tool.Agent) = int(n)
	}
}

func readTemperature(d *draft, path []string, v any) {
	n, ok := v.(float64)
	if !ok || n < 0 {
		d.wrong(path, "a number, 0 or more", v)
		return
	}
	d.tool.Agent.Temperature = &n
}

// agent makes a tool of what stands under `agent`. It is granted its model and its tools: its author chose them
// where a script would name them.
func (d *draft) agent() {
	path := []string{"agent"}
	m, ok := d.mapping(path, d.tree["agent"])
	if !ok {
		return
	}
	d.tool.Agent = &Agent{}
	d.read(m, path, agentFields)
	a := d.tool.Agent
	if a.Model == "" && len(d.errs) == 0 {
		d.fail(path, "name one of [models] in the configuration", "the agent has no model")
	}
	if len(d.errs) > 0 {
		return
	}
	d.tool.Permissions.Models = append(d.tool.Permissions.Models, a.Model)
	d.tool.Permissions.Tools = append(d.tool.Permissions.Tools, a.Tools...)
	source, err := agentSource(d.tool.Name, a)
	if err != nil {
		d.cause(path, "", err)
		return
	}
	d.tool.Chunk, d.tool.Source = "=agent "+d.tool.Name, source
}

// agentParams are the arguments of an agent that names none.
func agentParams() map[string]any {
	return map[string]any{
		"type":                 "object",
		"properties":           map[string]any{"input": map[string]any{"type": "string", "description": "What the agent is asked"}},
		"required":             []any{"input"},
		"additionalProperties": false,
	}
}

// agentScript asks the agent once. What it says after its last tool call is the result.
const agentScript = `local config = __native.json_decode(%s)
function invoke(ctx, args)
	local agent = ctx.create_agent(%s, config)
	local plain = type(args.input) == "string" and next(args, next(args)) == nil
	agent:input(if plain then args.input else __native.json_encode(args))
	local texts = {}
	for chunk in agent:iter() do
		ctx.emit(chunk)
		if chunk.type == "tool_call" then
			table.clear(texts)
		elseif type(chunk.text) == "string" then
			table.insert(texts, chunk.text)
		end
	end
	agent:close()
	return table.concat(texts)
end
`

func agentSource(name string, a *Agent) (string, error) {
	config := map[string]any{"model": a.Model, "prompt": a.Prompt}
	if len(a.Tools) > 0 {
		tools := make([]any, len(a.Tools))
		for i, tool := range a.Tools {
			tools[i] = tool
		}
		config["tools"] = tools
	}
	if a.MaxTurns > 0 {
		config["max_turns"] = float64(a.MaxTurns)
	}
	if a.MaxTokens > 0 {
		config["max_tokens"] = float64(a.MaxTokens)
	}
	if a.Temperature != nil {
		config["temperature"] = *a.Temperature
	}
	text, err := jsonvalue.Encode(config)
	if err != nil {
		return "", err
	}
	quoted, err := json.Marshal(name)
	return fmt.Sprintf(agentScript, longString(string(text)), quoted), err
}

// longString is a text as Luau reads it without escapes.
func longString(text string) string {
	level := ""
	for strings.Contains(text+"]", "]"+level+"]") {
		level += "="
	}
	return "[" + level + "[" + text + "]" + level + "]"
}
