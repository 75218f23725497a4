package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

var _ toolhost.Sink = (*sink)(nil)

// emitted is the logger that names what a tool emits: clients without a use for it show or drop a log message.
const emitted = "emit"

// sink tells the client what a tool tells while it runs: progress as progress notifications where the request has
// a token, the log as log messages of a logger with the tool's name, and what is emitted as log messages of level
// info of the logger "emit", whose data are the chunk. The client says from which level on it wants them.
//
// They belong to a request, and go where its answer goes. A call that waits for its user between two requests
// tells nobody.
type sink struct {
	redact func(string) string
	tool   string
	sample sampling // nil: the client has no model for servers

	mu     sync.Mutex
	ctx    context.Context // of the request; nil between two
	client peer
	token  any // of progress; nil: the client wants none
	last   float64
	begun  bool // last was told
}

// attach makes the notifications those of a request.
func (s *sink) attach(ctx context.Context, req *mcp.CallToolRequest, client peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx, s.client = ctx, client
	switch token := req.Params.GetProgressToken().(type) {
	case string, float64:
		s.token = token
	default:
		s.token = nil
	}
	s.begun = false
}

// detach ends the notifications until the next attach.
func (s *sink) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = nil
}

// Emit implements toolhost.Sink.
func (s *sink) Emit(_ context.Context, chunk []byte) error {
	return s.message(emitted, slog.LevelInfo, json.RawMessage(chunk))
}

// Log implements toolhost.Sink.
func (s *sink) Log(_ context.Context, level slog.Level, message string, fields map[string]any) error {
	if len(fields) == 0 {
		return s.message(s.tool, level, message)
	}
	data := map[string]json.RawMessage{}
	for name, value := range fields {
		data[name] = s.field(value)
	}
	data["message"] = s.field(message)
	return s.message(s.tool, level, data)
}

// field is the value of a field without secrets; what is no JSON is told in words.
func (s *sink) field(value any) json.RawMessage {
	text, err := json.Marshal(s.cleaned(value))
	if err != nil {
		text, _ = json.Marshal(s.redact(fmt.Sprint(value)))
	}
	return text
}

func (s *sink) cleaned(value any) any {
	switch v := value.(type) {
	case string:
		return s.redact(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = s.cleaned(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			object[s.redact(name)] = s.cleaned(item)
		}
		return object
	}
	return value
}

func (s *sink) message(logger string, level slog.Level, data any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil {
		return nil
	}
	return logTo(s.ctx, s.client, logger, level, data)
}

// Progress implements toolhost.Sink. The protocol wants each to be more than the one before; what is not is left
// out.
func (s *sink) Progress(_ context.Context, done, total float64, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil || s.token == nil || !finite(done) || s.begun && done <= s.last {
		return nil
	}
	if !finite(total) {
		total = 0
	}
	s.begun, s.last = true, done
	return s.client.NotifyProgress(s.ctx, &mcp.ProgressNotificationParams{
		ProgressToken: s.token, Progress: done, Total: total, Message: s.redact(text),
	})
}

func finite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }
