package server_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// bearing sends a token with each request.
type bearing struct {
	inner http.RoundTripper
	token string
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.inner.RoundTrip(r)
}

// later is a handler that is made after the server that it is part of.
type later struct{ http.Handler }

// The Model Context Protocol behind the same door: its calls have the caller's name, its streams outlive the limit of
// time for bodies, and a session that is left open does not keep the server from ending.
func TestModelContextProtocol(t *testing.T) {
	var handler later
	s := serve(t, server.Options{Token: token, MCP: &handler, BodyTimeout: 300 * time.Millisecond, HeaderTimeout: 300 * time.Millisecond},
		toolhost.Options{}, tool(t, "who", "__native.sleep(500) return ctx.call.caller .. ' ' .. ctx.call.face"))
	protocol := mcpserver.New(mcpserver.Options{Host: s.host, HostChecked: true})
	t.Cleanup(protocol.Close)
	handler.Handler = protocol.HTTP()

	connect := func(token string) (*mcp.ClientSession, error) {
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		return client.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: bearing{transport, token}}, MaxRetries: -1,
		}, nil)
	}
	_, err := connect("wrong")
	require.Error(t, err)
	session, err := connect(token)
	require.NoError(t, err)
	for range 2 {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "who"})
		require.NoError(t, err)
		require.Equal(t, "token mcp", result.Content[0].(*mcp.TextContent).Text)
	}
	s.stop()
	s.ended()
	_ = session.Close() // its server is gone
}
