package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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

// BenchmarkEcho calls an echo tool over HTTP, by turns with the SDK's own server, so that whatever else the machine
// does weighs on both. speed is ours over the bare server's, by the clock and by processor time (the client's
// included, which is the same).
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
		for _, clients := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/%d", one.name, clients), func(b *testing.B) {
				f := serving(b, tool(b, "echo", echo))
				sides := []*side{newSide(b, f.server.HTTP(), one.name, one.call, clients), newSide(b, bare(b, one.bare), one.name, one.call, clients)}
				const turn = 200
				for _, s := range sides {
					s.run(b, turn) // a first time for all
					s.wall, s.cpu = 0, 0
				}
				b.ResetTimer()
				for done := 0; done < b.N; done += turn {
					for _, s := range sides {
						s.run(b, min(turn, b.N-done))
					}
				}
				ours, bare := sides[0], sides[1]
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(ours.wall)/float64(b.N), "ours-ns/call")
				b.ReportMetric(float64(bare.wall)/float64(b.N), "bare-ns/call")
				b.ReportMetric(float64(bare.wall)/float64(ours.wall), "speed")
				b.ReportMetric(float64(bare.cpu)/float64(ours.cpu), "cpu-speed")
			})
		}
	}
}

// side is one of the two servers with its clients.
type side struct {
	clients   []*web
	http      *http.Client
	call      string
	wall, cpu time.Duration
}

func newSide(b *testing.B, handler http.Handler, kind, call string, clients int) *side {
	server := httptest.NewServer(handler)
	b.Cleanup(server.Close)
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	b.Cleanup(transport.CloseIdleConnections)
	s := &side{http: &http.Client{Transport: transport}, call: call}
	for range clients {
		w := &web{t: b, url: server.URL, header: http.Header{}}
		if kind == "session" {
			w.greet("2025-11-25", "{}")
		} else {
			w.modern("tools/call", "echo")
		}
		s.clients = append(s.clients, w)
	}
	return s
}

// run makes n calls, as many at once as there are clients.
func (s *side) run(b *testing.B, n int) {
	var left atomic.Int64
	var all sync.WaitGroup
	left.Store(int64(n))
	problems := make(chan string, len(s.clients))
	wall, cpu := time.Now(), used()
	for _, w := range s.clients {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if problem := s.one(w); problem != "" {
					problems <- problem
					return
				}
			}
		})
	}
	all.Wait()
	s.wall += time.Since(wall)
	s.cpu += used() - cpu
	if len(problems) > 0 {
		b.Fatal(<-problems)
	}
}

func (s *side) one(w *web) (problem string) {
	response, err := s.http.Do(w.request(context.Background(), http.MethodPost, s.call))
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(text), "Honolulu") {
		return fmt.Sprintf("%v %s", err, text)
	}
	return ""
}

// used is the processor time of this process.
func used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
