package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// modern is a request of the stateless revision, which says by itself what its client is.
func modern(id, method, params, capabilities string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":` + capabilities + `,"io.modelcontextprotocol/logLevel":"debug","progressToken":7}}}`
}

func modernCall(tool, args string) string {
	return modern("1", "tools/call", `"name":"`+tool+`","arguments":`+args, "{}")
}

// modern makes a client speak the stateless revision.
func (w *web) modern(method, tool string) *web {
	w.header.Set("Mcp-Protocol-Version", "2026-07-28")
	w.header.Set("Mcp-Method", method)
	if w.header.Del("Mcp-Name"); tool != "" {
		w.header.Set("Mcp-Name", tool)
	}
	return w
}

// D03: a line that is no message harms no other.
func TestD03LinesThatAreNoMessages(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{MaxMessage: 8 << 20}, tool(t, "echo", echo))
	p := f.greeted(t, "2025-11-25", "{}")
	refused := func(line string, code string, id any) {
		t.Helper()
		p.send(line)
		m := p.next()
		require.EqualValues(t, code, fmt.Sprint(m.at("error.code")), "%.100s", line)
		there, ok := m["id"]
		require.True(t, ok)
		require.Equal(t, id, there, "%.100s", line)
	}
	refused(`{"jsonrpc":"2.0","id":1,"method":"tools/li`, "-32700", nil)
	refused(`{} {}`, "-32700", nil)
	refused("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "-32700", nil)
	refused(strings.Repeat("[", 100_000), "-32700", nil)
	refused(`{"id":"x","method":"ping"}`, "-32600", "x")
	refused(`[]`, "-32600", nil)
	refused(`"ping"`, "-32600", nil)
	refused(`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "-32600", nil)
	refused(`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "-32600", nil)
	refused(`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "-32600", nil)
	refused(`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "-32600", nil)
	refused(strings.Repeat("x", 9<<20), "-32600", nil)

	p.send("", "   ", "\r", callOf("1", "echo", `{"a":1}`)+"\r")
	m, _ := p.answer()
	require.Equal(t, `{"a":1}`, m.at("result.content.0.text"))

	long := strings.Repeat("a", 5<<20)
	p.send(callOf("2", "echo", `{"a":"`+long+`"}`))
	m, _ = p.answer()
	require.Equal(t, long, m.at("result.structuredContent.a"))
}

// D03: a last line needs no line end.
func TestD03LastLineWithoutAnEnd(t *testing.T) {
	f := serving(t, tool(t, "echo", echo))
	p := f.greeted(t, "2025-11-25", "{}")
	go func() {
		fmt.Fprint(p.in, callOf("1", "echo", `{}`))
		p.in.Close()
	}()
	m, _ := p.answer()
	require.Equal(t, "{}", m.at("result.content.0.text"))
}

// D14: a tool with a result schema that fails gives no structured content.
func TestD14ErrorOfAToolWithAResultSchema(t *testing.T) {
	f := serving(t,
		tool(t, "throws", `function invoke(ctx, args) error({ code = "no_luck", message = "no luck today" }) end`,
			func(made *tooldef.Tool) { made.Result = compiled(t, `{"type":"object"}`) }))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(callOf("1", "throws", "{}"))
	m, _ := p.answer()
	require.Equal(t, true, m.at("result.isError"))
	require.Equal(t, "no luck today\ncode: no_luck", m.at("result.content.0.text"))
	require.NotEmpty(t, m.at("result._meta.hukilau/call"))
	require.NotContains(t, m["result"], "structuredContent")
}

// D17: ids and progress tokens come back as they were sent.
func TestD17IDsAndTokensComeBackAsTheyWere(t *testing.T) {
	f := serving(t, tool(t, "steps", `function invoke(ctx, args) ctx.progress(1, 2, "half") return "done" end`))
	call := func(id, token string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":` + token + `}}}`
	}
	check := func(progress, answer message, id, token any) {
		t.Helper()
		require.Equal(t, "notifications/progress", progress["method"])
		require.EqualValues(t, token, progress.at("params.progressToken"))
		require.Equal(t, "half", progress.at("params.message"))
		require.EqualValues(t, id, answer["id"])
		require.Equal(t, "done", answer.at("result.content.0.text"))
	}
	number := func(digits string) any { return read(t, []byte(`{"n":`+digits+`}`))["n"] }
	p := f.greeted(t, "2025-11-25", "{}")
	w := f.web(t)
	w.greet("2025-11-25", "{}")
	for _, id := range []string{`"1"`, "0", "9007199254740991", "-3"} {
		for _, token := range []string{`"1"`, "0", "9007199254740991"} {
			p.send(call(id, token))
			answer, before := p.answer()
			require.Len(t, before, 1)
			check(before[0], answer, number(id), number(token))
			_, messages := w.post(call(id, token))
			require.Len(t, messages, 2)
			check(messages[0], messages[1], number(id), number(token))
		}
	}
}

