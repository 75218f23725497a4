package httpmod

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serveOn is serve at a given address; it returns the port.
func serveOn(t *testing.T, addr string, f http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: f}}
	s.Start()
	t.Cleanup(s.Close)
	return portOfURL(t, "http://"+l.Addr().String())
}

func TestBadRequestsAreRefused(t *testing.T) {
	c := newClient(t, Options{Policy: everything})
	header := func(name, value string) Request {
		return Request{URL: "http://127.0.0.1:1/", Header: http.Header{name: {value}}}
	}
	for name, r := range map[string]Request{
		"empty URL":         {URL: ""},
		"no scheme":         {URL: "example.com/x"},
		"file":              {URL: "file:///etc/passwd"},
		"gopher":            {URL: "gopher://127.0.0.1:1/"},
		"no host":           {URL: "http:///x"},
		"opaque":            {URL: "http:example.com"},
		"control character": {URL: "http://127.0.0.1:1/a\r\nb"},
		"NUL":               {URL: "http://127.0.0.1:1/\x00"},
		"backslash":         {URL: `http://127.0.0.1:1\@example.com/`},
		"port 0":            {URL: "http://127.0.0.1:0/"},
		"port too high":     {URL: "http://127.0.0.1:65536/"},
		"five numbers":      {URL: "http://1.2.3.4.5/"},
		"empty label":       {URL: "http://a..b/"},
		"very long":         {URL: "http://127.0.0.1:1/" + strings.Repeat("x", maxURL)},
		"method with space": {URL: "http://127.0.0.1:1/", Method: "GET /x"},
		"method with line":  {URL: "http://127.0.0.1:1/", Method: "GET\r\nX: y"},
		"CONNECT":           {URL: "http://127.0.0.1:1/", Method: "connect"},
		"TRACE":             {URL: "http://127.0.0.1:1/", Method: "TRACE"},
		"name with line":    header("X\r\nY", "1"),
		"name with space":   header("X Y", "1"),
		"name empty":        header("", "1"),
		"value with CR":     header("X", "a\rb"),
		"value with LF":     header("X", "a\nb"),
		"value with NUL":    header("X", "a\x00b"),
		"wrong length":      header("content-length", "7"),
		"transfer encoding": header("Transfer-Encoding", "chunked"),
		"upgrade":           header("Upgrade", "websocket"),
		"two hosts":         {URL: "http://127.0.0.1:1/", Header: http.Header{"Host": {"a", "b"}}},
		"no limit":          {URL: "http://127.0.0.1:1/", MaxBody: -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Do(t.Context(), &r)
			e := failure(t, err, CodeArgument)
			assert.NotEmpty(t, e.Message)
			assert.False(t, e.Retryable)
		})
	}
}

func TestRequestArrivesAsWritten(t *testing.T) {
	type seen struct {
		method, uri, body string
		header            http.Header
	}
	got := make(chan seen, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.Method, r.RequestURI, string(body), r.Header}
	})
	c := newClient(t, Options{Policy: everything})
	_, err := c.Do(t.Context(), &Request{
		Method: "post",
		URL:    strings.Replace(s.URL, "http://", "HTTP://me:p%40ss@", 1) + "/a b?q=x y\"é&n=1#frag",
		Header: http.Header{"x-one": {"1"}, "X-One": {"2", "3"}, "x-bytes": {"\xff\x80"}, "Connection": {"keep-alive"}},
		Body:   []byte("a\x00b"),
	})
	require.NoError(t, err)
	r := <-got
	assert.Equal(t, "POST", r.method)
	assert.Equal(t, "/a%20b?q=x%20y%22%C3%A9&n=1", r.uri)
	assert.Equal(t, "a\x00b", r.body)
	assert.ElementsMatch(t, []string{"1", "2", "3"}, r.header["X-One"])
	assert.Equal(t, "\xff\x80", r.header.Get("X-Bytes"))
	assert.Equal(t, "Basic bWU6cEBzcw==", r.header.Get("Authorization"))
	assert.Equal(t, "hukilau", r.header.Get("User-Agent"))
	assert.Equal(t, "3", r.header.Get("Content-Length"))
}

func TestRequestIsNotChanged(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	c := newClient(t, Options{Policy: everything})
	r := &Request{URL: s.URL, Header: http.Header{"x-a": {"1"}, "Host": {"h"}}}
	_, err := c.Do(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, http.Header{"x-a": {"1"}, "Host": {"h"}}, r.Header)
}

// A18, the HTTP part: three bytes stay three bytes in both directions.
func TestA18_NULInBodies(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	c := newClient(t, Options{Policy: everything})
	resp, err := c.Do(t.Context(), &Request{Method: "PUT", URL: s.URL, Body: []byte("a\x00b")})
	require.NoError(t, err)
	assert.Equal(t, []byte("a\x00b"), resp.Body)
}

func TestC05_HeadersOfTheResponse(t *testing.T) {
	cookies := []string{"a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2; Expires=Thu, 22 Oct 2026 07:28:00 GMT"}
	p := newPeer(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nset-cookie: "+cookies[0]+"\r\nSET-COOKIE: "+cookies[1]+
			"\r\nx-mIxEd: yes\r\nx-bytes: \xff\xfe\r\nContent-Length: 0\r\n\r\n")
	})
	c := newClient(t, Options{Policy: everything})
	resp, err := get(t, c, "http://"+p.addr)
	require.NoError(t, err)
	assert.Equal(t, cookies, resp.Header.Values("set-cookie"))
	assert.Equal(t, "yes", resp.Header.Get("X-MIXED"))
	assert.Equal(t, []string{"yes"}, resp.Header["X-Mixed"])
	assert.Equal(t, "\xff\xfe", resp.Header.Get("x-bytes"))
}

func TestURLWithoutItsSchemeIsExplained(t *testing.T) {
	for given, want := range map[string]string{
		"127.0.0.1:18432/x":           "write http://127.0.0.1:18432/x, or https://",
		"localhost:8000":              "write http://localhost:8000, or https://",
		"example.com/a?b=c":           "write http://example.com/a?b=c, or https://",
		"[::1]:80/":                   "write http://[::1]:80/, or https://",
		"mailto:ada@example":          "must begin with http:// or https://",
		"ftp://example.com/":          "must begin with http:// or https://",
		"/path":                       "must begin with http:// or https://",
		"":                            "must begin with http:// or https://",
		"/" + strings.Repeat("é", 60): `the URL "/` + strings.Repeat("é", 49) + `"... must begin`,
	} {
		_, err := parseURL(given)
		require.ErrorContains(t, err, want, given)
	}
}
