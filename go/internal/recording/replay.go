package recording

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
)

// answer gives back what came of the same request: equal ones in their order.
func (r *Run) answer(req *http.Request, asked *exchange) (*http.Response, error) {
	e, err := r.match(asked)
	if err != nil {
		return nil, err
	}
	switch {
	case e.Failure != nil:
		f := e.Failure
		return nil, &httpmod.Error{Code: f.Code, Message: f.Message, Retryable: f.Retryable, Reason: f.Reason, Key: f.Key, Host: f.Host}
	case e.Response == nil: // nobody waited for an answer
		<-req.Context().Done()
		return nil, context.Cause(req.Context())
	}
	return r.response(req, e), nil
}

func (r *Run) match(asked *exchange) (*exchange, error) {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	times := 0
	for _, e := range r.entry.HTTP {
		if e.Method != asked.Method || e.URL != asked.URL || e.Digest != asked.Digest {
			continue
		}
		if !r.asked[e] {
			r.asked[e] = true
			return e, nil
		}
		times++
	}
	text := asked.asked()
	switch near := r.nearest(asked); {
	case times > 0:
		text += fmt.Sprintf(", which is in it %s", counted(times))
	case near != nil:
		text += "; the nearest that it has is " + near.asked()
	default:
		text += "; it has no request over HTTP in this run"
	}
	return nil, r.missing(text)
}

func counted(times int) string {
	if times == 1 {
		return "once only"
	}
	return fmt.Sprintf("%d times only", times)
}

// missing notes and makes the error of a request that has no answer.
func (r *Run) missing(text string) error {
	r.miss(text)
	return &httpmod.Error{Code: httpmod.CodeUpstream, Message: fmt.Sprintf(
		"the recording %s has no answer to this: %s", r.session.options.Name, text)}
}

// nearest is the recorded request that is most like one: of the same method and with as much of the URL and the body
// as can be, one that was not asked for first. The caller holds the lock.
func (r *Run) nearest(asked *exchange) (best *exchange) {
	most := -1
	for _, e := range r.entry.HTTP {
		alike := alike(e.URL, asked.URL)
		if e.Method == asked.Method {
			alike += 10
		}
		if e.URL == asked.URL {
			alike += 1000 + alikeBodies(e, asked)
		}
		if !r.asked[e] {
			alike += 5
		}
		if alike > most {
			best, most = e, alike
		}
	}
	return best
}

func alikeBodies(a, b *exchange) int {
	return min(alike(string(a.Body.bytes()), string(b.Body.bytes())), 1000)
}

// alike is how much two texts begin and end alike.
func alike(a, b string) int {
	n := min(len(a), len(b))
	front := 0
	for front < n && a[front] == b[front] {
		front++
	}
	back := 0
	for back < n-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	return front + back
}

func (r *Run) response(req *http.Request, e *exchange) *http.Response {
	kept := e.Response
	header := make(http.Header, len(kept.Headers))
	for name, values := range kept.Headers {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	data := encoded(header.Get("Content-Encoding"), kept.Body.bytes())
	length := int64(len(data))
	switch {
	case req.Method == http.MethodHead:
		length = -1
	case kept.End != "" || kept.Broken != nil:
		length = -1
	case header.Get("Content-Length") != "":
		header.Set("Content-Length", strconv.Itoa(len(data))) // without secrets the body is another
	}
	return &http.Response{
		Status:     strings.TrimSpace(strconv.Itoa(kept.Status) + " " + http.StatusText(kept.Status)),
		StatusCode: kept.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, ContentLength: length, Request: req,
		Body: &pieces{run: r, context: req.Context(), exchange: e, rest: bytes.NewReader(data)},
	}
}

// pieces gives a body as a network does: not all at once.
type pieces struct {
	run      *Run
	context  context.Context
	exchange *exchange
	rest     *bytes.Reader
}

// piece is how much one Read gives.
const piece = 1 << 10

// Read implements io.Reader.
func (p *pieces) Read(into []byte) (int, error) {
	if err := p.context.Err(); err != nil {
		return 0, err
	}
	if p.rest.Len() > 0 {
		return p.rest.Read(into[:min(len(into), piece)])
	}
	kept := p.exchange.Response
	switch {
	case kept.Broken != nil:
		f := kept.Broken
		return 0, &httpmod.Error{Code: f.Code, Message: f.Message, Retryable: f.Retryable, Reason: f.Reason}
	case kept.End == waiting:
		<-p.context.Done()
		return 0, context.Cause(p.context)
	case kept.End == left:
		p.run.session.mu.Lock()
		defer p.run.session.mu.Unlock()
		return 0, p.run.missing("the rest of the body of " + p.exchange.asked() + ", of which the recorded run read no more")
	}
	return 0, io.EOF
}

// Close implements io.Closer.
func (*pieces) Close() error { return nil }
