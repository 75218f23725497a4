package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// told is the error object of a result.
func (m message) told(t testing.TB) map[string]any {
	t.Helper()
	require.Equal(t, true, m.at("result.isError"), "%v", m)
	meta, _ := m.at("result._meta").(map[string]any)
	object, _ := meta["hukilau/error"].(map[string]any)
	require.NotNil(t, object, "%v", m)
	return object
}

// A client finds what a script raised in the metadata, a model its code in the text. No structured content: clients
// hold it against the schema of the tool's results.
func TestErrorsCarryTheirCodeAndData(t *testing.T) {
	withResult := func(made *tooldef.Tool) {
		made.Result = compiled(t, `{"type":"object","properties":{"left":{"type":"string"}},"required":["left"]}`)
	}
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{Redact: redact},
		tool(t, "sell", `function invoke() error({ code = "sold_out", message = "only 5 left", left = 5, big = 9007199254740993i, note = { "hunter2" }, f = 0/0 }) end`, withResult),
		tool(t, "plain", `function invoke() error("no luck") end`),
		tool(t, "large", `function invoke() error({ code = "large", message = "too much", text = string.rep("x", 100000) }) end`),
		tool(t, "typed", echo, func(made *tooldef.Tool) {
			made.Params = compiled(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
		}),
		tool(t, "rare", echo, func(made *tooldef.Tool) { made.Rate = tooldef.Rate{Calls: 1, Per: time.Hour} }),
	)
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(callOf("1", "sell", "{}"))
	m, _ := p.answer()
	want := map[string]any{
		"code": "tool_error", "detail": "sold_out", "message": "only 5 left",
		"data": map[string]any{"code": "sold_out", "message": "only 5 left", "left": json.Number("5"), "big": json.Number("9007199254740993"), "note": []any{"***"}, "f": "nan"},
	}
	require.Equal(t, want, m.told(t))
	require.Equal(t, "only 5 left\ncode: sold_out\ndata: {\"big\":9007199254740993,\"f\":\"nan\",\"left\":5,\"note\":[\"***\"]}", m.at("result.content.0.text"))
	require.NotContains(t, m["result"], "structuredContent")
	_, messages := f.web(t).modern("tools/call", "sell").post(modernCall("sell", "{}"))
	require.Equal(t, want, messages[0].told(t))

	p.send(callOf("2", "plain", "{}"))
	m, _ = p.answer()
	require.Equal(t, map[string]any{"code": "tool_error", "detail": "runtime", "message": "tools/plain.yaml:1: no luck"}, m.told(t))
	require.Equal(t, "tools/plain.yaml:1: no luck", m.at("result.content.0.text"))

	p.send(callOf("3", "large", "{}"))
	m, _ = p.answer()
	require.Equal(t, map[string]any{"code": "tool_error", "detail": "large", "message": "too much"}, m.told(t), "as over HTTP: not all that a script raises is sent")
	require.Equal(t, "too much\ncode: large", m.at("result.content.0.text"))

	p.send(callOf("4", "typed", `{"n":"x"}`))
	m, _ = p.answer()
	require.Equal(t, "/n", m.told(t)["path"])
	require.Equal(t, "bad_request", m.told(t)["code"])

	p.send(callOf("5", "rare", "{}"))
	p.answer()
	p.send(callOf("6", "rare", "{}"))
	m, _ = p.answer()
	require.Equal(t, "rate_limited", m.told(t)["code"])
	require.Equal(t, "3600", fmt.Sprint(m.told(t)["retry_after"]))
	require.NotContains(t, m.at("result.content.0.text"), "\n")
}

// Where the protocol wants an error in place of a result, its data are the same object.
func TestErrorsOfTheProtocolCarryTheirCode(t *testing.T) {
	f := serving(t, tool(t, "typed", echo, func(made *tooldef.Tool) {
		made.Params = compiled(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	}))
	p := f.greeted(t, "2025-06-18", "{}")
	p.send(callOf("1", "typed", `{"n":"x"}`))
	m, _ := p.answer()
	require.Equal(t, "-32602", fmt.Sprint(m.at("error.code")))
	require.Equal(t, "bad_request", m.at("error.data.code"))
	require.Equal(t, "/n", m.at("error.data.path"))
}
