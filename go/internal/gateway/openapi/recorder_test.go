package openapi

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder is a server that keeps what it is sent byte for byte and answers with prepared texts.
type recorder struct {
	URL     string
	mu      sync.Mutex
	sent    []string
	answers []string
}

const noContent = "HTTP/1.1 204 No Content\r\n\r\n"

// record starts a server. It gives its answers in turn, the last one again and again; an empty one closes the
// connection.
func record(t *testing.T, answers ...string) *recorder {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if len(answers) == 0 {
		answers = []string{noContent}
	}
	r := &recorder{URL: "http://" + listener.Addr().String(), answers: answers}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			wait.Go(func() { r.serve(connection) })
		}
	})
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		wait.Wait()
	})
	return r
}

func (r *recorder) serve(connection net.Conn) {
	defer connection.Close()
	var raw bytes.Buffer
	request, err := http.ReadRequest(bufio.NewReaderSize(io.TeeReader(connection, &raw), 16))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		return
	}
	r.mu.Lock()
	r.sent = append(r.sent, raw.String())
	answer := r.answers[min(len(r.sent), len(r.answers))-1]
	r.mu.Unlock()
	if head, body, ok := strings.Cut(answer, "\r\n\r\n"); ok {
		_, _ = io.WriteString(connection, head+"\r\nConnection: close\r\n\r\n"+body)
	}
}

func (r *recorder) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.sent...)
}

// last is the last request, in parts.
func (r *recorder) last(t *testing.T) (target string, header http.Header, body string) {
	t.Helper()
	list := r.requests()
	require.NotEmpty(t, list, "nothing was sent")
	raw := list[len(list)-1]
	line, rest, _ := strings.Cut(raw, "\r\n")
	words := strings.Split(line, " ")
	require.Len(t, words, 3)
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	require.NoError(t, err)
	_, body, _ = strings.Cut(rest, "\r\n\r\n")
	return words[1], request.Header, body
}

// spec makes an API of a text of YAML; its server is that of the recorder.
func spec(t *testing.T, r *recorder, text string, change ...func(*Config, *Options)) *API {
	t.Helper()
	a, err := load(t, text, append([]func(*Config, *Options){func(c *Config, _ *Options) {
		if r != nil {
			c.BaseURL = r.URL
		}
	}}, change...)...)
	require.NoError(t, err)
	return a
}

func load(t *testing.T, text string, change ...func(*Config, *Options)) (*API, error) {
	t.Helper()
	config := Config{Name: "shop", Spec: "spec.yaml"}
	options := Options{ReadFile: func(folder, name string) ([]byte, error) {
		require.Equal(t, "./spec.yaml", folder+"/"+name)
		return []byte(text), nil
	}}
	for _, do := range change {
		do(&config, &options)
	}
	a, err := Load(t.Context(), config, options)
	if err == nil {
		t.Cleanup(a.Close)
	}
	return a, err
}

func call(t *testing.T, a *API, function string, params map[string]any, body any) *Response {
	t.Helper()
	response, err := a.Call(t.Context(), function, params, body)
	require.NoError(t, err)
	return response
}

// fails gives the error of a call.
func fails(t *testing.T, a *API, function string, params map[string]any, body any) *Error {
	t.Helper()
	_, err := a.Call(t.Context(), function, params, body)
	var failed *Error
	require.ErrorAs(t, err, &failed)
	return failed
}

const head = "openapi: 3.0.3\ninfo: {title: Shop, version: '1'}\nservers: [{url: 'http://127.0.0.1:1'}]\n"
