package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/libs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// set is a set of tools, sorted by name.
type set []*tooldef.Tool

func (s set) Tools() []*tooldef.Tool { return s }

func (s set) Find(name string) (*tooldef.Tool, bool) {
	i := slices.IndexFunc(s, func(t *tooldef.Tool) bool { return t.Name == name })
	if i < 0 {
		return nil, false
	}
	return s[i], true
}

func compiled(t testing.TB, text string) *schema.Schema {
	t.Helper()
	var doc any
	require.NoError(t, json.Unmarshal([]byte(text), &doc))
	s, err := schema.Compile(doc, "test")
	require.NoError(t, err)
	return s
}

// tool is one with the body of its function, in which args and ctx are there.
func tool(t testing.TB, name, body string) *tooldef.Tool {
	t.Helper()
	return &tooldef.Tool{
		Name: name, Description: "The tool " + name + ".", Chunk: "@tools/" + name + ".yaml", Hash: name + body,
		Source: "function invoke(ctx, args)\n" + body + "\nend", Params: compiled(t, `{"type":"object","properties":{}}`),
	}
}

const (
	token    = "the-token-of-callers"
	operator = "the-token-of-the-operator"
)

// fixture is a server with its host and store.
type fixture struct {
	*httptest.Server
	s     *server.Server
	host  *toolhost.Host
	store *store.Store
	t     testing.TB
}

func start(t testing.TB, o server.Options, h toolhost.Options, tools ...*tooldef.Tool) *fixture {
	t.Helper()
	f := &fixture{t: t}
	f.host, f.store = newHost(t, h, tools...)
	o.Host, o.Store = f.host, f.store
	var err error
	f.s, err = server.New(o)
	require.NoError(t, err)
	f.Server = httptest.NewServer(f.s.Handler())
	t.Cleanup(func() {
		f.Server.CloseClientConnections()
		f.Server.Close()
		f.s.Close()
		f.Client().CloseIdleConnections()
	})
	return f
}

func openStore(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func newHost(t testing.TB, o toolhost.Options, tools ...*tooldef.Tool) (*toolhost.Host, *store.Store) {
	t.Helper()
	s := o.Store
	if s == nil {
		s = openStore(t, store.Options{Path: store.Memory})
	}
	resolver, err := module.New(module.Options{Embedded: libs.FS})
	require.NoError(t, err)
	o.Store, o.Resolver = s, func(*tooldef.Tool) engine.Resolver { return resolver }
	host := toolhost.New(o)
	slices.SortFunc(tools, func(a, b *tooldef.Tool) int { return strings.Compare(a.Name, b.Name) })
	host.Serve(set(tools))
	t.Cleanup(host.Close)
	return host, s
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) tree(t testing.TB) map[string]any {
	t.Helper()
	var tree map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.body), &tree), a.body)
	return tree
}

// code is the code of the error in an answer.
func (a answer) code(t testing.TB) string {
	t.Helper()
	e, ok := a.tree(t)["error"].(map[string]any)
	require.True(t, ok, a.body)
	require.NotEmpty(t, e["message"])
	return e["code"].(string)
}

// do sends a request; headers are "Name: value".
func (f *fixture) do(method, path, body string, headers ...string) answer {
	f.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, f.URL+path, reader)
	require.NoError(f.t, err)
	return f.send(r, headers...)
}

func (f *fixture) send(r *http.Request, headers ...string) answer {
	f.t.Helper()
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	response, err := f.Client().Do(r)
	require.NoError(f.t, err)
	defer response.Body.Close()
	var text bytes.Buffer
	_, err = text.ReadFrom(response.Body)
	require.NoError(f.t, err)
	return answer{response.StatusCode, response.Header, text.String()}
}

// eventually waits for what another goroutine does.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	require.Eventually(t, done, 20*time.Second, 2*time.Millisecond, what)
}

func echo(t testing.TB) *tooldef.Tool { return tool(t, "echo", "return args") }

func TestHealth(t *testing.T) {
	f := start(t, server.Options{Version: "1.2.3", Token: token}, toolhost.Options{}, echo(t))
	a := f.do("GET", "/health", "")
	require.Equal(t, 200, a.status)
	require.Equal(t, map[string]any{"status": "ok", "version": "1.2.3", "tools": 1.0}, a.tree(t))
	require.Empty(t, f.do("HEAD", "/health", "").body)
}

