package upstream

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

var _ conn = (*sse)(nil)

// sse is a connection over the transport of 2024: one stream for all that the server says, and a second address that
// takes our messages.
type sse struct {
	web  *web
	peer *peer
	to   string // the second address

	ctx  context.Context
	stop context.CancelFunc

	mu   sync.Mutex // nothing is started once ctx has ended
	done sync.WaitGroup
}

// openSSE opens the stream and waits for the address to send to.
func openSSE(ctx context.Context, w *web, from string, p *peer) *Error {
	s := &sse{web: w, peer: p}
	s.ctx, s.stop = context.WithCancel(context.Background())
	unhook := context.AfterFunc(ctx, s.stop)
	defer unhook()
	r, err := w.do(s.ctx, http.MethodGet, from, nil, http.Header{"Accept": {"text/event-stream"}}, nil)
	if err != nil {
		s.stop()
		if ctx.Err() != nil {
			return stopped(ctx)
		}
		return err
	}
	if err = s.opened(ctx, from, r); err != nil {
		s.stop()
		_ = r.Body.Close()
		return err
	}
	return nil
}

func (s *sse) opened(ctx context.Context, from string, r *http.Response) *Error {
	if r.StatusCode != http.StatusOK {
		body, _ := readAll(r, maxRefusal)
		return failedStatus(r, body)
	}
	if media := mediaType(r); media != "text/event-stream" {
		return &Error{Code: CodeInvalidAnswer, Message: fmt.Sprintf("it answered with %q where an event stream belongs: check url and transport", shown(media))}
	}
	stream := newEvents(r.Body, s.web.max)
	for {
		ev, err := stream.next()
		if err != nil {
			if ctx.Err() != nil {
				return stopped(ctx)
			}
			return cutOff(err)
		}
		if ev.name != "endpoint" {
			continue
		}
		to, failed := endpoint(from, string(ev.data))
		if failed != nil {
			return failed
		}
		s.to, s.peer.conn = to, s
		s.done.Go(func() { s.read(stream, r) })
		return nil
	}
}

// endpoint is the address that a server names. Another host would get our headers and arguments.
func endpoint(from, named string) (string, *Error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", &Error{Code: CodeUnavailable, Message: "the url is not usable"}
	}
	to, err := base.Parse(strings.TrimSpace(named))
	if err != nil || !sameOrigin(base, to) {
		return "", &Error{Code: CodeInvalidAnswer, Message: "the address that it names for requests is not on its own host"}
	}
	return to.String(), nil
}

func (s *sse) read(stream *events, r *http.Response) {
	defer r.Body.Close()
	err := s.peer.hear(stream, nil)
	lost := cutOff(err)
	lost.Message = "the server's event stream has ended"
	if err == errTooLong {
		lost.Message = "an event of the server is longer than what is read"
	}
	s.peer.lost(lost)
}

// settled implements conn.
func (s *sse) settled(string) {}

// send implements conn.
func (s *sse) send(ctx context.Context, text []byte, p *pending) error {
	if p == nil {
		if err := s.post(ctx, text, nil); err != nil {
			return err
		}
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return errLineClosed()
	}
	s.done.Go(func() {
		if err := s.post(ctx, text, func() { p.sent.Store(true) }); err != nil {
			s.peer.fail(p, err)
		}
	})
	return nil
}

// postTime is how long a server may take to take a message. It answers on the stream.
const postTime = time.Minute

func (s *sse) post(ctx context.Context, text []byte, sent func()) *Error {
	ctx, stop := context.WithTimeout(ctx, postTime)
	defer stop()
	defer context.AfterFunc(s.ctx, stop)()
	r, err := s.web.do(ctx, http.MethodPost, s.to, text, http.Header{"Content-Type": {"application/json"}}, sent)
	if err != nil {
		return err
	}
	if r.StatusCode < 300 {
		drop(r)
		return nil
	}
	body, _ := readAll(r, maxRefusal)
	failed := failedStatus(r, body)
	if r.StatusCode == http.StatusNotFound { // it does not know the stream any more
		failed.broken = true
	}
	return failed
}

// close implements conn.
func (s *sse) close() {
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	s.done.Wait()
	s.web.close()
}
