package gateway_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// content is what an MCP client gets of a script of the other face.
func (f *fixture) content(script string) string {
	f.t.Helper()
	answer, failed := f.host.Call(f.t.Context(), toolhost.Request{Tool: "execute", Value: map[string]any{"script": script}, Caller: bob})
	if failed != nil {
		require.Nil(f.t, failed, failed.Message)
	}
	return string(answer.MCP)
}

// calculator answers with structured content, with JSON as text, with plain text, with resources and with an error.
func calculator(t testing.TB) *fake {
	f := server(t, "calc-server", "add", "json", "text", "link", "fail", "nothing", "mixed")
	f.answer = func(_ context.Context, c *gateway.Call) (*gateway.Result, error) {
		switch c.Function.Name {
		case "json":
			return toolResult(`{"content":[{"type":"text","text":" {\"sum\":3,\"none\":null,\"list\":[]}"}]}`), nil
		case "text":
			return toolResult(`{"content":[{"type":"text","text":"12"}]}`), nil
		case "link":
			return toolResult(`{"content":[{"type":"resource_link","uri":"file:///data.json","name":"d"},{"type":"resource","resource":{"uri":"a://b","text":"file:///x"}},{"type":"text","text":"file:///data.json"}]}`), nil
		case "fail":
			return nil, &gateway.Failure{Code: "tool", Message: "it broke"}
		case "nothing":
			return toolResult(`{"content":[]}`), nil
		case "mixed":
			return toolResult(`{"content":[{"type":"image","data":"AAEC","mimeType":"image/png"},{"type":"new","x":1}],"_meta":{"k":1}}`), nil
		}
		return toolResult(`{"content":[],"structuredContent":%s}`, c.Params), nil
	}
	return f
}

// What a script says by result becomes a result of the protocol.
func TestResultsOfTheProxyFace(t *testing.T) {
	f := newFixture(t, gateway.Options{Face: config.ProxyFace}, calculator(t))
	for script, want := range map[string]string{
		`result({ sum = 10, product = 20 })`: `{"content":[{"type":"text","text":"{\"product\":20,\"sum\":10}"}],"structuredContent":{"product":20,"sum":10}}`,
		`result({ 1, 2 })`:                   `{"content":[{"type":"text","text":"[1,2]"}]}`,
		`result(42)`:                         `{"content":[{"type":"text","text":"42"}]}`,
		`result("hello")`:                    `{"content":[{"type":"text","text":"hello"}]}`,
		`result(true)`:                       `{"content":[{"type":"text","text":"true"}]}`,
		`result(nil)`:                        `{"content":[{"type":"text","text":"null"}]}`,
		`result({})`:                         `{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}`,
		`result(1) return 5`:                 `{"content":[{"type":"text","text":"1"}]}`,
		`result({ content = { { type = "text", text = "as it is" } } })`:                             `{"content":[{"type":"text","text":"as it is"}]}`,
		`result({ content = { { type = "image", data = "AA==", mimeType = "image/png" } }, x = 1 })`: `{"content":[{"data":"AA==","mimeType":"image/png","type":"image"}],"x":1}`,
		`result({ content = "a book" })`:                                                             `{"content":[{"type":"text","text":"{\"content\":\"a book\"}"}],"structuredContent":{"content":"a book"}}`,
		`result({ content = { "a", "b" } })`:                                                         `{"content":[{"type":"text","text":"{\"content\":[\"a\",\"b\"]}"}],"structuredContent":{"content":["a","b"]}}`,
		`result(calc_server.add({ a = 10 }):await())`:                                                `{"content":[{"type":"text","text":"{\"a\":10}"}],"structuredContent":{"a":10}}`,
		`result(calc_server.json({}):await().sum)`:                                                   `{"content":[{"type":"text","text":"3"}]}`,
		`result(calc_server.json():await())`:                                                         `{"content":[{"type":"text","text":"{\"list\":[],\"none\":null,\"sum\":3}"}],"structuredContent":{"list":[],"none":null,"sum":3}}`,
		`result(calc_server.text():await())`:                                                         `{"content":[{"type":"text","text":"12"}]}`,
		`result(calc_server.nothing():await() == nil)`:                                               `{"content":[{"type":"text","text":"true"}]}`,
		`result(calc_server.link():await()[1].uri)`:                                                  `{"content":[{"type":"text","text":"mcp://calc-server/file:///data.json"}]}`,
		`result(calc_server.link():await()[2].resource)`:                                             `{"content":[{"type":"text","text":"{\"text\":\"file:///x\",\"uri\":\"mcp://calc-server/a://b\"}"}],"structuredContent":{"text":"file:///x","uri":"mcp://calc-server/a://b"}}`,
		`result(sdk["calc-server"].link()[1].uri)`:                                                   `{"content":[{"type":"text","text":"file:///data.json"}]}`,
		`local ok, e = pcall(function() return calc_server.fail({}):await() end) result({ status = "error", message = tostring(e), ok = ok })`: `{"content":[{"type":"text","text":"{\"message\":\"it broke\",\"ok\":false,\"status\":\"error\"}"}],"structuredContent":{"message":"it broke","ok":false,"status":"error"}}`,
		`result(call_tool("calc-server.mixed"))`: `{"_meta":{"k":1},"content":[{"data":"AAEC","mimeType":"image/png","type":"image"},{"type":"new","x":1}]}`,
	} {
		require.JSONEq(t, want, f.content(script), script)
	}
	for script, want := range map[string]string{
		`local x = 1`:                 "the script did not call result()",
		`return 5`:                    "the script did not call result()",
		`calc_server.add({}):await()`: "the script did not call result()",
		`result(1) result(2)`:         "result() was called already",
		`result(1, 2)`:                "result takes one value, got 2",
		`local result = calc_server.add({}):await() result(result)`: "hides the function result()",
		`result(calc_server.add.x)`:                                 "script:1",
		`result(calc_server.ad({}):await())`:                        "did you mean add?",
		`result(calc_server.add({}).await())`:                       "await is called with a colon",
		`result(calc_server.fail():await())`:                        "it broke",
		`result(os.getenv("HOME"))`:                                 "script:1",
		`result(io.open("x"))`:                                      "script:1",
	} {
		_, failed := f.call("execute", map[string]any{"script": script})
		require.NotNil(t, failed, script)
		require.Contains(t, failed.Message, want, script)
	}
}

