package httpmod

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// short is how long the tests let a bad peer try; soon is when it must be over.
const (
	short = 100 * time.Millisecond
	soon  = 2 * time.Second
)

// badPeers never finish an answer, each at another point of the exchange.
func badPeers(t *testing.T) map[string]*peer {
	trickle := func(conn net.Conn, head string) {
		_, _ = io.WriteString(conn, head)
		for {
			if _, err := conn.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return map[string]*peer{
		"http://":        newPeer(t, nil),
		"https://":       newPeer(t, nil),
		"http://head@":   newPeer(t, func(c net.Conn) { trickle(c, "HTTP/1.1 200 OK\r\nX: ") }),
		"http://body@":   newPeer(t, func(c net.Conn) { trickle(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n") }),
		"http://gzip@":   newPeer(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f") }),
		"http://moved@":  newPeer(t, func(c net.Conn) { trickle(c, "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 4000\r\n\r\n") }),
		"https://shake@": newPeer(t, func(c net.Conn) { _, _ = c.Write([]byte{22, 3, 3, 0, 100, 2}) }),
	}
}

func TestA21_BadPeersEndOnTime(t *testing.T) {
	for scheme, p := range badPeers(t) {
		t.Run(scheme, func(t *testing.T) {
			c := newClient(t, Options{Policy: everything})
			start := time.Now()
			_, err := c.Do(t.Context(), &Request{URL: scheme + p.addr, Timeout: short})
			e := failure(t, err, CodeTimeout)
			assert.Less(t, time.Since(start), soon)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.NotErrorIs(t, err, context.Canceled)
			assert.Contains(t, e.Message, "100ms")
			p.awaitClose(t)
		})
	}
}

func TestA21_CallerEndsARequest(t *testing.T) {
	for scheme, p := range badPeers(t) {
		t.Run(scheme, func(t *testing.T) {
			c := newClient(t, Options{Policy: everything, Timeout: -1})
			ctx, cancel := context.WithTimeout(t.Context(), short)
			defer cancel()
			_, err := c.Do(ctx, &Request{URL: scheme + p.addr})
			failure(t, err, CodeTimeout)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			p.awaitClose(t)

			ctx, cancel = context.WithCancel(t.Context())
			time.AfterFunc(short, cancel)
			start := time.Now()
			_, err = c.Do(ctx, &Request{URL: scheme + p.addr})
			assert.Less(t, time.Since(start), soon)
			failure(t, err, CodeCancelled)
			assert.ErrorIs(t, err, context.Canceled)
			p.awaitClose(t)
		})
	}
}

func TestA21_SilentNameServer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // the query ends with the request, not with its own timeout
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	r := newResolver()
	dial := r.Dial
	r.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx, "udp", silent.LocalAddr().String())
	}
	c := newClient(t, Options{Policy: everything, Resolver: r})
	start := time.Now()
	_, err = c.Do(t.Context(), &Request{URL: "http://slow.test/", Timeout: short})
	failure(t, err, CodeTimeout)
	assert.Less(t, time.Since(start), soon)
}

func TestCancelCauseIsRespected(t *testing.T) {
	p := newPeer(t, nil)
	c := newClient(t, Options{Policy: everything})
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(short, func() { cancel(context.DeadlineExceeded) })
	_, err := c.Do(ctx, &Request{URL: "http://" + p.addr})
	failure(t, err, CodeTimeout)
	over, stop := context.WithCancel(t.Context())
	stop()
	_, err = c.Do(over, &Request{URL: "http://" + p.addr})
	failure(t, err, CodeCancelled)
}

func TestNetworkFailuresAreWorded(t *testing.T) {
	names := newNameServer(t, map[string][][]string{})
	c := newClient(t, Options{Policy: everything, Resolver: names.resolver()})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed.Close()
	plain := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	hangup := newPeer(t, func(conn net.Conn) { conn.Close() })
	junk := newPeer(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "SSH-2.0-x\r\n\r\n") })
	for _, row := range []struct {
		url, says string
		retryable bool
	}{
		{"http://" + closed.Addr().String() + "/p?key=secret", "connection refused", true},
		{"http://missing.test/", `no such host "missing.test"`, false},
		{"https" + plain.URL[4:], "TLS", false},
		{"http://" + hangup.addr, "closed the connection", true},
		{"http://" + junk.addr, "does not answer in HTTP", false},
	} {
		_, err := get(t, c, row.url)
		e := failure(t, err, CodeUpstream)
		assert.Contains(t, e.Message, row.says)
		assert.Equal(t, row.retryable, e.Retryable, row.url)
		assert.NotContains(t, e.Error(), "secret")
		assert.Contains(t, e.Error(), "GET "+e.URL)
		assert.NotNil(t, errors.Unwrap(err))
	}
}

func TestHugeHeadIsRefused(t *testing.T) {
	p := newPeer(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		for {
			if _, err := io.WriteString(conn, "X-Header: 0123456789012345678901234567890123456789\r\n"); err != nil {
				return
			}
		}
	})
	_, err := get(t, newClient(t, Options{Policy: everything}), "http://"+p.addr)
	failure(t, err, CodeLimit)
	p.awaitClose(t)
}

func TestCertificatesAreVerified(t *testing.T) {
	s := newTLSServer(t)
	_, err := get(t, newClient(t, Options{Policy: everything}), s.URL)
	assert.Contains(t, failure(t, err, CodeUpstream).Message, "signed by itself")
	names := newNameServer(t, map[string][][]string{"other.test.": {{"127.0.0.1"}}})
	c := newClient(t, Options{Policy: everything, RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, Resolver: names.resolver()})
	_, err = get(t, c, "https://other.test:"+portOfURL(t, s.URL))
	assert.Contains(t, failure(t, err, CodeUpstream).Message, "not for other.test")
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	assert.True(t, ok)
}
