package upstream

import (
	"net/http"
	"time"
)

// Pauses between tries to have a stream that stays open.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// listenTime is how long a connection is not used before its stream is open: some servers throw away what they ask
// where there is none. Others say nothing until they have something to say.
const listenTime = 250 * time.Millisecond

// listen holds the stream open on which the server speaks of its own accord. Many servers have none. known hears that
// the first try has its answer.
func (s *streamable) listen(known func()) {
	id, wait := "", firstPause
	defer known()
	for opened := false; ; {
		r, err := s.web.do(s.ctx, http.MethodGet, s.url, nil, s.streamHeader(id), nil)
		known()
		switch {
		case s.ctx.Err() != nil:
			if err == nil {
				drop(r)
			}
			return
		case err != nil && !err.broken:
			return
		case err != nil: // it cannot be reached now
			wait = min(2*wait, lastPause)
		case r.StatusCode == http.StatusNotFound && opened:
			drop(r)
			s.peer.lost(sessionGone())
			return
		case r.StatusCode == http.StatusOK && mediaType(r) == "text/event-stream":
			opened, wait = true, firstPause
			stream := newEvents(r.Body, s.web.max)
			stream.id = id
			_ = s.peer.hear(stream, nil) // however it ended, we come again
			_ = r.Body.Close()
			id = stream.id
			if stream.retry > 0 {
				wait = min(max(stream.retry, 100*time.Millisecond), maxPause)
			}
		default:
			drop(r)
			if !opened || r.StatusCode < 500 {
				return
			}
			wait = min(2*wait, lastPause)
		}
		if pause(s.ctx, wait) != nil {
			return
		}
	}
}

// streamHeader are the headers of a request for a stream, behind an event where there is one.
func (s *streamable) streamHeader(id string) http.Header {
	h := s.header(nil)
	delete(h, "Content-Type")
	h["Accept"] = []string{"text/event-stream"}
	if id != "" {
		h["Last-Event-Id"] = []string{id}
	}
	return h
}
