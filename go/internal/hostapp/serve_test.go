package hostapp

import (
	"bufio"
	"context"
	"encoding/hex"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Who approves: the user of the client, or only operators where the configuration says so.
func TestWhoApprovesOverMCP(t *testing.T) {
	for config, want := range map[string]string{
		"":                                     `"method":"elicitation/create"`,
		"[server]\noperator_approves = true\n": "luau approvals approve",
	} {
		inFolder(t, map[string]string{"hukilau.toml": config, "tools/pay.yaml": yaml("pay", "approve: true\n", "return 1")})
		h := hostOf(t, Options{})
		in, client := io.Pipe()
		server, out := io.Pipe()
		ended := make(chan error)
		go func() { ended <- h.ServeStdio(t.Context(), in, out, Serving{NoReload: true}) }()
		lines := bufio.NewReader(server)
		for _, message := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"c","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay","arguments":{}}}`,
		} {
			_, err := io.WriteString(client, message+"\n")
			require.NoError(t, err)
		}
		_, err := lines.ReadString('\n')
		require.NoError(t, err)
		said, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, said, want, config)
		require.NoError(t, client.Close())
		go io.Copy(io.Discard, server)
		require.NoError(t, <-ended)
		require.NoError(t, server.Close())
	}
}

// What the configuration says of a tool holds in both directions.
func TestAPolicyTakesAnApprovalAway(t *testing.T) {
	inFolder(t, map[string]string{
		"hukilau.toml":      "[tools.policy.open]\napprove = false\n[tools.policy.closed]\napprove = true\n",
		"tools/open.yaml":   yaml("open", "approve: true\n", "return 1"),
		"tools/closed.yaml": yaml("closed", "", "return 2"),
	})
	h := hostOf(t, Options{})
	require.Equal(t, "1", result(t, h, "open", "{}"))
	_, failed := call(t, h, "closed", "{}")
	require.NotNil(t, failed)
	require.Equal(t, toolhost.NeedsApproval, failed.Code)
}

// tracesOf serves a collector.
func tracesOf(t *testing.T) <-chan *trace.ResourceSpans {
	t.Helper()
	got := make(chan *trace.ResourceSpans, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		sent := &collector.ExportTraceServiceRequest{}
		if err == nil && r.URL.Path == "/v1/traces" && proto.Unmarshal(body, sent) == nil {
			got <- sent.ResourceSpans[0]
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return got
}

// serve serves the tools of the working directory until the result is called.
func serve(t *testing.T, h *Host) (url string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- h.Serve(ctx, Serving{Bind: "127.0.0.1:0", NoReload: true, Ready: func(addr net.Addr) { ready <- addr }})
	}()
	select {
	case addr := <-ready:
		return "http://" + addr.String(), func() {
			cancel()
			require.NoError(t, <-ended)
		}
	case err := <-ended:
		require.NoError(t, err)
		panic("it ended")
	}
}

// A request that belongs to a trace goes on with it, and its span says which call it was.
func TestTheTraceOfARequestGoesOn(t *testing.T) {
	got := tracesOf(t)
	inFolder(t, map[string]string{"tools/one.yaml": yaml("one", "", "error('no')")})
	project, err := Open(t.Context(), Options{Stderr: io.Discard})
	require.NoError(t, err)
	defer project.Close()
	h, err := project.NewHost(t.Context(), HostOptions{InMemory: true})
	require.NoError(t, err)
	url, end := serve(t, h)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/tools/one", strings.NewReader("{}"))
	require.NoError(t, err)
	r.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	end()
	require.NoError(t, h.Close())

	span := (<-got).ScopeSpans[0].Spans[0]
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", hex.EncodeToString(span.TraceId))
	require.Equal(t, "b7ad6b7169203331", hex.EncodeToString(span.ParentSpanId))
	said := map[string]string{}
	for _, a := range span.Attributes {
		said[a.Key] = a.Value.GetStringValue()
	}
	require.NotEmpty(t, said["hukilau.call"])
	delete(said, "hukilau.call")
	require.Equal(t, map[string]string{"hukilau.tool": "one", "hukilau.face": "http", "hukilau.caller": "local", "error.type": "tool_error"}, said)
}

// The server lets garbage gather, unless the environment says how much may.
func TestGarbageMayGatherWhileItServes(t *testing.T) {
	t.Setenv("GOGC", "")
	limit := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(limit)
	next := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NextGC
	}
	before := next()
	restore := spareCollections()
	require.Greater(t, next(), before+ballastSize)
	restore()
	restore = nil
	require.Less(t, next(), before+ballastSize)

	debug.SetMemoryLimit(1 << 40)
	spareCollections()
	require.Less(t, next(), before+ballastSize)
	debug.SetMemoryLimit(math.MaxInt64)
	t.Setenv("GOGC", "100")
	spareCollections()
	require.Less(t, next(), before+ballastSize)
}
