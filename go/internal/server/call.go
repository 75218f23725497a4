package server

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// mode is how a caller wants its answer.
type mode int

const (
	plain  mode = iota // when the call has ended
	stream             // as events, as they happen
	async              // at once; the call runs on its own
)

// callTool is POST /tools/{name}.
func (s *Server) callTool(x *exchange, name string) {
	body, f := x.readBody()
	if f != nil {
		x.fail(f)
		return
	}
	session, f := x.session()
	if f != nil {
		x.fail(f)
		return
	}
	req := toolhost.Request{
		Tool: name, Args: body, ID: x.id, Approval: x.r.Header.Get("Approval"),
		Caller: toolhost.Caller{Name: x.who.name, Face: "http", Session: session},
	}
	mode := x.mode()
	if key, given := x.r.Header["Idempotency-Key"]; given {
		s.callOnce(x, req, mode, key)
		return
	}
	if mode == plain {
		answer, failed := s.options.Host.Call(x.r.Context(), req)
		if failed == nil && len(answer.JSON) > largeResult {
			x.writeBody(http.StatusOK, typeJSON, resultBefore, answer.JSON, resultAfter)
			return
		}
		b := newBuffer()
		defer b.free()
		x.write(s.replyTo(b, answer, failed))
		return
	}
	s.callApart(x, req, mode, nil)
}

// largeResult is from how many bytes on a result is written as it is: to put it between braces is to copy it.
const largeResult = 64 << 10

var resultBefore, resultAfter = []byte(`{"result":`), []byte{'}'}

// callApart runs a call whose answer is not simply waited for. done is told how it ended before the client is.
func (s *Server) callApart(x *exchange, req toolhost.Request, m mode, done func(reply)) {
	b := newBuffer()
	defer b.free()
	var p reply
	switch m {
	case stream:
		s.stream(x, req, func(answer *toolhost.Answer, failed *toolhost.Error) reply {
			p := s.replyTo(b, answer, failed)
			if done != nil {
				done(p)
			}
			return p
		})
		return
	case async:
		p = s.async(x, b, req)
	default:
		answer, failed := s.options.Host.Call(x.r.Context(), req)
		p = s.replyTo(b, answer, failed)
	}
	if done != nil {
		done(p)
	}
	x.write(p)
}

// maxSession is the longest name of a session.
const maxSession = 200

// session is whose state the call works on.
func (x *exchange) session() (string, *fault) {
	given := x.r.Header["Session-Id"]
	if given == nil {
		return "", nil
	}
	return given[0], x.checkName("Session-Id", given, maxSession)
}

// checkName looks at a header that names something.
func (x *exchange) checkName(header string, given []string, most int) *fault {
	ok := len(given) == 1 && given[0] != "" && len(given[0]) <= most
	for i := 0; ok && i < len(given[0]); i++ {
		ok = given[0][i] >= ' ' && given[0][i] <= '~'
	}
	if ok {
		return nil
	}
	return &fault{status: http.StatusBadRequest, code: "bad_request", message: "the header " + header + " must be given once, with 1 to " +
		string(jsonvalue.AppendNumber(nil, float64(most))) + " printable ASCII characters"}
}

// mode reads what the caller prefers.
func (x *exchange) mode() mode {
	for _, prefer := range x.r.Header["Prefer"] {
		for _, token := range strings.Split(prefer, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "respond-async") && x.s.options.Store != nil {
				return async
			}
		}
	}
	if accepted := x.r.Header["Accept"]; accepted != nil && wantsEvents(accepted) {
		return stream
	}
	return plain
}

// guarded is Host.Call on a goroutine of its own, where a panic would end the process.
func (s *Server) guarded(ctx context.Context, id string, call func() (*toolhost.Answer, *toolhost.Error)) (answer *toolhost.Answer, failed *toolhost.Error) {
	defer func() {
		if cause := recover(); cause != nil {
			s.options.Logger.LogAttrs(ctx, slog.LevelError, "a call failed by a panic", slog.String("call", id), slog.Any("panic", cause),
				slog.String("stack", string(debug.Stack())))
			answer, failed = nil, &toolhost.Error{Code: toolhost.ToolError, Detail: "panic", ID: id, Message: "the server failed; its log has the story under " + id}
		}
	}()
	return call()
}

// replyTo makes the answer of a call in b.
func (s *Server) replyTo(b *buffer, answer *toolhost.Answer, failed *toolhost.Error) reply {
	if failed == nil {
		b.data = append(append(append(b.data[:0], resultBefore...), answer.JSON...), resultAfter...)
		return reply{status: http.StatusOK, body: b.data}
	}
	if failed.Code == toolhost.NeedsApproval {
		return waiting(b, failed)
	}
	f := faultOf(failed)
	b.data = s.appendFault(b.data[:0], f)
	return reply{status: f.status, body: b.data, retry: f.retry}
}

// waiting is about a call that waits for approval, or runs since it was approved.
func waiting(b *buffer, failed *toolhost.Error) reply {
	b.data = appendText(append(b.data[:0], `{"call":`...), failed.ID)
	b.data = appendText(append(b.data, `,"state":`...), failed.Detail)
	b.data = appendText(append(b.data, `,"message":`...), failed.Message)
	if data, ok := failed.Data.(map[string]any); ok {
		if text, err := jsonvalue.Encode(data); err == nil {
			b.data = append(append(b.data, `,"approval":`...), text...)
		}
	}
	b.data = append(b.data, '}')
	return reply{status: http.StatusAccepted, body: b.data, call: failed.ID}
}
