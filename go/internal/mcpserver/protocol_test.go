package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

func TestResultsOfEachKind(t *testing.T) {
	number := func(made *tooldef.Tool) { made.Result = compiled(t, `{"type":"number"}`) }
	f := serving(t,
		tool(t, "string", `function invoke() return "a\n\"b\"" end`),
		tool(t, "list", `function invoke() return { 1, "x" } end`),
		tool(t, "number", `function invoke() return 1.5 end`, number),
		tool(t, "nothing", `function invoke() end`),
	)
	p := f.greeted(t, "2025-11-25", "{}")
	w := f.web(t)
	for name, want := range map[string]string{"string": "a\n\"b\"", "list": `[1,"x"]`, "number": "1.5", "nothing": "null"} {
		p.send(callOf("1", name, "{}"))
		m, _ := p.answer()
		require.Equal(t, want, m.at("result.content.0.text"))
		require.NotContains(t, m["result"], "structuredContent", "sessions know objects only")
		_, messages := w.modern("tools/call", name).post(modernCall(name, "{}"))
		require.Equal(t, want, messages[0].at("result.content.0.text"))
		if name == "number" {
			require.EqualValues(t, "1.5", fmt.Sprint(messages[0].at("result.structuredContent")))
		} else {
			require.NotContains(t, messages[0]["result"], "structuredContent")
		}
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	p.send(list)
	m, _ := p.answer()
	require.NotContains(t, m.at("result.tools.2"), "outputSchema")
	_, messages := w.modern("tools/list", "").post(modern("1", "tools/list", "", "{}"))
	require.Equal(t, "number", messages[0].at("result.tools.2.outputSchema.type"))
}

func TestArgumentsThatAToolDoesNotTake(t *testing.T) {
	f := serving(t, tool(t, "echo", echo), tool(t, "typed", echo, func(made *tooldef.Tool) {
		made.Params = compiled(t, `{"type":"object","properties":{"city":{"type":"string"},"n":{"type":"array","items":{"type":"integer"}}},"required":["city"]}`)
	}))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(callOf("1", "typed", `{"n":[1,"x",2.5]}`))
	m, _ := p.answer()
	require.Equal(t, true, m.at("result.isError"))
	lines := strings.Split(m.at("result.content.0.text").(string), "\n")
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], "city")
	require.Contains(t, lines[1], "/n/1: ")
	require.Contains(t, lines[2], "/n/2: ")
	for version, isToolError := range map[string]bool{"2024-11-05": false, "2025-06-18": false, "2025-11-25": true} {
		p := f.greeted(t, version, "{}")
		p.send(callOf("1", "echo", "[1]"))
		m, _ := p.answer()
		if isToolError {
			require.Equal(t, true, m.at("result.isError"), version)
			require.Contains(t, m.at("result.content.0.text"), "must be a JSON object")
		} else {
			require.EqualValues(t, "-32602", fmt.Sprint(m.at("error.code")), version)
		}
		p.send(callOf("2", "echo", "null"))
		m, _ = p.answer()
		require.Equal(t, "{}", m.at("result.content.0.text"), "null is as good as none")
	}
}

func TestProgressOnlyGrows(t *testing.T) {
	f := serving(t, tool(t, "steps", `function invoke(ctx)
		for _, n in { 0, 1, 1, 0.5, 0/0, 1/0, 2 } do ctx.progress(n, 1/0) end
	end`))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":"t"}}}`)
	_, before := p.answer()
	var told []string
	for _, m := range before {
		told = append(told, fmt.Sprint(m.at("params.progress")))
	}
	require.Equal(t, []string{"0", "1", "2"}, told)
	for _, token := range []string{"null", "true", "{}"} { // no tokens
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":` + token + `}}}`)
		_, before = p.answer()
		require.Empty(t, before)
	}
}

