package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

const asks = `function invoke(ctx, args)
	local one = ctx.elicit("Your name?", { type = "object", properties = { name = { type = "string" } }, required = { "name" } })
	if one.action ~= "accept" then return one.action end
	ctx.progress(1)
	ctx.log.info("asked once")
	local two = ctx.elicit("Your age, " .. one.content.name .. "?", { type = "object", properties = { age = { type = "integer" } } })
	return one.content.name .. " " .. tostring(two.content.age)
end`

const form = `{"elicitation":{"form":{}}}`

// approve makes a tool one that needs an approval.
func approve(made *tooldef.Tool) { made.Approve = true }

// reply answers a request of the server.
func reply(request message, action, content string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"action":%q,"content":%s}}`, request["id"], action, content)
}

// question is the next request of the server.
func (p *pipe) question() message {
	p.t.Helper()
	for {
		if m := p.next(); m["method"] == "elicitation/create" {
			return m
		} else {
			require.NotNil(p.t, m["method"], "an answer came in place of a question: %v", m)
		}
	}
}

func TestElicitInASession(t *testing.T) {
	f := serving(t, tool(t, "asks", asks))
	p := f.greeted(t, "2025-11-25", form)
	p.send(callOf("1", "asks", "{}"))
	q := p.question()
	require.Equal(t, "Your name?", q.at("params.message"))
	require.Equal(t, "string", q.at("params.requestedSchema.properties.name.type"))
	p.send(reply(q, "accept", `{"name":"Ada"}`))
	q = p.question()
	require.Equal(t, "Your age, Ada?", q.at("params.message"))
	p.send(reply(q, "accept", `{"age":36}`))
	m, _ := p.answer()
	require.Equal(t, "Ada 36", m.at("result.content.0.text"))

	p.send(callOf("2", "asks", "{}"))
	p.send(reply(p.question(), "decline", "{}"))
	m, _ = p.answer()
	require.Equal(t, "decline", m.at("result.content.0.text"))

	p.send(callOf("3", "asks", "{}"))
	p.send(reply(p.question(), "accept", `{"name":7}`))
	m, _ = p.answer()
	require.Equal(t, true, m.at("result.isError"))
	require.Contains(t, m.at("result.content.0.text"), "ctx.elicit")
}

// An answer that does not fit is another error than a client with nobody to ask, whoever finds it: the client, the SDK
// or we.
func TestAnswersThatDoNotFit(t *testing.T) {
	f := serving(t, tool(t, "asks", `function invoke(ctx)
		local ok, answer = pcall(ctx.elicit, "Who?", {
			type = "object",
			properties = { name = { type = "string" }, age = { type = "integer", default = 7 } },
			required = { "name" },
		})
		return if ok then answer else { code = answer.code, message = answer.message }
	end`))
	const wrong = `{"name":7,"age":"x"}`
	fits := func(m message) {
		t.Helper()
		require.Equal(t, "invalid_answer", m.at("result.structuredContent.code"), "%v", m)
		require.Equal(t, "ctx.elicit: the answer does not fit the schema that was asked for: /age: must be an integer, not a string; "+
			"/name: must be a string, not a number", m.at("result.structuredContent.message"))
	}
	p := f.greeted(t, "2025-11-25", form)
	ask := func(answer func(q message) string) message {
		t.Helper()
		p.send(callOf("1", "asks", "{}"))
		p.send(answer(p.question()))
		m, _ := p.answer()
		return m
	}
	fits(ask(func(q message) string { return reply(q, "accept", wrong) }))
	w := f.web(t)
	fits(w.ask("asks", answering(w.ask("asks", "").at("result.requestState"), "accept", wrong)))

	m := ask(func(q message) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"error":{"code":-32602,"message":"result content does not match: %s"}}`, q["id"], strings.Repeat("x", 1000))
	})
	require.Equal(t, "invalid_answer", m.at("result.structuredContent.code"))
	require.Contains(t, m.at("result.structuredContent.message"), "the client refused the question, or its user's answer: ")
	require.Less(t, len(m.at("result.structuredContent.message").(string)), 700)
	m = ask(func(q message) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"error":{"code":-32601,"message":"no such method"}}`, q["id"])
	})
	require.Equal(t, "not_available", m.at("result.structuredContent.code"))
	m = ask(func(q message) string { return reply(q, "shrug", "{}") })
	require.Equal(t, "invalid_answer", m.at("result.structuredContent.code"))
	m = ask(func(q message) string { return reply(q, "accept", `{"name":"Ada"}`) })
	require.Equal(t, map[string]any{"action": "accept", "content": map[string]any{"name": "Ada", "age": json.Number("7")}}, m.at("result.structuredContent"))
}

func TestElicitFromAClientThatCannotAsk(t *testing.T) {
	f := serving(t, tool(t, "asks", asks), tool(t, "tries", `function invoke(ctx) return (pcall(ctx.elicit, "x")) end`))
	for _, capabilities := range []string{"{}", `{"elicitation":{"url":{}}}`} {
		p := f.greeted(t, "2025-11-25", capabilities)
		p.send(callOf("1", "asks", "{}"))
		m, _ := p.answer()
		require.Equal(t, true, m.at("result.isError"))
		require.Contains(t, m.at("result.content.0.text"), "ctx.elicit: this client cannot ask its user")
		p.send(callOf("2", "tries", "{}"))
		m, _ = p.answer()
		require.Equal(t, "false", m.at("result.content.0.text"))

		w := f.web(t).modern("tools/call", "asks")
		call := func(name string) string {
			return modern("1", "tools/call", `"name":"`+name+`","arguments":{}`, capabilities)
		}
		response, messages := w.post(call("asks"))
		require.Equal(t, http.StatusBadRequest, response.StatusCode)
		require.EqualValues(t, "-32021", fmt.Sprint(messages[0].at("error.code")))
		require.NotNil(t, messages[0].at("error.data.requiredCapabilities.elicitation"))
		_, messages = w.modern("tools/call", "tries").post(call("tries"))
		require.Equal(t, "false", messages[0].at("result.content.0.text"))
	}
}

// ask sends a stateless call that may be asked back.
func (w *web) ask(name, more string) message {
	w.t.Helper()
	w.modern("tools/call", name)
	_, messages := w.post(modern("1", "tools/call", `"name":"`+name+`","arguments":{"a":1}`+more, form))
	return messages[len(messages)-1]
}

func answering(state any, action, content string) string {
	return fmt.Sprintf(`,"requestState":%q,"inputResponses":{"question":{"action":%q,"content":%s}}`, state, action, content)
}

func TestElicitBetweenRequests(t *testing.T) {
	f := serving(t, tool(t, "asks", asks))
	w := f.web(t)
	m := w.ask("asks", "")
	require.Equal(t, "input_required", m.at("result.resultType"))
	require.Equal(t, "elicitation/create", m.at("result.inputRequests.question.method"))
	require.Equal(t, "Your name?", m.at("result.inputRequests.question.params.message"))
	first := m.at("result.requestState")

	// Without an answer the question comes again, under a new state.
	m = w.ask("asks", fmt.Sprintf(`,"requestState":%q`, first))
	require.Equal(t, "Your name?", m.at("result.inputRequests.question.params.message"))
	again := m.at("result.requestState")
	require.NotEqual(t, first, again)

	refused := func(m message) {
		t.Helper()
		require.EqualValues(t, "-32602", fmt.Sprint(m.at("error.code")))
		require.Contains(t, m.at("error.message"), "requestState")
	}
	refused(w.ask("asks", answering(first, "accept", `{"name":"Eve"}`))) // used
	refused(w.ask("asks", answering("nonsense", "accept", `{"name":"Eve"}`)))
	w.header.Set(callerHeader, "somebody else")
	refused(w.ask("asks", answering(again, "accept", `{"name":"Eve"}`)))
	w.header.Del(callerHeader)
	w.modern("tools/call", "asks")
	_, messages := w.post(modern("1", "tools/call", `"name":"asks","arguments":{"a":2}`+answering(again, "accept", `{"name":"Eve"}`), form))
	refused(messages[0]) // other arguments

	_, messages = w.modern("tools/call", "asks").post(modern("5", "tools/call", `"name":"asks","arguments":{"a":1}`+answering(again, "accept", `{"name":"Ada"}`), form))
	require.Equal(t, "notifications/progress", messages[0]["method"], "the second request's notifications are its own")
	require.Equal(t, "asked once", messages[1].at("params.data"))
	m = messages[2]
	require.EqualValues(t, "5", fmt.Sprint(m["id"]))
	require.Equal(t, "Your age, Ada?", m.at("result.inputRequests.question.params.message"))
	m = w.ask("asks", answering(m.at("result.requestState"), "accept", `{"age":36}`))
	require.Equal(t, "complete", m.at("result.resultType"))
	require.Equal(t, "Ada 36", m.at("result.content.0.text"))
}

func TestQuestionsAreNotOpenForEver(t *testing.T) {
	f := servingWith(t, toolhost.Options{MaxRuns: 1}, mcpserver.Options{AskTime: 50 * time.Millisecond}, tool(t, "asks", asks), tool(t, "echo", echo))
	w := f.web(t)
	m := w.ask("asks", "")
	state := m.at("result.requestState")
	m = w.ask("echo", "") // there is one place: it is free once the question was given up
	require.Equal(t, `{"a":1}`, m.at("result.content.0.text"))
	m = w.ask("asks", answering(state, "accept", `{"name":"Ada"}`))
	require.EqualValues(t, "-32602", fmt.Sprint(m.at("error.code")))

	p := f.greeted(t, "2025-11-25", form)
	p.send(callOf("1", "asks", "{}"))
	p.question()
	for {
		if m := p.next(); m["method"] == nil {
			require.Equal(t, true, m.at("result.isError"))
			require.Contains(t, m.at("result.content.0.text"), "did not answer in time")
			break
		}
	}
}

// A server that ends leaves no script waiting; goleak and the host's Close see to it.
func TestCloseEndsOpenQuestions(t *testing.T) {
	f := serving(t, tool(t, "asks", asks))
	f.web(t).ask("asks", "")
	f.server.Close()
	require.Eventually(t, func() bool { running, _ := f.host.Load(); return running == 0 }, patience, time.Millisecond)
}

func (f *fixture) approval(t *testing.T, state store.CallState) store.Approval {
	t.Helper()
	list, err := f.store.Approvals.List(context.Background(), store.ApprovalFilter{State: state})
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

func TestApprovalByTheClientsUser(t *testing.T) {
	f := serving(t, tool(t, "sends", echo, approve))
	p := f.greeted(t, "2025-11-25", form)
	p.send(callOf("1", "sends", `{"to":"\u202eada"}`))
	q := p.question()
	require.Contains(t, q.at("params.message"), "'sends' needs your approval")
	require.Contains(t, q.at("params.message"), `\u{202e}ada`, "what a user reads is what is sent")
	p.send(reply(q, "accept", `{"approve":true}`))
	m, _ := p.answer()
	require.Contains(t, m.at("result.content.0.text"), "ada")
	done := f.approval(t, store.Done)
	require.Equal(t, "mcp user", done.DecidedBy)

	for i, no := range []struct{ action, content string }{{"decline", "{}"}, {"accept", `{"approve":false}`}} {
		p.send(callOf("2", "sends", fmt.Sprintf(`{"i":%d}`, i)))
		p.send(reply(p.question(), no.action, no.content))
		m, _ = p.answer()
		require.Equal(t, true, m.at("result.isError"))
		require.Equal(t, "the user did not approve the call of the tool 'sends'", m.at("result.content.0.text"))
	}
	for _, undecided := range []struct{ action, content string }{{"cancel", "{}"}, {"accept", `{"approve":"yes"}`}} {
		p.send(callOf("3", "sends", `{"i":3}`))
		p.send(reply(p.question(), undecided.action, undecided.content))
		m, _ = p.answer()
		require.Equal(t, true, m.at("result.isError"))
		require.Contains(t, m.at("result.content.0.text"), "luau approvals approve "+f.approval(t, store.Pending).ID)
	}

	guarded := func(made *tooldef.Tool) {
		made.Guard = func(any) (bool, string, error) { return true, "it is \u202emoney", nil }
	}
	f.host.Serve(setOf([]*tooldef.Tool{tool(t, "sends", echo, approve), tool(t, "pays", echo, guarded)}))
	f.server.Changed()
	p.send(callOf("4", "pays", "{}"))
	q = p.question()
	require.Contains(t, q.at("params.message"), `'pays' needs your approval (it is \u{202e}money) to run`)
	p.send(reply(q, "cancel", "{}"))
	p.answer()

	// Of a call within another the user is asked once, by its own name.
	f.host.Serve(setOf([]*tooldef.Tool{tool(t, "sends", echo, approve), tool(t, "outer", `function invoke(ctx, args) return ctx.tools.sends(args) end`,
		func(made *tooldef.Tool) { made.Permissions.Tools = []string{"sends"} })}))
	f.server.Changed()
	p.send(callOf("5", "outer", `{"i":5}`))
	q = p.question()
	require.Contains(t, q.at("params.message"), "'sends' needs your approval")
	p.send(reply(q, "cancel", "{}"))
	m, _ = p.answer()
	require.Contains(t, m.at("result.content.0.text"), "needs the approval of an operator")

	w := f.web(t)
	m = w.ask("sends", "")
	m = w.ask("sends", answering(m.at("result.requestState"), "accept", `{"approve":true}`))
	require.Equal(t, `{"a":1}`, m.at("result.content.0.text"))
}

func TestApprovalByAnOperator(t *testing.T) {
	for name, one := range map[string]struct {
		options      mcpserver.Options
		capabilities string
		called       string // "outer" calls the tool that needs an approval
		length       int
		says         string
	}{
		"the client cannot ask":           {mcpserver.Options{}, "{}", "sends", 5, "luau approvals approve "},
		"only operators may":              {mcpserver.Options{OperatorApproves: true}, form, "sends", 5, "luau approvals approve "},
		"only operators may, within one":  {mcpserver.Options{OperatorApproves: true}, form, "outer", 5, "the call waits as "},
		"only part could be shown":        {mcpserver.Options{}, form, "sends", 10_000, "luau approvals approve "},
		"only part could be, within one":  {mcpserver.Options{}, form, "outer", 10_000, "the call waits as "},
		"the client cannot ask, from one": {mcpserver.Options{}, "{}", "outer", 5, "the call waits as "},
	} {
		t.Run(name, func(t *testing.T) {
			f := servingWith(t, toolhost.Options{}, one.options, tool(t, "sends", `function invoke(ctx, args) return #args.text end`, approve),
				tool(t, "outer", `function invoke(ctx, args) return ctx.tools.sends(args) end`, func(made *tooldef.Tool) { made.Permissions.Tools = []string{"sends"} }))
			p := f.greeted(t, "2025-11-25", one.capabilities)
			call := callOf("1", one.called, fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", one.length)))
			for range 2 { // the second call waits under the approval of the first
				p.send(call)
				m, _ := p.answer()
				require.Equal(t, true, m.at("result.isError"), "%.300s", fmt.Sprint(m))
				require.Contains(t, m.at("result.content.0.text"), one.says+f.approval(t, store.Pending).ID)
			}
			require.Nil(t, f.host.DecideApproval(context.Background(), f.approval(t, store.Pending).ID, true, "operator"))
			p.send(call)
			m, _ := p.answer()
			require.Equal(t, fmt.Sprint(one.length), m.at("result.content.0.text"))
			p.send(call) // one approval is for one call
			m, _ = p.answer()
			require.Equal(t, true, m.at("result.isError"), "%.300s", fmt.Sprint(m))
		})
	}
}
