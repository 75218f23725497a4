package mcpserver

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// reply is the writer of one HTTP answer. The SDK answers a request by a stream of events. Where the answer comes
// before any notification the stream is left out, as the transport allows: the answer is then one JSON text in
// one write, and a stream ends together with its last event. While nothing is said a stream carries comments, so
// that nothing in between takes it for dead.
type reply struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration // of each write
	silence time.Duration // before a comment
	seal    func(id string) string
	body    *heard // of the request; nil: it has none

	mu       sync.Mutex
	beat     *time.Timer
	begun    bool // the header was written
	stream   bool // as that of a stream
	ended    bool // the answer was written
	over     bool // the request was served
	plain    bool // what comes is no event, though it is a stream
	refusing int  // the status of a refusal in plain text whose text is to come
	mayBegin bool // with a comment
}

func newReply(w http.ResponseWriter, limit, silence time.Duration) *reply {
	out := &reply{ResponseWriter: w, control: http.NewResponseController(w), limit: limit, silence: silence}
	// A server's own limit would be for the whole stream.
	_ = out.control.SetWriteDeadline(time.Time{})
	out.mu.Lock()
	defer out.mu.Unlock()
	out.beat = time.AfterFunc(silence, out.comment)
	return out
}

// end gives the connection back, without a deadline of ours.
func (r *reply) end() {
	r.beat.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refusing > 0 { // its text never came
		r.begin(r.refusing)
	}
	r.over = true
	_ = r.control.SetWriteDeadline(time.Time{})
}

// calling says that a call runs: its stream may begin before it says something.
func (r *reply) calling() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mayBegin = true
}

// comment breaks a silence.
func (r *reply) comment() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over || r.ended || r.begun && !r.stream:
		return
	case !r.begun && r.mayBegin:
		r.begin(http.StatusOK)
	}
	if r.stream {
		r.extend()
		if _, err := r.ResponseWriter.Write([]byte(": \n\n")); err == nil {
			_ = r.control.Flush()
		}
	}
	r.beat.Reset(r.silence)
}

// extend gives the next write its time.
func (r *reply) extend() { _ = r.control.SetWriteDeadline(time.Now().Add(r.limit)) }

// Unwrap is for http.ResponseController.
func (r *reply) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (r *reply) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun {
		// The SDK answers some errors with a status and without a stream, and forgets one that has begun.
		r.plain = true
		return
	}
	if status >= http.StatusBadRequest && strings.HasPrefix(r.Header().Get("Content-Type"), "text/plain") {
		r.refusing = status // which of them it is the text says
		return
	}
	r.begin(status)
}

func (r *reply) begin(status int) {
	r.begun = true
	r.stream = r.Header().Get("Content-Type") == eventStream
	if id := r.Header().Get(sessionHeader); id != "" {
		r.Header().Set(sessionHeader, r.seal(id))
	}
	r.ResponseWriter.WriteHeader(status)
}

const eventStream = "text/event-stream"

var errAnswered = errors.New("the request was answered already")

// Write implements http.ResponseWriter.
func (r *reply) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.ended { // a tool may have kept its sink; what is written now would be in another answer
		return 0, errAnswered
	}
	r.extend()
	given := len(p)
	message, isAnswer := answerIn(p)
	if isAnswer && isError(message) {
		message = mendedAnswer(message)
		p = slices.Concat(eventStart, message, []byte("\n\n"))
	}
	r.ended = isAnswer || r.plain
	text := p
	switch {
	case r.refusing > 0:
		text = r.refuse(string(p))
	case r.plain && r.stream:
		text = slices.Concat(eventStart, mendedAnswer(p), []byte("\n\n"))
	case r.begun:
		if !r.stream {
			text = mendedAnswer(p)
		}
		r.beat.Reset(r.silence)
	case isAnswer && r.Header().Get("Content-Type") == eventStream:
		text = message
		r.Header().Set("Content-Type", "application/json")
		r.Header().Set("Content-Length", strconv.Itoa(len(message)))
		r.Header().Del("Connection")
		r.begin(http.StatusOK)
	default:
		r.begin(http.StatusOK)
	}
	if _, err := r.ResponseWriter.Write(text); err != nil {
		return 0, err
	}
	return given, nil
}

// refuse begins a refusal whose text is known now, and gives its body.
func (r *reply) refuse(text string) []byte {
	status := statusOf(r.refusing, text)
	body := refused(status, text, r.body)
	r.refusing, r.ended = 0, true
	r.Header().Set("Content-Type", "application/json")
	r.Header().Set("Content-Length", strconv.Itoa(len(body)))
	r.begin(status)
	return body
}

// FlushError sends what was written, but not between the last event and the end that follows at once.
func (r *reply) FlushError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.ended {
		return nil
	}
	r.extend()
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

// isError says whether an answer as the SDK writes it is an error.
func isError(message []byte) bool {
	rest, ok := bytes.CutPrefix(message, []byte(string(messageStart)+`"id":`))
	if ok {
		rest, ok = afterID(rest)
	}
	return ok && bytes.HasPrefix(rest, []byte(`,"error":`))
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