func TestList(t *testing.T) {
	secret := tool(t, "secret", "return 1")
	secret.Config = map[string]any{"api_key": "sk-hidden"}
	secret.Params = compiled(t, `{"type":"object","properties":{"q":{"type":"string","default":"a"}},"required":["q"]}`)
	f := start(t, server.Options{Broken: func() []server.Broken {
		return []server.Broken{{File: "tools/bad.yaml", Name: "bad", Error: "tools/bad.yaml:3: key sk-hidden is wrong"}}
	}, Redact: func(text string) string { return strings.ReplaceAll(text, "sk-hidden", "[redacted]") }}, toolhost.Options{}, echo(t), secret)
	a := f.do("GET", "/tools/list", "")
	require.Equal(t, 200, a.status)
	require.NotContains(t, a.body, "sk-hidden")
	require.JSONEq(t, `{"tools":[
		{"name":"echo","description":"The tool echo.","builtin":false,"parameters":{"type":"object","properties":{}}},
		{"name":"secret","description":"The tool secret.","builtin":false,
			"parameters":{"type":"object","properties":{"q":{"type":"string","default":"a"}},"required":["q"]}}],
		"errors":[{"file":"tools/bad.yaml","name":"bad","error":"tools/bad.yaml:3: key [redacted] is wrong"}]}`, a.body)
}

func TestCall(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, echo(t), tool(t, "about", "return ctx.call"))
	a := f.do("POST", "/tools/echo", `{"b":[],"a":{},"big":9007199254740993,"n":null}`, "Content-Type: application/json; charset=UTF-8")
	require.Equal(t, 200, a.status)
	require.Equal(t, `{"result":{"a":{},"b":[],"big":9007199254740993,"n":null}}`, a.body) // D23 among them
	require.Equal(t, "application/json", a.header.Get("Content-Type"))

	a = f.do("POST", "/tools/about", "", "Session-Id: s 1")
	about := a.tree(t)["result"].(map[string]any)
	require.Equal(t, a.header.Get("X-Request-Id"), about["id"])
	require.Equal(t, []any{"local", "http", "s 1"}, []any{about["caller"], about["face"], about["session"]})
}

// Each code has its status.
func TestCallFails(t *testing.T) {
	slow := tool(t, "slow", "while true do end")
	slow.Timeout = 50 * time.Millisecond
	rated := tool(t, "rated", "return 1")
	rated.Rate = tooldef.Rate{Calls: 1, Per: time.Hour}
	f := start(t, server.Options{}, toolhost.Options{}, slow, rated,
		tool(t, "bad", "local x = nil\nreturn x.y"),
		tool(t, "raises", `error({ code = "no_luck", message = "no luck", more = 1 })`),
		tool(t, "eats", `local t = {} while true do table.insert(t, table.create(100000, 1)) end`),
		tool(t, "pretends", `error({ code = "permission", message = "denied" })`),
		tool(t, "denied", `return require("fs").read("/etc/passwd")`))
	for name, want := range map[string]struct {
		status         int
		code, contains string
	}{
		"nothing":  {404, "not_found", "no tool registered with name: nothing"},
		"slow":     {408, "timeout", "tool 'slow' timed out after 0.05 seconds"},
		"bad":      {500, "tool_error", "tools/bad.yaml:3: attempt to index nil with 'y'"},
		"raises":   {500, "tool_error", `"detail":"no_luck"`},
		"eats":     {500, "tool_error", `"detail":"memory"`},
		"pretends": {500, "tool_error", `"detail":"permission"`},
		"denied":   {403, "permission", "read"},
	} {
		a := f.do("POST", "/tools/"+name, "{}")
		require.Equal(t, want.status, a.status, a.body)
		require.Equal(t, want.code, a.code(t))
		require.Contains(t, a.body, want.contains)
		require.NotEmpty(t, a.header.Get("X-Request-Id"))
		require.NotContains(t, a.body, ".go:", "no Go stack")
	}
	require.Equal(t, 200, f.do("POST", "/tools/rated", "").status)
	a := f.do("POST", "/tools/rated", "")
	require.Equal(t, 429, a.status)
	require.Equal(t, "rate_limited", a.code(t))
	require.Equal(t, "3600", a.header.Get("Retry-After"))
}

