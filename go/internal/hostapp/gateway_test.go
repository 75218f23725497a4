package hostapp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// counting is the MCP server that the commands of tests are: it counts, knows the name that it was given, and
// can end as a process does.
func counting(name string, end func()) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	var mu sync.Mutex
	count := 0
	s.AddTool(&mcp.Tool{Name: "count", Description: "Counts calls", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			mu.Lock()
			defer mu.Unlock()
			count++
			return &mcp.CallToolResult{StructuredContent: map[string]any{"count": count}}, nil
		})
	s.AddTool(&mcp.Tool{Name: "echo", Description: "Says it again", InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args struct{ Text string }
			err := json.Unmarshal(req.Params.Arguments, &args)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + ": " + args.Text}}}, err
		})
	fragile := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if fell.Add(1) == 1 {
			end()
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
	}
	s.AddTool(&mcp.Tool{Name: "look", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, fragile)
	s.AddTool(&mcp.Tool{Name: "change", InputSchema: json.RawMessage(`{"type":"object"}`)}, fragile)
	s.AddTool(&mcp.Tool{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: 1, Total: 2, Message: "half with s3cret-token"})
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, err
	})
	return s
}

// fell counts the calls of a tool whose server ends at the first.
var fell atomic.Int32

// startServers has commands be servers within the test. Each start is one of its own.
func startServers(t *testing.T) {
	before := StartServer
	StartServer = func(c upstream.Command) (*upstream.Process, error) {
		if c.Path == "missing" {
			return nil, os.ErrNotExist
		}
		theirIn, ourOut := io.Pipe()
		ourIn, theirOut := io.Pipe()
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = counting(c.Args[0], func() { _ = theirOut.Close() }).Run(ctx, &mcp.IOTransport{Reader: theirIn, Writer: theirOut})
			_ = theirOut.Close()
		}()
		return &upstream.Process{
			In: ourOut, Out: ourIn, Err: io.NopCloser(&emptyReader{}),
			Stop: func() {
				_ = ourOut.Close()
				stop()
				<-ended
			},
		}, nil
	}
	t.Cleanup(func() { StartServer = before })
}

type emptyReader struct{}

func (*emptyReader) Read([]byte) (int, error) { return 0, io.EOF }

// gatewayHost is the host of a configuration.
func gatewayHost(t *testing.T, text string, o HostOptions) *Host {
	t.Helper()
	startServers(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ConfigName), []byte(text), 0o600))
	p := open(t, Options{Dir: dir})
	h, err := p.NewHost(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if g := h.Gateway(); g != nil {
		g.Await(ctx)
	}
	return h
}

func scriptResult(t *testing.T, h *Host, script string, caller toolhost.Caller) string {
	t.Helper()
	answer, failed := h.Call(t.Context(), toolhost.Request{Tool: "execute_script", Value: map[string]any{"script": script}, Caller: caller, Inner: true})
	if failed != nil {
		require.Nil(t, failed, failed.Message)
	}
	var told struct {
		Result json.RawMessage `json:"result"`
	}
	require.NoError(t, json.Unmarshal(answer.JSON, &told))
	return string(told.Result)
}

const twoServers = `
[mcp_servers.one]
command = "server"
args = ["one"]

[mcp_servers.two]
command = "server"
args = ["two"]
stateless = true

[mcp_servers.gone]
command = "missing"

[mcp_servers.later]
command = "server"
args = ["later"]
env = { KEY = "${HUKILAU_TEST_IS_NOT_SET}" }
`

// One bad server stops none of the others, and is listed with what is wrong.
func TestBadSourcesStopNoOthers(t *testing.T) {
	startServers(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ConfigName), []byte(twoServers), 0o600))
	p := open(t, Options{Dir: dir, Unset: UnsetLater})
	h, err := p.NewHost(t.Context(), HostOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	g := h.Gateway()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g.Await(ctx)
	states := map[string]gateway.State{}
	for _, s := range g.Sources() {
		states[s.Name] = s.State
		if s.State == gateway.Unhealthy {
			require.NotEmpty(t, s.Reason)
		}
	}
	require.Equal(t, map[string]gateway.State{"one": "healthy", "two": "healthy", "gone": "unhealthy", "later": "unhealthy"}, states)
	require.Equal(t, `"two: hi"`, scriptResult(t, h, `return sdk.two.echo{ text = "hi" }`, toolhost.Caller{Name: "a"}))
}

