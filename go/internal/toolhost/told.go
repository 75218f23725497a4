package toolhost

import (
	"bytes"
	"context"
	"log/slog"
	"sync"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/redact"
)

// Sink gets what a tool tells while it runs. Its methods are called one after the other, and may wait for a slow
// client until ctx ends.
type Sink interface {
	Emit(ctx context.Context, chunk []byte) error
	Progress(ctx context.Context, done, total float64, text string) error
	Log(ctx context.Context, level slog.Level, message string, fields map[string]any) error
}

// Elicitor is a Sink whose client can ask its user.
type Elicitor interface {
	Elicit(ctx context.Context, message string, schema []byte) ([]byte, error)
}

// Follower is a Sink that follows its call.
type Follower interface {
	// Accepted is called once, when nothing stands against the call: it runs now, or as soon as there is a place.
	// An error ends it.
	Accepted(ctx context.Context) *Error
}

// Console is a Sink that the operator reads: what it is told is not in the operator's log as well.
type Console interface{ Console() }

// maxWaits is how many host calls of one run are kept for the log.
const maxWaits = 100

// told is what a call has told so far.
type told struct {
	mu      sync.Mutex
	partial []byte // of a line that was printed
	waits   []engine.Wait
	more    int // waits beyond maxWaits
}

// print makes log lines of what a script prints: nothing of it may reach a protocol.
func (c *call) print(text []byte) {
	c.told.mu.Lock()
	c.told.partial = append(c.told.partial, text...)
	var lines [][]byte
	for {
		line, rest, found := bytes.Cut(c.told.partial, []byte{'\n'})
		if !found {
			break
		}
		lines = append(lines, bytes.Clone(line))
		c.told.partial = rest
	}
	c.told.mu.Unlock()
	for _, line := range lines {
		c.log(slog.LevelInfo, string(line), nil)
	}
}

// flush logs a last line without an end.
func (t *told) flush(c *call) {
	t.mu.Lock()
	rest := t.partial
	t.partial = nil
	t.mu.Unlock()
	if len(rest) > 0 {
		c.log(slog.LevelInfo, string(rest), nil)
	}
}

// log writes a record for the operator, and for the client where it listens.
func (c *call) log(level slog.Level, message string, fields map[string]any) {
	message = c.host.options.Redact(message)
	_, console := c.req.Sink.(Console)
	if logger := c.host.options.Logger; !console && logger.Enabled(context.Background(), level) {
		attrs := []slog.Attr{slog.String("tool", c.tool.Name), slog.String("call", c.id)}
		for name, value := range fields {
			attrs = append(attrs, slog.Any(name, c.redacted(name, value)))
		}
		logger.LogAttrs(context.Background(), level, message, attrs...)
	}
	if c.req.Sink != nil {
		// A client that is gone ends the call by its context; the log is no reason to fail.
		_ = c.req.Sink.Log(c.runContext, level, message, c.allRedacted(fields))
	}
}

// redacted takes secrets out of the fields of a record.
func (c *call) redacted(name string, value any) any {
	if _, flag := value.(bool); !flag && redact.SecretName(name) {
		return redact.Mark
	}
	if text, ok := value.(string); ok {
		return c.host.options.Redact(text)
	}
	return value
}

func (c *call) allRedacted(fields map[string]any) map[string]any {
	if len(fields) == 0 {
		return nil
	}
	all := make(map[string]any, len(fields))
	for name, value := range fields {
		all[name] = c.redacted(name, value)
	}
	return all
}

func (c *call) waited(w engine.Wait) {
	c.told.mu.Lock()
	defer c.told.mu.Unlock()
	if len(c.told.waits) >= maxWaits {
		c.told.more++
		return
	}
	c.told.waits = append(c.told.waits, w)
}
