package upstream

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

var _ conn = (*streamable)(nil)

// streamable is a connection over streamable HTTP: each message is a request of its own, and what the server says of
// its own accord comes on a stream that we hold open.
type streamable struct {
	web  *web
	url  string
	peer *peer

	ctx  context.Context
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex // nothing is started once ctx has ended
	session string
	version string
}

func newStreamable(w *web, url string, p *peer) {
	s := &streamable{web: w, url: url, peer: p}
	s.ctx, s.stop = context.WithCancel(context.Background())
	p.conn = s
}

// start runs something until the connection is closed.
func (s *streamable) start(do func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.done.Go(do)
	return true
}

// settled implements conn.
func (s *streamable) settled(version string) {
	s.mu.Lock()
	s.version = version
	s.mu.Unlock()
	if version >= stateless {
		return
	}
	open := make(chan struct{})
	if !s.start(func() { s.listen(sync.OnceFunc(func() { close(open) })) }) {
		return
	}
	patience := time.NewTimer(listenTime)
	defer patience.Stop()
	select {
	case <-open:
	case <-patience.C:
	}
}

// send implements conn.
func (s *streamable) send(ctx context.Context, text []byte, p *pending) error {
	if p != nil {
		if !s.start(func() { s.call(ctx, text, p) }) {
			return errLineClosed()
		}
		return nil
	}
	if s.speaks() >= stateless { // there a request is cancelled by giving up its stream, and nothing else is told
		return nil
	}
	ctx, stop := s.within(ctx)
	defer stop()
	r, err := s.web.do(ctx, http.MethodPost, s.url, text, s.header(nil), nil)
	if err != nil {
		return err
	}
	defer drop(r)
	if r.StatusCode >= 400 {
		return failedStatus(r, nil)
	}
	return nil
}

func (s *streamable) speaks() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// within ends a context with the connection.
func (s *streamable) within(ctx context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancel(ctx)
	unhook := context.AfterFunc(s.ctx, stop)
	return ctx, func() { unhook(); stop() }
}

// header are the headers of a message.
func (s *streamable) header(p *pending) http.Header {
	s.mu.Lock()
	session, version := s.session, s.version
	s.mu.Unlock()
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if session != "" {
		h["Mcp-Session-Id"] = []string{session}
	}
	if p != nil && version == "" && p.method == "server/discover" {
		version = stateless
	}
	if version != "" {
		h["Mcp-Protocol-Version"] = []string{version}
	}
	if p != nil && version >= stateless {
		h["Mcp-Method"] = []string{p.method}
		if p.name != "" {
			h["Mcp-Name"] = []string{headerText(p.name)}
		}
		for name, value := range p.mirrored {
			h.Set("Mcp-Param-"+name, value)
		}
	}
	return h
}

// call sends a request and takes its answer, however it comes.
func (s *streamable) call(ctx context.Context, text []byte, p *pending) {
	ctx, stop := s.within(ctx)
	defer stop()
	header := s.header(p)
	r, err := s.web.do(ctx, http.MethodPost, s.url, text, header, func() { p.sent.Store(true) })
	if err != nil {
		s.peer.fail(p, err)
		return
	}
	if id := r.Header.Get("Mcp-Session-Id"); id != "" && p.method == "initialize" {
		s.mu.Lock()
		s.session = id
		s.mu.Unlock()
	}
	switch media := mediaType(r); {
	case r.StatusCode >= 400:
		s.refused(ctx, p, r, header)
	case media == "text/event-stream":
		s.follow(ctx, p, r)
	case media == "application/json":
		s.document(p, r)
	default:
		drop(r)
		s.peer.fail(p, &Error{Code: CodeInvalidAnswer, Status: r.StatusCode,
			Message: fmt.Sprintf("it answered with %q where JSON or an event stream belongs", shown(media))})
	}
}

// document takes an answer that is one JSON text.
func (s *streamable) document(p *pending, r *http.Response) {
	text, err := readAll(r, s.web.max)
	switch {
	case err == errTooLong:
		s.peer.fail(p, tooLarge(s.peer.max))
		return
	case err != nil:
		s.peer.fail(p, cutOff(err))
		return
	}
	if s.peer.receive(text, p); s.peer.waits(p) {
		s.peer.fail(p, &Error{Code: CodeInvalidAnswer, Message: "what it answered is not the answer to the request"})
	}
}

