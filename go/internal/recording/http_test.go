package recording_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/recording"
	"github.com/hukilau/hukilau/go/internal/redact"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-very-secret-0001"

func options() recording.Options {
	return recording.Options{Name: "rec.json", File: "tool.yaml", Redact: redact.New([]string{secret}).Text}
}

func client(t *testing.T, s *recording.Session) *httpmod.Client {
	t.Helper()
	c, err := httpmod.New(httpmod.Options{Policy: httpmod.Policy{NetPrivate: []string{"127.0.0.1"}}, Wrap: s.Transport})
	require.NoError(t, err)
	t.Cleanup(c.CloseIdle)
	return c
}

func begin(t *testing.T, s *recording.Session) (context.Context, *recording.Run) {
	t.Helper()
	run, err := s.Begin("tool", "", map[string]any{"a": 1.0})
	require.NoError(t, err)
	return run.Context(t.Context()), run
}

// twice records what a script does against a server, and does it again when the server is gone.
func twice(t *testing.T, server *httptest.Server, script func(ctx context.Context, c *httpmod.Client, replaying bool)) (text []byte, out recording.Outcome) {
	t.Helper()
	s := recording.New(options())
	ctx, run := begin(t, s)
	c := client(t, s)
	script(ctx, c, false)
	require.Empty(t, run.End())
	c.CloseIdle()
	server.Close()
	text, err := s.Encode()
	require.NoError(t, err)
	require.True(t, recording.Recognise(text))
	replay, err := recording.Open(text, options())
	require.NoError(t, err)
	ctx, run = begin(t, replay)
	script(ctx, client(t, replay), true)
	return text, run.End()
}

func get(ctx context.Context, t *testing.T, c *httpmod.Client, url string) string {
	t.Helper()
	r, err := c.Do(ctx, &httpmod.Request{URL: url})
	require.NoError(t, err)
	return fmt.Sprint(r.Status, " ", r.Header["X-Test"], " ", string(r.Body))
}

func TestAnswersComeBackWithoutTheServer(t *testing.T) {
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("X-Test", "one")
		w.Header().Add("X-Test", "two")
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%d %s %s\n%s <&>\x00", n, r.Method, r.URL, body)
	}))
	var said [2][]string
	text, out := twice(t, server, func(ctx context.Context, c *httpmod.Client, replaying bool) {
		i := 0
		if replaying {
			i = 1
		}
		said[i] = append(said[i], get(ctx, t, c, server.URL+"/a?b=c"), get(ctx, t, c, server.URL+"/a?b=c"), get(ctx, t, c, server.URL+"/moved"))
		r, err := c.Do(ctx, &httpmod.Request{Method: "POST", URL: server.URL, Body: []byte("posted")})
		require.NoError(t, err)
		said[i] = append(said[i], string(r.Body))
		// What the policy refuses is asked of nobody.
		_, err = c.Do(ctx, &httpmod.Request{URL: "http://10.1.2.3/"})
		require.Equal(t, httpmod.CodePermission, err.(*httpmod.Error).Code)
	})
	require.Equal(t, said[0], said[1])
	require.Contains(t, said[1][0], "418 [one two] 1 GET /a?b=c\n")
	require.Contains(t, said[1][1], "2 GET")
	require.Contains(t, said[1][2], "4 GET /there")
	require.Empty(t, out)
	require.Contains(t, string(text), `"posted <&>`)
}

