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