// cutOff is about an answer whose end did not come.
func cutOff(err error) *Error {
	message := "the connection ended before the answer came"
	if err != nil && err != io.EOF {
		message += ": " + problem(err)
	}
	return &Error{Code: CodeLost, Message: message, cause: err}
}

// maxRefusal is how much of an error's body is read.
const maxRefusal = 64 << 10

// refused takes a status that is an error.
func (s *streamable) refused(ctx context.Context, p *pending, r *http.Response, sent http.Header) {
	body, _ := readAll(r, maxRefusal)
	inSession := sent.Get("Mcp-Session-Id") != ""
	if inSession && r.StatusCode == http.StatusNotFound {
		s.peer.fail(p, sessionGone())
		return
	}
	if s.peer.receive(body, p); !s.peer.waits(p) {
		return
	}
	err := failedStatus(r, body)
	if m, ok := parse(body); ok && m.err != nil { // about no request: its id is null
		said := refused(parseError(m.err))
		err.Number, err.Data, err.Message = said.Number, said.Data, said.Message
	}
	if inSession && r.StatusCode == http.StatusBadRequest && !s.alive(ctx) {
		err = sessionGone()
	}
	s.peer.fail(p, err)
}

func sessionGone() *Error {
	return &Error{Code: CodeUnavailable, Status: http.StatusNotFound, Message: "the server does not know our session any more",
		unsent: true, broken: true}
}

// alive asks whether the server still knows the session: some say 400 where 404 belongs.
func (s *streamable) alive(ctx context.Context) bool {
	r, err := s.web.do(ctx, http.MethodPost, s.url, request(-1, "ping", nil), s.header(nil), nil)
	if err != nil {
		return true // it says nothing about the session
	}
	drop(r)
	return r.StatusCode < 400 || r.StatusCode >= 500
}

// follow takes what comes on the stream of an answer. When it is cut off the rest is fetched, if the server said how.
func (s *streamable) follow(ctx context.Context, p *pending, r *http.Response) {
	id := ""
	for tries := 0; ; {
		stream := newEvents(r.Body, s.web.max)
		stream.id = id
		err := s.peer.hear(stream, p)
		_ = r.Body.Close()
		if !s.peer.waits(p) {
			return
		}
		if stream.id == id {
			tries++
		} else {
			tries = 0
		}
		id = stream.id
		switch {
		case err == errTooLong:
			s.peer.fail(p, tooLarge(s.peer.max))
			return
		case id == "" || tries > 3:
			s.peer.fail(p, cutOff(err))
			return
		}
		if r = s.resume(ctx, id, stream.retry); r == nil {
			s.peer.fail(p, cutOff(err))
			return
		}
	}
}

// maxPause bounds how long a server may have us wait before we come again.
const maxPause = 30 * time.Second

// resume opens a stream behind an event. It is nil where the server does not offer that.
func (s *streamable) resume(ctx context.Context, id string, after time.Duration) *http.Response {
	if pause(ctx, min(after, maxPause)) != nil {
		return nil
	}
	r, err := s.web.do(ctx, http.MethodGet, s.url, nil, s.streamHeader(id), nil)
	if err != nil {
		return nil
	}
	if r.StatusCode != http.StatusOK || mediaType(r) != "text/event-stream" {
		drop(r)
		return nil
	}
	return r
}

// close implements conn.
func (s *streamable) close() {
	s.mu.Lock()
	s.stop()
	session := s.session
	s.mu.Unlock()
	s.done.Wait()
	if session != "" {
		s.leave()
	}
	s.web.close()
}

// leave tells the server that the session is over. It may not care.
func (s *streamable) leave() {
	s.peer.mu.Lock()
	ours := s.peer.cause.Code == CodeClosed
	s.peer.mu.Unlock()
	if !ours { // it is gone already, or cannot be reached
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	if r, err := s.web.do(ctx, http.MethodDelete, s.url, nil, s.header(nil), nil); err == nil {
		drop(r)
	}
}

// pause waits for a time.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