func TestLogAndEmit(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{Redact: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }},
		tool(t, "talks", `function invoke(ctx)
			ctx.log.debug("d")
			require("log").warn("w", { key = "secret", big = 9007199254740993i, name = "x" })
			ctx.emit("some text")
			ctx.emit({ n = 1 })
			error({ message = "the secret is out" })
		end`))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(callOf("1", "talks", "{}"))
	m, before := p.answer()
	require.Empty(t, before, "who set no level gets none")
	require.Equal(t, "the *** is out", m.at("result.content.0.text"))
	p.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`)
	p.answer()
	p.send(callOf("3", "talks", "{}"))
	_, before = p.answer()
	require.Len(t, before, 3)
	require.Equal(t, "warning", before[0].at("params.level"))
	require.Equal(t, "w", before[0].at("params.data.message"), "%v", before[0])
	require.Equal(t, "***", before[0].at("params.data.key"))
	require.EqualValues(t, "9007199254740993", fmt.Sprint(before[0].at("params.data.big")))
	require.Equal(t, "emit", before[1].at("params.logger"))
	require.Equal(t, map[string]any{"text": "some text"}, before[1].at("params.data"))
	require.EqualValues(t, "1", fmt.Sprint(before[2].at("params.data.n")))
	p.send(`{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"error"}}`)
	p.answer()
	p.send(callOf("5", "talks", "{}"))
	_, before = p.answer()
	require.Empty(t, before)
	for _, level := range []string{`"loud"`, `""`, `"INFO"`} {
		p.send(`{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":` + level + `}}`)
		m, _ = p.answer()
		require.EqualValues(t, "-32602", fmt.Sprint(m.at("error.code")), level)
		require.Contains(t, m.at("error.message"), "levels are [debug info notice warning error critical alert emergency]")
	}
}

func TestChangedToolsAreTold(t *testing.T) {
	f := serving(t, tool(t, "one", echo))
	sessions := []*pipe{f.greeted(t, "2025-11-25", "{}"), f.greeted(t, "2024-11-05", "{}")}
	late := f.pipe(t)
	late.send(initialize("2099-01-01", "{}"), initialized)
	late.answer()
	sessions = append(sessions, late)

	listening := f.web(t).modern("subscriptions/listen", "")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := http.DefaultClient.Do(listening.request(ctx, http.MethodPost, modern("9", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "{}")))
	require.NoError(t, err)
	defer stream.Body.Close()
	readUntil(t, stream.Body, "acknowledged")

	f.server.Changed() // nothing did
	f.host.Serve(setOf([]*tooldef.Tool{tool(t, "one", echo+" "), tool(t, "two", echo)}))
	f.server.Changed()
	for _, p := range sessions {
		require.Equal(t, "notifications/tools/list_changed", p.next()["method"])
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		m, before := p.answer()
		require.Empty(t, before)
		require.Len(t, m.at("result.tools"), 2)
	}
	readUntil(t, stream.Body, "tools/list_changed")

	f.host.Serve(setOf(nil))
	f.server.Changed()
	require.Equal(t, "notifications/tools/list_changed", sessions[0].next()["method"])
	sessions[0].send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	m, _ := sessions[0].answer()
	require.Equal(t, []any{}, m.at("result.tools"))
	sessions[0].send(callOf("3", "one", "{}"))
	m, _ = sessions[0].answer()
	require.EqualValues(t, "-32602", fmt.Sprint(m.at("error.code")))
}

// A tool that the protocol refuses is not listed; the others are.
func TestOneBadToolDoesNotStopTheOthers(t *testing.T) {
	f := serving(t, tool(t, "echo", echo),
		tool(t, "list", echo, func(made *tooldef.Tool) { made.Params = compiled(t, `{"type":"array"}`) }),
		tool(t, "header", echo, func(made *tooldef.Tool) {
			made.Params = compiled(t, `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"not a header\n"}}}`)
		}))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	m, _ := p.answer()
	require.Len(t, m.at("result.tools"), 1)
}

