package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/libs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// set is a set of tools by name.
type set map[string]*tooldef.Tool

func (s set) Tools() []*tooldef.Tool {
	var list []*tooldef.Tool
	for _, t := range s {
		list = append(list, t)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

func (s set) Find(name string) (*tooldef.Tool, bool) {
	t, ok := s[name]
	return t, ok
}

func compiled(t testing.TB, text string) *schema.Schema {
	t.Helper()
	var doc any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&doc))
	s, err := schema.Compile(doc, "test")
	require.NoError(t, err)
	return s
}

// tool is one with this script.
func tool(t testing.TB, name, source string, changes ...func(*tooldef.Tool)) *tooldef.Tool {
	t.Helper()
	made := &tooldef.Tool{
		Name: name, Description: "The tool " + name, Source: source, Chunk: "@tools/" + name + ".yaml", Hash: name + source,
		Params: compiled(t, `{"type":"object"}`),
	}
	for _, change := range changes {
		change(made)
	}
	return made
}

// fixture is a server with its host.
type fixture struct {
	host   *toolhost.Host
	store  *store.Store
	server *mcpserver.Server
}

func serving(t testing.TB, tools ...*tooldef.Tool) *fixture {
	t.Helper()
	return servingWith(t, toolhost.Options{}, mcpserver.Options{}, tools...)
}

func servingWith(t testing.TB, ho toolhost.Options, mo mcpserver.Options, tools ...*tooldef.Tool) *fixture {
	t.Helper()
	s, err := store.Open(context.Background(), store.Options{Path: store.Memory})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	resolver, err := module.New(module.Options{Embedded: libs.FS})
	require.NoError(t, err)
	ho.Store = s
	ho.Resolver = func(*tooldef.Tool) engine.Resolver { return resolver }
	f := &fixture{host: toolhost.New(ho), store: s}
	t.Cleanup(f.host.Close)
	f.host.Serve(setOf(tools))
	mo.Host, mo.HostChecked = f.host, true
	if mo.Version == "" {
		mo.Version = "1.2.3"
	}
	if mo.Logger == nil {
		mo.Logger = slog.New(slog.DiscardHandler)
	}
	f.server = mcpserver.New(mo)
	t.Cleanup(f.server.Close)
	return f
}

func setOf(tools []*tooldef.Tool) set {
	served := set{}
	for _, t := range tools {
		served[t.Name] = t
	}
	return served
}

// message is a JSON-RPC message as a client reads it; numbers keep their digits.
type message map[string]any

func read(t testing.TB, text []byte) message {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var m message
	require.NoError(t, decoder.Decode(&m), "not a message: %.300s", text)
	return m
}

// at walks to a member: "result.content.0.text".
func (m message) at(path string) any {
	var value any = map[string]any(m)
	for _, step := range strings.Split(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			n := int(step[0] - '0')
			if n >= len(v) {
				return nil
			}
			value = v[n]
		default:
			return nil
		}
	}
	return value
}

// pipe is a client over standard input and output.
type pipe struct {
	t      testing.TB
	in     io.WriteCloser
	lines  chan string
	ended  chan error
	cancel context.CancelFunc
	once   sync.Once
}

func (f *fixture) pipe(t testing.TB) *pipe {
	t.Helper()
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	ctx, cancel := context.WithCancel(toolhost.WithCaller(context.Background(), toolhost.Caller{Name: "pipe"}))
	p := &pipe{t: t, in: in, lines: make(chan string, 1000), ended: make(chan error, 1), cancel: cancel}
	go func() {
		err := f.server.Stdio(ctx, toServer, fromServer)
		fromServer.Close()
		p.ended <- err
	}()
	go func() {
		defer close(p.lines)
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 64<<20)
		for scanner.Scan() {
			p.lines <- scanner.Text()
		}
	}()
	t.Cleanup(p.close)
	return p
}

// close ends the input and waits for the end.
func (p *pipe) close() {
	p.once.Do(func() {
		p.in.Close()
		for range p.lines {
		}
		<-p.ended
		p.cancel()
	})
}

func (p *pipe) send(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		_, err := io.WriteString(p.in, line+"\n")
		require.NoError(p.t, err)
	}
}

func (p *pipe) next() message {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		require.True(p.t, ok, "the output has ended")
		m := read(p.t, []byte(line))
		require.Equal(p.t, "2.0", m["jsonrpc"], line)
		return m
	case <-time.After(patience):
		require.FailNow(p.t, "nothing came")
		return nil
	}
}

// answer is the next message with an id; what comes before goes to others.
func (p *pipe) answer() (answer message, others []message) {
	p.t.Helper()
	for {
		m := p.next()
		if _, ok := m["id"]; ok && m["method"] == nil {
			return m, others
		}
		others = append(others, m)
	}
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

func initialize(version, capabilities string) string {
	return `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version +
		`","capabilities":` + capabilities + `,"clientInfo":{"name":"test","version":"1"}}}`
}

func callOf(id, tool, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
}

// greeted is a pipe after the handshake.
func (f *fixture) greeted(t testing.TB, version, capabilities string) *pipe {
	t.Helper()
	p := f.pipe(t)
	p.send(initialize(version, capabilities), initialized)
	m, _ := p.answer()
	require.Equal(t, version, m.at("result.protocolVersion"))
	return p
}

// web is a client over HTTP.
type web struct {
	t       testing.TB
	url     string
	session string
	header  http.Header // of each request
}

// caller is who sends a request, as tests name them.
const callerHeader = "Test-Caller"

func (f *fixture) web(t testing.TB) *web {
	t.Helper()
	handler := f.server.HTTP()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get(callerHeader)
		handler.ServeHTTP(w, r.WithContext(toolhost.WithCaller(r.Context(), toolhost.Caller{Name: name})))
	}))
	t.Cleanup(func() {
		f.server.Close()
		server.CloseClientConnections()
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return &web{t: t, url: server.URL, header: http.Header{}}
}

func (w *web) request(ctx context.Context, method, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if w.session != "" {
		r.Header.Set("Mcp-Session-Id", w.session)
	}
	for name, values := range w.header {
		r.Header[name] = values
	}
	return r
}

// post gives the status and the messages of the answer.
func (w *web) post(body string) (*http.Response, []message) {
	w.t.Helper()
	response, err := http.DefaultClient.Do(w.request(context.Background(), http.MethodPost, body))
	require.NoError(w.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	return response, w.messages(response, text)
}

func (w *web) messages(response *http.Response, text []byte) (all []message) {
	w.t.Helper()
	switch kind := response.Header.Get("Content-Type"); {
	case len(text) == 0:
	case kind == "application/json":
		all = append(all, read(w.t, text))
	case kind == "text/event-stream":
		for _, line := range strings.Split(string(text), "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				all = append(all, read(w.t, []byte(data)))
			}
		}
	default:
		all = append(all, message{"text": string(text)})
	}
	return all
}

// greet begins a session.
func (w *web) greet(version, capabilities string) {
	w.t.Helper()
	response, messages := w.post(initialize(version, capabilities))
	require.Equal(w.t, http.StatusOK, response.StatusCode)
	require.Len(w.t, messages, 1)
	w.session = response.Header.Get("Mcp-Session-Id")
	require.NotEmpty(w.t, w.session)
	response, _ = w.post(initialized)
	require.Equal(w.t, http.StatusAccepted, response.StatusCode)
}
