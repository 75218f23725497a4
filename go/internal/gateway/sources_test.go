package gateway_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Names do not depend on which source is there first, and stay when a gateway follows another one.
func TestNamesOfSourcesThatComeLate(t *testing.T) {
	one, other := server(t, "my.srv", "f"), server(t, "my srv", "f")
	source := other.source
	other.source = &catalog.Source{Name: "my srv", Kind: catalog.MCP}
	hidden := &late{fake: other}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{one, hidden}})
	require.NoError(t, err)
	defer g.Close()
	names := func() (list []string) {
		for _, s := range g.Sources() {
			list = append(list, s.Ident)
		}
		return list
	}
	before := names()
	require.NotEqual(t, before[0], before[1])
	require.Len(t, g.Catalog().Sources(), 1)
	require.Equal(t, before[0], g.Catalog().Sources()[0].Ident)
	other.mu.Lock()
	other.source = source
	other.mu.Unlock()
	hidden.known = true
	require.Equal(t, before, names())
	require.Equal(t, before[1], g.Catalog().Sources()[1].Ident)

	next, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{one}, Before: g.Catalog()})
	require.NoError(t, err)
	defer next.Close()
	require.Equal(t, before[0], next.Catalog().Sources()[0].Ident, "scripts that were saved go on")
}

// late is not known until it is.
type late struct {
	*fake
	known bool
}

func (l *late) Source() *catalog.Source {
	if !l.known {
		return nil
	}
	return l.fake.Source()
}

// A name that cannot stand in a URI does not keep clients from the resource.
func TestResourcesOfOddlyNamedServers(t *testing.T) {
	s := server(t, "my srv", "link")
	s.answer = func(context.Context, *gateway.Call) (*gateway.Result, error) {
		return toolResult(`{"content":[{"type":"resource_link","uri":"file:///d","name":"d"}]}`), nil
	}
	f := newFixture(t, gateway.Options{}, s)
	require.Equal(t, `"mcp://my_srv/file:///d"`, f.run(`return my_srv.link():await()[1].uri`))
}

// A source that failed and is tried again is not said to be on its way.
func TestStatusOfASourceThatIsTriedAgain(t *testing.T) {
	s := server(t, "s", "f")
	s.status = gateway.Status{State: gateway.Connecting, Reason: "no such file"}
	f := newFixture(t, gateway.Options{Face: config.BothFaces}, s)
	require.Contains(t, f.gives("list_apis", nil), `"status":"unhealthy: no such file"`)
	require.Contains(t, f.gives("list-servers", nil), `"status":"unhealthy: no such file"`)
	s.status.Reason = ""
	require.Contains(t, f.gives("list_apis", nil), `"status":"connecting"`)
}

// files is a service that takes files, and operations without and with parameters.
func files(t testing.TB) *fake {
	file := `{"anyOf":[{"type":"string","format":"binary"},{"type":"object","required":["data"],"additionalProperties":false,
		"properties":{"data":{"type":"string","format":"binary"},"filename":{"type":"string"}}}]}`
	f := &fake{kind: catalog.OpenAPI, source: &catalog.Source{Name: "files", Kind: catalog.OpenAPI, Functions: []catalog.Function{
		{Name: "upload", Body: tree(t, `{"type":"object","additionalProperties":false,"properties":{"name":{"type":"string"},"file":`+file+`}}`), BodyRequired: true},
		{Name: "ping"},
		{Name: "get", Params: tree(t, `{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}`)},
	}}}
	f.answer = func(_ context.Context, c *gateway.Call) (*gateway.Result, error) {
		text, err := json.Marshal(map[string]any{"params": c.Params, "body": c.Body})
		return &gateway.Result{Response: &gateway.Response{Status: 200, JSON: text}}, err
	}
	return f
}

