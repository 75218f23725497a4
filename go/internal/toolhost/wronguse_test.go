package toolhost_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/fakemodel"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// What is wrong is told in the script's own words: no name of what lies below ctx, and none of Go.
func TestWrongUseNamesWhatTheScriptWrote(t *testing.T) {
	const agent = `local a = ctx.create_agent("a", { model = "m" }) `
	for body, want := range map[string]string{
		`ctx.progress("1")`:       "ctx.progress: argument 1 must be a number, got string",
		`ctx.progress(1, {})`:     "ctx.progress: argument 2 must be a number, got table",
		`ctx.progress(1, 2, {})`:  "ctx.progress: argument 3 must be a string, got table",
		`ctx.emit(print)`:         "ctx.emit: argument 1 must be a string, a number, a boolean or a table, got function",
		`ctx.emit()`:              "ctx.emit: argument 1 must be a string, a number, a boolean or a table, got nil",
		`ctx.emit("a", "b")`:      "ctx.emit: takes one argument, got 2; argument 2 is a string",
		`ctx.emit("\xff")`:        "ctx.emit: cannot encode a string that is not valid UTF-8 at $.text",
		`ctx.state.f = print`:     "ctx.state.f cannot be kept: cannot encode a function (only nil, json.null, booleans, numbers, strings and tables) at $",
		`ctx.state.x = { 1, a=2}`: "ctx.state.x cannot be kept: cannot encode a table with both array elements and string keys at $",
		`ctx.state[1] = 1`:        "ctx.state: keys must be strings, got number 1",
		`ctx.update_state("a", function() return print end)`:                      "ctx.state.a cannot be kept: cannot encode a function (only nil, json.null, booleans, numbers, strings and tables) at $",
		`ctx.generate("m", { 5 })`:                                                "ctx.generate: message 1 must be a table, got number",
		`ctx.generate("m", { { content = 5 } })`:                                  "ctx.generate: message 1: its content must be a string or a list of parts",
		`ctx.generate_json("m", "x", { type = "object" }, { temperature = "1" })`: "ctx.generate_json: temperature must be a number, got string",
		`ctx.generate("m", "x", { max_tokens = 1.5 })`:                            "ctx.generate: max_tokens must be a whole number, got 1.5",
		`ctx.generate_stream("m", "x", { temprature = 1 })`:                       `ctx.generate_stream: unknown field "temprature"`,
		`ctx.generate_json("m", "x", { type = 5 })`:                               "ctx.generate_json: schema of the answer: not a JSON Schema: ",
		`ctx.create_agent("a", { model = 5 })`:                                    "ctx.create_agent: the agent a: model must be a string, got number",
		`ctx.create_agent(string.rep("a", 5000), { model = "m" })`:                "ctx.create_agent: the name of an agent has at most 200 bytes, this one has 5000",
		agent + `a:input()`:                                                       "agent.input: argument 1 must be a message: a string or a table, got nil",
		agent + `a:input({ role = "robot", content = "x" })`:                      `agent.input: its role must be system, user or assistant, not "robot"`,
		agent + `a:close() a:input("x")`:                                          "the agent is closed",
		agent + `a:close() a:collect()`:                                           "the agent is closed",
		`ctx.tools.call(5)`:                                                       "ctx.tools.call: argument 1 must be the name of a tool, got number",
		`ctx.tools.call("x", 5)`:                                                  "ctx.tools.call: the arguments must be a table, got number",
		`ctx.tools.x({ print })`:                                                  "ctx.tools.x: cannot encode a function",
		`ctx.elicit("x", print)`:                                                  "ctx.elicit: cannot encode a function",
	} {
		made := tool(t, "fails", "function invoke(ctx) "+body+" end")
		made.Permissions.Models = []string{"m"}
		_, failed := call(newHost(t, withModel(fakemodel.New()), made), "fails", "{}")
		require.NotNil(t, failed, body)
		require.Equal(t, want, failed.Message[:min(len(want), len(failed.Message))], body)
		require.Equal(t, toolhost.ToolError, failed.Code, body)
	}
}

