package gateway_test

import (
	"context"
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/internal/units"
)

func yes() *bool { v := true; return &v }
func no() *bool  { v := false; return &v }

func TestPolicyDenies(t *testing.T) {
	tracker := server(t, "tracker", "list", "delete_one", "delete_all", "get-user")
	f := newFixture(t, gateway.Options{Policy: []config.Rule{
		{Match: []config.Pattern{"tracker.delete_one"}, Args: map[string]config.Condition{"/n": {Max: 10, MaxIsSaid: true}}, Action: config.Allow},
		{Match: []config.Pattern{"tracker.delete_*"}, Action: config.Deny, Reason: "ask Ada", Line: 7},
		{Match: []config.Pattern{"tracker.get_user"}, Action: config.Deny}, // by the name that scripts use
	}}, tracker)
	require.Equal(t, "5", f.run(`return sdk.tracker.delete_one{ n = 5 }.n`))
	for _, script := range []string{
		`return sdk.tracker.delete_one{ n = 11 }`, `return sdk.tracker.delete_one{}`, `return sdk.tracker.delete_all{}`,
		`return sdk.tracker["delete_all"]()`, `return call_tool("tracker.delete_all", {})`, `return tracker.delete_all():await()`,
		`return async.map({ 1 }, function() return sdk.tracker.delete_all{} end)`,
	} {
		failed := f.fails(script)
		require.Equal(t, toolhost.Permission, failed.Code, script)
		require.Contains(t, failed.Message, "the operator does not allow tracker.delete_", script)
		require.Contains(t, failed.Message, "ask Ada", script)
	}
	require.Contains(t, f.fails(`return sdk.tracker["get-user"]{}`).Message, "does not allow tracker.get-user")
	require.Equal(t, `{"code":"permission","retryable":false,"server":"tracker","tool":"delete_all"}`, f.run(
		`local _, err = pcall(sdk.tracker.delete_all) return { code = err.code, server = err.server, tool = err.tool, retryable = err.retryable }`))
	require.Equal(t, []string{`delete_one {"n":5}`}, tracker.seen(), "nothing that is denied reaches the server")

	// What is denied whatever its arguments are is not shown.
	require.Equal(t, `{"functions":[{"name":"tracker.delete_one","description":"The tool delete_one"},{"name":"tracker.list","description":"The tool list"}]}`, f.gives("list_functions", nil))
	require.NotContains(t, f.gives("search_docs", map[string]any{"query": "delete all"}), "delete_all")
}

func TestPolicyReadsAnnotationsAndArguments(t *testing.T) {
	s := server(t, "s", "plain", "reads", "changes")
	s.source.Functions[1].Hints = catalog.Hints{ReadOnly: yes(), Destructive: yes()}
	s.source.Functions[2].Hints = catalog.Hints{Destructive: no(), OpenWorld: no()}
	s.source.Functions[0].Params = nil
	f := newFixture(t, gateway.Options{Policy: []config.Rule{
		{Annotation: config.OpenWorld, Args: map[string]config.Condition{"/url": {Matches: regexp.MustCompile(`^http:`)}}, Action: config.Deny},
		{Args: map[string]config.Condition{"/list/1": {In: []any{float64(7)}}, "/n": {Equals: float64(1)}}, Action: config.Deny},
		{Annotation: config.Destructive, Action: config.Deny, Reason: "destructive"},
	}}, s)
	require.Contains(t, f.fails(`return sdk.s.plain{}`).Message, "destructive", "what says nothing of itself may destroy")
	require.Equal(t, `{}`, f.run(`return sdk.s.reads{}`), "what changes nothing destroys nothing")
	require.Equal(t, `{}`, f.run(`return sdk.s.changes{}`))
	require.Contains(t, f.fails(`return sdk.s.reads{ url = "http://x" }`).Message, "with these arguments")
	require.Equal(t, `{"url":"https://x"}`, f.run(`return sdk.s.reads{ url = "https://x" }`))
	require.Equal(t, `{"url":"http://x"}`, f.run(`return sdk.s.changes{ url = "http://x" }`))
	require.Contains(t, f.fails(`return sdk.s.changes{ n = 1, list = { 6, 7 } }`).Message, "with these arguments")
	require.Equal(t, `{"list":[7,6],"n":1}`, f.run(`return sdk.s.changes{ n = 1, list = { 7, 6 } }`))
}

func TestPolicyRates(t *testing.T) {
	s := server(t, "s", "one", "two")
	f := newFixture(t, gateway.Options{Policy: []config.Rule{
		{Match: []config.Pattern{"s.one"}, Rate: units.Rate{Count: 3, Per: time.Hour}, Action: config.Allow},
	}}, s)
	require.Equal(t, "[3,7,true,true]", f.run(`
		local made, refused, last = 0, 0, nil
		for i = 1, 10 do
			local ok, err = pcall(sdk.s.one, { n = i })
			if ok then made += 1 else refused += 1 last = err end
		end
		return { made, refused, last.code == "rate_limited", last.retryable }`))
	require.Len(t, s.seen(), 3)
	require.Equal(t, "2", f.run(`return sdk.s.two{ n = 2 }.n`))
}