// Files of forms may be any bytes, also in a table beside their name.
func TestBytesInForms(t *testing.T) {
	f := newFixture(t, gateway.Options{}, files(t))
	for script, want := range map[string]string{
		`return sdk.files.upload{ file = "\x00\xff" }.body.file`:                                           `{"$bytes":"AP8="}`,
		`return sdk.files.upload{ file = { filename = "a", data = buffer.fromstring("\xff") } }.body.file`: `{"data":{"$bytes":"/w=="},"filename":"a"}`,
		`return sdk.files.upload{ name = "n", file = "text" }.body`:                                        `{"file":"text","name":"n"}`,
	} {
		require.JSONEq(t, want, f.run(script), script)
	}
	require.Contains(t, f.fails(`return sdk.files.upload{ name = 5 }`).Message, "body.name must be a string")
	require.Contains(t, f.fails(`return sdk.files.upload()`).Message, "files.upload: missing required parameter: body")
}

// An empty table is no argument; what is missing is named.
func TestCallsOfOperationsWithoutArguments(t *testing.T) {
	f := newFixture(t, gateway.Options{}, files(t))
	for _, script := range []string{`sdk.files.ping()`, `sdk.files.ping({})`, `call_tool("files.ping", {})`, `call_tool("files.ping")`} {
		require.Equal(t, "1", f.run(script+" return 1"), script)
	}
	require.Contains(t, f.fails(`sdk.files.ping{ n = 1 }`).Message, "sdk.files.ping takes no parameters")
	require.Contains(t, f.fails(`sdk.files.get()`).Message, "files.get: missing required property: id")
}

func TestInspectedOperations(t *testing.T) {
	f := newFixture(t, gateway.Options{Face: config.ProxyFace}, files(t))
	asks := func(tool string, sample map[string]any) (string, *toolhost.Error) {
		return f.call("inspect-tool-response", map[string]any{"luaServerName": "files", "luaToolName": tool, "sampleArgs": sample})
	}
	text, failed := asks("upload", map[string]any{"name": "n"})
	require.Nil(t, failed)
	require.Contains(t, text, `\"body\":{\"name\":\"n\"}`, "of an operation without parameters they are the body")
	_, failed = asks("get", nil)
	require.Equal(t, toolhost.ToolError, failed.Code, "a model sees it, and not its client alone")
	require.Equal(t, "files.get: missing required property: id (in sampleArgs)", failed.Message)
}

func TestDocsOfASource(t *testing.T) {
	f := newFixture(t, gateway.Options{}, server(t, "my.srv", "f"))
	_, failed := f.call("get_function_docs", map[string]any{"name": "my.srv"})
	require.Equal(t, "my.srv is a source, not a function: name one of its functions, as in sdk.my_srv.f", failed.Message)
}

// A function that is asked for without its source is named with it.
func TestFunctionsOfSeveralSources(t *testing.T) {
	f := newFixture(t, gateway.Options{}, server(t, "one", "get"), server(t, "two", "get"))
	require.Contains(t, f.fails(`return sdk.get{}`).Message, "there is no sdk.get, did you mean sdk.one.get or sdk.two.get?")
}

// Who asks for a source that is configured and not there hears why.
func TestSourcesThatAreNotThere(t *testing.T) {
	s := server(t, "my.srv", "f")
	s.status = gateway.Status{State: gateway.Unhealthy, Reason: "it wants to know who we are"}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{&late{fake: s}, server(t, "other", "f")}})
	require.NoError(t, err)
	defer g.Close()
	for _, name := range []string{"my.srv", "my_srv"} {
		require.EqualError(t, g.Catalog().Unknown(name), "nothing is known of the source sdk.my_srv now: it wants to know who we are")
	}
	_, err = g.Catalog().Find("my_srv.f")
	require.ErrorContains(t, err, "it wants to know who we are")
	require.EqualError(t, g.Catalog().Unknown("zzzzz"), "there is no source sdk.zzzzz; the sources are other")
	s.status.Reason = ""
	require.ErrorContains(t, g.Catalog().Unknown("my_srv"), "not connected yet")
}