func TestPackedAndBinaryBodies(t *testing.T) {
	binary := []byte{0, 1, 0xff, 0xfe, 7}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/binary" {
			w.Header().Set("Content-Length", "5")
			_, _ = w.Write(binary)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprintf(z, "readable\ntext with %s", secret)
		_ = z.Close()
	}))
	text, out := twice(t, server, func(ctx context.Context, c *httpmod.Client, replaying bool) {
		r, err := c.Do(ctx, &httpmod.Request{URL: server.URL + "/binary"})
		require.NoError(t, err)
		require.Equal(t, binary, r.Body)
		r, err = c.Do(ctx, &httpmod.Request{URL: server.URL + "/packed"})
		require.NoError(t, err)
		want := secret
		if replaying {
			want = redact.Mark
		}
		require.Equal(t, "readable\ntext with "+want, string(r.Body))
		// Who asks for a coding gets the bytes.
		r, err = c.Do(ctx, &httpmod.Request{URL: server.URL + "/packed", Header: http.Header{"Accept-Encoding": {"gzip"}}})
		require.NoError(t, err)
		z, err := gzip.NewReader(bytes.NewReader(r.Body))
		require.NoError(t, err)
		plain, err := io.ReadAll(z)
		require.NoError(t, err)
		require.Equal(t, "readable\ntext with "+want, string(plain))
	})
	require.Empty(t, out)
	require.Contains(t, string(text), `"readable",`)
	require.Contains(t, string(text), base64.StdEncoding.EncodeToString(binary))
	require.NotContains(t, string(text), secret)
}

func TestWhatIsNotInTheRecording(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	url := server.URL
	_, out := twice(t, server, func(ctx context.Context, c *httpmod.Client, replaying bool) {
		post := func(body string) error {
			_, err := c.Do(ctx, &httpmod.Request{Method: "POST", URL: url + "/items", Body: []byte(body)})
			return err
		}
		if !replaying {
			require.NoError(t, post(`{"n":1}`))
			get(ctx, t, c, url+"/never")
			get(ctx, t, c, url+"/once")
			return
		}
		require.EqualError(t, post(`{"n":2}`), "POST "+url+"/items: the recording rec.json has no answer to this: POST "+url+
			`/items with the body {"n":2}; the nearest that it has is POST `+url+`/items with the body {"n":1}`)
		get(ctx, t, c, url+"/once")
		_, err := c.Do(ctx, &httpmod.Request{URL: url + "/once"})
		require.ErrorContains(t, err, "GET "+url+"/once, which is in it once only")
		_, err = c.Do(ctx, &httpmod.Request{URL: url + "/nevar"})
		require.ErrorContains(t, err, "the nearest that it has is GET "+url+"/never")
	})
	require.Len(t, out.Missing, 3)
	require.Equal(t, []string{"POST " + url + `/items with the body {"n":1}`, "GET " + url + "/never"}, out.Unused)
}

func TestRequestsMayComeInAnotherOrder(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }))
	_, out := twice(t, server, func(ctx context.Context, c *httpmod.Client, replaying bool) {
		paths := []string{"/a", "/b", "/c"}
		if replaying {
			paths = []string{"/c", "/a", "/b"}
		}
		for _, path := range paths {
			require.Equal(t, "200 [] "+path, get(ctx, t, c, server.URL+path))
		}
	})
	require.Empty(t, out)
}

func TestFailuresComeBackAsTheyWere(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		if r.URL.Path == "/cut" {
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		}
		conn.Close()
	}))
	var said [2][]string
	_, out := twice(t, server, func(ctx context.Context, c *httpmod.Client, replaying bool) {
		i := 0
		if replaying {
			i = 1
		}
		for _, path := range []string{"/", "/cut"} {
			_, err := c.Do(ctx, &httpmod.Request{Method: "POST", URL: server.URL + path})
			e := err.(*httpmod.Error)
			said[i] = append(said[i], fmt.Sprint(e.Code, e.Retryable, e))
		}
	})
	require.Equal(t, said[0], said[1])
	require.Contains(t, said[1][1], "closed the connection before its answer was complete")
	require.Empty(t, out)
}

