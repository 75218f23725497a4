package agentmod_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/agentmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

func TestAgentsAreRegistered(t *testing.T) {
	r := agentmod.NewRegistry(agentmod.Options{})
	a, b := modtest.New(t, agentmod.New(r), agentmod.Stub), modtest.New(t, agentmod.New(r), agentmod.Stub)
	a.Run(t, `__native.agent_register("writer", {model = "m", tags = {"x"}}) __native.agent_register("plain")`)
	b.Run(t, `__native.agent_register("writer", {})`)
	require.Equal(t, []agentmod.Agent{
		{Name: "writer", Config: map[string]any{"model": "m", "tags": []any{"x"}}}, {Name: "plain"},
		{Name: "writer", Config: map[string]any{}},
	}, r.Agents())
}

func TestAgentErrors(t *testing.T) {
	r := agentmod.NewRegistry(agentmod.Options{Bytes: 10_000})
	vm := modtest.New(t, agentmod.New(r), agentmod.Stub)
	for source, want := range map[string][2]string{
		`agent_register()`:                                  {"invalid_argument", "agent_register: argument 1 must be a string, got no value"},
		`agent_register("")`:                                {"invalid_argument", "agent_register: argument 1 must be a name of 1 to 256 bytes, got 0"},
		`agent_register("a", {1})`:                          {"invalid_argument", "argument 2 must be a table with string keys only"},
		`agent_register("a", {run = print})`:                {"invalid_argument", "agent_register: argument 2: .run: a function cannot be kept"},
		`agent_register("twice") agent_register("twice")`:   {"exists", `has registered "twice" already`},
		`agent_register("b", {x = string.rep("x", 20000)})`: {"limit", "the host's registry of agents is full"},
	} {
		out := vm.Run(t, `local agent_register = __native.agent_register return pcall(function() `+source+` end)`)
		e, failed := out[1].(map[string]any)
		require.True(t, failed, source)
		require.Equal(t, want[0], e["code"], source)
		require.Contains(t, e["message"], want[1], source)
	}
}
