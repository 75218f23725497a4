package gateway_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

func condition(pointer string, c config.Condition) map[string]config.Condition {
	return map[string]config.Condition{pointer: c}
}

// What keeps calls back is not got round by the type of an argument, by leaving it out, or by writing it as bytes.
func TestPolicyIsNotGotRound(t *testing.T) {
	s := server(t, "s", "send")
	s.source.Functions[0].Params = tree(t, `{"type":"object","properties":{"to":{},"path":{},"force":{"type":"boolean","default":true},"n":{}}}`)
	f := newFixture(t, gateway.Options{Policy: []config.Rule{
		{Args: condition("/to", config.Condition{Equals: float64(13)}), Action: config.Deny},
		{Args: condition("/path", config.Condition{Matches: regexp.MustCompile(`(?s)\A(?:/etc/.*)\z`)}), Action: config.Deny},
		{Args: condition("/n", config.Condition{In: []any{true, "x"}}), Action: config.Deny},
		{Args: condition("/force", config.Condition{Equals: true}), Action: config.Deny},
	}}, s)
	for _, args := range []string{
		`to = 13, force = false`, `to = "13", force = false`, `to = " 13.0 ", force = false`, `to = { 1, 13 }, force = false`, `to = { id = "13" }, force = false`,
		`path = "/etc/passwd", force = false`, `path = { "/tmp", "/etc/passwd" }, force = false`, `path = { ["$bytes"] = "L2V0Yy9wYXNzd2Q=" }, force = false`,
		`n = "true", force = false`, `n = 1, force = false`, `n = { "x" }, force = false`,
		`to = 1`, `force = true`,
	} {
		require.Contains(t, f.fails(`return sdk.s.send{ `+args+` }`).Message, "does not allow s.send with these arguments", args)
	}
	require.Empty(t, s.seen())
	require.Equal(t, `{"force":false,"n":"false","path":"/tmp/etc/","to":130}`, f.run(`return sdk.s.send{ to = 130, path = "/tmp/etc/", n = "false", force = false }`))
}

// What allows calls is read strictly.
func TestPolicyAllowsNoOtherType(t *testing.T) {
	s := server(t, "s", "send")
	s.source.Functions[0].Params = tree(t, `{"type":"object","properties":{"amount":{"default":1}}}`)
	f := newFixture(t, gateway.Options{Policy: []config.Rule{
		{Args: condition("/amount", config.Condition{Max: 10, MaxIsSaid: true}), Action: config.Allow},
		{Match: []config.Pattern{"*"}, Action: config.Deny},
	}}, s)
	for _, args := range []string{`amount = "9"`, `amount = { 9 }`, ``, `amount = 11`, `amount = false`} {
		require.Contains(t, f.fails(`return sdk.s.send{ `+args+` }`).Message, "does not allow", args)
	}
	require.Equal(t, `{"amount":9}`, f.run(`return sdk.s.send{ amount = 9 }`))
}

// Names that stand in the parameters and in the body are both looked at; a body that is sent as it is may say anything.
func TestPolicyOfOperationsIsNotGotRound(t *testing.T) {
	api := &fake{kind: catalog.OpenAPI, source: &catalog.Source{Name: "pay", Kind: catalog.OpenAPI, Functions: []catalog.Function{{
		Name:   "send",
		Params: tree(t, `{"type":"object","properties":{"amount":{}}}`),
		Body:   tree(t, `{}`),
	}}}}
	api.answer = func(_ context.Context, c *gateway.Call) (*gateway.Result, error) {
		return &gateway.Result{Response: &gateway.Response{Status: 204}}, nil
	}
	deny := newFixture(t, gateway.Options{Policy: []config.Rule{{Args: condition("/amount", config.Condition{Equals: float64(13)}), Action: config.Deny}}}, api)
	allow := newFixture(t, gateway.Options{Policy: []config.Rule{
		{Args: condition("/amount", config.Condition{Max: 10, MaxIsSaid: true}), Action: config.Allow}, {Match: []config.Pattern{"*"}, Action: config.Deny},
	}}, api)
	for _, f := range []*fixture{deny, allow} {
		for _, args := range []string{`{ amount = 1 }, { amount = 13 }`, `{ amount = 13 }, { amount = 1 }`, `nil, '{"amount":13}'`, `nil, buffer.fromstring('amount=13')`} {
			require.Contains(t, f.fails(`return sdk.pay.send(`+args+`)`).Message, "does not allow", args)
		}
		require.Equal(t, "null", f.run(`return sdk.pay.send({ amount = 1 }, { amount = 2 })`))
	}
}

