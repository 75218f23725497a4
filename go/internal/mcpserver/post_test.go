package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Plain calls in a session over HTTP do not go through the SDK either, and are answered as it answers.
func TestShortWayOverHTTPAnswersAsTheSDK(t *testing.T) {
	taking := func(made *tooldef.Tool) {
		made.Params = compiled(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	}
	f := serving(t, tool(t, "echo", echo), tool(t, "text", `function invoke() return "<b>\n" end`),
		tool(t, "list", `function invoke() return { 1, 2 } end`), tool(t, "fails", `function invoke() error("it <fails>") end`),
		tool(t, "strict", echo, taking))
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		w := f.web(t)
		w.greet(version, "{}")
		for _, params := range []string{
			`"name":"echo","arguments":{"a":[1,2.50,"x\u00e9"]}`, `"name":"echo"`, `"name":"echo","arguments":null`,
			`"name":"echo","arguments":[]`, `"name":"echo","arguments":{},"_meta":{"progressToken":7}`, `"name":"text"`,
			`"name":"list"`, `"name":"fails"`, `"name":"strict"`, `"name":"strict","arguments":{"n":"x"}`,
			`"name":"unknown"`, `"name":7`, `"NAME":"echo"`, `"arguments":{}`,
		} {
			var answers []message
			var heads []http.Header
			for _, more := range []string{"", `,"unknown":1`} {
				response, messages := w.post(`{"jsonrpc":"2.0","id":"<1>","method":"tools/call","params":{` + params + more + `}}`)
				require.Len(t, messages, 1)
				if meta, ok := messages[0].at("result._meta").(map[string]any); ok {
					delete(meta, "hukilau/call") // each call has an id of its own
				}
				response.Header.Del("Date")
				response.Header.Del("Content-Length")
				answers, heads = append(answers, messages[0]), append(heads, response.Header)
			}
			require.Equal(t, answers[1], answers[0], "%s %s", version, params)
			require.Equal(t, heads[1], heads[0], "%s %s", version, params)
		}
	}
}

// events are those of a call that is answered by a stream.
type events struct {
	t    *testing.T
	scan *bufio.Scanner
	stop func()
}

func (w *web) events(t *testing.T, body string) *events {
	ctx, stop := context.WithCancel(context.Background())
	response, err := http.DefaultClient.Do(w.request(ctx, http.MethodPost, body))
	require.NoError(t, err)
	end := func() {
		stop()
		response.Body.Close()
	}
	t.Cleanup(end)
	return &events{t, bufio.NewScanner(response.Body), end}
}

// next is the next message.
func (e *events) next() message {
	e.t.Helper()
	for e.scan.Scan() {
		if text, ok := strings.CutPrefix(e.scan.Text(), "data: "); ok {
			return read(e.t, []byte(text))
		}
	}
	require.FailNow(e.t, "the stream has ended")
	return nil
}

// answers posts what answers a question.
func (w *web) answers(t *testing.T, question message, rest string) {
	t.Helper()
	id, err := json.Marshal(question["id"])
	require.NoError(t, err)
	response, _ := w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, rest))
	require.Equal(t, http.StatusAccepted, response.StatusCode)
}

// What a tool asks and tells over HTTP comes in the answer to its call.
func TestQuestionsWithinACallOverHTTP(t *testing.T) {
	f := serving(t, tool(t, "asks", asks))
	w := f.web(t)
	w.greet("2025-11-25", form)
	response, _ := w.post(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`)
	require.Equal(t, http.StatusOK, response.StatusCode)
	s := w.events(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks","_meta":{"progressToken":"t"}}}`)
	q := s.next()
	require.Equal(t, "elicitation/create", q["method"])
	require.Equal(t, "Your name?", q.at("params.message"))
	require.Equal(t, "string", q.at("params.requestedSchema.properties.name.type"))
	w.answers(t, q, `"result":{"action":"accept","content":{"name":"Ada"}}`)
	m := s.next()
	require.Equal(t, "notifications/progress", m["method"])
	require.Equal(t, "t", m.at("params.progressToken"))
	m = s.next()
	require.Equal(t, "notifications/message", m["method"])
	require.Equal(t, "asked once", m.at("params.data"))
	w.answers(t, s.next(), `"result":{"action":"accept","content":{"age":36}}`)
	m = s.next()
	require.Equal(t, "Ada 36", m.at("result.content.0.text"))

	refused := map[string]string{
		`"result":{"action":"accept","content":{"name":7}}`: "does not fit",
		`"result":[]`: "is not one to elicitation/create",
		`"error":{"code":-32602,"message":"no such form"}`: "no such form",
		`"error":7`: "an error that is none",
	}
	for answer, told := range refused {
		s = w.events(t, callOf("2", "asks", "{}"))
		w.answers(t, s.next(), answer)
		require.Contains(t, s.next().at("result.content.0.text"), told, answer)
	}
}

