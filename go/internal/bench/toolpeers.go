package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveBare is the other process: an HTTP handler, or an MCP server of the SDK, that gives its arguments back.
func serveBare(kind string) error {
	var handler http.Handler = http.HandlerFunc(bareEcho)
	if kind == "mcp" {
		server := bareMCP()
		handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "serving on http://%s\n", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server := &http.Server{Handler: handler}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func bareEcho(w http.ResponseWriter, r *http.Request) {
	var args map[string]any
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"result": args})
}

type echoArgs struct {
	Message string `json:"message"`
}

func bareMCP() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Gives its message back."},
		func(_ context.Context, _ *mcp.CallToolRequest, args echoArgs) (*mcp.CallToolResult, echoArgs, error) {
			return nil, args, nil
		})
	return server
}

// mcpLoad calls the echo tool over MCP's streamable HTTP, in one session for each connection.
type mcpLoad struct {
	server      func() (*served, error)
	path        string
	connections int
}

func (l *mcpLoad) run(least time.Duration) (float64, error) {
	s, err := l.server()
	if err != nil {
		return 0, err
	}
	sessions := make([]*mcpSession, l.connections)
	for i := range sessions {
		if sessions[i], err = newSession("http://" + s.address + l.path); err != nil {
			return 0, err
		}
		defer sessions[i].close()
	}
	var count atomic.Int64
	var all sync.WaitGroup
	failed := make(chan error, l.connections)
	from, deadline := time.Now(), time.Now().Add(max(least, 50*time.Millisecond))
	for _, session := range sessions {
		all.Go(func() {
			for time.Now().Before(deadline) {
				if err := session.call(); err != nil {
					failed <- err
					return
				}
				count.Add(1)
			}
		})
	}
	all.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
		return float64(time.Since(from)) / float64(max(count.Load(), 1)), nil
	}
}

// mcpSession is one client, whose requests are written by hand: both servers meet the same.
type mcpSession struct {
	url, id string
	client  *http.Client
}

func newSession(url string) (*mcpSession, error) {
	s := &mcpSession{url: url, client: &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}}
	header, _, err := s.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	if err != nil {
		return nil, err
	}
	s.id = header.Get("Mcp-Session-Id")
	_, _, err = s.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s, err
}

func (s *mcpSession) call() error {
	_, body, err := s.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":` + echoBody + `}}`)
	if err == nil && !bytes.Contains(body, []byte(`"structuredContent"`)) {
		err = fmt.Errorf("answered %s", body)
	}
	return err
}

func (s *mcpSession) post(body string) (http.Header, []byte, error) {
	r, err := http.NewRequest(http.MethodPost, s.url, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if s.id != "" {
		r.Header.Set("Mcp-Session-Id", s.id)
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	response, err := s.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return response.Header, answer, err
}

func (s *mcpSession) close() {
	if r, err := http.NewRequest(http.MethodDelete, s.url, nil); err == nil {
		r.Header.Set("Mcp-Session-Id", s.id)
		if response, err := s.client.Do(r); err == nil {
			response.Body.Close()
		}
	}
	s.client.CloseIdleConnections()
}
