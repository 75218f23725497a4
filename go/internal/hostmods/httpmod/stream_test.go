package httpmod

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newTLSServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Peer", r.RemoteAddr)
		_, _ = io.Copy(w, r.Body)
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func tlsClient(t *testing.T, s *httptest.Server, opts Options) *Client {
	t.Helper()
	opts.Policy = everything
	opts.RootCAs = s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return newClient(t, opts)
}

func TestHTTP2AndItsConnectionIsKept(t *testing.T) {
	s := newTLSServer(t)
	c := tlsClient(t, s, Options{})
	var peers []string
	for range 3 {
		resp, err := c.Do(t.Context(), &Request{Method: "POST", URL: s.URL, Body: []byte("a\x00b")})
		require.NoError(t, err)
		assert.Equal(t, "HTTP/2.0", resp.Proto)
		assert.Equal(t, "a\x00b", string(resp.Body))
		peers = append(peers, resp.Header.Get("X-Peer"))
	}
	assert.Equal(t, peers[0], peers[1])
	assert.Equal(t, peers[0], peers[2])
}

func TestHTTP1ConnectionIsKept(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Peer", r.RemoteAddr)
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/next", http.StatusFound)
		}
	})
	c := newClient(t, Options{Policy: everything})
	a, err := get(t, c, s.URL)
	require.NoError(t, err)
	b, err := get(t, c, s.URL)
	require.NoError(t, err)
	assert.Equal(t, a.Header.Get("X-Peer"), b.Header.Get("X-Peer"))
	c.CloseIdle()
	d, err := get(t, c, s.URL)
	require.NoError(t, err)
	assert.NotEqual(t, a.Header.Get("X-Peer"), d.Header.Get("X-Peer"))
}

// ticker sends a line whenever it is asked to, and ends with the client.
func ticker(t *testing.T) (*httptest.Server, chan string) {
	lines := make(chan string)
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		for {
			select {
			case line := <-lines:
				_, _ = io.WriteString(w, line+"\n")
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}), lines
}

func TestStreamOutlivesTheTimeoutOfItsHead(t *testing.T) {
	s, lines := ticker(t)
	c := newClient(t, Options{Policy: everything})
	stream, err := c.Open(t.Context(), t.Context(), &Request{URL: s.URL, Timeout: 300 * time.Millisecond, IdleTimeout: -1})
	require.NoError(t, err)
	defer stream.Close()
	in := bufio.NewReader(stream)
	time.AfterFunc(400*time.Millisecond, func() { lines <- "late" })
	line, err := in.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "late\n", line)
}

func TestStreamThatFallsSilent(t *testing.T) {
	s, lines := ticker(t)
	c := newClient(t, Options{Policy: everything})
	stream, err := c.Open(t.Context(), t.Context(), &Request{URL: s.URL, IdleTimeout: short})
	require.NoError(t, err)
	defer stream.Close()
	in := bufio.NewReader(stream)
	go func() { lines <- "one" }()
	_, err = in.ReadString('\n')
	require.NoError(t, err)
	_, err = in.ReadString('\n')
	assert.Contains(t, failure(t, err, CodeTimeout).Message, "sent nothing for 100ms")
}

func TestStreamHasTheSameLimits(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		_, _ = w.Write(make([]byte, 5000))
	})
	c := newClient(t, Options{Policy: everything, MaxBody: 1000})
	mem := &account{}
	read := func(limit int64) (int64, error) {
		stream, err := c.Open(t.Context(), t.Context(), &Request{URL: s.URL, MaxBody: limit, Memory: mem})
		require.NoError(t, err)
		defer stream.Close()
		return io.Copy(io.Discard, stream)
	}
	n, err := read(0)
	failure(t, err, CodeLimit)
	assert.EqualValues(t, 1000, n)
	n, err = read(-1)
	require.NoError(t, err)
	assert.EqualValues(t, 5000, n)
	assert.Zero(t, mem.now())
	_, err = newClient(t, Options{}).Open(t.Context(), t.Context(), &Request{URL: s.URL})
	failure(t, err, CodePermission)
}

