package httpmod

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newProxy answers plain requests itself, tunnels CONNECT to tunnel, and notes
// what it was asked for.
func newProxy(t *testing.T, tunnel string) (url string, asked chan string) {
	asked = make(chan string, 10)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.RequestURI
		if r.Method != http.MethodConnect {
			_, _ = io.WriteString(w, "from the proxy")
			return
		}
		up, err := net.Dial("tcp", tunnel)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer up.Close()
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(up, conn); up.Close() }()
		_, _ = io.Copy(conn, up)
	})
	t.Setenv("HTTP_PROXY", s.URL)
	t.Setenv("HTTPS_PROXY", s.URL)
	t.Setenv("NO_PROXY", "")
	t.Setenv("REQUEST_METHOD", "")
	return s.URL, asked
}

func TestProxyIsUsedOnlyWhenAsked(t *testing.T) {
	_, asked := newProxy(t, "")
	names := newNameServer(t, map[string][][]string{})
	c := newClient(t, Options{Policy: Policy{AllowAll: true, UseProxyEnv: true}, Resolver: names.resolver()})
	resp, err := get(t, c, "http://far.test/x")
	require.NoError(t, err, "the proxy's own address and name need no grant")
	assert.Equal(t, "from the proxy", string(resp.Body))
	assert.Equal(t, "GET http://far.test/x", <-asked)
	c = newClient(t, Options{Policy: everything, Resolver: names.resolver()})
	_, err = get(t, c, "http://far.test/x")
	failure(t, err, CodeUpstream)
	assert.Empty(t, asked)
}

func TestPolicyHoldsThroughAProxy(t *testing.T) {
	proxy, asked := newProxy(t, "")
	names := newNameServer(t, map[string][][]string{"inside.test.": {{"10.0.0.1"}}, "outside.test.": {{"93.184.216.34"}}})
	c := newClient(t, Options{Policy: Policy{Net: []string{"*.test"}, UseProxyEnv: true}, Resolver: names.resolver()})
	for url, key := range map[string]string{
		"http://other.example/": keyNet, "http://10.0.0.1/": keyPrivate, "https://10.0.0.1/": keyPrivate,
		"http://167772161/": keyPrivate, "http://inside.test/": keyPrivate, proxy + "/": keyPrivate,
	} {
		_, err := get(t, c, url)
		assert.Equal(t, key, failure(t, err, CodePermission).Key, url)
	}
	assert.Empty(t, asked)
	for _, url := range []string{"http://outside.test/", "http://unknown-here.test/"} {
		_, err := get(t, c, url)
		require.NoError(t, err, url)
		assert.Equal(t, "GET "+url, <-asked)
	}
}

func TestTunnel(t *testing.T) {
	s := newTLSServer(t)
	_, asked := newProxy(t, strings.TrimPrefix(s.URL, "https://"))
	roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c := newClient(t, Options{Policy: Policy{AllowAll: true, UseProxyEnv: true}, RootCAs: roots})
	for range 2 {
		resp, err := c.Do(t.Context(), &Request{Method: "POST", URL: "https://example.com/", Body: []byte("hi")})
		require.NoError(t, err)
		assert.Equal(t, "hi", string(resp.Body))
	}
	assert.Equal(t, "CONNECT example.com:443", <-asked)
	assert.Empty(t, asked, "the tunnel is kept")
}

func TestTunnelThatNeverShakesHandsIsClosed(t *testing.T) {
	silent := newPeer(t, nil)
	newProxy(t, silent.addr)
	c := newClient(t, Options{Policy: Policy{AllowAll: true, UseProxyEnv: true}})
	_, err := c.Do(t.Context(), &Request{URL: "https://example.com/", Timeout: short})
	failure(t, err, CodeTimeout)
	silent.awaitClose(t)
}