// Sessions of clients have connections of their own, but where a server needs none.
func TestSessionsAreApart(t *testing.T) {
	h := gatewayHost(t, "[mcp_servers.one]\ncommand = \"server\"\nargs = [\"one\"]\n[mcp_servers.two]\ncommand = \"server\"\nargs = [\"two\"]\nstateless = true\n", HostOptions{})
	first, second := toolhost.Caller{Name: "a", Client: "1"}, toolhost.Caller{Name: "a", Client: "2"}
	for want := 1; want <= 2; want++ {
		for n, who := range []toolhost.Caller{first, second} {
			got := scriptResult(t, h, `return { sdk.one.count().count, sdk.two.count().count }`, who)
			require.Equal(t, "["+string(rune('0'+want))+","+string(rune('0'+2*(want-1)+n+1))+"]", got)
		}
	}
	scriptResult(t, h, `files.write("x.txt", "mine") return 1`, first)
	require.Equal(t, "[]", scriptResult(t, h, `return files.list()`, second))
	require.Equal(t, `"mine"`, scriptResult(t, h, `return files.read("x.txt")`, first))
	h.sessionEnded(second)
	require.Equal(t, "1", scriptResult(t, h, `return sdk.one.count().count`, second), "it begins anew")
}

func TestToolsCallSourcesThatTheyAreGranted(t *testing.T) {
	startServers(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ConfigName), []byte("[mcp_servers.one]\ncommand = \"server\"\nargs = [\"one\"]\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tools"), 0o700))
	for name, more := range map[string]string{"may": "permissions: { servers: [one] }\n", "may_not": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tools", name+".yaml"), []byte(yaml(name, more, `local seen for name in pairs(sdk) do seen = name end return sdk.one.echo{ text = "hi " .. tostring(seen) }`)), 0o600))
	}
	p := open(t, Options{Dir: dir})
	h, err := p.NewHost(t.Context(), HostOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	h.AwaitSources(t.Context())
	require.Equal(t, `"one: hi one"`, result(t, h, "may", "{}"))
	_, failed := call(t, h, "may_not", "{}")
	require.Equal(t, toolhost.Permission, failed.Code, failed.Message)
	require.Contains(t, failed.Message, `servers = ["one"]`)
}

// A gateway that serves no other tools serves what was saved.
func TestGatewaysServeSavedScripts(t *testing.T) {
	h := gatewayHost(t, "[gateway]\nsave_scripts = true\n[mcp_servers.one]\ncommand = \"server\"\nargs = [\"one\"]\n", HostOptions{Gateway: true})
	_, failed := h.Call(t.Context(), toolhost.Request{
		Tool: "save_script", Caller: toolhost.Caller{Name: "ann"},
		Value: map[string]any{"name": "greet", "description": "Greets", "code": `return sdk.one.echo{ text = "hi" }`},
	})
	require.Nil(t, failed)
	require.Equal(t, `"one: hi"`, result(t, h, "greet", `{}`))
}