// A secret that looks like a part of JSON leaves JSON behind.
func TestErrorsHaveNoSecrets(t *testing.T) {
	redact := func(text string) string {
		return strings.NewReplacer("12345", "[redacted]", "true", "[redacted]").Replace(text)
	}
	f := start(t, server.Options{Redact: redact}, toolhost.Options{},
		tool(t, "raises", `error({ code = "c", message = "key 12345", n = 12345, ok = true, deep = { key = "12345", list = { "true" } } })`))
	a := f.do("POST", "/tools/raises", "")
	require.JSONEq(t, `{"error":{"code":"tool_error","message":"key [redacted]","detail":"c","data":{"code":"c","message":"key [redacted]",
		"n":"[redacted]","ok":true,"deep":{"key":"[redacted]","list":["[redacted]"]}}}}`, a.body)
}

// X10: bodies that are not a JSON object.
func TestX10Bodies(t *testing.T) {
	f := start(t, server.Options{BodyLimit: 1 << 20}, toolhost.Options{}, echo(t))
	for name, c := range map[string]struct {
		body, header   string
		status         int
		code, contains string
	}{
		"cut off":         {"[", "Content-Type: application/json", 400, "bad_request", "not JSON"},
		"an array":        {"[]", "Content-Type: application/json", 400, "bad_request", "a JSON object, not an array"},
		"null":            {"null", "Content-Type: application/json", 400, "bad_request", "a JSON object, not null"},
		"duplicate keys":  {`{"a":1,"a":2}`, "Content-Type: application/json", 400, "bad_request", `\"a\"`},
		"not UTF-8":       {"{\"a\":\"\xff\"}", "Content-Type: application/json", 400, "bad_request", "UTF-8"},
		"too large":       {`{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "Content-Type: application/json", 413, "too_large", "1048576"},
		"a form":          {"a=1", "Content-Type: application/x-www-form-urlencoded", 400, "bad_request", "must be application/json"},
		"another charset": {"{}", "Content-Type: application/json; charset=latin1", 400, "bad_request", "UTF-8"},
		"compressed":      {"{}", "Content-Encoding: gzip", 400, "bad_request", "gzip"},
		"no type":         {`{"a":1}`, "Accept: */*", 200, "", `{"result":{"a":1}}`},
		"empty":           {"", "Content-Type: application/json", 200, "", `{"result":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.do("POST", "/tools/echo", c.body, c.header)
			require.Equal(t, c.status, a.status, a.body)
			require.Contains(t, a.body, c.contains)
			if c.code != "" {
				require.Equal(t, c.code, a.code(t))
			}
		})
	}
}

// zeros is a body without an end.
type zeros struct{ sent int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.sent >= 100<<20 {
		return 0, io.EOF
	}
	clear(p)
	z.sent += len(p)
	return len(p), nil
}

// X10: 100 MB, with its length and without, of a client that sends before it reads.
func TestX10LargeBody(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, echo(t))
	for _, length := range []int64{100 << 20, -1} {
		body := &zeros{}
		r, err := http.NewRequest("POST", f.URL+"/tools/echo", body)
		require.NoError(t, err)
		r.ContentLength = length
		a := f.send(r)
		require.Equal(t, 413, a.status)
		require.Equal(t, "too_large", a.code(t))
		// Whatever it is refused for, the reason arrives.
		r, err = http.NewRequest("POST", f.URL+"/tools/echo", &zeros{})
		require.NoError(t, err)
		r.ContentLength = length
		require.Equal(t, 401, f.send(r, "Authorization: Bearer wrong").status)
	}
}

func TestMethodsAndRoutes(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, echo(t))
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/tools/echo", 405, "POST, OPTIONS"},
		{"POST", "/tools/list", 405, "GET, HEAD, OPTIONS"},
		{"OPTIONS", "/tools/echo", 204, "POST, OPTIONS"},
		{"OPTIONS", "/tools/list", 204, "GET, HEAD, OPTIONS"},
		{"GET", "/nothing", 404, ""},
		{"GET", "/", 404, ""},
		{"POST", "/tools/a/b", 404, ""},
		{"POST", "/tools/", 404, ""},
		{"POST", "/mcp", 404, ""},
		{"GET", "/calls/none", 404, ""},
	} {
		a := f.do(c.method, c.path, "")
		require.Equal(t, c.status, a.status, c.path)
		require.Equal(t, c.allow, a.header.Get("Allow"), c.path)
		require.NotEmpty(t, a.header.Get("X-Request-Id"))
		if c.status >= 400 {
			a.code(t)
		}
	}
}
