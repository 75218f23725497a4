package mcpserver

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A client ends the connection by closing the server's standard input, and then waits for the server to exit: the
// protocol's own clients for two seconds or more, before they end it. A script that pipes its requests in closes
// the input as well, and wants the answers. So calls that run have a short time to end by themselves; then they are
// cancelled, and answered as such.

// endTime is how long calls that were cancelled may take to end.
const endTime = 3 * time.Second

// drain waits until all calls are answered.
func (l *lines) drain() {
	if l.allAnswered(l.grace) {
		return
	}
	if cancelled := l.cancelAll(); cancelled > 0 {
		l.logger.Warn("standard input has ended, and calls that still ran are cancelled: keep it open until they are answered",
			slog.Int("calls", cancelled), slog.Duration("after", l.grace))
	}
	if !l.allAnswered(endTime) {
		close(l.unread)
	}
}

// allAnswered waits for it, as long as a time allows. It is true when nobody is left to answer.
func (l *lines) allAnswered(limit time.Duration) bool {
	l.mu.Lock()
	idle := make(chan struct{})
	l.idle = idle
	l.wake()
	l.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-idle:
		return true
	case <-l.closed:
		return true
	case <-timer.C:
		return false
	}
}

// wake tells allAnswered. The lock is held.
func (l *lines) wake() {
	if l.idle != nil && len(l.inFlight)+l.writing == 0 {
		close(l.idle)
		l.idle = nil
	}
}

// cancelAll cancels the calls that are not answered, as the client would have: but it does want the answers.
func (l *lines) cancelAll() (calls int) {
	l.mu.Lock()
	var ids []jsonrpc.ID
	for id, already := range l.inFlight {
		if !already {
			ids = append(ids, id)
		}
	}
	l.mu.Unlock()
	for _, id := range ids {
		if d := l.direct.Load(); d != nil {
			d.cancel(id)
		}
		params, err := json.Marshal(map[string]any{"requestId": id.Raw()})
		if err != nil {
			continue
		}
		select {
		case l.incoming <- &jsonrpc.Request{Method: "notifications/cancelled", Params: params}:
		case <-l.closed:
		}
	}
	return len(ids)
}
