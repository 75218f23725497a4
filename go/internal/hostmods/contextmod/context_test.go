package contextmod_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/contextmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

func TestContextsOfAScript(t *testing.T) {
	r := contextmod.NewRegistry(contextmod.Options{})
	vm := modtest.New(t, contextmod.New(r), contextmod.Stub)
	out := vm.Run(t, `
		local id = __native.context_create({name = "docs", description = "papers", model = "m"})
		__native.context_set(id, "list", {1, 2})
		__native.context_set(id, "gone", 1)
		__native.context_set(id, "gone", nil)
		local copy = __native.context_get(id, "list")
		copy[1] = 7
		return id, __native.context_get(id, "list")[1], __native.context_get(id, "gone"), __native.context_get(id, "never")`)
	require.Equal(t, []any{1.0, nil, nil}, out[1:])
	got, ok := r.Context(out[0].(string))
	require.True(t, ok)
	require.Equal(t, contextmod.Context{
		ID: out[0].(string), Name: "docs", Description: "papers",
		Options: map[string]any{"name": "docs", "description": "papers", "model": "m"},
		Values:  map[string]any{"list": []float64{1, 2}},
	}, normal(got))
	require.Len(t, r.Contexts(), 1)
	require.True(t, r.Remove(got.ID))
	require.Empty(t, r.Contexts())
}

// normal makes arrays of numbers comparable.
func normal(c contextmod.Context) contextmod.Context {
	for k, v := range c.Values {
		if list, ok := v.([]any); ok {
			numbers := []float64{}
			for _, n := range list {
				numbers = append(numbers, n.(float64))
			}
			c.Values[k] = numbers
		}
	}
	return c
}

func TestIDsBelongToTheirScript(t *testing.T) {
	r := contextmod.NewRegistry(contextmod.Options{})
	a, b := modtest.New(t, contextmod.New(r), contextmod.Stub), modtest.New(t, contextmod.New(r), contextmod.Stub)
	id := a.Run(t, `return __native.context_create({})`)[0]
	require.NoError(t, b.State.SetGlobal("id", id))
	for _, source := range []string{`context_get(id, "x")`, `context_set(id, "x", 1)`, `context_get("context-1", "x")`} {
		out := b.Run(t, "return pcall(function() return __native."+source+" end)")
		require.Equal(t, false, out[0], source)
		require.Equal(t, "not_found", out[1].(map[string]any)["code"], source)
	}
}

func TestLimits(t *testing.T) {
	r := contextmod.NewRegistry(contextmod.Options{Bytes: 100_000})
	vm := modtest.New(t, contextmod.New(r), contextmod.Stub)
	last := `for i = 1, 1001 do context_create({}) end`
	for source, want := range map[string][2]string{
		`context_create()`:                              {"invalid_argument", "context_create: argument 1 must be a table, got no value"},
		`context_create({name = 1})`:                    {"invalid_argument", "context_create: argument 1: .name must be a string, got number"},
		`context_create({f = print})`:                   {"invalid_argument", "context_create: argument 1: .f: a function cannot be kept"},
		`context_set(id, "x", {{print}})`:               {"invalid_argument", "context_set: argument 3: [1][1]: a function"},
		`context_set(id, string.rep("x", 2000), 1)`:     {"invalid_argument", "context_set: argument 2 must be at most 1024 bytes"},
		`context_set(id, "x", string.rep("x", 200000))`: {"limit", "the host's registry of contexts is full"},
	} {
		out := vm.Run(t, `local context_create, context_set = __native.context_create, __native.context_set
			local id = context_create({})
			return pcall(function() `+source+` end)`)
		e, failed := out[1].(map[string]any)
		require.True(t, failed, source)
		require.Equal(t, want[0], e["code"], source)
		require.Contains(t, e["message"], want[1], source)
	}
	out := vm.Run(t, "local context_create = __native.context_create return pcall(function() "+last+" end)")
	require.Equal(t, "limit", out[1].(map[string]any)["code"])
}

// A value that is set a thousand times takes its room once, and gives it back.
func TestRoomIsGivenBack(t *testing.T) {
	r := contextmod.NewRegistry(contextmod.Options{Bytes: 50_000})
	vm := modtest.New(t, contextmod.New(r), contextmod.Stub)
	vm.Run(t, `local id = __native.context_create({})
		for i = 1, 1000 do
			__native.context_set(id, "big", string.rep("x", 20000))
			__native.context_set(id, "big", i % 2 == 0 and "" or nil)
		end`)
	require.Len(t, r.Contexts(), 1)
}

func TestContextsOutliveTheirRun(t *testing.T) {
	r := contextmod.NewRegistry(contextmod.Options{Entries: 2})
	vm := modtest.New(t, contextmod.New(r), contextmod.Stub)
	i, err := contextmod.New(r).NewInstance(vm)
	require.NoError(t, err)
	require.NoError(t, vm.State.SetGlobal("create", i.Native()["context_create"]))
	require.NoError(t, vm.State.SetGlobal("get", i.Native()["context_get"]))
	id := vm.Run(t, `return create({name = "old"})`)[0]
	i.EndRun()
	got, ok := r.Context(id.(string))
	require.True(t, ok)
	require.Equal(t, "old", got.Name)
	require.NoError(t, vm.State.SetGlobal("id", id))
	require.Equal(t, false, vm.Run(t, `return (pcall(get, id, "x"))`)[0], "the next run does not reach it")
	vm.Run(t, `create({}) create({})`)
	_, ok = r.Context(id.(string))
	require.False(t, ok, "it makes room for the living")
}
