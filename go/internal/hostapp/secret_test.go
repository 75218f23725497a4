package hostapp

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Secrets that tools have of their own are as hidden as those of the configuration: from clients, from the log, from the
// execution log and from events, after a reload too.
func TestSecretsOfTools(t *testing.T) {
	t.Setenv("SECRET_ENV_KEY", "fromtheenv")
	t.Setenv("OTHER_TOKEN", "nobodysees")
	t.Setenv("PLAIN", "everybody")
	const body = `local all = ctx.config.api_key .. " " .. require("env").get("SECRET_ENV_KEY") .. " " .. require("env").get("PLAIN") ctx.log.info(all) ctx.emit(all) error("key is " .. all)`
	inFolder(t, map[string]string{
		"hukilau.toml":     "[permissions]\nenv = ['PLAIN']",
		"tools/about.yaml": yaml("about", "config: { api_key: hushhush, deep: [{ password: 12345678 }] }\npermissions: { env: [SECRET_ENV_KEY] }\n", body),
		"tools/lua.lua": `tool = { name = "lua", config = { token = "luahush" } }
			function tool.execute(_, context) error("with " .. context.config.token .. " " .. tostring(12345678)) end`,
	})
	var operator said
	h := hostOf(t, Options{Stderr: &operator})
	require.Empty(t, h.Project.Broken())
	_, failed := call(t, h, "about", "")
	require.Contains(t, failed.Message, "key is [redacted] [redacted] everybody")
	var seen events
	_, failed = h.Call(t.Context(), toolhost.Request{Tool: "about", Sink: &seen})
	require.NotNil(t, failed)
	require.Equal(t, []string{"[redacted] [redacted] everybody", `{"text":"[redacted] [redacted] everybody"}`}, seen.all)
	_, failed = call(t, h, "lua", "")
	require.Contains(t, failed.Message, "with [redacted] [redacted]")

	write(t, h.Project.Folder, map[string]string{
		"tools/about.yaml": yaml("about", "config: { api_key: newhush }\n", `error("key is " .. ctx.config.api_key .. " fromtheenv nobodysees hushhush")`),
	})
	require.NoError(t, h.Reload(t.Context()))
	_, failed = call(t, h, "about", "")
	require.Contains(t, failed.Message, "key is [redacted] [redacted] nobodysees [redacted]", "calls that began before the reload have the secrets of then")

	require.NotRegexp(t, "hushhush|fromtheenv|luahush|newhush|12345678", operator.String())
	require.NoError(t, h.Store.Log.Flush(t.Context()))
	runs, err := h.Store.Log.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, runs, 4)
	for _, run := range runs {
		require.NotRegexp(t, "hushhush|fromtheenv|luahush|newhush|12345678", run.Error.Message+run.Error.Detail)
	}
}

// events keeps what a tool tells.
type events struct{ all []string }

func (e *events) Emit(_ context.Context, chunk []byte) error {
	e.all = append(e.all, string(chunk))
	return nil
}

func (*events) Progress(context.Context, float64, float64, string) error { return nil }

func (e *events) Log(_ context.Context, _ slog.Level, message string, _ map[string]any) error {
	e.all = append(e.all, message)
	return nil
}
