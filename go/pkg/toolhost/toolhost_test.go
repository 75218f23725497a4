package toolhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/pkg/toolhost"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var files = map[string]string{
	"hukilau.toml": "[tools.policy.pay]\napprove = true\n",
	"tools/greet.yaml": `
name: greet
title: Greeter
description: Greets.
params: {type: object, properties: {name: {type: string}, times: {type: integer, default: 1}}, required: [name]}
result: {type: object, properties: {text: {type: string}}}
tags: [polite]
lua: |
  function invoke(ctx, args)
    ctx.progress(1, 2, "half")
    ctx.emit({ piece = "hel" })
    ctx.log.warn("greeting", { who = args.name })
    ctx.state.n = (ctx.state.n or 0) + 1
    return { text = string.rep("hello " .. args.name .. " ", args.times) .. ctx.state.n .. ctx.call.caller .. ctx.call.face }
  end
`,
	"tools/asks.yaml": `
name: asks
description: Asks.
lua: |
  function invoke(ctx)
    local ok, answer = pcall(ctx.elicit, "How many?", { type = "object", properties = { n = { type = "integer" } }, required = { "n" } })
    return if ok then answer else { code = answer.code }
  end
`,
	"tools/tells.yaml":  "name: tells\ndescription: Tells.\nlua: |\n  function invoke(ctx) for i = 1, 1e9 do pcall(ctx.emit, i) end end\n",
	"tools/fails.yaml":  "name: fails\ndescription: Fails.\nlua: |\n  function invoke() error({ code = 'sold_out', message = 'none', left = 0 }) end\n",
	"tools/pay.yaml":    "name: pay\ndescription: Pays.\nlua: |\n  function invoke() return 'paid' end\n",
	"tools/broken.yaml": "name: broken\ndescripton: typo\n",
}