func TestASessionIsOfWhoBeganIt(t *testing.T) {
	f := serving(t, tool(t, "who", `function invoke(ctx) return ctx.call.caller .. " " .. ctx.call.face end`))
	w := f.web(t)
	w.header.Set(callerHeader, "ada")
	w.greet("2025-11-25", "{}")
	_, messages := w.post(callOf("1", "who", "{}"))
	require.Equal(t, "ada mcp", messages[0].at("result.content.0.text"))
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		w.header.Set(callerHeader, "eve")
		response, err := http.DefaultClient.Do(w.request(context.Background(), method, callOf("1", "who", "{}")))
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, http.StatusNotFound, response.StatusCode, method)
	}
	w.header.Set(callerHeader, "ada")
	w.session = w.session[:len(w.session)-1] + "x"
	response, _ := w.post(callOf("1", "who", "{}"))
	require.Equal(t, http.StatusNotFound, response.StatusCode)
}

func TestASessionEnds(t *testing.T) {
	f := serving(t, tool(t, "echo", echo))
	w := f.web(t)
	w.greet("2025-11-25", "{}")
	response, err := http.DefaultClient.Do(w.request(context.Background(), http.MethodDelete, ""))
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusNoContent, response.StatusCode)
	response, _ = w.post(callOf("1", "echo", "{}"))
	require.Equal(t, http.StatusNotFound, response.StatusCode)
}

func TestLimits(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{MaxMessage: 10_000, MaxInFlight: 3},
		tool(t, "echo", echo), tool(t, "waits", `function invoke() __native.sleep(600000) end`))
	long := callOf("1", "echo", `{"a":"`+strings.Repeat("x", 20_000)+`"}`)
	w := f.web(t)
	response, _ := w.post(long)
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	w.greet("2025-11-25", "{}")
	response, _ = w.post(long)
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)

	p := f.greeted(t, "2025-11-25", "{}")
	p.send(callOf("1", "waits", "{}"), callOf("2", "waits", "{}"), callOf("3", "waits", "{}"), callOf("4", "echo", "{}"))
	m := p.next()
	require.EqualValues(t, "4", fmt.Sprint(m["id"]))
	require.Contains(t, m.at("error.message"), "the answers of 3 requests were not read yet")
	p.send(callOf("3", "echo", "{}"))
	m = p.next()
	require.Contains(t, m.at("error.message"), "3 requests")
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	require.Eventually(t, func() bool {
		p.send(callOf("5", "echo", "{}"))
		return p.next().at("result.content.0.text") == "{}"
	}, patience, time.Millisecond)
	p.send(callOf("3", "echo", "{}"))
	m = p.next()
	require.Contains(t, m.at("error.message"), "this id")
	for _, id := range []string{"1", "3"} {
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	}
}

// What is no request at all is refused with a reason, whatever it is.
func TestHTTPThatIsNoRequest(t *testing.T) {
	f := serving(t, tool(t, "echo", echo))
	for body, status := range map[string]int{
		"":                                       http.StatusBadRequest,
		"[":                                      http.StatusBadRequest,
		"null":                                   http.StatusBadRequest,
		`{"jsonrpc":"2.0"}`:                      http.StatusBadRequest,
		`{"jsonrpc":"2.0","id":1,"method":"no"}`: http.StatusBadRequest,
	} {
		response, _ := f.web(t).post(body)
		require.Equal(t, status, response.StatusCode, body)
	}
	w := f.web(t)
	w.header.Set("Content-Type", "text/plain")
	response, _ := w.post(initialize("2025-11-25", "{}"))
	require.Equal(t, http.StatusUnsupportedMediaType, response.StatusCode)
	response, err := http.DefaultClient.Do(f.web(t).request(context.Background(), http.MethodGet, ""))
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	f.server = mcpserver.New(mcpserver.Options{Host: f.host}) // nobody before it looks at the Host header
	request := f.web(t).request(context.Background(), http.MethodPost, "{}")
	request.Host = "evil.example"
	response, err = http.DefaultClient.Do(request)
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusForbidden, response.StatusCode)
}

// The header that carries a request's number within the process means nothing from outside.
func TestRequestHeaderFromOutside(t *testing.T) {
	f := serving(t, tool(t, "echo", echo))
	w := f.web(t)
	w.greet("2025-11-25", "{}")
	w.header.Set("Hukilau-Request", "1")
	_, messages := w.post(callOf("1", "echo", "{}"))
	require.Equal(t, "{}", messages[0].at("result.content.0.text"))
}

