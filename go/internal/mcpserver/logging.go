package mcpserver

//lint:file-ignore SA1019 Logging is deprecated from 2026-07-28 on, and goes on to work; sessions have nothing else.

import (
	"context"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// capabilities are what the server can do beside calls: its list of tools changes, and it logs. Prompts are
// agents whose files ask to be offered as such; there may be none.
func capabilities() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{
		Tools:   &mcp.ToolCapabilities{ListChanged: true},
		Prompts: &mcp.PromptCapabilities{ListChanged: true},
		Logging: &mcp.LoggingCapabilities{},
	}
}

// logTo sends a log message where the client wants those of its level.
func logTo(ctx context.Context, client peer, logger string, level slog.Level, data any) error {
	return client.Log(ctx, &mcp.LoggingMessageParams{Logger: logger, Level: levelOf(level), Data: data})
}

func levelOf(level slog.Level) mcp.LoggingLevel {
	switch {
	case level < slog.LevelInfo:
		return "debug"
	case level < slog.LevelWarn:
		return "info"
	case level < slog.LevelError:
		return "warning"
	}
	return "error"
}
