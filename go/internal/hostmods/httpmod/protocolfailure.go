package httpmod

import (
	"errors"
	"fmt"
	"strings"
)

// streamReset has the shape by which net/http hands out its own type for a stream that was reset.
type streamReset struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamReset) Error() string { return "stream reset" }

// unnamed are errors of net/http that have no type. TestProtocolErrors and its neighbours hold that its
// words are still these.
var unnamed = []struct {
	text, message string
	code          string
	retryable     bool
}{
	{"server response headers exceeded", "", CodeLimit, false},
	{"response header list larger than advertised limit", "", CodeLimit, false},
	{"malformed ", "the server does not answer in HTTP", CodeUpstream, false},
	{"GOAWAY", "the server ended the connection", CodeUpstream, true},
	{"connection error: ", "the server broke the rules of HTTP/2", CodeUpstream, false},
	// When writing another request failed, which no test can bring about.
	{"http2: client connection force closed", "the connection was broken off", CodeUpstream, true},
}

// protocolError words what HTTP itself failed with; nil when it was something else.
func protocolError(err error) *Error {
	text := err.Error()
	for _, known := range unnamed {
		if !strings.Contains(text, known.text) {
			continue
		}
		message := known.message
		switch {
		case known.code == CodeLimit:
			message = fmt.Sprintf("the header of the answer is over the limit of %d bytes", maxResponseHeader)
		case strings.Contains(text, "ENHANCE_YOUR_CALM"):
			message += ": it finds the request too large, or the requests too many"
		}
		return &Error{Code: known.code, Message: message, Retryable: known.retryable, cause: err}
	}
	if reset, ok := errors.AsType[streamReset](err); ok {
		return upstream("the server broke the answer off"+resetReason(reset.Code), true, err)
	}
	return nil
}

// resetReason names the codes of RFC 9113, section 7, that tell more than that.
func resetReason(code uint32) string {
	switch code {
	case 0x7:
		return ": it refused the request"
	case 0xb:
		return ": it finds the requests too many"
	case 0xc:
		return ": it wants better encryption"
	case 0xd:
		return ": it wants HTTP/1.1"
	}
	return ""
}