func TestDiscover(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{Name: "nets", Title: "Nets", Instructions: "Pull together."}, tool(t, "echo", echo))
	_, messages := f.web(t).modern("server/discover", "").post(modern("1", "server/discover", "", "{}"))
	require.Contains(t, messages[0].at("result.supportedVersions"), "2026-07-28")
	require.Equal(t, "Pull together.", messages[0].at("result.instructions"))
	require.Equal(t, true, messages[0].at("result.capabilities.tools.listChanged"))
	require.Equal(t, "nets", messages[0].at("result._meta").(map[string]any)["io.modelcontextprotocol/serverInfo"].(map[string]any)["name"])
}

// A stream begins with the first notification, and ends with the answer.
func TestStreamOfACall(t *testing.T) {
	f := serving(t, tool(t, "steps", `function invoke(ctx) ctx.progress(1) ctx.progress(2) return "done" end`))
	w := f.web(t)
	w.greet("2025-11-25", "{}")
	response, messages := w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":"t"}}}`)
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	require.Len(t, messages, 3)
	require.Equal(t, "done", messages[2].at("result.content.0.text"))
}

// Stdio ends when its context does, though nothing comes in.
func TestStdioEndsWithItsContext(t *testing.T) {
	f := serving(t, tool(t, "waits", `function invoke() __native.sleep(600000) end`))
	in, toServer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.server.Stdio(ctx, in, io.Discard) }()
	_, err := io.WriteString(toServer, initialize("2025-11-25", "{}")+"\n"+initialized+"\n"+callOf("1", "waits", "{}")+"\n")
	require.NoError(t, err)
	f.running(t)()
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// counted counts the writes to a listener's connections.
type counted struct {
	net.Listener
	writes atomic.Int64
}

type countedConn struct {
	net.Conn
	writes *atomic.Int64
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countedConn{c, &l.writes}, err
}

func (c countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// An answer is one write, and the end of a stream is in the write of its last event: between two small writes a
// kept connection may wait for the other side's delayed acknowledgement.
func TestOneWriteForEachAnswer(t *testing.T) {
	f := serving(t, tool(t, "echo", echo), tool(t, "steps", `function invoke(ctx) ctx.progress(1) end`))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	through := &counted{Listener: listener}
	server := &http.Server{Handler: f.server.HTTP()}
	go server.Serve(through)
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	w := &web{t: t, url: "http://" + listener.Addr().String(), header: http.Header{}}
	w.greet("2025-11-25", "{}")
	sent := func(body string) int64 {
		before := through.writes.Load()
		w.post(body)
		return through.writes.Load() - before
	}
	for range 3 {
		require.EqualValues(t, 1, sent(callOf("1", "echo", `{"a":1}`)))
		require.EqualValues(t, 2, sent(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":"t"}}}`))
	}
	w.session = ""
	w.modern("tools/call", "echo")
	for range 3 {
		require.EqualValues(t, 1, sent(strings.Replace(modernCall("echo", "{}"), `"logLevel":"debug",`, "", 1)))
	}
}

// A silent call and a silent stream say that they live; an error at the end of a stream is an event of it.
func TestSilenceIsBroken(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{Silence: time.Millisecond},
		tool(t, "waits", `function invoke() __native.sleep(100) return "done" end`),
		tool(t, "asks", `function invoke(ctx) __native.sleep(100) ctx.elicit("x") end`))
	w := f.web(t)
	w.greet("2025-11-25", "{}")
	read := func(method, body, until string) (*http.Response, string) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		response, err := http.DefaultClient.Do(w.request(ctx, method, body))
		require.NoError(t, err)
		defer response.Body.Close()
		return response, readUntil(t, response.Body, until)
	}
	response, text := read(http.MethodPost, callOf("1", "waits", "{}"), "done")
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(text, ": \n\n"), text)
	require.Contains(t, text, "event: message\ndata: {")
	_, text = read(http.MethodGet, "", "\n: \n\n")
	require.True(t, strings.HasPrefix(text, ": ok\n\n"), text)

	w.session = ""
	w.modern("tools/call", "asks")
	response, messages := w.post(modernCall("asks", "{}"))
	require.Equal(t, http.StatusOK, response.StatusCode, "it had begun")
	require.Len(t, messages, 1)
	require.EqualValues(t, "-32021", fmt.Sprint(messages[0].at("error.code")))
}

