package openapi

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

const plainGet = head + "paths: {/: {get: {operationId: get}, post: {operationId: post}}}"

func answer(status, contentType, body string, more ...string) string {
	lines := append([]string{"HTTP/1.1 " + status, fmt.Sprintf("Content-Length: %d", len(body))}, more...)
	if contentType != "" {
		lines = append(lines, "Content-Type: "+contentType)
	}
	return strings.Join(lines, "\r\n") + "\r\n\r\n" + body
}

// F08: responses by their content.
func TestF08Responses(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\xff"
	for _, test := range []struct {
		name, answer string
		want         Response
	}{
		{"204", noContent, Response{Status: 204, Kind: KindEmpty}},
		{"a JSON type without body", answer("200 OK", "application/json", ""), Response{Status: 200, Kind: KindEmpty, ContentType: "application/json"}},
		{"spaces", answer("200 OK", "application/json", " \r\n"), Response{Status: 200, Kind: KindEmpty, ContentType: "application/json"}},
		{"JSON", answer("200 OK", "application/json; charset=utf-8", ` {"id":12345678901234567890} `), Response{Status: 200, Kind: KindJSON, ContentType: "application/json", JSON: []byte(`{"id":12345678901234567890}`)}},
		{"+json", answer("201 Created", "application/vnd.api+json", `null`), Response{Status: 201, Kind: KindJSON, ContentType: "application/vnd.api+json", JSON: []byte(`null`)}},
		{"JSON with a mark", answer("200 OK", "application/json", "\xef\xbb\xbf[]"), Response{Status: 200, Kind: KindJSON, ContentType: "application/json", JSON: []byte(`[]`)}},
		{"JSON in Latin-1", answer("200 OK", "application/json; charset=iso-8859-1", "\"\xe9\""), Response{Status: 200, Kind: KindJSON, ContentType: "application/json", JSON: []byte(`"é"`)}},
		{"HTML", answer("200 OK", "text/html", "<p>hi"), Response{Status: 200, Kind: KindText, ContentType: "text/html", Text: "<p>hi"}},
		{"another character set", answer("200 OK", "text/plain; charset=windows-1252", "\x80 5"), Response{Status: 200, Kind: KindText, ContentType: "text/plain", Text: "€ 5"}},
		{"text that is none", answer("200 OK", "text/plain", "\xff\xfe"), Response{Status: 200, Kind: KindBytes, ContentType: "text/plain", Bytes: []byte("\xff\xfe")}},
		{"PNG", answer("200 OK", "image/png", png), Response{Status: 200, Kind: KindBytes, ContentType: "image/png", Bytes: []byte(png)}},
		{"no type, JSON", answer("200 OK", "", "[1]"), Response{Status: 200, Kind: KindJSON, JSON: []byte("[1]")}},
		{"no type, text", answer("200 OK", "", "hello"), Response{Status: 200, Kind: KindText, Text: "hello"}},
		{"no type, bytes", answer("200 OK", "", "\x00\x01"), Response{Status: 200, Kind: KindBytes, Bytes: []byte("\x00\x01")}},
		{"XML", answer("200 OK", "application/xml", "<a/>"), Response{Status: 200, Kind: KindText, ContentType: "application/xml", Text: "<a/>"}},
		{"304", "HTTP/1.1 304 Not Modified\r\nEtag: \"x\"\r\n\r\n", Response{Status: 304, Kind: KindEmpty}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := *call(t, spec(t, record(t, test.answer), plainGet), "get", nil, nil)
			require.NotNil(t, got.Headers)
			got.Headers = nil
			require.Equal(t, test.want, got)
		})
	}
}

