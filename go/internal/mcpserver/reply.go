package mcpserver

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// reply is the writer of one HTTP answer. The SDK answers a request by a stream of events. Where the answer comes
// before any notification the stream is left out, as the transport allows: the answer is then one JSON text in
// one write, and a stream ends together with its last event.
type reply struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration // of each write
	seal    func(id string) string
	begun   bool // the header was written
	ended   bool // the answer was written
}

func newReply(w http.ResponseWriter, limit time.Duration) *reply {
	out := &reply{ResponseWriter: w, control: http.NewResponseController(w), limit: limit}
	// A server's own limit would be for the whole stream.
	_ = out.control.SetWriteDeadline(time.Time{})
	return out
}

// end gives the connection back without a deadline of ours.
func (r *reply) end() { _ = r.control.SetWriteDeadline(time.Time{}) }

// Unwrap is for http.ResponseController.
func (r *reply) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *reply) WriteHeader(status int) {
	r.begun = true
	if id := r.Header().Get(sessionHeader); id != "" {
		r.Header().Set(sessionHeader, r.seal(id))
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *reply) Write(p []byte) (int, error) {
	_ = r.control.SetWriteDeadline(time.Now().Add(r.limit))
	message, isAnswer := answerIn(p)
	r.ended = isAnswer
	if !isAnswer || r.begun || r.Header().Get("Content-Type") != "text/event-stream" {
		if !r.begun {
			r.WriteHeader(http.StatusOK)
		}
		return r.ResponseWriter.Write(p)
	}
	r.Header().Set("Content-Type", "application/json")
	r.Header().Set("Content-Length", strconv.Itoa(len(message)))
	r.Header().Del("Connection")
	r.WriteHeader(http.StatusOK)
	if _, err := r.ResponseWriter.Write(message); err != nil {
		return 0, err
	}
	return len(p), nil
}

// FlushError sends what was written, but not between the last event and the end that follows at once.
func (r *reply) FlushError() error {
	if r.ended {
		return nil
	}
	_ = r.control.SetWriteDeadline(time.Now().Add(r.limit))
	return r.control.Flush()
}

var (
	eventStart   = []byte("event: message\ndata: ")
	messageStart = []byte(`{"jsonrpc":"2.0",`)
)

// answerIn finds the answer to a request in an event as the SDK writes it: a message with an id and without a
// method. What looks otherwise is no answer, which is always safe.
func answerIn(event []byte) (message []byte, ok bool) {
	message, ok = bytes.CutPrefix(event, eventStart)
	if !ok {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(message, messageStart)
	if !ok {
		return nil, false
	}
	rest, ok = bytes.CutPrefix(rest, []byte(`"id":`))
	if !ok {
		return nil, false
	}
	rest, ok = afterID(rest)
	if !ok || !bytes.HasPrefix(rest, []byte(`,"result":`)) && !bytes.HasPrefix(rest, []byte(`,"error":`)) {
		return nil, false
	}
	return bytes.TrimRight(message, "\n"), true
}

// afterID skips a number or a string.
func afterID(text []byte) ([]byte, bool) {
	if len(text) == 0 || text[0] != '"' {
		end := bytes.IndexByte(text, ',')
		return text[max(end, 0):], end > 0
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[i+1:], true
		}
	}
	return nil, false
}
