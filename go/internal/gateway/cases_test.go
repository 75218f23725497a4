package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

const oneTool = `[{"name":"one","description":"The first","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]`

// served is a gateway behind the server that our clients speak to.
func served(t testing.TB, f *fixture) *mcpserver.Server {
	s := mcpserver.New(mcpserver.Options{Host: f.host, Offers: gateway.NewOffers(func() *gateway.Gateway { return f.gateway }, false, false)})
	t.Cleanup(s.Close)
	return s
}

// connected is a client of the official SDK.
func connected(t testing.TB, s *mcpserver.Server, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		_ = s.Stdio(ctx, inRead, outWrite) // it ends with its input
		_ = outWrite.Close()
	})
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(ctx, &mcp.IOTransport{Reader: outRead, Writer: inWrite}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = client.Close()
		_ = inWrite.Close()
		stop()
		serving.Wait()
	})
	return client
}

// D10: what a server adds, changes and takes away is there for scripts, documents, the type of arguments and our clients.
func TestD10ServersChange(t *testing.T) {
	s := newSite(t, oneTool)
	changed := make(chan struct{}, 100)
	m := s.source(t, "site", upstream.Config{}, upstream.Options{OnChange: func() { changed <- struct{}{} }})
	f := newFixture(t, gateway.Options{Upstreams: []gateway.Upstream{m}})
	server := served(t, f)
	told := make(chan struct{}, 10)
	client := connected(t, server, &mcp.ClientOptions{PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) { told <- struct{}{} }})
	await := func(of <-chan struct{}) {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		select {
		case <-of:
		case <-ctx.Done():
			t.Fatal("nothing is told")
		}
	}
	require.Equal(t, `"one"`, f.run(`return sdk.site.one{ n = 1 }.tool`))
	require.Contains(t, f.fails(`return sdk.site.two{}`).Message, "there is no function sdk.site.two")
	for len(changed) > 0 {
		<-changed
	}

	s.change("tools", `[{"name":"one","description":"The first","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}},
		{"name":"two","description":"The second","inputSchema":{"type":"object"}}]`)
	await(changed)
	require.Equal(t, `"two"`, f.run(`return sdk.site.two{}.tool`))
	require.Equal(t, `"two"`, f.run(`return site.two():await().tool`))
	require.Contains(t, f.fails(`return sdk.site.one{ n = 1 }`).Message, "missing required parameter: name")
	require.Equal(t, `"one"`, f.run(`return sdk.site.one{ name = "x" }.tool`))
	require.Contains(t, f.gives("get_function_docs", map[string]any{"name": "site.one"}), "name: string")
	require.Contains(t, f.gives("search_docs", map[string]any{"query": "second"}), "site.two")
	require.Equal(t, `{"functions":[{"name":"site.one","description":"The first"},{"name":"site.two","description":"The second"}]}`, f.gives("list_functions", nil))

	s.change("prompts", `[{"name":"greet","arguments":[{"name":"who"}]}]`)
	await(changed)
	server.Changed() // as the program does that hears of it
	await(told)
	prompts, err := client.ListPrompts(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, prompts.Prompts, 1)
	require.Equal(t, "site.greet", prompts.Prompts[0].Name)

	s.change("tools", `[{"name":"two","description":"The second","inputSchema":{"type":"object"}}]`)
	await(changed)
	require.Contains(t, f.fails(`return sdk.site.one{ name = "x" }`).Message, "there is no function sdk.site.one")
	require.Equal(t, `"two"`, f.run(`return sdk.site.two{}.tool`))
}

