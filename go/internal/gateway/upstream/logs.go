package upstream

import (
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Log is what a server told as a log message.
type Log struct {
	Time   time.Time
	Level  string
	Logger string
	Data   string // JSON, cut where it is long
}

const (
	mostLogs   = 200
	mostLogged = 2 << 10 // bytes of one
)

// logs keeps the last log messages of a server.
type logs struct {
	mu   sync.Mutex
	kept []Log
}

func (l *logs) add(entry Log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) == mostLogs {
		l.kept = slices.Delete(l.kept, 0, 1)
	}
	l.kept = append(l.kept, entry)
}

// Logs are the last log messages of the server, oldest first.
func (s *Server) Logs() []Log {
	s.logs.mu.Lock()
	defer s.logs.mu.Unlock()
	return slices.Clone(s.logs.kept)
}

// logged keeps a log message. It goes to our own log as a detail: what a server finds grave need not be so here.
func (s *Server) logged(params json.RawMessage) {
	entry := Log{Time: time.Now()}
	members(params, func(key, value []byte) {
		switch string(key) {
		case "level":
			entry.Level = shown(str(value))
		case "logger":
			entry.Logger = shown(str(value))
		case "data":
			entry.Data = s.redacted(shownLong(value))
		}
	})
	s.logs.add(entry)
	s.options.Logger.LogAttrs(s.ctx, slog.LevelDebug, "an upstream server logged",
		slog.String("level", entry.Level), slog.String("logger", entry.Logger), slog.String("data", entry.Data))
}