// Calls begin at once: those that nobody awaited yet run beside each other.
func TestPromisesRunInParallel(t *testing.T) {
	const calls = 5
	var begun atomic.Int32
	all := make(chan struct{})
	s := server(t, "s", "meet")
	s.answer = func(ctx context.Context, c *gateway.Call) (*gateway.Result, error) {
		if begun.Add(1) == calls {
			close(all)
		}
		select {
		case <-all:
			return toolResult(`{"content":[],"structuredContent":%s}`, c.Params), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f := newFixture(t, gateway.Options{}, s)
	require.Equal(t, "15", f.run(`
		local all = {}
		for i = 1, 5 do all[i] = s.meet{ n = i } end
		local sum = 0
		for _, promise in all do sum += promise:await().n end
		result(sum)`))
}

// Calls that nobody awaits are waited for at the end, and those that fail are told.
func TestPromisesThatNobodyAwaits(t *testing.T) {
	s := calculator(t)
	f := newFixture(t, gateway.Options{Face: config.BothFaces}, s)
	all := f.by(bob, `calc_server.add{ n = 1 } calc_server.fail{} calc_server.add{ n = 2 } result("done")`)
	require.Equal(t, `"done"`, string(all.Result))
	require.ElementsMatch(t, []string{`add {"n":1}`, `fail {}`, `add {"n":2}`}, s.seen())
	require.Len(t, all.Logs, 1)
	require.Contains(t, all.Logs[0], "fail failed, and nobody awaited it: it broke")

	require.Equal(t, `[1,1,true]`, f.run(`
		local promise = calc_server.add{ n = 1 }
		return { promise:await().n, promise:await().n, rawequal(promise:await(), promise:await()) }`), "a promise keeps what it gave")
	require.Equal(t, `[1,1]`, f.run(`
		local promise = calc_server.add{ n = 1 }
		return async.map({ 1, 2 }, function() return promise:await().n end)`), "several may await it")
}

func TestListsOfTheProxyFace(t *testing.T) {
	s := calculator(t)
	s.source.Functions = s.source.Functions[:2]
	s.source.Functions[0].Result = tree(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`)
	f := newFixture(t, gateway.Options{Face: config.ProxyFace}, s, server(t, "string", "rep"))
	require.Equal(t, `{"servers":[{"name":"calc-server","luaServerName":"calc_server","description":"The server calc-server","tools":2,"status":"healthy"},`+
		`{"name":"string","luaServerName":"string","description":"The server string","tools":1,"status":"healthy"}]}`, f.gives("list-servers", nil))
	require.Equal(t, `{"tools":[{"luaToolName":"add","name":"add","description":"The tool add"},{"luaToolName":"json","name":"json","description":"The tool json"}]}`,
		f.gives("list-server-tools", map[string]any{"luaServerName": "calc_server"}))
	_, failed := f.call("list-server-tools", map[string]any{"luaServerName": "calc"})
	require.Equal(t, "not_found", failed.Detail)

	var details map[string]any
	require.NoError(t, json.Unmarshal([]byte(f.gives("tool-details", map[string]any{"luaServerName": "calc_server", "luaToolName": "add"})), &details))
	require.Equal(t, "add", details["name"])
	require.Equal(t, "calc_server.add({ ... }):await()", details["usage"])
	require.Equal(t, map[string]any(tree(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`)), details["outputSchema"])
	require.Contains(t, details["inputSchema"], "properties")

	// A server that is called as a library of Luau is reached by sdk alone.
	require.NoError(t, json.Unmarshal([]byte(f.gives("tool-details", map[string]any{"luaServerName": "string", "luaToolName": "rep"})), &details))
	require.Equal(t, "sdk.string.rep({ ... })", details["usage"])
	require.JSONEq(t, `{"content":[{"type":"text","text":"xx1"}]}`, f.content(`result(string.rep("x", 2) .. sdk["string"].rep{ n = 1 }.n)`))

	// A sample tells the type of what a tool gives, and the documents know it then.
	require.NotContains(t, f.gives("tool-details", map[string]any{"luaServerName": "calc_server", "luaToolName": "json"}), "sum: number")
	inspected := f.gives("inspect-tool-response", map[string]any{"luaServerName": "calc_server", "luaToolName": "json"})
	require.Contains(t, inspected, `sum: number`)
	require.Contains(t, f.gives("tool-details", map[string]any{"luaServerName": "calc_server", "luaToolName": "json"}), "sum: number")
	quiet := newFixture(t, gateway.Options{Face: config.ProxyFace, NoSamples: true}, calculator(t))
	_, failed = quiet.call("inspect-tool-response", map[string]any{"luaServerName": "calc_server", "luaToolName": "json"})
	require.Equal(t, toolhost.Permission, failed.Code)
}
