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

func TestRecord(t *testing.T) {
	vm := modtest.New(t, logmod.Module{}, logmod.Stub)
	vm.Run(t, `__native.log_record("warn", "slow answer", {ms = 12.5, url = "x", tags = {"a"}})
		__native.log_record("info", "plain")`)
	require.Equal(t, []string{"warn slow answer", "info plain"}, vm.Logs)
	require.Equal(t, []map[string]any{{"ms": 12.5, "url": "x", "tags": []any{"a"}}, nil}, vm.Fields)
	for source, want := range map[string]string{
		`__native.log_record("loud", "x")`:      `log_record: argument 1 must be "debug", "info", "warn" or "error", got "loud"`,
		`__native.log_record("info")`:           "log_record: argument 2 must be a string, got no value",
		`__native.log_record("info", "x", 1)`:   "log_record: argument 3 must be a table, got number",
		`__native.log_record("info", "x", {1})`: "log_record: argument 3 must be a table with string keys only",
	} {
		out := vm.Run(t, "return pcall(function() "+source+" end)")
		require.Equal(t, want, out[1].(map[string]any)["message"], source)
	}
	require.Len(t, vm.Logs, 2)
}

func TestRecordsThatAreTooLong(t *testing.T) {
	vm := modtest.New(t, logmod.Module{}, logmod.Stub)
	for _, call := range []string{
		`__native.log("info", "m", {a = table.create(2e6, true)})`, `__native.log("info", ("x"):rep(2e6))`,
		`__native.log_record("info", "m", {a = table.create(2e6, true)})`,
	} {
		out := vm.Run(t, "return pcall(function() "+call+" end)")
		require.Equal(t, false, out[0])
		require.Equal(t, "limit", out[1].(map[string]any)["code"])
		require.Contains(t, out[1].(map[string]any)["message"], "a record may hold 1048576 bytes")
	}
	require.Empty(t, vm.Logs)
}