func TestPiecesForScriptsAreCharged(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2*maxRead)) })
	mem := &account{}
	opened, err := newClient(t, Options{Policy: everything}).Open(t.Context(), t.Context(), &Request{URL: s.URL, MaxBody: -1, Memory: mem})
	require.NoError(t, err)
	defer opened.Close()
	stream, before := &scriptStream{Stream: opened}, mem.now()
	_, err = stream.next(t.Context(), maxRead)
	require.NoError(t, err)
	require.GreaterOrEqual(t, mem.peak, before+maxRead)
	require.Equal(t, before, mem.now(), "a large room is given back at once")
	_, err = stream.next(t.Context(), defaultRead)
	require.NoError(t, err)
	require.Equal(t, before+defaultRead, mem.now(), "a usual one is kept for the next read")
	opened.Close()
	require.Zero(t, mem.now())
}

func TestOpeningEndsBeforeTheRun(t *testing.T) {
	p := newPeer(t, nil)
	opening, cancel := context.WithCancel(t.Context())
	time.AfterFunc(short, cancel)
	_, err := newClient(t, Options{Policy: everything}).Open(opening, t.Context(), &Request{URL: "http://" + p.addr, Timeout: 10 * time.Second})
	failure(t, err, CodeCancelled)
	p.awaitClose(t)
}

func TestStreamCloseWakesItsReader(t *testing.T) {
	s, _ := ticker(t)
	c := newClient(t, Options{Policy: everything})
	stream, err := c.Open(t.Context(), t.Context(), &Request{URL: s.URL})
	require.NoError(t, err)
	time.AfterFunc(short, func() { stream.Close() })
	_, err = stream.Read(make([]byte, 10))
	failure(t, err, CodeCancelled)
	require.NoError(t, stream.Close())
	_, err = stream.Read(make([]byte, 10))
	failure(t, err, CodeCancelled)
}

// A22, the HTTP part: what a script leaves behind goes with its context, and the
// process looks as before.
func TestA22_AbandonedRequestsAndStreams(t *testing.T) {
	s, _ := ticker(t)
	silent := newPeer(t, nil)
	c := newClient(t, Options{Policy: everything, MaxInFlight: 400})
	mem := &account{}
	round := func() {
		ctx, cancel := context.WithCancel(t.Context())
		var opened, done sync.WaitGroup
		for i := range 25 {
			opened.Go(func() {
				_, err := c.Open(ctx, ctx, &Request{URL: s.URL, Memory: mem}) // never closed
				assert.NoError(t, err)
			})
			done.Go(func() {
				scheme := []string{"http://", "https://"}[i%2]
				_, err := c.Do(ctx, &Request{URL: scheme + silent.addr, Memory: mem})
				assert.ErrorIs(t, err, context.Canceled)
			})
		}
		opened.Wait()
		cancel()
		done.Wait()
	}
	round()
	settled := func() (goroutines, files int) { return runtime.NumGoroutine(), openFiles(t) }
	require.Eventually(t, func() bool { return mem.now() == 0 && len(c.slots) == 0 }, soon, time.Millisecond)
	time.Sleep(short)
	goroutines, files := settled()
	for range 10 {
		round()
	}
	assert.Eventually(t, func() bool {
		g, f := settled()
		return g <= goroutines+5 && f <= files+5 && mem.now() == 0 && len(c.slots) == 0
	}, soon, 10*time.Millisecond)
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

func TestRequestsWaitForASlot(t *testing.T) {
	s, _ := ticker(t)
	c := newClient(t, Options{Policy: everything, MaxInFlight: 1})
	stream, err := c.Open(t.Context(), t.Context(), &Request{URL: s.URL})
	require.NoError(t, err)
	_, err = c.Do(t.Context(), &Request{URL: s.URL, Timeout: short})
	failure(t, err, CodeTimeout)
	stream.Close()
	again, err := c.Open(t.Context(), t.Context(), &Request{URL: s.URL})
	require.NoError(t, err)
	again.Close()
}

func TestManyAtOnce(t *testing.T) {
	plain := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.RawQuery) })
	s := newTLSServer(t)
	c := tlsClient(t, s, Options{MaxInFlight: 16})
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			want := fmt.Sprint("n", i)
			r := &Request{URL: plain.URL + "/?" + want}
			if i%2 == 0 {
				r = &Request{Method: "POST", URL: s.URL, Body: []byte(want)}
			}
			resp, err := c.Do(t.Context(), r)
			if assert.NoError(t, err) {
				assert.Equal(t, want, string(resp.Body))
			}
		})
	}
	wg.Wait()
}
