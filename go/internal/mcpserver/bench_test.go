package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// bare is the SDK's own server with a handler in Go that does what the echo tool does.
func bare(b *testing.B, options *mcp.StreamableHTTPOptions) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args map[string]any
			if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
				return nil, err
			}
			text, err := json.Marshal(args)
			return &mcp.CallToolResult{
				StructuredContent: json.RawMessage(text), Content: []mcp.Content{&mcp.TextContent{Text: string(text)}},
			}, err
		})
	b.Cleanup(func() {
		for session := range server.Sessions() {
			session.Close()
		}
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options)
}

// BenchmarkEcho calls an echo tool over HTTP, beside the SDK's own server.
func BenchmarkEcho(b *testing.B) {
	const args = `{"city":"Honolulu","days":3,"list":[1,2,3],"nested":{"a":true,"b":null}}`
	for _, one := range []struct {
		name string
		bare *mcp.StreamableHTTPOptions
		call string
	}{
		{"session", &mcp.StreamableHTTPOptions{}, callOf("1", "echo", args)},
		{"stateless", &mcp.StreamableHTTPOptions{Stateless: true}, strings.Replace(modernCall("echo", args), `"logLevel":"debug",`, "", 1)},
	} {
		f := serving(b, tool(b, "echo", echo))
		for name, handler := range map[string]http.Handler{"ours": f.server.HTTP(), "bare": bare(b, one.bare)} {
			server := httptest.NewServer(handler)
			b.Cleanup(server.Close)
			for _, clients := range []struct {
				name string
				n    int
			}{{"1", 1}, {"16", 16}, {"64", 64}} {
				b.Run(one.name+"/"+clients.name+"/"+name, func(b *testing.B) { benchEcho(b, server.URL, one.name, one.call, clients.n) })
			}
		}
	}
}

func benchEcho(b *testing.B, url, kind, call string, clients int) {
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	work := make(chan struct{}, clients)
	var all sync.WaitGroup
	var failed sync.Once
	var problem string
	ready := make([]*web, clients)
	for i := range ready {
		ready[i] = &web{t: b, url: url, header: http.Header{}}
		if kind == "session" {
			ready[i].greet("2025-11-25", "{}")
		} else {
			ready[i].modern("tools/call", "echo")
		}
	}
	for i, w := range ready {
		body := strings.Replace(call, `"id":1,`, `"id":`+string(rune('1'+i%9))+`,`, 1)
		all.Go(func() {
			for range work {
				response, err := client.Do(w.request(context.Background(), http.MethodPost, body))
				if err != nil {
					failed.Do(func() { problem = err.Error() })
					continue
				}
				text, _ := io.ReadAll(response.Body)
				response.Body.Close()
				if !strings.Contains(string(text), "Honolulu") {
					failed.Do(func() { problem = string(text) })
				}
			}
		})
	}
	b.ReportAllocs()
	before := used()
	b.ResetTimer()
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	all.Wait()
	b.StopTimer()
	// The client is in here too, the same on both sides.
	b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op")
	require.Empty(b, problem)
}

// used is the processor time of this process: on a machine that does other things too it says more than the clock.
func used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
