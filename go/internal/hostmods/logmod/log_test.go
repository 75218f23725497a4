package logmod_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/logmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

func TestLog(t *testing.T) {
	vm := modtest.New(t, logmod.Module{}, logmod.Stub)
	vm.Run(t, `__native.log("info", "found", 3, true, nil, {a = {1, 2}})
		__native.log("WARNING", "slow")`)
	require.Equal(t, []string{"info found 3 true nil {a = {1, 2}}", "warn slow"}, vm.Logs)
}

func TestLogErrors(t *testing.T) {
	vm := modtest.New(t, logmod.Module{}, logmod.Stub)
	out := vm.Run(t, `return pcall(__native.log, "loud", "x")`)
	require.Equal(t, `log: argument 1 must be "debug", "info", "warn" or "error", got "loud"`, out[1].(map[string]any)["message"])
	vm.LogErr = errors.New("full")
	out = vm.Run(t, `return pcall(__native.log, "info", "x")`)
	require.Equal(t, false, out[0], "a record that is not written is an error")
}
