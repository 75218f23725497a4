package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// teapot stands for the handler of the Model Context Protocol.
var teapot = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	who := toolhost.CallerOf(r.Context())
	w.Header().Set("Caller", who.Name+" "+who.Face+" "+who.Session)
	w.WriteHeader(http.StatusTeapot)
})

func TestUnsafeOptionsAreRefused(t *testing.T) {
	host, _ := newHost(t, toolhost.Options{})
	for _, c := range []struct {
		o        server.Options
		contains string
	}{
		{server.Options{Bind: "0.0.0.0:80"}, "without a token"},
		{server.Options{Bind: ":80"}, "without a token"},
		{server.Options{Bind: "192.168.1.2:80"}, "without a token"},
		{server.Options{Bind: "[::]:80"}, "without a token"},
		{server.Options{Bind: "host.example:80"}, "without a token"},
		{server.Options{Origins: []string{"*"}}, "every web page"},
		{server.Options{Token: "a", OperatorToken: "a"}, "another one"},
	} {
		c.o.Host = host
		_, err := server.New(c.o)
		require.ErrorContains(t, err, c.contains, c.o.Bind)
	}
	for _, bind := range []string{"", "127.0.0.1:80", "localhost:80", "[::1]:80", "127.0.0.9"} {
		_, err := server.New(server.Options{Host: host, Bind: bind})
		require.NoError(t, err, bind)
	}
	_, err := server.New(server.Options{Host: host, Bind: "0.0.0.0:80", Token: "a"})
	require.NoError(t, err)
	_, err = server.New(server.Options{})
	require.Error(t, err)
}

// A page whose name points to this machine sends its own name as Host: on every route.
func TestHostIsChecked(t *testing.T) {
	f := start(t, server.Options{MCP: teapot, AllowedHosts: []string{"tools.example"}}, toolhost.Options{}, echo(t))
	for host, allowed := range map[string]bool{
		"localhost": true, "localhost:9": true, "LOCALHOST:9": true, "127.0.0.1": true, "127.0.0.2:80": true, "[::1]": true, "[::1]:80": true,
		"tools.example": true, "Tools.Example:443": true,
		"evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "10.0.0.1": false, "[::2]:80": false,
	} {
		for _, path := range []string{"/health", "/tools/list", "/mcp", "/nothing", "/metrics"} {
			a := f.do("GET", path, "", "Host: "+host)
			require.Equal(t, allowed, a.status != 403, "%s %s", host, path)
			if !allowed {
				require.Equal(t, "permission", a.code(t))
			}
		}
	}
}

func TestHostsOfAServerOnAllAddresses(t *testing.T) {
	f := start(t, server.Options{Bind: "0.0.0.0:80", Token: token}, toolhost.Options{})
	require.Equal(t, 200, f.do("GET", "/health", "", "Host: 10.1.2.3:80").status)
	require.Equal(t, 403, f.do("GET", "/health", "", "Host: evil.example").status)
}

func TestOriginIsChecked(t *testing.T) {
	f := start(t, server.Options{MCP: teapot, Origins: []string{"https://app.example"}}, toolhost.Options{}, echo(t))
	for _, path := range []string{"/health", "/tools/list", "/mcp", "/calls/a"} {
		for _, origin := range []string{"https://evil.example", "null", "http://app.example", "https://app.example.evil.example", "http://localhost:1"} {
			a := f.do("GET", path, "", "Origin: "+origin)
			require.Equal(t, 403, a.status, "%s %s", origin, path)
			require.Empty(t, a.header.Get("Access-Control-Allow-Origin"))
		}
		require.Equal(t, 403, f.do("GET", path, "", "Sec-Fetch-Site: cross-site").status)
		require.NotEqual(t, 403, f.do("GET", path, "", "Sec-Fetch-Site: none").status)
		require.NotEqual(t, 403, f.do("GET", path, "", "Origin: "+f.URL).status, "the server's own pages")
	}
	a := f.do("POST", "/tools/echo", "", "Origin: https://app.example")
	require.Equal(t, 200, a.status)
	require.Equal(t, "https://app.example", a.header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, a.header.Get("Access-Control-Expose-Headers"), "X-Request-Id")
	require.Equal(t, 403, f.do("POST", "/tools/echo", "", "Origin: https://evil.example").status)
}

