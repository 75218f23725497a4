package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// fault is an answer that is an error, over either transport.
func (m message) fault(t testing.TB, id, code, text string) {
	t.Helper()
	require.Equal(t, "2.0", m["jsonrpc"], "%v", m)
	require.Equal(t, id, fmt.Sprint(m["id"]), "%v", m)
	require.Equal(t, code, fmt.Sprint(m.at("error.code")), "%v", m)
	require.Contains(t, m.at("error.message"), text)
	require.Less(t, len(m.at("error.message").(string)), 600)
	require.NotContains(t, m.at("error.message"), "mcp.", "no type of Go")
}

// Whatever is refused over HTTP is refused by an error of JSON-RPC, with the id of the request where it is known.
func TestRefusalsOverHTTPAreErrorsOfJSONRPC(t *testing.T) {
	f := servingWith(t, toolhost.Options{Values: 2 << 20}, mcpserver.Options{MaxMessage: 100_000}, tool(t, "echo", echo))
	list := `{"jsonrpc":"2.0","id":"a","method":"tools/list"}`
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	none := func(*http.Request) {}
	server := f.web(t)
	for what, c := range map[string]struct {
		method, body string
		change       func(*http.Request)
		status       int
		id, code     string
		text         string
	}{
		"nothing":             {"POST", "", none, 400, "<nil>", "-32600", "non-empty"},
		"no JSON":             {"POST", `{"jsonrpc":`, none, 400, "<nil>", "-32700", "not JSON"},
		"no message":          {"POST", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, none, 400, "7", "-32600", "version tag"},
		"an empty batch":      {"POST", "[]", none, 400, "<nil>", "-32600", "batches of messages are not taken"},
		"a batch":             {"POST", " [" + callOf("1", "echo", "{}") + "," + callOf("2", "echo", "{}") + "]", none, 400, "<nil>", "-32600", "batches of messages are not taken"},
		"an id with a part":   {"POST", callOf("1.5", "echo", "{}"), none, 400, "<nil>", "-32600", "the id of a message must be"},
		"an id of 54 bits":    {"POST", callOf("9007199254740993", "echo", "{}"), none, 400, "<nil>", "-32600", "the id of a message must be"},
		"many values":         {"POST", callOf("1", "echo", `{"a":[`+strings.Repeat(`{},`, 20_000)+`{}]}`), none, 503, "1", "-32603", "too many calls with large values"},
		"an id of no kind":    {"POST", `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, none, 400, "<nil>", "-32600", "the id of a message must be"},
		"no method":           {"POST", `{"jsonrpc":"2.0","id":1,"method":"no"}`, none, 400, "1", "-32601", `method not found: "no"`},
		"no params":           {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, none, 400, "1", "-32600", `missing required "params"`},
		"params of no kind":   {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, none, 200, "1", "-32602", "the params of tools/call are not what the method takes: name must be of the type string"},
		"long params":         {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["` + strings.Repeat("x", 5000) + `"]}`, none, 200, "1", "-32602", "the params of tools/call"},
		"a long name":         {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("é", 5000) + `"}}`, none, 200, "1", "-32602", "unknown tool"},
		"initialize twice":    {"POST", initialize("2025-11-25", "{}"), none, 200, "init", "-32600", "duplicate"},
		"too long":            {"POST", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 200_000) + `"}`, none, 413, "<nil>", "-32600", "100000 bytes"},
		"Accept of a POST":    {"POST", list, header("Accept", "text/html"), 406, "a", "-32600", "Accept must contain"},
		"Accept of a GET":     {"GET", "", header("Accept", "text/html"), 406, "<nil>", "-32600", "Accept must contain"},
		"Content-Type":        {"POST", list, header("Content-Type", "text/plain"), 415, "a", "-32600", "Content-Type"},
		"a session of nobody": {"POST", list, header("Mcp-Session-Id", "no"), 404, "a", "-32600", "session not found"},
		"a revision":          {"POST", list, header("Mcp-Protocol-Version", "1999-01-01"), 400, "a", "-32600", "Unsupported protocol version"},
		"another method":      {"PUT", "", none, 405, "<nil>", "-32600", "Method Not Allowed"},
	} {
		t.Run(what, func(t *testing.T) {
			w := &web{t: t, url: server.url, header: http.Header{}}
			w.greet("2025-11-25", "{}")
			request := w.request(context.Background(), c.method, c.body)
			c.change(request)
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			text, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, c.status, response.StatusCode, "%s", text)
			require.Equal(t, "application/json", response.Header.Get("Content-Type"), "%s", text)
			if c.status == http.StatusMethodNotAllowed {
				require.NotEmpty(t, response.Header.Get("Allow"))
			}
			read(t, text).fault(t, c.id, c.code, c.text)
		})
	}
	response, messages := server.post(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
	require.Equal(t, http.StatusOK, response.StatusCode)
	messages[0].fault(t, "4", "-32600", "is invalid during session initialization")
}

func TestErrorsOverStdioHaveCodes(t *testing.T) {
	f := serving(t, tool(t, "echo", echo))
	p := f.pipe(t)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	p.next().fault(t, "1", "-32600", "is invalid during session initialization")
	p.send(initialize("2025-11-25", "{}"), initialized)
	p.answer()
	p.send(initialize("2025-11-25", "{}"))
	p.next().fault(t, "init", "-32600", "duplicate")
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":5}}`)
	p.next().fault(t, "2", "-32602", "the params of tools/call are not what the method takes: name must be of the type string")
	p.send(`{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"` + strings.Repeat("x", 5000) + `"}}`)
	p.next().fault(t, "3", "-32602", "unknown prompt")
}