// hanging is an HTTP server that never answers, and says when it was asked.
func hanging(t *testing.T) (url string, asked chan struct{}, gone chan struct{}) {
	t.Helper()
	asked, gone = make(chan struct{}, 10), make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked, gone
}

// one is a host with one place for runs: the next call runs only when the last has left.
func one(t *testing.T) toolhost.Options {
	t.Helper()
	return toolhost.Options{
		MaxRuns: 1, Timeout: time.Hour, Wait: patience,
		HTTP: func(*tooldef.Tool) (*httpmod.Module, error) {
			client, err := httpmod.New(httpmod.Options{Policy: httpmod.Policy{Net: []string{"*"}, NetPrivate: []string{"127.0.0.1"}}})
			return httpmod.NewModule(client), err
		},
	}
}

// D18: cancelled calls end, and free their place.
func TestD18CancelledCallsEndAndLeaveTheirPlace(t *testing.T) {
	url, asked, gone := hanging(t)
	waits := `function invoke(ctx, args) return ctx.http.get("` + url + `") end`
	loops := `function invoke(ctx, args) ctx.log.info("begun") while true do end end`
	f := servingWith(t, one(t), mcpserver.Options{}, tool(t, "waits", waits), tool(t, "loops", loops), tool(t, "echo", echo))

	// Each of what is called afterwards needs the one place there is. The tools would hold it for an hour.
	soon := func(what func()) {
		t.Helper()
		began := time.Now()
		what()
		t.Logf("free after %s", time.Since(began))
	}
	cancel := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
	}

	t.Run("stdio", func(t *testing.T) {
		p := f.greeted(t, "2025-11-25", "{}")
		p.send(`{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":"debug"}}`)
		p.answer()
		p.send(callOf("1", "waits", "{}"))
		<-asked
		soon(func() {
			p.send(cancel("1"))
			<-gone
			p.send(callOf("2", "echo", "{}"))
			m, _ := p.answer()
			require.EqualValues(t, "2", fmt.Sprint(m["id"]), "what was cancelled is not answered")
		})
		p.send(callOf("3", "loops", "{}"))
		require.Equal(t, "begun", p.next().at("params.data"))
		soon(func() {
			p.send(cancel("3"), callOf("4", "echo", "{}"))
			m, _ := p.answer()
			require.EqualValues(t, "4", fmt.Sprint(m["id"]))
		})
	})

	drop := func(t *testing.T, w *web, body string, began func(), other string) {
		t.Helper()
		ctx, hangUp := context.WithCancel(context.Background())
		done := make(chan error, 1)
		request := w.request(ctx, http.MethodPost, body)
		go func() {
			response, err := http.DefaultClient.Do(request)
			if err == nil {
				response.Body.Close()
			}
			done <- err
		}()
		began()
		soon(func() {
			hangUp()
			<-done
			w.header.Set("Mcp-Name", "echo")
			_, messages := w.post(other)
			require.Equal(t, "{}", messages[0].at("result.content.0.text"))
		})
	}
	t.Run("session", func(t *testing.T) {
		w := f.web(t)
		w.greet("2025-11-25", "{}")
		drop(t, w, callOf("1", "waits", "{}"), func() { <-asked }, callOf("2", "echo", "{}"))
		<-gone
		drop(t, w, callOf("3", "loops", "{}"), f.running(t), callOf("4", "echo", "{}"))
	})
	t.Run("session, by message", func(t *testing.T) {
		w := f.web(t)
		w.greet("2025-11-25", "{}")
		done := make(chan struct{})
		go func() {
			w.post(callOf("5", "loops", "{}"))
			close(done)
		}()
		f.running(t)()
		soon(func() {
			response, _ := w.post(cancel("5"))
			require.Equal(t, http.StatusAccepted, response.StatusCode)
			<-done
			_, messages := w.post(callOf("6", "echo", "{}"))
			require.Equal(t, "{}", messages[0].at("result.content.0.text"))
		})
	})
	t.Run("stateless", func(t *testing.T) {
		w := f.web(t).modern("tools/call", "waits")
		drop(t, w, modernCall("waits", "{}"), func() { <-asked }, modernCall("echo", "{}"))
		<-gone
		w.modern("tools/call", "loops")
		drop(t, w, modernCall("loops", "{}"), f.running(t), modernCall("echo", "{}"))
	})
}

// running waits until a call runs.
func (f *fixture) running(t *testing.T) func() {
	return func() {
		require.Eventually(t, func() bool { running, _ := f.host.Load(); return running == 1 }, patience, time.Millisecond)
	}
}