// An operator decides about a call of a script; then the script runs once more, and the call is made once.
func TestPolicyAsksOperators(t *testing.T) {
	s := server(t, "s", "pay", "look")
	s.source.Functions[1].Hints.ReadOnly = yes()
	f := newFixture(t, gateway.Options{Policy: []config.Rule{{Annotation: config.Destructive, Action: config.Approve, Reason: "money"}}}, s)
	const script = `local seen = sdk.s.look{ n = 1 }.n return sdk.s.pay{ n = seen }.n`
	failed := f.fails(script)
	require.Equal(t, toolhost.NeedsApproval, failed.Code)
	require.NotEmpty(t, failed.ID)
	require.Contains(t, failed.Message, "needs the approval of an operator (money); ")
	again := f.fails(script)
	require.Equal(t, failed.ID, again.ID, "the same call waits once")
	require.NotEqual(t, failed.ID, f.fails(`return sdk.s.pay{ n = 2 }`).ID)
	require.Equal(t, []string{`look {"n":1}`, `look {"n":1}`}, s.seen())

	// A script sees it as an error that says that it waits.
	require.Equal(t, `["needs_approval",true]`, f.run(`local _, err = pcall(sdk.s.pay, { n = 1 }) return { err.code, string.find(err.message, "waits as") ~= nil }`))

	require.Nil(t, f.host.DecideApproval(t.Context(), failed.ID, true, "ada"))
	require.Equal(t, "1", f.run(script))
	require.Equal(t, []string{`look {"n":1}`, `look {"n":1}`, `look {"n":1}`, `pay {"n":1}`}, s.seen())
	require.Equal(t, toolhost.NeedsApproval, f.fails(script).Code, "it was good for one call")
	require.Len(t, s.seen(), 5)

	other := toolhost.Caller{Name: "eve", Face: "mcp", Client: "2"}
	failed = f.fails(`return sdk.s.pay{ n = 3 }`)
	require.Nil(t, f.host.DecideApproval(t.Context(), failed.ID, true, "ada"))
	_, theirs := f.host.Call(t.Context(), toolhost.Request{Tool: "execute_script", Value: map[string]any{"script": `return sdk.s.pay{ n = 3 }`}, Caller: other})
	require.NotNil(t, theirs)
	require.NotEqual(t, failed.ID, theirs.ID, "an approval is its caller's")

	refused := f.fails(`return sdk.s.pay{ n = 4 }`)
	require.Nil(t, f.host.DecideApproval(t.Context(), refused.ID, false, "ada"))
	require.Equal(t, toolhost.Permission, f.fails(`return sdk.s.pay{ n = 4 }`).Code)
}

// Conditions on operations see the body behind the parameters.
func TestPolicySeesBodies(t *testing.T) {
	api := &fake{kind: catalog.OpenAPI, source: &catalog.Source{Name: "pets", Kind: catalog.OpenAPI, Functions: []catalog.Function{{
		Name:   "update",
		Params: tree(t, `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`),
		Body:   tree(t, `{"type":"object","properties":{"name":{"type":"string"}}}`),
	}}}}
	api.answer = func(_ context.Context, c *gateway.Call) (*gateway.Result, error) {
		text, err := json.Marshal(map[string]any{"params": json.RawMessage(c.Params), "body": c.Body})
		return &gateway.Result{Response: &gateway.Response{Status: 200, JSON: text}}, err
	}
	f := newFixture(t, gateway.Options{Policy: []config.Rule{
		{Args: map[string]config.Condition{"/name": {Equals: "Rex"}}, Action: config.Deny},
		{Args: map[string]config.Condition{"/id": {Equals: float64(13)}}, Action: config.Deny},
	}}, api)
	require.Equal(t, `{"body":{"name":"Max"},"params":{"id":1}}`, f.run(`return sdk.pets.update({ id = 1 }, { name = "Max" })`))
	require.Contains(t, f.fails(`return sdk.pets.update({ id = 1 }, { name = "Rex" })`).Message, "does not allow")
	require.Contains(t, f.fails(`return sdk.update({ id = 13 }, { name = "Max" })`).Message, "does not allow")
	require.Contains(t, f.fails(`return sdk.pets.update({ id = "1" }, {})`).Message, "id must be an integer")
}

// An entry that only bounds the rate decides nothing else.
func TestRatesAloneDecideNothing(t *testing.T) {
	f := newFixture(t, gateway.Options{Policy: []config.Rule{
		{Match: []config.Pattern{"*"}, Rate: units.Rate{Count: 5, Per: time.Hour}}, {Match: []config.Pattern{"s.gone"}, Action: config.Deny},
	}}, server(t, "s", "there", "gone"))
	require.Equal(t, toolhost.Permission, f.fails(`return sdk.s.gone()`).Code)
	require.Equal(t, `5`, f.run(`for i = 1, 5 do sdk.s.there() end return 5`))
	require.Equal(t, toolhost.RateLimited, f.fails(`return sdk.s.there()`).Code)
}
