package upstream

import (
	"encoding/json"
	"log/slog"
)

// mostLogged bounds the data of one log message, in bytes.
const mostLogged = 2 << 10

// logged passes a log message of a server on. In our own log it is a detail: what a server finds grave need not be so
// here.
func (s *Server) logged(params json.RawMessage) {
	var severity, logger, data string
	members(params, func(key, value []byte) {
		switch string(key) {
		case "level":
			severity = shown(str(value))
		case "logger":
			logger = shown(str(value))
		case "data":
			data = s.redacted(shownLong(value))
		}
	})
	s.options.Logger.LogAttrs(s.ctx, slog.LevelDebug, "an upstream server logged",
		slog.String("severity", severity), slog.String("logger", logger), slog.String("data", data))
}
