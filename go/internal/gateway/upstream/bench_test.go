package upstream

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// echoVariable makes the test's program a server that answers calls at once.
const echoVariable = "HUKILAU_TEST_ECHO"

func TestMain(m *testing.M) {
	if os.Getenv(echoVariable) != "" {
		echo(os.Stdin, os.Stdout)
		return
	}
	goleak.VerifyTestMain(m)
}

func echo(from io.Reader, to io.Writer) {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		m, _ := parse(line)
		var out []byte
		switch {
		case m.id == nil:
			continue
		case m.method == "initialize":
			out = reply(m.id, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`))
		case m.method == "tools/list":
			out = reply(m.id, []byte(`{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`))
		case m.method == "tools/call":
			out = reply(m.id, []byte(`{"content":[{"type":"text","text":"hello"}]}`))
		default:
			out = refusal(m.id, numberMethodNotFound, "no such method")
		}
		if _, err := to.Write(append(out, '\n')); err != nil {
			return
		}
	}
}

func echoCommand() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), echoVariable+"=1")
	return cmd
}

// startEcho is Options.Start for the echo server.
func startEcho(Command) (*Process, error) {
	cmd := echoCommand()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var once sync.Once
	return &Process{In: in, Out: out, Err: io.NopCloser(bytes.NewReader(nil)), Stop: func() {
		in.Close()
		once.Do(func() { _ = cmd.Wait() })
	}}, nil
}

var echoArguments = []byte(`{"text":"hello"}`)

func BenchmarkOneCall(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		p, err := startEcho(Command{})
		require.NoError(b, err)
		defer p.Stop()
		in := bufio.NewReader(p.Out)
		line := append(request(7, "tools/call", []byte(`{"name":"echo","arguments":{"text":"hello"}}`)), '\n')
		for b.Loop() {
			_, _ = p.In.Write(line)
			if _, err := in.ReadBytes('\n'); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ours", func(b *testing.B) {
		s := ready(b)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Call(b.Context(), "echo", echoArguments, CallOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sdk", func(b *testing.B) {
		session := sdk(b)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: echoArguments}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The same over streamable HTTP, with servers that cost nothing.
func BenchmarkOneCallHTTP(b *testing.B) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var out bytes.Buffer
		echo(bytes.NewReader(append(text, '\n')), &out)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(out.Bytes())
	}))
	b.Cleanup(h.Close)
	b.Run("bare", func(b *testing.B) {
		body := request(7, "tools/call", []byte(`{"name":"echo","arguments":{"text":"hello"}}`))
		for b.Loop() {
			r, err := http.Post(h.URL, "application/json", bytes.NewReader(body))
			require.NoError(b, err)
			_, _ = io.Copy(io.Discard, r.Body)
			r.Body.Close()
		}
		http.DefaultClient.CloseIdleConnections()
	})
	b.Run("ours", func(b *testing.B) {
		s := Open(Config{Name: "echo", URL: h.URL}, Options{})
		b.Cleanup(s.Close)
		require.NoError(b, s.Ready(b.Context()))
		for b.Loop() {
			if _, err := s.Call(b.Context(), "echo", echoArguments, CallOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkTwentyParallel(b *testing.B) {
	all := func(b *testing.B, one func()) {
		for b.Loop() {
			var done sync.WaitGroup
			for range 20 {
				done.Go(one)
			}
			done.Wait()
		}
	}
	b.Run("ours", func(b *testing.B) {
		s := ready(b)
		all(b, func() { _, _ = s.Call(b.Context(), "echo", echoArguments, CallOptions{}) })
	})
	b.Run("sdk", func(b *testing.B) {
		session := sdk(b)
		all(b, func() {
			_, _ = session.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: echoArguments})
		})
	})
}

func ready(b *testing.B) *Server {
	s := Open(Config{Name: "echo", Command: "echo"}, Options{Start: startEcho})
	b.Cleanup(s.Close)
	require.NoError(b, s.Ready(b.Context()))
	return s
}

func sdk(b *testing.B) *mcp.ClientSession {
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.CommandTransport{Command: echoCommand()}, nil)
	require.NoError(b, err)
	b.Cleanup(func() { session.Close() })
	return session
}