func TestSavedScriptsAreTools(t *testing.T) {
	h := gatewayHost(t, "[gateway]\nsave_scripts = true\n[mcp_servers.one]\ncommand = \"server\"\nargs = [\"one\"]\n", HostOptions{})
	save := func(args map[string]any) *toolhost.Error {
		_, failed := h.Call(t.Context(), toolhost.Request{Tool: "save_script", Value: args, Caller: toolhost.Caller{Name: "ann"}})
		return failed
	}
	script := map[string]any{
		"name": "greet", "description": "Greets", "code": `result(sdk.one.echo{ text = args.who })`,
		"params": map[string]any{"type": "object", "properties": map[string]any{"who": map[string]any{"type": "string"}}, "required": []any{"who"}},
	}
	require.Nil(t, save(script))
	require.Equal(t, `"one: Ada"`, result(t, h, "greet", `{"who":"Ada"}`))
	_, failed := call(t, h, "greet", `{}`)
	require.Equal(t, toolhost.BadRequest, failed.Code)
	require.Equal(t, toolhost.BadRequest, save(script).Code, "the name is taken")
	script["name"], script["code"] = "someone", `return "one's own, none of sdk.oneself"`
	require.Nil(t, save(script))
	text, err := os.ReadFile(filepath.Join(h.Project.Folder, "scripts", "someone.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(text), "servers:\n    - one\n", "it names the source")
	script["name"], script["code"] = "nobody", `return "oneself, phone, one_more"`
	require.Nil(t, save(script))
	text, err = os.ReadFile(filepath.Join(h.Project.Folder, "scripts", "nobody.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(text), "servers: []\n", "it names none")
	for _, foreign := range []string{`result(one.echo{ text = "x" }:await())`, `return call_tool("one.echo", {})`} {
		script["name"], script["code"] = "foreign", foreign
		require.Contains(t, save(script).Message, "a saved script has no", "it would not work as a tool")
	}
	script["name"], script["code"] = "broken", "return ("
	require.Equal(t, "compile", save(script).Detail)
	script["name"], script["code"] = "execute_script", "return 1"
	require.Equal(t, toolhost.BadRequest, save(script).Code)

	// A model cannot fill the disk, or the context of others.
	script["name"], script["params"] = "large", map[string]any{"type": "object", "description": strings.Repeat("x", 40<<10)}
	require.Equal(t, toolhost.TooLarge, save(script).Code)
	delete(script, "params")
	script["description"] = strings.Repeat("x", 3000)
	require.Equal(t, toolhost.BadRequest, save(script).Code)
	script["description"] = "One too many"
	for i := range maxSaved {
		require.NoError(t, os.WriteFile(filepath.Join(h.Project.savedFolder(), fmt.Sprint(i, ".txt")), nil, 0o600))
	}
	require.Contains(t, save(script).Message, "ask the operator to remove some")
}

// What changes in the configuration holds at once; sources that stay the same go on.
func TestSourcesReload(t *testing.T) {
	h := gatewayHost(t, "[mcp_servers.one]\ncommand = \"server\"\nargs = [\"one\"]\n", HostOptions{})
	who := toolhost.Caller{Name: "a"}
	require.Equal(t, "1", scriptResult(t, h, `return sdk.one.count().count`, who))
	require.NoError(t, os.WriteFile(h.Project.file, []byte("[mcp_servers.one]\ncommand = \"server\"\nargs = [\"one\"]\n[mcp_servers.two]\ncommand = \"server\"\nargs = [\"two\"]\n[[gateway.policy]]\nmatch = \"one.echo\"\naction = \"deny\"\nreason = \"not now\"\n"), 0o600))
	require.NoError(t, h.Reload(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h.Gateway().Await(ctx)
	require.Equal(t, `[2,"two: x"]`, scriptResult(t, h, `return { sdk.one.count().count, sdk.two.echo{ text = "x" } }`, who))
	_, failed := h.Call(t.Context(), toolhost.Request{Tool: "execute_script", Value: map[string]any{"script": `return sdk.one.echo{ text = "x" }`}, Caller: who})
	require.Equal(t, toolhost.Permission, failed.Code)
	require.Contains(t, failed.Message, "not now")
	require.NoError(t, os.WriteFile(h.Project.file, []byte(""), 0o600))
	require.NoError(t, h.Reload(t.Context()))
	require.Nil(t, h.Gateway())
	_, there := h.Find("execute_script")
	require.False(t, there)
}

// Several files of other programs are read, and again at each change; what is wrong with one is known beside the others.
func TestFilesOfOtherPrograms(t *testing.T) {
	startServers(t)
	dir := t.TempDir()
	names := []string{filepath.Join(dir, "one.json"), filepath.Join(dir, "two.json")}
	require.NoError(t, os.WriteFile(names[0], []byte(`{"mcpServers":{"one":{"command":"server","args":["one"],"env":{"TOKEN":"${HUKILAU_TEST_IS_NOT_SET}"},"odd":1}}}`), 0o600))
	require.NoError(t, os.WriteFile(names[1], []byte(`{"mcpServers":{"two":{"command":"server","args":["two"],"env":{"API_TOKEN":"hunter2-hunter2"}}}}`), 0o600))
	h, err := open(t, Options{Dir: dir}).NewHost(t.Context(), HostOptions{Sources: SourceFlags{Files: names}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	for range 3 {
		h.AwaitSources(t.Context())
		reasons := map[string]string{}
		for _, s := range h.Gateway().Sources() {
			reasons[s.Name] = s.Reason
		}
		require.Contains(t, reasons["one"], "HUKILAU_TEST_IS_NOT_SET")
		require.Empty(t, reasons["two"])
		require.Len(t, h.GatewayFindings(h.Gateway()), 1)
		require.Len(t, h.Project.moreSecrets, 2, "the token, and what stands for the variable")
		require.NoError(t, h.Reload(t.Context()))
	}
}

// What a call was begun with stays hidden while it runs, also where the files of other programs are read anew.
func TestSecretsOfBeforeStayHidden(t *testing.T) {
	startServers(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "one.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers":{"one":{"command":"server","args":["one"],"env":{"API_TOKEN":"hunter2-hunter2"}}}}`), 0o600))
	config := func(token string) string {
		return "[mcp_servers.web]\nurl = \"http://127.0.0.1:9/mcp\"\nauth = { type = \"bearer\", token = \"" + token + "\" }\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, ConfigName), []byte(config("the-first-token")), 0o600))
	h, err := open(t, Options{Dir: dir}).NewHost(t.Context(), HostOptions{Sources: SourceFlags{Files: []string{file}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, ConfigName), []byte(config("the-second-token")), 0o600))
	require.NoError(t, h.Reload(t.Context()))
	for _, secret := range []string{"the-first-token", "the-second-token", "hunter2-hunter2"} {
		require.NotContains(t, h.Project.redact("a "+secret), secret)
	}
}

// Clients save scripts at the same time as files change.
func TestScriptsAreSavedTogether(t *testing.T) {
	h := gatewayHost(t, "[gateway]\nsave_scripts = true\n[mcp_servers.one]\ncommand = \"server\"\nargs = [\"one\"]\n", HostOptions{})
	var saving sync.WaitGroup
	for i := range 8 {
		saving.Go(func() {
			_, failed := h.Call(t.Context(), toolhost.Request{Tool: "save_script", Caller: toolhost.Caller{Name: "ann\a"}, Value: map[string]any{
				"name": fmt.Sprint("saved", i), "description": "One of many", "code": "return 1",
			}})
			if failed != nil {
				t.Error(failed.Message)
			}
		})
	}
	require.NoError(t, h.Reload(t.Context()))
	saving.Wait()
	for i := range 8 {
		require.Equal(t, "1", result(t, h, fmt.Sprint("saved", i), "{}"))
	}
}

// The file of a proxy for Lua scripts is served where it says, with the tools that its clients know.
func TestServersOfAProxy(t *testing.T) {
	startServers(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "config.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"host":"127.0.0.1","port":0,"transport":"http","mcpClients":{"one":{"type":"stdio","command":"server","args":["one"]}},"allowedTools":["echo"]}`), 0o600))
	h, err := open(t, Options{Dir: dir}).NewHost(t.Context(), HostOptions{Sources: SourceFlags{Files: []string{file}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	ctx, stop := context.WithCancel(t.Context())
	at, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- h.Serve(ctx, Serving{NoReload: true, Ready: func(addr net.Addr) { at <- addr }}) }()
	addr := (<-at).String()
	require.NotEqual(t, defaultBind, addr)
	r, err := http.Post("http://"+addr+"/tools/execute", "application/json", strings.NewReader(`{"script":"result(one.echo({ text = 'x' }):await())"}`))
	require.NoError(t, err)
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.JSONEq(t, `{"result":"one: x"}`, string(text))
	http.DefaultClient.CloseIdleConnections()
	stop()
	<-ended
}

// A call that may have run is made again only where the tool says that it does no harm.
func TestCallsThatMayHaveRun(t *testing.T) {
	h := gatewayHost(t, "[mcp_servers.one]\ncommand = \"server\"\nargs = [\"one\"]\n", HostOptions{})
	who := toolhost.Caller{Name: "a"}
	fell.Store(0)
	require.Equal(t, `"done"`, scriptResult(t, h, `return sdk.one.look()`, who))
	require.EqualValues(t, 2, fell.Load())
	fell.Store(0)
	require.Equal(t, `[false,false]`, scriptResult(t, h, `local ok, err = pcall(sdk.one.change) return { ok, err.retryable }`, who))
	require.EqualValues(t, 1, fell.Load())
}

// listener is a client that hears of progress.
type listener struct{ told chan string }

func (l listener) Emit(context.Context, []byte) error { return nil }

func (l listener) Log(context.Context, slog.Level, string, map[string]any) error { return nil }

func (l listener) Progress(_ context.Context, done, total float64, text string) error {
	l.told <- fmt.Sprint(done, " ", total, " ", text)
	return nil
}

// What a server tells of its progress reaches the client, without secrets.
func TestProgressOfServers(t *testing.T) {
	h := gatewayHost(t, "[mcp_servers.one]\ncommand = \"server\"\nargs = [\"one\"]\nenv = { TOKEN = \"s3cret-token\" }\n", HostOptions{})
	l := listener{make(chan string, 10)}
	_, failed := h.Call(t.Context(), toolhost.Request{Tool: "execute_script", Value: map[string]any{"script": `return sdk.one.work()`}, Caller: toolhost.Caller{Name: "a"}, Sink: l})
	require.Nil(t, failed)
	require.Equal(t, "1 2 half with [redacted]", <-l.told)
}

// Where a client waits for its first answers, servers are started after those.
func TestServersOfAClientStartLater(t *testing.T) {
	startServers(t)
	start := StartServer
	started := make(chan time.Time, 1)
	StartServer = func(c upstream.Command) (*upstream.Process, error) {
		started <- time.Now()
		return start(c)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, ConfigName), []byte("[mcp_servers.one]\ncommand = \"server\"\nargs = [\"one\"]\n"), 0o600))
	p := open(t, Options{Dir: dir})
	h, err := p.NewHost(t.Context(), HostOptions{Gateway: true, Client: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	require.False(t, h.gateways.from.IsZero())
	require.False(t, (<-started).Before(h.gateways.from))
	require.Equal(t, `"one: hi"`, scriptResult(t, h, `return sdk.one.echo{ text = "hi" }`, toolhost.Caller{Name: "a"}), "a script waits for it")
}
