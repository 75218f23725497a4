package mcpserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/tooldef"
)

const echo = `function invoke(ctx, args) return args end`

func TestListAndCallOverBothTransports(t *testing.T) {
	f := serving(t, tool(t, "echo", echo, func(made *tooldef.Tool) {
		yes := true
		made.Title, made.Annotations.ReadOnly = "Echo", &yes
		made.Annotations.Title = "Says it again"
		made.Params = compiled(t, `{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}}}`)
		made.Result = compiled(t, `{"type":"object","x-note":"<kept>"}`)
	}))
	check := func(list, called message) {
		t.Helper()
		require.Equal(t, "echo", list.at("result.tools.0.name"))
		require.Equal(t, "Echo", list.at("result.tools.0.title"))
		require.Equal(t, "The tool echo", list.at("result.tools.0.description"))
		require.EqualValues(t, "9007199254740993", list.at("result.tools.0.inputSchema.properties.n.maximum"))
		require.Equal(t, "<kept>", list.at("result.tools.0.outputSchema.x-note"))
		require.Equal(t, map[string]any{"title": "Says it again", "readOnlyHint": true, "idempotentHint": false}, list.at("result.tools.0.annotations"))
		require.Equal(t, `{"a":[],"b":{}}`, called.at("result.content.0.text"))
		require.Equal(t, map[string]any{"a": []any{}, "b": map[string]any{}}, called.at("result.structuredContent"))
		require.Nil(t, called.at("result.isError"))
	}
	listTools := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(listTools)
	list, _ := p.answer()
	p.send(callOf("2", "echo", `{"b":{},"a":[]}`))
	called, _ := p.answer()
	check(list, called)

	w := f.web(t)
	w.greet("2025-11-25", "{}")
	_, lists := w.post(listTools)
	response, calls := w.post(callOf("2", "echo", `{"b":{},"a":[]}`))
	check(lists[0], calls[0])
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "application/json", response.Header.Get("Content-Type"), "an answer without notifications is no stream")
	require.NotEmpty(t, response.ContentLength)
}

// D01: the revision is the one offered, or our latest.
func TestD01Revisions(t *testing.T) {
	f := serving(t, tool(t, "echo", echo))
	for offered, settled := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25", "2020-01-01": "2025-11-25", "nonsense": "2025-11-25",
	} {
		t.Run(offered, func(t *testing.T) {
			p := f.pipe(t)
			p.send(initialize(offered, "{}"))
			m, _ := p.answer()
			require.Equal(t, settled, m.at("result.protocolVersion"))
			w := f.web(t)
			for _, header := range []string{"", offered, "2026-07-28", "2020-01-01"} {
				w.header.Set("Mcp-Protocol-Version", header)
				response, messages := w.post(initialize(offered, "{}"))
				require.Equal(t, http.StatusOK, response.StatusCode, "header %q", header)
				require.Equal(t, settled, messages[0].at("result.protocolVersion"))
			}
		})
	}
}
