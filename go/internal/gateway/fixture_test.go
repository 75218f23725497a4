package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/libs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is an upstream that answers with what a test says.
type fake struct {
	kind   catalog.Kind
	mu     sync.Mutex
	source *catalog.Source
	status gateway.Status
	answer func(ctx context.Context, c *gateway.Call) (*gateway.Result, error)
	calls  []string // "tool params"
	gone   []string // clients
}

func (f *fake) Name() string       { return f.source.Name }
func (f *fake) Kind() catalog.Kind { return f.kind }
func (f *fake) Close()             {}

func (f *fake) Source() *catalog.Source {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.source
}

func (f *fake) Status() gateway.Status {
	if f.status.State == "" {
		return gateway.Status{State: gateway.Healthy}
	}
	return f.status
}

func (f *fake) Ready(context.Context) error { return nil }

func (f *fake) Forget(client string) { f.gone = append(f.gone, client) }

func (f *fake) Call(ctx context.Context, c *gateway.Call) (*gateway.Result, error) {
	f.mu.Lock()
	f.calls = append(f.calls, c.Function.Name+" "+string(c.Params))
	f.mu.Unlock()
	return f.answer(ctx, c)
}

func (f *fake) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.calls...)
}

func tree(t testing.TB, text string) map[string]any {
	t.Helper()
	value, err := jsonvalue.Decode([]byte(text), jsonvalue.Options{})
	require.NoError(t, err)
	return value.(map[string]any)
}

// server is an MCP server whose tools answer with their arguments as structured content.
func server(t testing.TB, name string, tools ...string) *fake {
	s := &catalog.Source{Name: name, Kind: catalog.MCP, Description: "The server " + name}
	for _, tool := range tools {
		s.Functions = append(s.Functions, catalog.Function{
			Name: tool, Description: "The tool " + tool,
			Params: tree(t, `{"type":"object","properties":{"n":{"type":"integer"},"list":{"type":"array","items":{"type":"number"}}}}`),
		})
	}
	return &fake{kind: catalog.MCP, source: s, answer: func(_ context.Context, c *gateway.Call) (*gateway.Result, error) {
		return toolResult(`{"content":[],"structuredContent":%s}`, c.Params), nil
	}}
}

func toolResult(format string, args ...any) *gateway.Result {
	return &gateway.Result{Tool: json.RawMessage(fmt.Sprintf(format, args...))}
}

// tools are those of a gateway, for a host.
type tools struct{ gateway *gateway.Gateway }

func (t tools) Tools() []*tooldef.Tool { return t.gateway.Tools() }

func (t tools) Find(name string) (*tooldef.Tool, bool) {
	return t.gateway.Find(name)
}

// fixture is a gateway with its host.
type fixture struct {
	t       testing.TB
	gateway *gateway.Gateway
	host    *toolhost.Host
	store   *store.Store
}

func newFixture(t testing.TB, o gateway.Options, upstreams ...*fake) *fixture {
	t.Helper()
	for _, u := range upstreams {
		o.Upstreams = append(o.Upstreams, u)
	}
	resolver, err := module.New(module.Options{Embedded: libs.FS, Hosted: true})
	require.NoError(t, err)
	o.Resolver = resolver
	g, err := gateway.New(o)
	require.NoError(t, err)
	s, err := store.Open(context.Background(), store.Options{Path: store.Memory})
	require.NoError(t, err)
	h := toolhost.New(toolhost.Options{Store: s})
	h.Serve(tools{g})
	t.Cleanup(func() {
		h.Close()
		g.Close()
		require.NoError(t, s.Close())
	})
	return &fixture{t, g, h, s}
}

var bob = toolhost.Caller{Name: "bob", Face: "mcp", Client: "1"}

func (f *fixture) call(tool string, args map[string]any) (string, *toolhost.Error) {
	f.t.Helper()
	answer, failed := f.host.Call(f.t.Context(), toolhost.Request{Tool: tool, Value: args, Caller: bob})
	if failed != nil {
		return "", failed
	}
	return string(answer.JSON), nil
}

// gives is the JSON of a tool that works.
func (f *fixture) gives(tool string, args map[string]any) string {
	f.t.Helper()
	text, failed := f.call(tool, args)
	if failed != nil {
		require.Nil(f.t, failed, failed.Message)
	}
	return text
}

// told is what execute_script gives.
type told struct {
	Result json.RawMessage `json:"result"`
	Logs   []string        `json:"logs"`
	Files  []string        `json:"files_touched"`
}

// by is all that a script of a client gives.
func (f *fixture) by(c toolhost.Caller, script string) told {
	f.t.Helper()
	answer, failed := f.host.Call(f.t.Context(), toolhost.Request{Tool: "execute_script", Value: map[string]any{"script": script}, Caller: c})
	if failed != nil {
		require.Nil(f.t, failed, failed.Message)
	}
	var all told
	require.NoError(f.t, json.Unmarshal(answer.JSON, &all))
	return all
}

// run gives the result of a script.
func (f *fixture) run(script string) string {
	f.t.Helper()
	return string(f.by(bob, script).Result)
}

// fails gives the error of a script.
func (f *fixture) fails(script string) *toolhost.Error {
	f.t.Helper()
	text, failed := f.call("execute_script", map[string]any{"script": script})
	require.NotNil(f.t, failed, text)
	return failed
}