func TestErrorsOfModelsNameTheModel(t *testing.T) {
	limited := &models.Error{Code: models.CodeRateLimited, Provider: "openai-compatible", Message: "slow down"}
	answers := func() models.Provider {
		return fakemodel.New(fakemodel.Answer{Text: "[]"}, fakemodel.Answer{Text: "[]"}, fakemodel.Answer{Err: limited})
	}
	slow := fakemodel.New(fakemodel.Answer{Do: func(ctx context.Context, _ *models.Request) (fakemodel.Answer, error) {
		<-ctx.Done()
		return fakemodel.Answer{}, context.Cause(ctx)
	}})
	made := tool(t, "ask", `function invoke(ctx, args)
		local _, wrong = pcall(ctx.generate_json, "m", "x", { type = "object" }, { repairs = 1 })
		local _, failed = pcall(ctx.generate, "m", "x")
		local _, late = pcall(ctx.generate, "slow", "x", { timeout = 0.01 })
		return { tostring(wrong.message), wrong.model, failed.message, failed.model, failed.provider, late.message, late.model }
	end`)
	made.Permissions.Models = []string{"*"}
	provider := answers()
	h := newHost(t, toolhost.Options{Models: func(name string) (toolhost.Model, bool) {
		if name == "slow" {
			return toolhost.Model{Provider: slow}, true
		}
		return toolhost.Model{Provider: provider}, true
	}}, made)
	result, failed := call(h, "ask", "{}")
	require.Nil(t, failed)
	require.Equal(t, `["model m gave no valid JSON, also after 1 repair: must be an object, not an array","m",`+
		`"model m: slow down","m","openai-compatible","model slow: no answer within 0.01 seconds","slow"]`, result)
	require.Empty(t, limited.Model, "it is the provider's own")
}

// The name of a session is looked at before anything runs, whoever calls; what a tool makes of it is not.
func TestNamesOfSessions(t *testing.T) {
	h := newHost(t, toolhost.Options{},
		tool(t, "keeps", `function invoke(ctx) ctx.state.n = 1 return ctx.call.session end`))
	ask := func(session string) (string, *toolhost.Error) {
		answer, failed := h.Call(context.Background(), toolhost.Request{Tool: "keeps", Caller: toolhost.Caller{Name: "test", Session: session}})
		if failed != nil {
			return "", failed
		}
		return string(answer.JSON), nil
	}
	longest := strings.Repeat("s", 200)
	result, failed := ask(longest)
	require.Nil(t, failed)
	require.Equal(t, `"`+longest+`"`, result)
	for _, name := range []string{strings.Repeat("s", 5000), "line\nbreak", "é", "\xff", "\x00"} {
		_, failed := ask(name)
		require.NotNil(t, failed, name)
		require.Equal(t, toolhost.BadRequest, failed.Code)
		require.Contains(t, failed.Message, "the name of a session has 1 to 200 printable ASCII characters; this one has")
		require.Less(t, len(failed.Message), 200)
	}
}

// A model that called a tool reads what a client of MCP does.
func TestAModelReadsTheCodeOfAnError(t *testing.T) {
	p := fakemodel.New(
		fakemodel.Answer{Calls: []models.ToolCall{{ID: "1", Name: "sell", Arguments: []byte("{}")}}},
		fakemodel.Answer{Text: "Sold out."})
	ask := tool(t, "ask", `function invoke(ctx) return ctx.generate("m", "Buy", { tools = { "sell" } }) end`)
	ask.Permissions.Models, ask.Permissions.Tools = []string{"m"}, []string{"sell"}
	o := withModel(p)
	_, failed := call(newHost(t, o, ask, tool(t, "sell", `function invoke() error({ code = "sold_out", message = "only 5", [1] = "x", left = 5 }) end`)), "ask", "{}")
	require.Nil(t, failed)
	last := p.Requests()[1].Messages
	require.Equal(t, "only 5\ncode: sold_out\ndata: {\"1\":\"x\",\"left\":5}", last[len(last)-1].Parts[0].Result.Text)
}
