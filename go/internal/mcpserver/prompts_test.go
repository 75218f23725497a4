package mcpserver_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/tooldef"
)

func TestAgentsAreOfferedAsPromptsWhereTheyAskForIt(t *testing.T) {
	agent := func(offered bool) func(*tooldef.Tool) {
		return func(made *tooldef.Tool) {
			made.Agent = &tooldef.Agent{Model: "m", Prompt: "You help.\n", Offered: offered}
			made.Params = compiled(t, `{"type":"object","properties":{"input":{"type":"string","description":"The question"},"tone":{"type":"string"}},"required":["input"]}`)
		}
	}
	f := serving(t, tool(t, "helper", "", agent(true)), tool(t, "hidden", "", agent(false)), tool(t, "plain", "function invoke() end"))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	list, _ := p.answer()
	require.Len(t, list.at("result.prompts"), 1)
	require.Equal(t, "helper", list.at("result.prompts.0.name"))
	require.Equal(t, "The question", list.at("result.prompts.0.arguments.0.description"))
	require.Equal(t, true, list.at("result.prompts.0.arguments.0.required"))
	p.send(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"helper","arguments":{"input":"Why?","tone":"calm"}}}`)
	got, _ := p.answer()
	require.Equal(t, "You help.\n\nWhy?\n\ntone: calm", got.at("result.messages.0.content.text"))
	for id, params := range []string{`{"name":"helper"}`, `{"name":"hidden","arguments":{"input":"x"}}`} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"prompts/get","params":%s}`, id+3, params))
		refused, _ := p.answer()
		require.EqualValues(t, "-32602", fmt.Sprint(refused.at("error.code")), params)
	}
}

// The arguments of a prompt are what they are in a call of the tool: read by their types, completed and checked.
func TestArgumentsOfAPromptAreThoseOfTheTool(t *testing.T) {
	f := serving(t, tool(t, "helper", "", func(made *tooldef.Tool) {
		made.Agent = &tooldef.Agent{Model: "m", Prompt: "You help.", Offered: true}
		made.Params = compiled(t, `{"type":"object","additionalProperties":false,"required":["input","count"],"properties":{
			"input":{"type":"string"},"tone":{"enum":["calm","loud"],"default":"calm"},"count":{"type":"integer","default":3,"maximum":9},
			"tags":{"type":"array","items":{"type":"string"}}}}`)
	}))
	p := f.greeted(t, "2025-11-25", "{}")
	get := func(args string) message {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"helper","arguments":` + args + `}}`)
		m, _ := p.answer()
		return m
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	list, _ := p.answer()
	require.Equal(t, "count", list.at("result.prompts.0.arguments.0.name"))
	require.NotEqual(t, true, list.at("result.prompts.0.arguments.0.required"), "it has a default")

	require.Equal(t, "You help.\n\ncount: 3\n\n7\n\ntone: calm", get(`{"input":"7"}`).at("result.messages.0.content.text"))
	require.Equal(t, "You help.\n\ncount: 5\n\nx\n\ntags: [\"a\"]\n\ntone: loud",
		get(`{"input":"x","count":"5","tags":"a","tone":"loud"}`).at("result.messages.0.content.text"))
	for args, want := range map[string]string{
		`{}`:                            "missing required parameter: input",
		`{"input":"x","count":"many"}`:  "/count: must be an integer, not a string",
		`{"input":"x","count":"10"}`:    "/count: must be at most 9",
		`{"input":"x","tone":"shrill"}`: "/tone: must be",
		`{"input":"x","extra":"1"}`:     "extra",
	} {
		m := get(args)
		require.EqualValues(t, "-32602", fmt.Sprint(m.at("error.code")), args)
		require.Contains(t, m.at("error.message"), want)
		require.Equal(t, "bad_request", m.at("error.data.code"))
	}
}
