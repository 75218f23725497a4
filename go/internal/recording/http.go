package recording

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
)

// maxKeptBody is how large the body of a request may be to be kept beside its digest, for people.
const maxKeptBody = 16 << 10

// Transport goes around what sends requests. In a replay nothing is sent.
func (s *Session) Transport(next http.RoundTripper) http.RoundTripper { return &transport{s, next} }

type transport struct {
	session *Session
	next    http.RoundTripper
}

var errNoRun = errors.New("the request belongs to no run of the recording")

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	run := runOf(req.Context())
	if run == nil && !t.session.replaying {
		return t.next.RoundTrip(req)
	}
	data, err := takeBody(req)
	if err != nil {
		return nil, err
	}
	if run == nil {
		return nil, errNoRun
	}
	asked := t.session.request(req, data)
	if t.session.replaying {
		return run.answer(req, asked)
	}
	sent := req.Clone(req.Context())
	sent.Body = io.NopCloser(bytes.NewReader(data))
	return run.record(t.next, sent, asked)
}

// takeBody reads the body of a request, and closes it as a transport must.
func takeBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	data, err := io.ReadAll(req.Body)
	return data, errors.Join(err, req.Body.Close())
}

// request is what a recording says of a request.
func (s *Session) request(req *http.Request, data []byte) *exchange {
	text := string(data)
	if strings.HasPrefix(req.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		text = s.cleanForm(text)
	} else {
		text = s.clean(text)
	}
	e := &exchange{
		Method: req.Method, URL: s.cleanURL(req.URL), Headers: s.requestHeaders(req.Header), Digest: digest([]byte(text)),
	}
	if len(text) <= maxKeptBody {
		e.Body = newBody([]byte(text))
	}
	return e
}

// asked says in one line what the request is.
func (e *exchange) asked() string {
	text := e.Method + " " + clipped(e.URL)
	switch {
	case e.Digest == "":
		return text
	case e.Body == nil:
		return fmt.Sprintf("%s with a body of SHA-256 %.8s...", text, e.Digest)
	}
	shown, err := e.Body.MarshalJSON()
	if err != nil || strings.HasPrefix(string(shown), "{") {
		return fmt.Sprintf("%s with a body of %d bytes", text, len(e.Body.data))
	}
	return text + " with the body " + clipped(string(e.Body.data))
}

// record sends a request and keeps what comes of it. Its place is that of its beginning.
func (r *Run) record(next http.RoundTripper, req *http.Request, e *exchange) (*http.Response, error) {
	s := r.session
	s.mu.Lock()
	if len(r.entry.HTTP) >= maxAsked {
		s.fail(fmt.Errorf("a run sends more than %d requests, which are too many for a recording", maxAsked))
	} else {
		r.entry.HTTP = append(r.entry.HTTP, e)
	}
	s.mu.Unlock()
	resp, err := next.RoundTrip(req)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.Failure = s.httpFailure(req.Context(), err)
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 999 { // httpmod refuses it
		s.mu.Lock()
		defer s.mu.Unlock()
		e.Failure = &failure{Code: httpmod.CodeUpstream, Message: fmt.Sprintf("the server answers with status %d, which is none", resp.StatusCode)}
		return resp, nil
	}
	head := &response{Status: resp.StatusCode, Headers: s.responseHeaders(resp.Header), End: left}
	s.mu.Lock()
	e.Response = head
	s.mu.Unlock()
	resp.Body = &listener{ReadCloser: resp.Body, run: r, context: req.Context(), head: head, coding: resp.Header.Get("Content-Encoding")}
	return resp, nil
}

// httpFailure is nil for a request that was given up: it has no outcome.
func (s *Session) httpFailure(ctx context.Context, err error) *failure {
	e := httpmod.Failure(ctx, err)
	if e.Code == httpmod.CodeCancelled {
		return nil
	}
	return &failure{Code: e.Code, Message: s.clean(e.Message), Retryable: e.Retryable, Reason: e.Reason, Key: e.Key, Host: e.Host}
}

// listener keeps what is read of a body.
type listener struct {
	io.ReadCloser
	run     *Run
	context context.Context
	head    *response
	coding  string
	heard   bytes.Buffer
	done    bool
}

// Read implements io.Reader.
func (l *listener) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	s := l.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.done || s.problem != nil {
		return n, err
	}
	if s.size += n; s.size > maxBodies {
		s.fail(fmt.Errorf("the answers have more than %d bytes, which are too many for a recording", maxBodies))
		l.heard = bytes.Buffer{}
		return n, err
	}
	l.heard.Write(p[:n])
	if err != nil {
		l.end(err)
	}
	return n, err
}

// Close implements io.Closer.
func (l *listener) Close() error {
	err := l.ReadCloser.Close()
	s := l.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	l.end(nil)
	return err
}

// end writes down what was heard. The caller holds the session's lock.
func (l *listener) end(err error) {
	if l.done {
		return
	}
	l.done = true
	s := l.run.session
	data := l.heard.Bytes()
	l.heard = bytes.Buffer{}
	plain, err2 := decoded(l.coding, data)
	if err2 != nil {
		s.fail(err2)
		return
	}
	l.head.Body = newBody([]byte(s.clean(string(plain))))
	switch {
	case err == io.EOF:
		l.head.End = ""
	case err != nil:
		l.head.End = ""
		if l.head.Broken = s.httpFailure(l.context, err); l.head.Broken == nil {
			l.head.End = waiting
		}
	}
}