// F08: responses by their content.
func TestF08Errors(t *testing.T) {
	problem := `{"type":"about:blank","title":"Bad name","detail":"name is too long","errors":[{"field":"name"}]}`
	failed := fails(t, spec(t, record(t, answer("422 Unprocessable Entity", "application/problem+json", problem)), plainGet), "get", nil, nil)
	require.Equal(t, 422, failed.Status)
	require.Equal(t, problem, string(failed.Response.JSON))
	require.False(t, failed.Retryable)
	require.Equal(t, "shop.get: the server answered 422 Unprocessable Entity: Bad name: name is too long", failed.Error())

	failed = fails(t, spec(t, record(t, answer("200 OK", "application/json", "<html>Down for maintenance")), plainGet), "get", nil, nil)
	require.Equal(t, "the server says that it answers with application/json, and this is none: <html>Down for maintenance", failed.Message)
	require.Equal(t, "<html>Down for maintenance", failed.Response.Text)

	for status, want := range map[string]struct {
		code      Code
		retryable bool
	}{
		"400 Bad Request": {CodeUpstream, false}, "401 Unauthorized": {CodePermission, false}, "403 Forbidden": {CodePermission, false},
		"404 Not Found": {CodeNotFound, false}, "429 Too Many Requests": {CodeUpstream, true}, "500 Internal Server Error": {CodeUpstream, false},
		"502 Bad Gateway": {CodeUpstream, true}, "503 Service Unavailable": {CodeUpstream, true}, "504 Gateway Timeout": {CodeUpstream, true},
	} {
		failed := fails(t, spec(t, record(t, answer(status, "text/plain", "no", "Retry-After: 7")), plainGet), "post", nil, nil)
		require.Equal(t, want.code, failed.Code, status)
		require.Equal(t, want.retryable, failed.Retryable, status)
		require.Equal(t, "no", failed.Response.Text)
		require.Equal(t, want.retryable, failed.RetryAfter == 7*time.Second, status)
	}
}

func TestResponsesAreBounded(t *testing.T) {
	small := func(_ *Config, o *Options) { o.MaxResponse = 1000 }
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	_, err := w.Write(make([]byte, 50<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for name, text := range map[string]string{
		"large":    answer("200 OK", "text/plain", strings.Repeat("a", 1001)),
		"a bomb":   answer("200 OK", "text/plain", bomb.String(), "Content-Encoding: gzip"),
		"an error": answer("500 Internal Server Error", "text/plain", strings.Repeat("a", 1001)),
	} {
		failed := fails(t, spec(t, record(t, text), plainGet, small), "get", nil, nil)
		require.Equal(t, CodeTooLarge, failed.Code, name)
		require.Equal(t, "the response is larger than 1000B", failed.Message, name)
		require.NotZero(t, failed.Status)
	}
	call(t, spec(t, record(t, answer("200 OK", "text/plain", strings.Repeat("a", 1000))), plainGet, small), "get", nil, nil)
}

// endless is a body without end.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func (e *endless) Close() error { return nil }

func TestResponsesWithoutEnd(t *testing.T) {
	for _, status := range []int{200, 500} {
		body := &endless{}
		a := spec(t, nil, plainGet, func(_ *Config, o *Options) {
			o.MaxResponse = 1 << 20
			o.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Header: http.Header{}, Body: body, Request: r}, nil
			})
		})
		failed := fails(t, a, "get", nil, nil)
		require.Equal(t, "the response is larger than 1MiB", failed.Message)
		require.Less(t, body.read, int64(3<<20))
	}
}

