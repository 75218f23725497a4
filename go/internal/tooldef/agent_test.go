package tooldef

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func readAgent(t *testing.T, text string) (*Tool, string) {
	t.Helper()
	tools, broken := readYAML("agent.yaml", []byte(text), nil)
	if len(broken) > 0 {
		return nil, broken[0].Err.Error()
	}
	require.Len(t, tools, 1)
	return tools[0], ""
}

func TestAgentFile(t *testing.T) {
	tool, problem := readAgent(t, `name: helper
description: Helps.
agent:
  model: small
  prompt: |
    You help. ]] "quoted" [=[
  tools: [add]
  max_turns: 3
  temperature: 0.5
  mcp_prompt: true
`)
	require.Empty(t, problem)
	half := 0.5
	require.Equal(t, &Agent{Model: "small", Prompt: "You help. ]] \"quoted\" [=[\n", Tools: []string{"add"}, MaxTurns: 3, Temperature: &half, Offered: true}, tool.Agent)
	require.Equal(t, Permissions{Models: []string{"small"}, Tools: []string{"add"}}, tool.Permissions)
	require.NotEmpty(t, tool.Params.Validate(map[string]any{}))
	require.Empty(t, tool.Params.Validate(map[string]any{"input": "x"}))
}

func TestAgentFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"agent: {prompt: x}":                            "the agent has no model",
		"agent: {model: m, modle: x}":                   `unknown key "modle" in agent; did you mean "model"?`,
		"agent: {model: m, max_turns: 0}":               "a whole number from 1 to 1000",
		"agent: {model: m, temperature: -1}":            "a number, 0 or more",
		"agent: {model: m, mcp_prompt: maybe}":          "true or false",
		"agent: [m]":                                    "a mapping",
		"agent: {model: m}\nlua: function invoke() end": "both an agent and a script",
	} {
		_, problem := readAgent(t, "name: helper\ndescription: Helps.\n"+text+"\n")
		require.Contains(t, problem, want, text)
	}
}

func TestCheckOfAnAgent(t *testing.T) {
	tool, problem := readAgent(t, "name: helper\ndescription: Helps.\nagent: {model: small, prompt: You help., tools: [add]}\n")
	require.Empty(t, problem)
	require.Empty(t, checked(tool))
}
