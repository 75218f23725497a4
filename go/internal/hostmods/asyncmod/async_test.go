package asyncmod_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/asyncmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

// What tasks do is the engine's, and tested there.
func TestWithoutAScheduler(t *testing.T) {
	vm := modtest.New(t, asyncmod.Module{}, asyncmod.Stub)
	out := vm.Run(t, "return pcall(__native.async.spawn, function() end)")
	require.Equal(t, false, out[0])
	require.Equal(t, "async.spawn: this program runs scripts without tasks", out[1].(map[string]any)["message"])
}
