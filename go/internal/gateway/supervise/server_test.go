package supervise

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
)

// speaker is a server of MCP that says who it is, on all its ways of saying something.
func speaker() {
	ignoreSignals()
	fmt.Fprintln(os.Stderr, "speaker", os.Getpid())
	s := mcp.NewServer(&mcp.Implementation{Name: "speaker", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "pid", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint("<", os.Getpid(), ">")}}}, nil
		})
	_ = s.Run(context.Background(), &mcp.StdioTransport{}) // ends with its input
	time.Sleep(time.Hour)
}

// A server behind a shell works, is started again when it is killed, and is gone after Close.
func TestServerBelowAShell(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	s := upstream.Open(upstream.Config{
		Name: "speaker", Command: "sh", Args: []string{"-c", "exec 3<&0; setsid " + self + " <&3 & wait"},
		Env: map[string]string{roleVariable: "speaker"},
	}, upstream.Options{Start: Starter(self), Environ: os.Environ()})
	defer s.Close()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	require.NoError(t, s.Ready(ctx))
	pid := func() string {
		result, err := s.Call(ctx, "pid", nil, upstream.CallOptions{Repeatable: true})
		require.NoError(t, err)
		_, text, _ := strings.Cut(string(result.Raw), `\u003c`)
		text, _, _ = strings.Cut(text, `\u003e`)
		return text
	}
	first := pid()
	require.True(t, runs(first), first)
	require.Contains(t, s.Status().Stderr, "speaker "+first)
	var number int
	_, err = fmt.Sscan(first, &number)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(number, syscall.SIGKILL))
	second := pid()
	require.NotEqual(t, first, second)
	s.Close()
	require.False(t, runs(first))
	require.False(t, runs(second))
}