// A text that a script calls bytes stays what the operator sees.
func TestTextsAreNotHiddenAsBytes(t *testing.T) {
	var got any
	api := &fake{kind: catalog.OpenAPI, source: &catalog.Source{Name: "a", Kind: catalog.OpenAPI, Functions: []catalog.Function{{Name: "put", Body: tree(t, `{}`)}}}}
	api.answer = func(_ context.Context, c *gateway.Call) (*gateway.Result, error) {
		got = gateway.WithBytes(c.Body)
		return &gateway.Result{Response: &gateway.Response{Status: 204}}, nil
	}
	f := newFixture(t, gateway.Options{}, api)
	f.run(`return sdk.a.put{ a = { ["$bytes"] = "aGVsbG8=" }, b = "\xff\xfe" }`)
	require.Equal(t, map[string]any{"a": map[string]any{"$bytes": "aGVsbG8="}, "b": "\xff\xfe"}, got)
}

// A script may print nothing but line ends.
func TestManyLinesArePrinted(t *testing.T) {
	f := newFixture(t, gateway.Options{}, server(t, "s", "one"))
	answer, failed := f.host.Call(t.Context(), toolhost.Request{Tool: "execute_script", Caller: bob, Value: map[string]any{
		"script": `print(string.rep("\n", 1000000)) print("x\ny") return 1`, "timeout_ms": float64(time.Minute / time.Millisecond)}})
	require.Nil(t, failed)
	var all told
	require.NoError(t, json.Unmarshal(answer.JSON, &all))
	require.Equal(t, []string{"x", "y"}, all.Logs[len(all.Logs)-2:])
	require.Less(t, len(all.Logs), 10_000, "a model need not read empty lines")
}

// An operation without parameters takes an empty table, as a tool does.
func TestOperationsWithoutParameters(t *testing.T) {
	api := &fake{kind: catalog.OpenAPI, source: &catalog.Source{Name: "a", Kind: catalog.OpenAPI, Functions: []catalog.Function{{Name: "now"}}}}
	api.answer = func(context.Context, *gateway.Call) (*gateway.Result, error) {
		return &gateway.Result{Response: &gateway.Response{Status: 200, JSON: json.RawMessage(`1`)}}, nil
	}
	f := newFixture(t, gateway.Options{}, api)
	require.Equal(t, "[1,1,1]", f.run(`return { sdk.a.now(), sdk.a.now{}, call_tool("a.now", {}).json }`))
	require.Contains(t, f.fails(`return sdk.a.now{ x = 1 }`).Message, "takes no parameters")
}

// What a script touches does not fill a model's context.
func TestFewFilesAreTold(t *testing.T) {
	f := newFixture(t, gateway.Options{Files: func(string) (gateway.Folder, error) { return noFiles{}, nil }}, server(t, "s", "one"))
	told := f.by(bob, `for i = 1, 3000 do files.write("f" .. i, "") files.write("f" .. i, "x") end`)
	require.Len(t, told.Files, 51)
	require.Equal(t, []string{"f1", "... 2950 more ..."}, []string{told.Files[0], told.Files[50]})
}

// noFiles takes files and keeps none.
type noFiles struct{}

func (noFiles) Read(context.Context, string) (string, error)      { return "", nil }
func (noFiles) Write(context.Context, string, string, bool) error { return nil }
func (noFiles) List(context.Context, string) (string, error)      { return "[]", nil }
func (noFiles) Remove(context.Context, string) error              { return nil }
func (noFiles) Close()                                            {}

// An error does not fill a model's context, whatever a script raises.
func TestMessagesAreShort(t *testing.T) {
	f := newFixture(t, gateway.Options{}, server(t, "s", "one"))
	for _, script := range []string{
		`error(string.rep("x", 500000))`, `error({ message = string.rep("x", 500000), code = "c" })`, `local t = {} for i = 1, 20000 do t["k" .. i] = "x" end sdk.s.one(t) error("no")`,
		`return sdk.s[string.rep("x", 500000)]`, `return sdk[string.rep("x", 500000)]`,
		"local x = " + strings.Repeat("y", 200000) + " return x.z",
	} {
		failed := f.fails(script)
		require.Less(t, len(failed.Text()), 15_000, script[:min(len(script), 40)])
	}
}