// What a browser asks before a request needs no token.
func TestPreflight(t *testing.T) {
	f := start(t, server.Options{Token: token, Origins: []string{"https://app.example"}}, toolhost.Options{}, echo(t))
	ask := []string{"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type"}
	a := f.do("OPTIONS", "/tools/echo", "", append(ask, "Origin: https://app.example")...)
	require.Equal(t, 204, a.status)
	require.Equal(t, "https://app.example", a.header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "authorization,content-type", a.header.Get("Access-Control-Allow-Headers"))
	a = f.do("OPTIONS", "/tools/echo", "", append(ask, "Origin: https://evil.example")...)
	require.Equal(t, 403, a.status)
	require.Empty(t, a.header.Get("Access-Control-Allow-Origin"))
}

func TestTokens(t *testing.T) {
	f := start(t, server.Options{MCP: teapot, Token: token, OperatorToken: operator}, toolhost.Options{},
		tool(t, "who", "return ctx.call.caller"))
	for _, header := range []string{"X: y", "Authorization: Bearer wrong", "Authorization: Bearer ", "Authorization: Basic " + token, "Authorization: " + token} {
		for _, path := range []string{"/tools/list", "/mcp", "/metrics", "/openapi.json", "/nothing", "/approvals", "/calls/a"} {
			a := f.do("GET", path, "", header)
			require.Equal(t, 401, a.status, "%s %s", header, path)
			require.Equal(t, "unauthorized", a.code(t))
			require.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
		}
		require.Equal(t, 401, f.do("POST", "/tools/who", "", header).status)
		require.Equal(t, 200, f.do("GET", "/health", "", header).status)
	}
	require.Equal(t, `{"result":"token"}`, f.do("POST", "/tools/who", "", "Authorization: Bearer "+token).body)
	require.Equal(t, `{"result":"token"}`, f.do("POST", "/tools/who", "", "Authorization: bearer "+token).body)
	require.Equal(t, `{"result":"operator"}`, f.do("POST", "/tools/who", "", "Authorization: Bearer "+operator).body)
	a := f.do("GET", "/mcp", "", "Authorization: Bearer "+token, "Session-Id: s")
	require.Equal(t, 418, a.status)
	require.Equal(t, "token mcp s", a.header.Get("Caller"))
}

// Without a token everybody who reaches the server is local; a wrong token is still wrong.
func TestWithoutTokens(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, tool(t, "who", "return ctx.call.caller"))
	require.Equal(t, `{"result":"local"}`, f.do("POST", "/tools/who", "").body)
	require.Equal(t, 401, f.do("POST", "/tools/who", "", "Authorization: Bearer x").status)
	require.Equal(t, 401, f.do("POST", "/tools/who", "", "Authorization: Bearer ").status)
}

func TestSessionIDs(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, tool(t, "count", "ctx.state.n = (ctx.state.n or 0) + 1\nreturn ctx.state.n"))
	require.Equal(t, `{"result":1}`, f.do("POST", "/tools/count", "", "Session-Id: a").body)
	require.Equal(t, `{"result":2}`, f.do("POST", "/tools/count", "", "Session-Id: a").body)
	require.Equal(t, `{"result":1}`, f.do("POST", "/tools/count", "", "Session-Id: b").body)
	for _, id := range []string{strings.Repeat("x", 201), "\xc3\xa4", "a\tb"} {
		require.Equal(t, 400, f.do("POST", "/tools/count", "", "Session-Id: "+id).status, id)
	}
	require.Equal(t, 400, f.do("POST", "/tools/count", "", "Session-Id: a", "Session-Id: b").status)
}
