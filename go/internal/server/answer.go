package server

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// fault is an error as a client sees it.
type fault struct {
	status                      int
	code, message, path, detail string
	data                        any
	retry                       time.Duration
	header                      string // a header that belongs to it, with its value
	value                       string
}

// statusCancelled is nginx's: the client went away before the answer.
const statusCancelled = 499

var statuses = map[toolhost.Code]int{
	toolhost.BadRequest: http.StatusBadRequest, toolhost.Unauthorized: http.StatusUnauthorized, toolhost.Permission: http.StatusForbidden,
	toolhost.NotFound: http.StatusNotFound, toolhost.Timeout: http.StatusRequestTimeout, toolhost.TooLarge: http.StatusRequestEntityTooLarge,
	toolhost.RateLimited: http.StatusTooManyRequests, toolhost.Cancelled: statusCancelled, toolhost.ToolError: http.StatusInternalServerError,
	toolhost.Upstream: http.StatusBadGateway, toolhost.Busy: http.StatusServiceUnavailable, toolhost.NeedsApproval: http.StatusAccepted,
}

// faultOf is how a call's error is answered.
func faultOf(e *toolhost.Error) *fault {
	status, known := statuses[e.Code]
	if !known {
		status = http.StatusInternalServerError
	}
	if e.IsShutdown() {
		status = http.StatusServiceUnavailable // the same call is taken by who comes next
	}
	return &fault{
		status: status, code: string(e.Code), message: e.Message, path: e.Path, detail: e.Detail, data: e.ShownData(), retry: e.RetryAfter,
	}
}

// appendFault writes the JSON of an error, without secrets.
func (s *Server) appendFault(dst []byte, f *fault) []byte {
	dst = append(dst, `{"error":{"code":`...)
	dst = appendText(dst, f.code)
	dst = append(dst, `,"message":`...)
	dst = appendText(dst, s.options.Redact(f.message))
	if f.path != "" {
		dst = appendText(append(dst, `,"path":`...), f.path)
	}
	if f.detail != "" {
		dst = appendText(append(dst, `,"detail":`...), s.options.Redact(f.detail))
	}
	if f.data != nil {
		if text, err := jsonvalue.Encode(jsonvalue.EachText(f.data, s.options.Redact)); err == nil {
			dst = append(append(dst, `,"data":`...), text...)
		}
	}
	return append(dst, "}}"...)
}

// appendText writes a JSON string; what is no UTF-8 in it is replaced.
func appendText(dst []byte, text string) []byte {
	out, err := jsonvalue.Append(dst, text)
	if err != nil {
		out, _ = jsonvalue.Append(dst, string([]rune(text)))
	}
	return out
}

// reply is an answer before it is written.
type reply struct {
	status   int
	body     []byte
	call     string // of a call that can be asked for later
	retry    time.Duration
	replayed bool
}

// Values of headers that are always the same are shared.
var (
	typeJSON  = []string{"application/json"}
	noSniff   = []string{"nosniff"}
	noStore   = []string{"no-store"}
	noBuffers = []string{"no"}
)

// buffers are of bodies and answers.
var buffers = sync.Pool{New: func() any { return &buffer{data: make([]byte, 0, 4<<10)} }}

type buffer struct{ data []byte }

func newBuffer() *buffer { return buffers.Get().(*buffer) }

// maxPooled keeps large buffers from staying.
const maxPooled = 64 << 10

func (b *buffer) free() {
	if b != nil && cap(b.data) <= maxPooled {
		b.data = b.data[:0]
		buffers.Put(b)
	}
}

// write sends a reply.
func (x *exchange) write(p reply) {
	h := x.w.Header()
	if p.call != "" {
		h["Location"] = []string{x.prefix() + "/calls/" + p.call}
	}
	if p.replayed {
		h["Idempotent-Replayed"] = []string{"true"}
	}
	if p.retry > 0 {
		h["Retry-After"] = []string{strconv.Itoa(int(math.Ceil(p.retry.Seconds())))}
	}
	x.writeJSON(p.status, p.body)
}

// prefix is what another server has taken off the path before it handed the request over.
func (x *exchange) prefix() string {
	asked, _, _ := strings.Cut(x.r.RequestURI, "?")
	if before, found := strings.CutSuffix(asked, x.r.URL.EscapedPath()); found && strings.HasPrefix(before, "/") {
		return before
	}
	return ""
}

func (x *exchange) writeJSON(status int, body []byte) { x.writeBody(status, typeJSON, body) }

func (x *exchange) writeBody(status int, kind []string, parts ...[]byte) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	h := x.w.Header()
	h["Content-Type"] = kind
	h["X-Content-Type-Options"] = noSniff
	if x.r.Method != http.MethodPost { // answers to POST are never kept
		h["Cache-Control"] = noStore
	}
	if size > 1<<10 || status >= http.StatusBadRequest {
		h["Content-Length"] = []string{strconv.Itoa(size)}
	}
	x.begun, x.code = true, status
	x.w.WriteHeader(status)
	for _, part := range parts {
		if _, err := x.w.Write(part); err != nil {
			return // a client that is gone needs no answer
		}
	}
}

// fail answers with an error.
func (x *exchange) fail(f *fault) {
	if f.header != "" {
		x.w.Header().Set(f.header, f.value)
	}
	b := newBuffer()
	defer b.free()
	b.data = x.s.appendFault(b.data, f)
	x.write(reply{status: f.status, body: b.data, retry: f.retry})
}

// value answers with a tree.
func (x *exchange) value(status int, tree any) {
	text, err := jsonvalue.Encode(tree)
	if err != nil {
		x.s.options.Logger.Error("an answer cannot be written", "request", x.id, "error", err.Error())
		x.fail(&fault{status: http.StatusInternalServerError, code: "tool_error", message: "the answer cannot be written; the log says why"})
		return
	}
	x.writeJSON(status, text)
}