func TestStreams(t *testing.T) {
	lines := strings.Repeat("data: 0123456789\n\n", 200)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, lines)
		w.(http.Flusher).Flush()
		if r.URL.Path == "/endless" {
			<-r.Context().Done()
		}
	}))
	_, out := twice(t, server, func(ctx context.Context, c *httpmod.Client, replaying bool) {
		s, err := c.Open(ctx, ctx, &httpmod.Request{URL: server.URL, MaxBody: -1})
		require.NoError(t, err)
		first := make([]byte, 2048)
		n, err := s.Read(first)
		require.NoError(t, err)
		if replaying {
			require.Less(t, n, len(first), "a stream comes in pieces")
		}
		rest, err := io.ReadAll(s)
		require.NoError(t, err)
		require.Equal(t, lines, string(first[:n])+string(rest))
		s.Close()
		// A stream that is left.
		s, err = c.Open(ctx, ctx, &httpmod.Request{URL: server.URL + "/endless", MaxBody: -1})
		require.NoError(t, err)
		_, err = io.ReadFull(s, make([]byte, len(lines)))
		require.NoError(t, err)
		if replaying {
			_, err = s.Read(first)
			require.ErrorContains(t, err, "the rest of the body")
		}
		s.Close()
	})
	require.Len(t, out.Missing, 1)
}

// What nobody waited for has no outcome: it waits again until nobody does.
func TestRequestsThatWereGivenUp(t *testing.T) {
	arrived := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	_, out := twice(t, server, func(ctx context.Context, c *httpmod.Client, replaying bool) {
		ctx, cancel := context.WithCancel(ctx)
		done := make(chan error)
		go func() {
			_, err := c.Do(ctx, &httpmod.Request{URL: server.URL})
			done <- err
		}()
		if replaying {
			select {
			case err := <-done:
				t.Errorf("it must wait, got %v", err)
			case <-time.After(20 * time.Millisecond):
			}
		} else {
			<-arrived
		}
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
	require.Empty(t, out)
}

func TestSecretsAreNotInTheFile(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "session=cookie-0002")
		w.Header().Set("X-Api-Key", "key-0003")
		if r.URL.Path == "/login" {
			w.Header().Set("Location", "/next?token=next-0004&who="+secret)
			w.WriteHeader(http.StatusFound)
			return
		}
		fmt.Fprintf(w, `{"access_token": "tok\"en-0005", "said": %q, "next_token": "page2"}`, secret)
	}))
	text, out := twice(t, server, func(ctx context.Context, c *httpmod.Client, replaying bool) {
		for _, r := range []httpmod.Request{
			{URL: server.URL + "/login?api_key=query-0006&q=" + secret, Header: http.Header{
				"Authorization": {"Bearer header-0007"}, "Cookie": {"a=header-0008"}, "X-Mine": {"header-0009"}, "Accept": {"text/plain"},
			}},
			{Method: "POST", URL: "http://user:pass-0010@" + server.Listener.Addr().String() + "/", Body: []byte(`{"password":"body-0011","deep":"` + secret + `"}`)},
			{Method: "POST", URL: server.URL, Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, Body: []byte("client_secret=form-0012&n=1")},
			{Method: "PUT", URL: server.URL, Body: append([]byte{0xff, 0xfe}, secret...)},
		} {
			if replaying { // without the secrets
				r.URL = strings.ReplaceAll(strings.ReplaceAll(r.URL, secret, redact.Mark), "query-0006", "another")
				r.Body = bytes.ReplaceAll(r.Body, []byte(secret), []byte(redact.Mark))
				r.Body = bytes.ReplaceAll(r.Body, []byte("body-0011"), []byte("another"))
			}
			_, err := c.Do(ctx, &r)
			require.NoError(t, err)
		}
	})
	require.Empty(t, out)
	require.NotContains(t, string(text), secret)
	require.NotContains(t, string(text), base64.StdEncoding.EncodeToString([]byte(secret))[:20])
	for n := 1; n <= 12; n++ {
		require.NotContains(t, string(text), fmt.Sprintf("-%04d", n))
	}
	require.Contains(t, string(text), `\"next_token\": \"page2\"`)
	require.Contains(t, string(text), `"Accept": "text/plain"`)
}
