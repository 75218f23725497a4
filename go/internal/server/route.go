package server

import (
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// exchange is one request with its answer.
type exchange struct {
	s     *Server
	w     http.ResponseWriter
	r     *http.Request
	id    string // of the request, and of the call that it makes
	who   caller
	body  *buffer // what was read, until the end
	held  int64   // of the budget for bodies
	begun bool    // the answer is under way
	code  int     // of the answer, once it is known
	// unread says that the body, or what is left of it, may still come.
	unread bool
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.options.Traced {
		r = r.WithContext(propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header)))
	}
	x := &exchange{s: s, w: w, r: r, id: store.NewID()}
	defer x.end()
	w.Header()["X-Request-Id"] = []string{x.id}
	if r.ContentLength == 0 {
		x.untimed()
	} else {
		x.unread = true
	}
	if f := x.check(); f != nil {
		x.fail(f)
		return
	}
	if x.preflight() {
		return
	}
	s.route(x)
}

// end frees what the request held. A panic is answered, told to the log, and harms nobody else.
func (x *exchange) end() {
	cause := recover()
	if x.held > 0 {
		x.s.bodies.Add(-x.held)
	}
	if l := x.s.options.Logger; l.Enabled(x.r.Context(), slog.LevelDebug) {
		l.LogAttrs(x.r.Context(), slog.LevelDebug, "request", slog.String("request", x.id), slog.String("method", x.r.Method),
			slog.String("path", x.r.URL.Path), slog.String("caller", x.who.name), slog.Int("status", x.code))
	}
	if cause == nil {
		x.body.free() // after a panic a call may still read it
		x.swallow()
		return
	}
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	x.s.options.Logger.LogAttrs(x.r.Context(), slog.LevelError, "a request failed by a panic", slog.String("request", x.id),
		slog.String("path", x.r.URL.Path), slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))
	if x.begun {
		panic(http.ErrAbortHandler) // half an answer must not look like a whole one
	}
	x.fail(&fault{status: http.StatusInternalServerError, code: "tool_error", detail: "panic", message: "the server failed; its log has the story under " + x.id})
}

// check asks where the request comes from.
func (x *exchange) check() *fault {
	if f := x.s.checkHost(x.r); f != nil {
		return f
	}
	return x.s.checkOrigin(x.r)
}

// preflight answers what browsers ask before a request, and tells them whom the answer is for.
func (x *exchange) preflight() bool {
	if x.s.cors == nil || x.r.Header["Origin"] == nil {
		return false
	}
	x.s.cors.HandlerFunc(x.w, x.r)
	return x.r.Method == http.MethodOptions && x.r.Header["Access-Control-Request-Method"] != nil
}

// identify finds out who asks.
func (x *exchange) identify() bool {
	who, ok := x.s.guard.identify(x.r.Header.Get("Authorization"))
	if !ok {
		x.fail(&fault{status: http.StatusUnauthorized, code: "unauthorized", header: "WWW-Authenticate", value: "Bearer",
			message: "send the server's token: Authorization: Bearer TOKEN"})
		return false
	}
	x.who = who
	return true
}

func (s *Server) route(x *exchange) {
	path := x.r.URL.Path
	if path == "/health" {
		x.get(s.health)
		return
	}
	if !x.identify() {
		return
	}
	switch first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); {
	case first == "tools" && rest == "list":
		x.get(s.list)
	case first == "tools" && rest != "" && !strings.Contains(rest, "/"):
		if x.method("POST, OPTIONS", http.MethodPost) {
			s.callTool(x, rest)
		}
	case first == "calls" && rest != "":
		s.routeCalls(x, rest)
	case first == "approvals":
		s.routeApprovals(x, rest)
	case path == "/openapi.json":
		x.get(s.openapi)
	case path == "/metrics":
		x.get(s.metrics)
	case path == "/mcp" && s.options.MCP != nil:
		s.serveMCP(x)
	default:
		x.fail(noRoute(path))
	}
}

// serveMCP hands over to the Model Context Protocol, which is told who calls.
func (s *Server) serveMCP(x *exchange) {
	session, f := x.session()
	if f != nil {
		x.fail(f)
		return
	}
	who := toolhost.Caller{Name: x.who.name, Face: "mcp", Session: session}
	r := x.r.WithContext(toolhost.WithCaller(x.r.Context(), who))
	r.Body = &timedBody{r.Body, x}
	x.begun, x.unread = true, false
	s.options.MCP.ServeHTTP(x.w, r)
}

func noRoute(path string) *fault {
	return &fault{status: http.StatusNotFound, code: "not_found", message: "there is nothing at " + shortened(path) + "; GET /openapi.json says what there is"}
}

// shortened keeps what a client sent from filling an answer.
func shortened(text string) string { return spelling.Clip(text, 100) }

// get serves GET and HEAD.
func (x *exchange) get(serve func(*exchange)) {
	if x.method("GET, HEAD, OPTIONS", http.MethodGet, http.MethodHead) {
		serve(x)
	}
}

// method says whether the request has one of the methods, and answers it where it has not.
func (x *exchange) method(allow string, methods ...string) bool {
	for _, m := range methods {
		if x.r.Method == m {
			return true
		}
	}
	if x.r.Method == http.MethodOptions {
		x.w.Header().Set("Allow", allow)
		x.w.WriteHeader(http.StatusNoContent)
		return false
	}
	x.fail(&fault{status: http.StatusMethodNotAllowed, code: "method_not_allowed", header: "Allow", value: allow,
		message: shortened(x.r.Method) + " is not possible here; " + allow + " are"})
	return false
}

// untimed lifts the limit of time that the reading of a request has: the call may take longer, and the
// connection's end must still be seen.
func (x *exchange) untimed() {
	if c, ok := x.w.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = c.SetReadDeadline(time.Time{}) // a connection without deadlines has none to lift
	}
}

func (s *Server) health(x *exchange) {
	if s.draining.Load() {
		x.value(http.StatusServiceUnavailable, map[string]any{"status": "draining"})
		return
	}
	x.value(http.StatusOK, map[string]any{"status": "ok", "version": s.options.Version, "tools": float64(len(s.options.Host.Tools()))})
}
