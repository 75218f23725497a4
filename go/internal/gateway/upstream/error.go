package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// Codes of errors.
const (
	CodeUpstream      = "upstream"       // the server refused the request; Number says how
	CodeUnavailable   = "unavailable"    // there is no connection to the server
	CodeLost          = "lost"           // the connection broke, and the call may have run
	CodeTimeout       = "timeout"        // no sign of life for too long
	CodeCancelled     = "cancelled"      // whoever asked has given up
	CodeUnauthorized  = "unauthorized"   // the server wants to know who we are
	CodePermission    = "permission"     // the configuration or the server does not allow it
	CodeInvalid       = "invalid_params" // arguments that are no JSON object
	CodeNotFound      = "not_found"      // no such tool, resource or prompt
	CodeTooLarge      = "limit"          // a result over the bounds
	CodeClosed        = "closed"         // Close was called
	CodeInvalidAnswer = "invalid_answer" // what came is not the protocol
)

// Error is why something of a server failed.
type Error struct {
	Code      string
	Server    string
	Tool      string // "" where it is not about one
	Message   string
	Retryable bool            // another try may succeed, and does no harm
	Number    int64           // JSON-RPC code of the server's error; 0: it is not from the server
	Data      json.RawMessage // of the server's error
	Status    int             // of HTTP; 0: none

	cause  error
	unsent bool // the server has not acted on the request
	broken bool // the connection is of no more use
}

// Error implements error.
func (e *Error) Error() string {
	if e.Server == "" {
		return e.Message
	}
	return fmt.Sprintf("mcp server %q: %s", e.Server, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.cause }

// ErrorCode is the code, for those who know the method only.
func (e *Error) ErrorCode() string { return e.Code }

// Is says that errors about time are those of package context.
func (e *Error) Is(target error) bool {
	return e.Code == CodeTimeout && target == context.DeadlineExceeded || e.Code == CodeCancelled && target == context.Canceled
}

// shown is a text of a server as part of a message.
func shown(text string) string {
	return visible.Line(spelling.Clip(strings.TrimSpace(strings.ToValidUTF8(text, "")), 500))
}

// shownLong is shown for more text, as data of a log message.
func shownLong(text []byte) string {
	return visible.Line(spelling.Clip(strings.ToValidUTF8(string(text[:min(len(text), 2*mostLogged)]), ""), mostLogged))
}