// A question that nobody answers is taken back, and its call ends.
func TestUnansweredQuestionsOverHTTP(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{AskTime: 20 * time.Millisecond}, tool(t, "asks", asks))
	w := f.web(t)
	w.greet("2025-11-25", form)
	s := w.events(t, callOf("1", "asks", "{}"))
	q := s.next()
	m := s.next()
	require.Equal(t, "notifications/cancelled", m["method"])
	require.Equal(t, q["id"], m.at("params.requestId"))
	require.Contains(t, s.next().at("result.content.0.text"), "did not answer in time")
	response, _ := w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"decline"}}`, q["id"]))
	require.Less(t, response.StatusCode, 500, "an answer that comes too late harms nobody")
	_, messages := w.post(callOf("2", "unknown", "{}"))
	require.NotNil(t, messages[0]["error"], "and the session lives")
}

// A client answers its own questions alone.
func TestQuestionsOfOthers(t *testing.T) {
	f := serving(t, tool(t, "asks", asks))
	ada, eve := f.web(t), f.web(t)
	ada.greet("2025-11-25", form)
	eve.greet("2025-11-25", form)
	s := ada.events(t, callOf("1", "asks", "{}"))
	q := s.next()
	eve.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"name":"Eve"}}}`, q["id"]))
	eve.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	ada.answers(t, q, `"result":{"action":"decline"}`)
	require.Equal(t, "decline", s.next().at("result.content.0.text"))
}

// Two calls that run have two ids.
func TestIDsOfCallsThatRun(t *testing.T) {
	f := serving(t, tool(t, "asks", asks), tool(t, "echo", echo))
	w := f.web(t)
	w.greet("2025-11-25", form)
	s := w.events(t, callOf("1", "asks", "{}"))
	q := s.next()
	response, messages := w.post(callOf("1", "echo", "{}"))
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.Equal(t, "a request with this id is not answered yet", messages[0].at("error.message"))
	require.EqualValues(t, "1", fmt.Sprint(messages[0]["id"]))
	w.answers(t, q, `"result":{"action":"decline"}`)
	s.next()
	_, messages = w.post(callOf("1", "echo", "{}"))
	require.Equal(t, "{}", messages[0].at("result.content.0.text"))
}

// The end of a session ends what runs in it.
func TestCallsEndWithTheirSession(t *testing.T) {
	f := serving(t, tool(t, "asks", asks))
	w := f.web(t)
	w.greet("2025-11-25", form)
	s := w.events(t, callOf("1", "asks", "{}"))
	s.next()
	response, err := http.DefaultClient.Do(w.request(context.Background(), http.MethodDelete, ""))
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusNoContent, response.StatusCode)
	for s.scan.Scan() {
	}
	require.NoError(t, s.scan.Err())
	running, _ := f.host.Load()
	require.Zero(t, running)
}

// A session that nobody uses ends; calls and open streams are use.
func TestUnusedSessionsEnd(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{SessionTime: time.Second}, tool(t, "echo", echo))
	used, unused := f.web(t), f.web(t)
	used.greet("2025-11-25", "{}")
	unused.greet("2025-11-25", "{}")
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		response, _ := used.post(callOf("1", "echo", "{}"))
		require.Equal(t, http.StatusOK, response.StatusCode)
		if f.server.OpenSessions() == 1 {
			break
		}
		require.True(t, time.Now().Before(deadline), "the unused session is there still")
	}
	response, _ := unused.post(callOf("1", "echo", "{}"))
	require.Equal(t, http.StatusNotFound, response.StatusCode)
}

// A tool asks the client's model, over each transport.
func TestSampling(t *testing.T) {
	asksModel := func(made *tooldef.Tool) {
		made.Source = ""
		made.Native = func(ctx context.Context, _ any) (tooldef.Output, error) {
			calling, ok := toolhost.CallingOf(ctx)
			require.True(t, ok)
			model, ok := calling.Sink().(interface {
				Samples() bool
				Sample(context.Context, json.RawMessage) (json.RawMessage, error)
			})
			if !ok || !model.Samples() {
				return tooldef.Output{JSON: []byte(`"no model"`)}, nil
			}
			text, err := model.Sample(ctx, json.RawMessage(`{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}]}`))
			return tooldef.Output{JSON: text}, err
		}
	}
	f := serving(t, tool(t, "asks", "", asksModel))
	const answer = `"result":{"role":"assistant","model":"m","content":{"type":"text","text":"Aloha"}}`
	w := f.web(t)
	w.greet("2025-11-25", `{"sampling":{}}`)
	s := w.events(t, callOf("1", "asks", "{}"))
	q := s.next()
	require.Equal(t, "sampling/createMessage", q["method"])
	require.Equal(t, "Hi", q.at("params.messages.0.content.text"), "%v", q)
	w.answers(t, q, answer)
	require.Contains(t, s.next().at("result.content.0.text"), "Aloha")

	p := f.greeted(t, "2025-11-25", `{"sampling":{}}`)
	p.send(callOf("1", "asks", "{}"))
	q = p.next()
	require.Equal(t, "sampling/createMessage", q["method"])
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,%s}`, q["id"], answer))
	m, _ := p.answer()
	require.Contains(t, m.at("result.content.0.text"), "Aloha")

	silent := f.web(t)
	silent.greet("2025-11-25", "{}")
	_, messages := silent.post(callOf("1", "asks", "{}"))
	require.Equal(t, "no model", messages[0].at("result.content.0.text"))
}
