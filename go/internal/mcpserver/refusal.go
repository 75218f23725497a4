package mcpserver

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The SDK refuses some requests with a line of text, some with an error without a code, and some with what Go says of
// its own types. Clients read JSON-RPC; so all of these become errors of that, with the statuses that the transport
// has for them.

// wire is an answer that is an error.
type wire struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *jsonrpc.Error  `json:"error"`
}

func (w wire) text() []byte {
	w.Version = "2.0"
	if w.ID == nil {
		w.ID = json.RawMessage("null")
	}
	text, _ := json.Marshal(w)
	return text
}

// statusOf is the status of a refusal in plain text.
func statusOf(status int, text string) int {
	if status == http.StatusBadRequest && strings.HasPrefix(text, "Accept must contain ") {
		return http.StatusNotAcceptable
	}
	return status
}

// refused is a refusal in plain text as an answer to what was heard.
func refused(status int, text string, body *heard) []byte {
	text = strings.TrimSpace(text)
	answer := wire{ID: body.id(), Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: clipped(text)}}
	switch {
	case status >= http.StatusInternalServerError:
		answer.Error.Code = jsonrpc.CodeInternalError
	case strings.HasPrefix(text, "malformed payload: "):
		answer.Error = body.wrong(strings.TrimPrefix(text, "malformed payload: "))
	default:
		answer.Error = mended(answer.Error)
	}
	return answer.text()
}

// refuseWith answers a request that nobody else has seen.
func (r *reply) refuseWith(status int, refusal wire) {
	r.Header().Set("Content-Type", "application/json")
	r.WriteHeader(status)
	_, _ = r.Write(refusal.text()) // a client that is gone needs no answer
}

var (
	notHandled = regexp.MustCompile(`^JSON RPC not handled: ("(?:[^"\\]|\\.)*") unsupported$`)
	badParams  = regexp.MustCompile(`^handling '([^']*)': `)
	badField   = regexp.MustCompile(`Go struct field \w+\.\w+\.([\w.]+) of type (\w+)$`)
	untimely   = regexp.MustCompile(`^(method "(?:[^"\\]|\\.)*" is invalid during session initialization|duplicate "\S+" received)$`)
)

// mended is an error with a code and with words that mean something to a client.
func mended(err error) *jsonrpc.Error {
	told := &jsonrpc.Error{Message: err.Error()}
	var known *jsonrpc.Error
	if errors.As(err, &known) {
		told.Code, told.Data = known.Code, known.Data
	}
	if found := notHandled.FindStringSubmatch(told.Message); found != nil {
		told.Code, told.Message = jsonrpc.CodeMethodNotFound, "method not found: "+found[1]
	}
	if found := badParams.FindStringSubmatch(told.Message); found != nil {
		field := badField.FindStringSubmatch(told.Message)
		told.Code, told.Message = jsonrpc.CodeInvalidParams, "the params of "+found[1]+" are not what the method takes"
		if field != nil {
			told.Message += ": " + field[1] + " must be of the type " + field[2]
		}
	}
	switch {
	case told.Code != 0:
	case untimely.MatchString(told.Message):
		told.Code = jsonrpc.CodeInvalidRequest
	default:
		told.Code = jsonrpc.CodeInternalError
	}
	if told.Data == nil { // else it is ours, and bounded
		told.Message = clipped(told.Message)
	}
	return told
}

// mendedAnswer is mended for an answer that is written already; other answers stay as they are.
func mendedAnswer(message []byte) []byte {
	var answer wire
	if json.Unmarshal(message, &answer) != nil || answer.Error == nil {
		return message
	}
	told := mended(answer.Error)
	if told.Code == answer.Error.Code && told.Message == answer.Error.Message {
		return message
	}
	answer.Error = told
	return answer.text()
}

// heard keeps the beginning of a request's body, for what is said about it. A nil one has heard nothing.
type heard struct {
	io.ReadCloser
	text []byte
}

// maxHeard is how much of a body is kept.
const maxHeard = 64 << 10

func hear(r *http.Request) *heard {
	h := &heard{ReadCloser: r.Body}
	if r.ContentLength > 0 {
		h.text = make([]byte, 0, min(r.ContentLength, maxHeard+1))
	}
	return h
}

// Read implements io.Reader.
func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if room := maxHeard + 1 - len(h.text); room > 0 {
		h.text = append(h.text, p[:min(n, room)]...)
	}
	return n, err
}

// whole says whether all of the body is known.
func (h *heard) whole() bool { return h != nil && len(h.text) <= maxHeard }

// id is that of the message, where it has one.
func (h *heard) id() json.RawMessage {
	var message struct {
		ID json.RawMessage `json:"id"`
	}
	if !h.whole() || json.Unmarshal(h.text, &message) != nil || message.ID == nil {
		return nil
	}
	if _, wrong := idOf(message.ID); wrong != nil {
		return nil
	}
	return message.ID
}

// wrong says what is wrong with a body that is no message, by ourselves where all of it is known.
func (h *heard) wrong(said string) *jsonrpc.Error {
	if h.whole() {
		if text := strings.TrimSpace(string(h.text)); text != "" {
			if _, _, wrong := messageOf([]byte(text)); wrong != nil && (text[0] != '[' || wrong.Code == jsonrpc.CodeParseError) {
				return wrong
			}
		}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: clipped(said)}
}