// D11: however names are written, each tool is reached, by names that stay, and the server gets its own name for it.
func TestD11Names(t *testing.T) {
	long := strings.Repeat("x", 128)
	names := []string{"get-user", "get_user", "Get.User", long}
	tools := make([]string, len(names))
	for i, name := range names {
		tools[i] = fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
	}
	list := "[" + strings.Join(tools, ",") + "]"
	a, b := newSite(t, list), newSite(t, list)
	f := newFixture(t, gateway.Options{Upstreams: []gateway.Upstream{
		a.source(t, "my.srv", upstream.Config{}, upstream.Options{}), b.source(t, "my srv", upstream.Config{}, upstream.Options{}),
	}})
	for server, site := range map[string]*site{"my.srv": a, "my srv": b} {
		for _, name := range names {
			before := len(site.seen())
			require.Equal(t, fmt.Sprintf("%q", name), f.run(fmt.Sprintf(`return sdk[%q][%q]{}.tool`, server, name)))
			require.Equal(t, name+" {}", site.seen()[before])
		}
	}
	var page struct{ Functions []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(f.gives("list_functions", nil)), &page))
	require.Len(t, page.Functions, 8)
	reached := map[string]bool{}
	for _, entry := range page.Functions {
		server, tool, _ := strings.Cut(entry.Name, ".")
		for _, part := range []string{server, tool} {
			require.Regexp(t, regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`), part)
		}
		for _, script := range []string{`return sdk.%s.%s{}`, `result(%s.%s():await())`, `return call_tool("%s.%s").structuredContent`} {
			reached[entry.Name+f.run(fmt.Sprintf(strings.ReplaceAll(script, "{}", "{}.tool"), server, tool))[:1]] = true
		}
	}
	require.Len(t, a.seen(), 4+4*3)
	require.Len(t, b.seen(), 4+4*3)
	counts := map[string]int{}
	for _, call := range append(a.seen(), b.seen()...) {
		counts[strings.TrimSuffix(call, " {}")]++
	}
	for _, name := range names {
		require.Equal(t, 2+2*3, counts[name], name)
	}
	first := f.gives("list_functions", nil)
	a.change("tools", "["+tools[3]+","+tools[2]+","+tools[1]+","+tools[0]+`,{"name":"get user","inputSchema":{"type":"object"}}]`)
	eventually(t, func() bool { return strings.Count(f.gives("list_functions", nil), `"name"`) == 9 })
	for _, entry := range page.Functions {
		require.Contains(t, f.gives("list_functions", nil), `"`+entry.Name+`"`, "names stay: "+first)
	}
}

const everything = `{"content":[{"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.5}},` +
	`{"type":"image","data":"AAECAwT/","mimeType":"image/png"},{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"},` +
	`{"type":"resource","resource":{"uri":"file:///b","mimeType":"application/x","blob":"AP8=","_meta":{"a":1}}},` +
	`{"type":"resource_link","uri":"file:///c","name":"c","size":12345678901234567890,"icons":[{"src":"x"}]},` +
	`{"type":"hologram","depth":[1,{"x":null}],"exact":0.1}],` +
	`"structuredContent":{"n":9007199254740993,"none":null,"list":[],"object":{}},"_meta":{"trace":"t"}}`

// talk sends lines to a server of MCP, and gives the answer to the last.
func talk(t testing.TB, s *mcpserver.Server, lines ...string) json.RawMessage {
	t.Helper()
	read, write := io.Pipe()
	done := make(chan error, 1)
	in := strings.Join(lines, "\n") + "\n"
	inRead, inWrite := io.Pipe()
	go func() {
		err := s.Stdio(context.Background(), inRead, write)
		_ = write.CloseWithError(io.EOF)
		done <- err
	}()
	go func() { _, _ = io.WriteString(inWrite, in) }()
	var result json.RawMessage
	scanner := bufio.NewScanner(read)
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		var m struct {
			ID     json.RawMessage
			Result json.RawMessage
			Error  json.RawMessage
		}
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &m))
		if string(m.ID) == fmt.Sprint(len(lines)) {
			require.Nil(t, m.Error, string(m.Error))
			result = m.Result
			_ = inWrite.Close()
		}
	}
	<-done
	return result
}

func scripted(tool, script string) []string {
	text, _ := json.Marshal(script)
	return []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":%q,"arguments":{"script":%s}}}`, tool, text),
	}
}

// D13: A script sees each field and each byte of a result, and passing it on loses nothing.
func TestD13NothingIsLost(t *testing.T) {
	s := newSite(t, `[{"name":"all","inputSchema":{"type":"object"}},{"name":"list","inputSchema":{"type":"object"}}]`)
	items := strings.Replace(everything, `"structuredContent":{"n":9007199254740993,"none":null,"list":[],"object":{}},`, "", 1)
	s.answer = func(_, tool string, _ json.RawMessage) string {
		if tool == "list" {
			return items
		}
		return everything
	}
	f := newFixture(t, gateway.Options{Face: config.BothFaces, Upstreams: []gateway.Upstream{s.source(t, "site", upstream.Config{}, upstream.Options{})}})
	same := func(want, got string) {
		t.Helper()
		require.Equal(t, string(canonical(t, want)), string(canonical(t, got)))
	}
	same(everything, f.run(`return call_tool("site.all")`))
	same(`{"n":9007199254740993,"none":null,"list":[],"object":{}}`, f.run(`return sdk.site.all()`))
	var parts struct{ Content json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(items), &parts))
	same(string(parts.Content), f.run(`return sdk.site.list()`))
	require.Equal(t, `["a",0.5,6,"hologram",2]`, f.run(`local r = sdk.site.list()
		return { r[1].text, r[1].annotations.priority, #require("encoding").base64.decode(r[2].data), r[6].type, #r[6].depth }`))

	server := served(t, f)
	same(everything, string(talk(t, server, scripted("execute", `result(call_tool("site.all"))`)...)))
	renamed := strings.NewReplacer("file:///b", "mcp://site/file:///b", "file:///c", "mcp://site/file:///c").Replace(string(parts.Content))
	var told struct{ Content []struct{ Text string } }
	require.NoError(t, json.Unmarshal(talk(t, server, scripted("execute", `result(site.list():await())`)...), &told))
	same(renamed, told.Content[0].Text)
	require.NoError(t, json.Unmarshal(talk(t, server, scripted("execute_script", `return call_tool("site.all")`)...), &told))
	same(`{"result":`+everything+`,"logs":[],"files_touched":[]}`, told.Content[0].Text)
}

// canonical is JSON with its keys in order and each digit of its numbers.
func canonical(t testing.TB, text string) []byte {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	require.NoError(t, decoder.Decode(&v), text)
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return out
}

// Clients have sessions of their own with a server, unless it says that it has none; and they end with them.
func TestConnectionsOfClients(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		s := newSite(t, oneTool)
		m := s.source(t, "site", upstream.Config{Stateless: stateless}, upstream.Options{})
		f := newFixture(t, gateway.Options{Upstreams: []gateway.Upstream{m}})
		ada, eve := toolhost.Caller{Name: "ada", Client: "1"}, toolhost.Caller{Name: "ada", Client: "2"}
		const script = `local r = sdk.site.one{} return { r.session, r.calls }`
		got := []string{}
		for _, c := range []toolhost.Caller{ada, eve, ada, eve} {
			got = append(got, string(f.by(c, script).Result))
		}
		if stateless {
			require.Equal(t, []string{`["session-1",1]`, `["session-1",2]`, `["session-1",3]`, `["session-1",4]`}, got)
			continue
		}
		require.Equal(t, []string{`["session-1",1]`, `["session-2",1]`, `["session-1",2]`, `["session-2",2]`}, got)
		require.Equal(t, `["session-3",1]`, string(f.by(toolhost.Caller{Name: "bob", Client: "1"}, script).Result))
	}
}
