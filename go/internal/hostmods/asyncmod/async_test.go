package asyncmod_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/asyncmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

func message(t *testing.T, m hostmod.Module, source string) any {
	t.Helper()
	out := modtest.New(t, m, asyncmod.Stub).Run(t, "return pcall(function() return __native.async."+source+" end)")
	require.Equal(t, false, out[0], source)
	return out[1].(map[string]any)["message"]
}

// What tasks do is the engine's, and tested there.
func TestWithoutAScheduler(t *testing.T) {
	require.Equal(t, "async.spawn: this program runs scripts without tasks", message(t, asyncmod.Module{}, "spawn(function() end)"))
}

// scheduled is the module in a VM that has tasks, though none is ever reached.
type scheduled struct{ asyncmod.Module }

func (s scheduled) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return s.Module.NewInstance(struct {
		hostmod.VM
		hostmod.Tasks
	}{VM: vm})
}

func TestWrongArguments(t *testing.T) {
	for source, want := range map[string]string{
		"park(0/0)":    "async.park: argument 1 must be a number of seconds, 0 or more",
		"park(-1)":     "async.park: argument 1 must be a number of seconds, 0 or more",
		"advance(-1)":  "async.advance: argument 1 must be a number of seconds, 0 or more",
		"advance()":    "async.advance: argument 1 must be a number, got no value",
		"wake(-1)":     "async.wake: argument 1 must be the number of a task",
		"cancel(0.5)":  "async.cancel: argument 1 must be a whole number, got 0.5",
		"raise({})":    "async.raise: argument 1 must be a whole number, got table",
		"spawn(5)":     "async.spawn: argument 1 must be a function, got number",
		"shield(nil)":  "async.shield: argument 1 must be a boolean, got nil",
		"forgive('1')": "async.forgive: argument 1 must be a whole number, got string",
	} {
		require.Equal(t, want, message(t, scheduled{}, source), source)
	}
}
