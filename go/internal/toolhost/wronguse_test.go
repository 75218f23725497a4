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
		`ctx.generate("m", { { content = 5 } })`:                                  "ctx.generate: message 1: content must be a string or a list of parts, got number",
		`ctx.generate_json("m", "x", { type = "object" }, { temperature = "1" })`: "ctx.generate_json: temperature must be a number, 0 or more, got string",
		`ctx.generate("m", "x", { max_tokens = 1.5 })`:                            "ctx.generate: max_tokens must be a whole number from 1 to 1000000000, got 1.5",
		`ctx.generate_stream("m", "x", { temprature = 1 })`:                       `ctx.generate_stream: there is no option "temprature" (did you mean "temperature"?); there are max_tokens, seed, stop, system, temperature, timeout`,
		`ctx.generate_json("m", "x", { type = 5 })`:                               "ctx.generate_json: argument 3 is not a JSON Schema: ",
		`ctx.generate("m", "x", { temperature = "hot" })`:                         "ctx.generate: temperature must be a number, 0 or more, got string",
		`ctx.generate("m", "x", { temperature = -1 })`:                            "ctx.generate: temperature must be a number, 0 or more, got -1",
		`ctx.generate("m", "x", { max_tokens = -5 })`:                             "ctx.generate: max_tokens must be a whole number from 1 to 1000000000, got -5",
		`ctx.generate("m", "x", { timeout = -1 })`:                                "ctx.generate: timeout must be a number of seconds above 0, at most 86400, got -1",
		`ctx.generate("m", "x", { timeout = 0 })`:                                 "ctx.generate: timeout must be a number of seconds above 0, at most 86400, got 0",
		`ctx.generate("m", "x", { timeout = 1e300 })`:                             "ctx.generate: timeout must be a number of seconds above 0, at most 86400, got 1e+300",
		`ctx.generate("m", "x", { seed = 1.5 })`:                                  "ctx.generate: seed must be a whole number, got 1.5",
		`ctx.generate("m", "x", { stop = { 5 } })`:                                "ctx.generate: stop must be a string or a list of strings; item 1 is a number",
		`ctx.generate("m", "x", { tools = "add" })`:                               "ctx.generate: tools must be a list of strings, got string",
		`ctx.generate("m", "x", { 5 })`:                                           "ctx.generate: the options must be a table of names and values, got a list",
		`ctx.generate("m", "x", { repairs = 1 })`:                                 `ctx.generate: there is no option "repairs"`,
		`ctx.generate_stream("m", "x", { tools = {} })`:                           `ctx.generate_stream: there is no option "tools"`,
		`ctx.generate_json("m", "x", {}, { repairs = 1e9 })`:                      "ctx.generate_json: repairs must be a whole number from 0 to 100, got 1000000000",
		`ctx.generate("m", { {}, { role = 5, content = "x" } })`:                  "ctx.generate: message 1: it has no content: give a string or a list of parts",
		`ctx.generate("m", { { role = 5, content = "x" } })`:                      "ctx.generate: message 1: role must be system, user or assistant, got number",
		`ctx.generate("m", { { content = { 5 } } })`:                              "ctx.generate: message 1: content must be a string or a list of parts; part 1 is a number",
		`ctx.generate("m", { { content = { { txt = "x" } } } })`:                  `ctx.generate: message 1: part 1: there is no field "txt" (did you mean "text"?); there are data, media_type, text, type, url`,
		`ctx.generate("m", { { content = { { text = 5 } } } })`:                   "ctx.generate: message 1: part 1: text must be a string, got number",
		`ctx.generate("m", { { content = { { type = "sound" } } } })`:             `ctx.generate: message 1: part 1: its type must be text or image, not "sound"`,
		`__native.tool.generate("x")`:                                             "ctx.generate: it is not JSON: ",
		`__native.tool.generate("5")`:                                             "ctx.generate: what is given must be a table, got number",
		`ctx.create_agent("a", { model = "m", promt = "x" })`:                     `ctx.create_agent: the agent a: there is no option "promt" (did you mean "prompt"?); there are max_tokens, max_turns, memory, model, prompt, seed, stop, temperature, tools`,
		`ctx.create_agent("a", { model = "m", max_turns = 0 })`:                   "ctx.create_agent: the agent a: max_turns must be a whole number from 1 to 1000, got 0",
		`ctx.create_agent("a", { model = "m", max_turns = 1e9 })`:                 "ctx.create_agent: the agent a: max_turns must be a whole number from 1 to 1000, got 1000000000",
		`ctx.create_agent("a", { model = "m", memory = { recent = -1 } })`:        "ctx.create_agent: the agent a: memory.recent must be a whole number from 0 to 1000, got -1",
		`ctx.create_agent("a", { model = "m", memory = { recnt = 1 } })`:          `ctx.create_agent: the agent a: there is no option "memory.recnt" (did you mean "memory.recent"?); there are memory.recent`,
		`ctx.create_agent("a", { model = "m", memory = 5 })`:                      "ctx.create_agent: the agent a: memory must be a table, got number",
		`ctx.create_agent("a", {})`:                                               "ctx.create_agent: the agent a: it needs a model: ",
		`ctx.create_agent("a", { model = 5 })`:                                    "ctx.create_agent: the agent a: model must be a string, got number",
		`ctx.create_agent(string.rep("a", 5000), { model = "m" })`:                "ctx.create_agent: the name of an agent has at most 200 bytes, this one has 5000",
		agent + `a:input()`:                                                       "agent.input: argument 1 must be a message: a string or a table, got nil",
		agent + `a:input({ role = "robot", content = "x" })`:                      `agent.input: role must be system, user or assistant, not "robot"`,
		agent + `a:input(5)`:                                                      "agent.input: argument 1 must be a message: a string or a table, got number",
		agent + `a:input({ { text = "x" } })`:                                     "agent.input: argument 1 must be a string, or a table with content, not a list",
		agent + `a:input({ text = "x" })`:                                         `agent.input: there is no field "text"; there are content, role`,
		agent + `a:input({ message = "x" })`:                                      `agent.input: there is no field "message"; there are content, role`,
		agent + `a:input({ role = "user" })`:                                      "agent.input: it has no content",
		agent + `a:input({ role = "system", content = "x" })`:                     "agent.input: its role must be user, not system",
		agent + `a:input({ content = { { data = "?" } } })`:                       "agent.input: part 1: data must be a buffer, or a string in base64; this string is not",
		agent + `a:input({ content = { { data = buffer.create(1) } } })`:          "agent.input: part 1: an image needs a url, or data and media_type",
		agent + `a:close() a:input("x")`:                                          `agent.input: the agent "a" is closed`,
		agent + `a:close() a:iter()`:                                              `agent.iter: the agent "a" is closed`,
		agent + `a:close() a:close() a:collect()`:                                 `agent.collect: the agent "a" is closed`,
		agent + `a:close() a:needs_input()`:                                       `agent.needs_input: the agent "a" is closed`,
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
		require.NotRegexp(t, `Go (value|struct)|unmarshal`, failed.Message, body)
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