func TestAPanicEndsNoMoreThanItsCall(t *testing.T) {
	broken := true
	f := servingWith(t, toolhost.Options{Redact: func(text string) string {
		if broken {
			panic("out of order")
		}
		return text
	}}, mcpserver.Options{}, tool(t, "echo", echo))
	p := f.greeted(t, "2025-11-25", "{}")
	w := f.web(t)
	p.send(callOf("1", "echo", "{}"))
	m, _ := p.answer()
	require.Equal(t, "the server failed; its log has the story", m.at("result.content.0.text"))
	m = w.ask("echo", "")
	require.Equal(t, true, m.at("result.isError"))
	require.NotContains(t, fmt.Sprint(m), "goroutine")
	broken = false
	p.send(callOf("2", "echo", "{}"))
	m, _ = p.answer()
	require.Equal(t, "{}", m.at("result.content.0.text"))
}

func TestTheLongestUnusedSessionMakesRoom(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{MaxSessions: 2}, tool(t, "echo", echo))
	works := func(w *web) bool {
		response, _ := w.post(callOf("1", "echo", "{}"))
		return response.StatusCode == http.StatusOK
	}
	first, second, third := f.web(t), f.web(t), f.web(t)
	first.greet("2025-11-25", "{}")
	second.greet("2025-11-25", "{}")
	require.True(t, works(first)) // second is unused for longer
	third.greet("2025-11-25", "{}")
	require.True(t, works(first))
	require.False(t, works(second))
	require.True(t, works(third))

	// A session with an open stream is in use.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, w := range []*web{first, third} {
		stream, err := http.DefaultClient.Do(w.request(ctx, http.MethodGet, ""))
		require.NoError(t, err)
		defer stream.Body.Close()
		readUntil(t, stream.Body, "ok")
	}
	response, _ := f.web(t).post(initialize("2025-11-25", "{}"))
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.NotEmpty(t, response.Header.Get("Retry-After"))
	require.True(t, works(first))
	require.True(t, works(third))
}

// What only waits does not keep a server that shuts down; what runs is answered.
func TestDrain(t *testing.T) {
	f := serving(t, tool(t, "asks", asks), tool(t, "waits", `function invoke() __native.sleep(300) return "done" end`))
	w := f.web(t)
	w.greet("2025-11-25", "{}")
	open := func(w *web, method, body, until string) func() {
		response, err := http.DefaultClient.Do(w.request(context.Background(), method, body))
		require.NoError(t, err)
		readUntil(t, response.Body, until)
		return func() {
			_, err := io.Copy(io.Discard, response.Body)
			require.NoError(t, err)
			response.Body.Close()
		}
	}
	listener := f.web(t).modern("subscriptions/listen", "")
	ends := []func(){
		open(w, http.MethodGet, "", "ok"),
		open(listener, http.MethodPost, modern("9", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "{}"), "acknowledged"),
	}
	f.web(t).ask("asks", "")
	answer := make(chan any, 1)
	go func() {
		_, messages := w.post(callOf("1", "waits", "{}"))
		answer <- messages[0].at("result.content.0.text")
	}()
	require.Eventually(t, func() bool { running, _ := f.host.Load(); return running == 2 }, patience, time.Millisecond)
	f.server.Drain()
	for _, end := range ends {
		end()
	}
	require.Equal(t, "done", <-answer)
	require.Eventually(t, func() bool { running, _ := f.host.Load(); return running == 0 }, patience, time.Millisecond)
	response, err := http.DefaultClient.Do(w.request(context.Background(), http.MethodGet, ""))
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
}