func open(t *testing.T, o toolhost.Options) *toolhost.Host {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	for name, text := range files {
		path := filepath.Join(o.Dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	h, err := toolhost.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

func TestToolsAreDescribed(t *testing.T) {
	h := open(t, toolhost.Options{InMemory: true})
	var names []string
	for _, tool := range h.Tools() {
		names = append(names, tool.Name)
	}
	require.Equal(t, []string{"asks", "fails", "greet", "pay", "tells"}, names)
	greet, ok := h.Tool("greet")
	require.True(t, ok)
	require.Equal(t, []any{"Greeter", "Greets.", []string{"polite"}, false, "tools/greet.yaml"}, []any{greet.Title, greet.Description, greet.Tags, greet.Approve, greet.File})
	require.JSONEq(t, `{"type":"object","properties":{"name":{"type":"string"},"times":{"type":"integer","default":1}},"required":["name"]}`, string(greet.Params))
	require.JSONEq(t, `{"type":"object","properties":{"text":{"type":"string"}}}`, string(greet.Result))
	pay, ok := h.Tool("pay")
	require.True(t, ok)
	require.True(t, pay.Approve)
	require.Nil(t, pay.Result)
	_, ok = h.Tool("nothing")
	require.False(t, ok)
	broken := h.Broken()
	require.Len(t, broken, 2, "both mistakes of the file")
	require.Equal(t, []any{"tools/broken.yaml", 2}, []any{broken[1].File, broken[1].Line})
	require.ErrorContains(t, broken[1].Err, "descripton")
}

func TestCallAndItsEvents(t *testing.T) {
	h := open(t, toolhost.Options{InMemory: true})
	var told []toolhost.Event
	call := toolhost.Call{Tool: "greet", Args: []byte(`{"name":"Ann"}`), Caller: "test", Events: func(_ context.Context, e toolhost.Event) error {
		told = append(told, e)
		return nil
	}}
	result, err := h.Call(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, `{"text":"hello Ann 1testgo"}`, string(result.JSON))
	require.NotEmpty(t, result.ID)
	require.Positive(t, result.Took)
	require.Len(t, told, 3)
	require.Equal(t, toolhost.Event{Kind: toolhost.EventProgress, Progress: 1, Total: 2, Message: "half"}, told[0])
	require.Equal(t, toolhost.Event{Kind: toolhost.EventEmit, Data: json.RawMessage(`{"piece":"hel"}`)}, told[1])
	require.Equal(t, "greeting", strings.Fields(told[2].Message)[0])

	call.Events, call.Session = nil, "s"
	result, err = h.Call(t.Context(), call)
	require.NoError(t, err)
	require.Contains(t, string(result.JSON), "Ann 1test", "a session has its own state")

	told = nil
	call.Tool, call.Events = "tells", func(_ context.Context, e toolhost.Event) error {
		told = append(told, e)
		return io.ErrUnexpectedEOF
	}
	_, err = h.Call(t.Context(), call)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Len(t, told, 1, "its error ends the call, even where the script catches it")
}

func TestCallsThatFail(t *testing.T) {
	h := open(t, toolhost.Options{InMemory: true})
	failure := func(c toolhost.Call) *toolhost.Error {
		_, err := h.Call(t.Context(), c)
		var failed *toolhost.Error
		require.ErrorAs(t, err, &failed)
		return failed
	}
	failed := failure(toolhost.Call{Tool: "greet", Args: []byte(`{"name":5}`)})
	require.Equal(t, []any{"bad_request", "/name"}, []any{failed.Code, failed.Path})
	require.Equal(t, "not_found", failure(toolhost.Call{Tool: "nothing"}).Code)
	failed = failure(toolhost.Call{Tool: "fails"})
	require.Equal(t, []any{"tool_error", "sold_out", "none"}, []any{failed.Code, failed.Detail, failed.Message})
	require.Equal(t, 0.0, failed.Data.(map[string]any)["left"])

	failed = failure(toolhost.Call{Tool: "pay", Caller: "ann"})
	require.Equal(t, "needs_approval", failed.Code)
	require.ErrorContains(t, h.Decide(t.Context(), failed.ID, true, "ann"), "cannot approve it")
	require.NoError(t, h.Decide(t.Context(), failed.ID, true, "bob"))
	result, err := h.Call(t.Context(), toolhost.Call{Tool: "pay", Caller: "ann", Approval: failed.ID})
	require.NoError(t, err)
	require.Equal(t, `"paid"`, string(result.JSON))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.Call(ctx, toolhost.Call{Tool: "greet", Args: []byte(`{"name":"x"}`)})
	require.ErrorContains(t, err, "cancelled")
	require.ErrorIs(t, err, context.Canceled)
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = h.Call(ctx, toolhost.Call{Tool: "tells"})
	require.ErrorContains(t, err, "timeout: tool 'tells' timed out: its caller waits no longer")
}

func TestAsk(t *testing.T) {
	h := open(t, toolhost.Options{InMemory: true})
	for name, c := range map[string]struct {
		ask  func(toolhost.Question) (toolhost.Answer, error)
		want string
	}{
		"accepts": {func(q toolhost.Question) (toolhost.Answer, error) {
			require.Equal(t, "How many?", q.Message)
			require.Contains(t, string(q.Schema), `"integer"`)
			return toolhost.Answer{Action: toolhost.Accept, Content: map[string]any{"n": 3.0}}, nil
		}, `{"action":"accept","content":{"n":3}}`},
		"declines": {func(toolhost.Question) (toolhost.Answer, error) {
			return toolhost.Answer{Action: toolhost.Decline}, nil
		}, `{"action":"decline"}`},
		"does not fit": {func(toolhost.Question) (toolhost.Answer, error) { return toolhost.Answer{Action: toolhost.Accept}, nil }, `{"code":"invalid_answer"}`},
		"no action":    {func(toolhost.Question) (toolhost.Answer, error) { return toolhost.Answer{}, nil }, `{"code":"invalid_answer"}`},
		"fails":        {func(toolhost.Question) (toolhost.Answer, error) { return toolhost.Answer{}, errors.New("gone") }, `{"code":"host"}`},
	} {
		result, err := h.Call(t.Context(), toolhost.Call{Tool: "asks", Ask: func(_ context.Context, q toolhost.Question) (toolhost.Answer, error) { return c.ask(q) }})
		require.NoError(t, err, name)
		require.Equal(t, c.want, string(result.JSON), name)
	}
	result, err := h.Call(t.Context(), toolhost.Call{Tool: "asks"})
	require.NoError(t, err)
	require.Equal(t, `{"code":"not_available"}`, string(result.JSON))
}

func TestHandlerWithinAnotherServer(t *testing.T) {
	h := open(t, toolhost.Options{})
	handler, err := h.Handler()
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/agents/", http.StripPrefix("/agents", handler))
	server := httptest.NewServer(mux)
	defer server.Close()
	post := func(path, body string) (int, string) {
		response, err := server.Client().Post(server.URL+"/agents"+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(text)
	}
	status, body := post("/tools/greet", `{"name":"Bo"}`)
	require.Equal(t, 200, status, body)
	require.Contains(t, body, "hello Bo")

	// A call that is approved by the program runs on its own.
	r, err := http.NewRequest("POST", server.URL+"/agents/tools/greet?x=1", strings.NewReader(`{"name":"Cy"}`))
	require.NoError(t, err)
	r.Header.Set("Prefer", "respond-async")
	response, err := server.Client().Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Regexp(t, "^/agents/calls/", response.Header.Get("Location"))
	_, body = post("/tools/pay", "")
	var waits struct{ Call string }
	require.NoError(t, json.Unmarshal([]byte(body), &waits))
	require.NoError(t, h.Decide(t.Context(), waits.Call, true, "operator"))
	require.Eventually(t, func() bool {
		response, err := server.Client().Get(server.URL + "/agents/calls/" + waits.Call)
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return strings.Contains(string(text), `"result":"paid"`)
	}, 30e9, 10e6)
	// Close ends calls that came by it.
	slow := make(chan int, 1)
	go func() {
		status, _ := post("/tools/tells", "")
		slow <- status
	}()
	require.Eventually(t, func() bool {
		response, err := server.Client().Get(server.URL + "/agents/metrics")
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return strings.Contains(string(text), "hukilau_calls_running 1")
	}, 30e9, 10e6)
	require.NoError(t, h.Close())
	require.Equal(t, 503, <-slow)
	status, _ = post("/tools/greet", `{"name":"Bo"}`)
	require.Equal(t, 503, status)
}

func TestServe(t *testing.T) {
	var log bytes.Buffer
	h := open(t, toolhost.Options{Log: &log, LogLevel: "info"})
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- h.Serve(ctx, "127.0.0.1:0", func(addr net.Addr) { ready <- addr }) }()
	response, err := http.Get("http://" + (<-ready).String() + "/health")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 200, response.StatusCode)
	http.DefaultClient.CloseIdleConnections()
	cancel()
	require.NoError(t, <-ended)
	_, err = h.Call(t.Context(), toolhost.Call{Tool: "greet", Args: []byte(`{"name":"x"}`)})
	require.NoError(t, err, "the host goes on without the server")

	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n")
	var out bytes.Buffer
	require.NoError(t, h.ServeStdio(t.Context(), in, &out))
	require.Contains(t, out.String(), `"serverInfo"`)
}

func TestReloadAndOptions(t *testing.T) {
	dir := t.TempDir()
	h := open(t, toolhost.Options{Dir: dir, InMemory: true})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools", "pay.yaml"), []byte("name: buy\ndescription: Buys.\nlua: |\n  function invoke() return 1 end\n"), 0o644))
	require.NoError(t, h.Reload(t.Context()))
	_, ok := h.Tool("buy")
	require.True(t, ok)
	_, ok = h.Tool("pay")
	require.False(t, ok)

	_, err := toolhost.Open(t.Context(), toolhost.Options{Dir: filepath.Join(dir, "nowhere")})
	require.ErrorContains(t, err, "no such folder")
	_, err = toolhost.Open(t.Context(), toolhost.Options{Dir: dir, Tools: []string{"nowhere"}})
	require.ErrorContains(t, err, "no such file")
	_, err = toolhost.Open(t.Context(), toolhost.Options{Dir: dir, LogLevel: "loud"})
	require.ErrorContains(t, err, "debug, info, warn or error")
	other, err := toolhost.Open(t.Context(), toolhost.Options{Config: filepath.Join(dir, "hukilau.toml"), Tools: []string{filepath.Join(dir, "tools", "greet.yaml")}, InMemory: true})
	require.NoError(t, err)
	require.Len(t, other.Tools(), 1)
	require.NoError(t, other.Close())
	require.NoError(t, other.Close())
}

// Close ends what runs and says so; afterwards nothing is done that needs what is closed.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "tools"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools", "loops.yaml"), []byte("name: loops\ndescription: Loops.\nlua: |\n  function invoke(ctx) ctx.emit(1) while true do end end\n"), 0o644))
	var log bytes.Buffer
	h := open(t, toolhost.Options{Dir: dir, Log: &log})
	running, ended := make(chan bool), make(chan error, 3)
	go func() {
		_, err := h.Call(t.Context(), toolhost.Call{Tool: "loops", Events: func(context.Context, toolhost.Event) error { running <- true; return nil }})
		ended <- err
	}()
	<-running
	ready := make(chan net.Addr, 1)
	go func() { ended <- h.Serve(t.Context(), "127.0.0.1:0", func(addr net.Addr) { ready <- addr }) }()
	<-ready
	in, _ := io.Pipe()
	go func() { ended <- h.ServeStdio(t.Context(), in, io.Discard) }()
	require.NoError(t, h.Close())
	for range 3 {
		if err := <-ended; err != nil {
			require.True(t, strings.Contains(err.Error(), "shutting down") || errors.Is(err, toolhost.ErrClosed), err.Error())
		}
	}
	require.NotContains(t, log.String(), "level=ERROR")
	_, err := h.Call(t.Context(), toolhost.Call{Tool: "loops"})
	require.ErrorIs(t, err, toolhost.ErrClosed)
	require.ErrorIs(t, h.Serve(t.Context(), "127.0.0.1:0", nil), toolhost.ErrClosed)
	require.ErrorIs(t, h.ServeStdio(t.Context(), strings.NewReader(""), io.Discard), toolhost.ErrClosed)
	require.ErrorIs(t, h.Reload(t.Context()), toolhost.ErrClosed)
	require.ErrorIs(t, h.Decide(t.Context(), "x", true, "y"), toolhost.ErrClosed)
	_, err = h.Handler()
	require.ErrorIs(t, err, toolhost.ErrClosed)

	again, err := toolhost.Open(t.Context(), toolhost.Options{Dir: dir, InMemory: true})
	require.NoError(t, err)
	require.NoError(t, again.Close())
}