// Servers that compress what nobody asked to be compressed.
func TestCompressedResponses(t *testing.T) {
	unasked := func(_ *Config, o *Options) {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DisableCompression = true
		t.Cleanup(transport.CloseIdleConnections)
		o.HTTP = transport
	}
	var zipped, deflated bytes.Buffer
	for _, w := range []io.WriteCloser{gzip.NewWriter(&zipped), zlib.NewWriter(&deflated)} {
		_, err := io.WriteString(w, "hello")
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	for encoding, content := range map[string]string{"gzip": zipped.String(), "deflate": deflated.String(), "Deflate": deflated.String()[2:], "identity": "hello"} {
		r := record(t, answer("200 OK", "text/plain", content, "Content-Encoding: "+encoding))
		require.Equal(t, "hello", call(t, spec(t, r, plainGet, unasked), "get", nil, nil).Text, encoding)
	}
	require.Equal(t, KindEmpty, call(t, spec(t, record(t, answer("200 OK", "text/plain", "", "Content-Encoding: gzip")), plainGet, unasked), "get", nil, nil).Kind)
	failed := fails(t, spec(t, record(t, answer("200 OK", "text/plain", "x", "Content-Encoding: zstd")), plainGet, unasked), "get", nil, nil)
	require.Contains(t, failed.Message, `compressed as "zstd"`)
}

// A GET whose connection breaks is sent once more, a POST never: it may have run.
func TestLostConnections(t *testing.T) {
	r := record(t, "", answer("200 OK", "text/plain", "yes"))
	require.Equal(t, "yes", call(t, spec(t, r, plainGet), "get", nil, nil).Text)
	require.Len(t, r.requests(), 2)

	r = record(t, "")
	failed := fails(t, spec(t, r, plainGet), "get", nil, nil)
	require.Len(t, r.requests(), 2, "once more, not again and again")
	require.True(t, failed.Retryable)
	require.True(t, failed.Sent)

	r = record(t, "")
	failed = fails(t, spec(t, r, plainGet), "post", nil, nil)
	require.Len(t, r.requests(), 1)
	require.True(t, failed.Sent)
	require.Zero(t, failed.Status)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	failed = fails(t, spec(t, nil, plainGet, func(c *Config, _ *Options) { c.BaseURL = "http://" + listener.Addr().String() }), "post", nil, nil)
	require.True(t, failed.Retryable)
	require.False(t, failed.Sent, "nobody listened")
	require.Contains(t, failed.Message, "connection refused")

	r = record(t, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
	failed = fails(t, spec(t, r, plainGet), "post", nil, nil)
	require.Contains(t, failed.Message, "unexpected EOF")
}

func TestCallsEndWithTheirContext(t *testing.T) {
	waits := func(_ *Config, o *Options) {
		o.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
	}
	a := spec(t, nil, plainGet, waits)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := a.Call(ctx, "get", nil, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualError(t, err, "shop.get: no answer came in time")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = a.Call(stopped, "get", nil, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// What the host's own policy says is no failure of a server.
func TestThePolicyOfTheHost(t *testing.T) {
	asked := 0
	a := spec(t, nil, plainGet, func(_ *Config, o *Options) {
		o.HTTP = roundTrip(func(*http.Request) (*http.Response, error) {
			asked++
			return nil, fmt.Errorf("dial: %w", &hostmod.PermissionError{Message: "not granted: net", Key: "net"})
		})
	})
	failed := fails(t, a, "get", nil, nil)
	require.Equal(t, 1, asked)
	require.Equal(t, CodePermission, failed.Code)
	require.Equal(t, "not granted: net", failed.Message)
	require.False(t, failed.Retryable)
	require.False(t, failed.Sent)
	require.ErrorContains(t, errors.Unwrap(failed), "dial: not granted")
}

// Connections are kept for calls in parallel: with those of http.DefaultTransport all but two are made anew each time.
func TestConnectionsAreKept(t *testing.T) {
	const together = 10
	var opened atomic.Int32
	arrived, leave := make(chan struct{}), make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-leave
		w.WriteHeader(http.StatusNoContent)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	a := spec(t, nil, plainGet, func(c *Config, _ *Options) { c.BaseURL = server.URL })
	for range 3 {
		var wait sync.WaitGroup
		for range together {
			wait.Go(func() { _, _ = a.Call(t.Context(), "get", nil, nil) })
		}
		for range together {
			<-arrived
		}
		for range together {
			leave <- struct{}{}
		}
		wait.Wait()
	}
	require.LessOrEqual(t, opened.Load(), int32(together+together/2))
}

func TestHeadersOfResponses(t *testing.T) {
	r := record(t, answer("200 OK", "text/plain", "a", "Link: <https://x/?page=2>; rel=next", "Set-Cookie: session=secret", "X-Total: 3"))
	response := call(t, spec(t, r, plainGet), "get", nil, nil)
	require.Equal(t, "<https://x/?page=2>; rel=next", response.Headers.Get("Link"))
	require.Equal(t, "3", response.Headers.Get("X-Total"))
	require.Empty(t, response.Headers.Get("Set-Cookie"))
}

func TestUnknownFunctions(t *testing.T) {
	require.Equal(t, `shop.gett: there is no function "gett", did you mean "get"?`, fails(t, spec(t, nil, plainGet), "gett", nil, nil).Error())
	require.Contains(t, fails(t, spec(t, nil, plainGet), "get", nil, "x").Message, "this call has no body")
}