// D19: an unknown tool, and a tool that errors.
func TestD19UnknownToolsAndErrors(t *testing.T) {
	f := serving(t, tool(t, "breaks", "function invoke(ctx, args)\n\tlocal x = nil\n\treturn x.y\nend"))
	clean := func(m message) {
		t.Helper()
		text := fmt.Sprint(m)
		for _, leak := range []string{"goroutine", ".go:", "/home", "/srv", "/tmp", "traceback"} {
			require.NotContains(t, text, leak)
		}
	}
	check := func(unknown, failed message) {
		t.Helper()
		require.EqualValues(t, "-32602", fmt.Sprint(unknown.at("error.code")))
		require.Contains(t, unknown.at("error.message"), "nothing")
		clean(unknown)
		require.Equal(t, true, failed.at("result.isError"))
		require.Equal(t, "tools/breaks.yaml:3: attempt to index nil with 'y'", failed.at("result.content.0.text"))
		clean(failed)
	}
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(callOf("1", "nothing", "{}"))
	unknown, _ := p.answer()
	p.send(callOf("2", "breaks", "{}"))
	failed, _ := p.answer()
	check(unknown, failed)

	w := f.web(t).modern("tools/call", "nothing")
	_, unknowns := w.post(modernCall("nothing", "{}"))
	_, faileds := w.modern("tools/call", "breaks").post(modernCall("breaks", "{}"))
	check(unknowns[0], faileds[0])
}

// D20: whatever a tool prints, the output has messages only.
func TestD20OutputIsMessagesOnly(t *testing.T) {
	f := serving(t,
		tool(t, "loud", "print('loading', {})\nfunction invoke(ctx, args)\n\tprint('a\\nb')\n\tio = nil\n\tprint('{\"jsonrpc\":\"2.0\"}')\n\terror('bang')\nend"))
	p := f.greeted(t, "2025-11-25", "{}")
	p.send(callOf("1", "loud", "{}"))
	m, before := p.answer() // each line was read as a message
	require.Empty(t, before, "the client asked for no log")
	require.Equal(t, true, m.at("result.isError"))
	require.Contains(t, m.at("result.content.0.text"), "bang")

	p.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`)
	p.answer()
	p.send(callOf("3", "loud", "{}"))
	_, before = p.answer()
	var lines []string
	for _, note := range before {
		require.Equal(t, "notifications/message", note["method"])
		require.Equal(t, "loud", note.at("params.logger"))
		lines = append(lines, note.at("params.data").(string))
	}
	require.Equal(t, []string{"a", "b", `{"jsonrpc":"2.0"}`}, lines[len(lines)-3:])
}

// D23: every digit is kept.
func TestD23EveryDigit(t *testing.T) {
	f := serving(t, tool(t, "echo", echo), tool(t, "text", `function invoke(ctx, args) return tostring(args.n) end`),
		tool(t, "bare", `function invoke(ctx, args) return args.n end`))
	const digits = "9007199254740993"
	p := f.greeted(t, "2025-11-25", "{}")
	w := f.web(t)
	for name, want := range map[string]string{"echo": `{"n":` + digits + `}`, "text": digits, "bare": digits} {
		p.send(callOf("1", name, `{"n":`+digits+`}`))
		m, _ := p.answer()
		require.Equal(t, want, m.at("result.content.0.text"))
		if name == "echo" {
			require.EqualValues(t, digits, m.at("result.structuredContent.n"))
		}
		_, messages := w.modern("tools/call", name).post(modernCall(name, `{"n":`+digits+`}`))
		require.Equal(t, want, messages[0].at("result.content.0.text"))
	}
}

// D24: calls are answered beside a stream that is held open.
func TestD24CallsBesideAnOpenStream(t *testing.T) {
	f := serving(t, tool(t, "echo", echo))
	w := f.web(t)
	w.greet("2025-11-25", "{}")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := http.DefaultClient.Do(w.request(ctx, http.MethodGet, ""))
	require.NoError(t, err)
	defer stream.Body.Close()
	require.Equal(t, http.StatusOK, stream.StatusCode)
	var all sync.WaitGroup
	answers := make([]any, 20)
	for i := range answers {
		all.Go(func() {
			_, messages := w.post(callOf(fmt.Sprint(i), "echo", fmt.Sprintf(`{"i":%d}`, i)))
			if len(messages) == 1 {
				answers[i] = messages[0].at("result.content.0.text")
			}
		})
	}
	all.Wait()
	for i, answer := range answers {
		require.Equal(t, fmt.Sprintf(`{"i":%d}`, i), answer)
	}
	// The stream still lives: it tells of a change of the tools.
	f.host.Serve(setOf([]*tooldef.Tool{tool(t, "other", echo)}))
	f.server.Changed()
	require.Contains(t, readUntil(t, stream.Body, "list_changed"), "notifications/tools/list_changed")
}

// readUntil reads a stream until something is in it.
func readUntil(t *testing.T, stream interface{ Read([]byte) (int, error) }, what string) string {
	t.Helper()
	var all strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(all.String(), what) {
		n, err := stream.Read(buffer)
		all.Write(buffer[:n])
		if err != nil {
			require.Contains(t, all.String(), what, err)
		}
	}
	return all.String()
}
