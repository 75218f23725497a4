package server

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"
)

// readBody reads the request's body, which must be JSON. What it gives lives until the exchange ends.
func (x *exchange) readBody() ([]byte, *fault) {
	limit := x.s.options.BodyLimit
	length := x.r.ContentLength
	switch {
	case length == 0:
		return nil, nil
	case length > limit:
		return nil, x.tooLarge(limit)
	}
	if f := x.checkType(); f != nil && length > 0 {
		return nil, f
	}
	x.body = newBuffer()
	f := x.fill(length)
	if f != nil {
		return nil, f
	}
	x.unread = false
	x.untimed()
	if len(x.body.data) == 0 {
		return nil, nil
	}
	return x.body.data, x.checkType()
}

// fill reads until the end. Room is made as bytes arrive, whatever length a client promises.
func (x *exchange) fill(length int64) *fault {
	b := x.body
	for {
		if length >= 0 && int64(len(b.data)) == length {
			return nil
		}
		if len(b.data) == cap(b.data) {
			if f := x.grow(); f != nil {
				return f
			}
		}
		room := b.data[len(b.data):cap(b.data)]
		if length >= 0 {
			room = room[:min(int64(len(room)), length-int64(len(b.data)))]
		}
		n, err := x.r.Body.Read(room)
		b.data = b.data[:len(b.data)+n]
		if int64(len(b.data)) > x.s.options.BodyLimit {
			return x.tooLarge(x.s.options.BodyLimit)
		}
		if err == io.EOF && (length < 0 || int64(len(b.data)) == length) {
			return nil
		}
		if err != nil {
			return x.brokenOff(err)
		}
	}
}

// grow doubles the buffer. Large ones of all requests share a budget.
func (x *exchange) grow() *fault {
	size := int64(2 * cap(x.body.data))
	if size > maxPooled {
		more := size - x.held
		if x.s.bodies.Add(more) > x.s.options.BodyBudget {
			x.s.bodies.Add(-more)
			return &fault{status: http.StatusServiceUnavailable, code: "busy", retry: time.Second, message: "too many large requests at once; try again later"}
		}
		x.held += more
	}
	grown := make([]byte, len(x.body.data), size)
	copy(grown, x.body.data)
	x.body.data = grown
	return nil
}

func (x *exchange) tooLarge(limit int64) *fault {
	return &fault{status: http.StatusRequestEntityTooLarge, code: "too_large",
		message: fmt.Sprintf("the body has more than %d bytes, which is the limit", limit)}
}

// What of a body that is not wanted is still read, so that clients which send all of it before they read see the
// answer and not a broken connection.
const (
	swallowBytes = 256 << 20
	swallowTime  = 5 * time.Second
	swallowedBy  = 256 << 10 // net/http reads so much itself
)

func (x *exchange) swallow() {
	if !x.unread || x.r.ContentLength >= 0 && x.r.ContentLength <= swallowedBy || x.r.Header["Expect"] != nil {
		return
	}
	control := http.NewResponseController(x.w)
	if control.Flush() != nil || control.SetReadDeadline(time.Now().Add(swallowTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, x.r.Body, swallowBytes) // where more is left, net/http closes the connection
}

// brokenOff says why a body could not be read.
func (x *exchange) brokenOff(err error) *fault {
	x.unread = false
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return &fault{status: http.StatusRequestTimeout, code: "timeout", header: "Connection", value: "close",
			message: fmt.Sprintf("the body did not arrive within %s", x.s.options.BodyTimeout)}
	}
	return &fault{status: http.StatusBadRequest, code: "bad_request", header: "Connection", value: "close", message: "the body ended before its end"}
}

// checkType looks whether the body is said to be JSON. Without a type it is taken for it.
func (x *exchange) checkType() *fault {
	if encoding := x.r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return badType("the Content-Encoding " + shortened(encoding) + " is not taken; send the body as it is")
	}
	given := x.r.Header.Get("Content-Type")
	if given == "" || given == "application/json" {
		return nil
	}
	kind, params, err := mime.ParseMediaType(given)
	if err != nil || kind != "application/json" {
		return badType("the Content-Type is " + shortened(given) + "; it must be application/json")
	}
	if charset := strings.ToLower(params["charset"]); charset != "" && charset != "utf-8" && charset != "utf8" {
		return badType("the charset is " + shortened(charset) + "; JSON is sent as application/json in UTF-8")
	}
	return nil
}

func badType(message string) *fault {
	return &fault{status: http.StatusBadRequest, code: "bad_request", detail: "content_type", message: message}
}

// timedBody is the body of a request that another handler reads. The limit of time is lifted at its end.
type timedBody struct {
	io.ReadCloser
	x *exchange
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.x.untimed()
	}
	return n, err
}
