package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Once all calls have ended or were cancelled, answers may take closeTime to leave, and calls endTime to be over.
const (
	closeTime = time.Second
	endTime   = 5 * time.Second
)

// Serve serves connections until ctx ends: then it takes no more, waits for calls that run, and closes. Calls that
// take longer than DrainTime are cancelled.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	o := &s.options
	base, end := context.WithCancelCause(context.Background())
	defer end(toolhost.ErrShutdown)
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	h := &http.Server{
		Handler: s, Protocols: &protocols, BaseContext: func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: o.HeaderTimeout, ReadTimeout: max(o.BodyTimeout, o.HeaderTimeout), IdleTimeout: o.IdleTimeout, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- h.Serve(netutil.LimitListener(timedListener{l, o.WriteTimeout}, o.MaxConns)) }()
	polled := make(chan struct{})
	polling, stop := context.WithCancel(ctx)
	go func() {
		defer close(polled)
		s.RunDecided(polling)
	}()
	var err error
	select {
	case err = <-served: // the listener failed
	case <-ctx.Done():
	}
	stop()
	<-polled
	s.drain(h, end)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// drain ends a server. While calls finish, it listens on: whoever asks hears that it ends, and how calls ended that
// run on their own. Then it closes what waits for nothing, as streams of the Model Context Protocol.
func (s *Server) drain(h *http.Server, end context.CancelCauseFunc) {
	o := &s.options
	s.draining.Store(true)
	h.SetKeepAlivesEnabled(false)
	o.Logger.Info("the server ends when its calls have ended", "running", o.Host.Stats().Running, "at_most", o.DrainTime.String())
	ctx, cancel := context.WithTimeout(context.Background(), o.DrainTime)
	err := o.Host.Drain(ctx)
	cancel()
	if err != nil {
		o.Logger.Warn("calls still run after the time to drain; they are cancelled", "error", err.Error())
		o.Host.Cancel()
	}
	s.Close()
	if !s.shutdown(h) {
		end(toolhost.ErrShutdown)
		if !s.shutdown(h) {
			_ = h.Close() // nothing is left to be told about it
		}
	}
	// A call that was cancelled is in the log before its store is closed.
	ctx, cancel = context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := o.Host.Drain(ctx); err != nil {
		o.Logger.Error("calls do not end", "error", err.Error())
	}
}

// shutdown lets answers leave; false when some have not.
func (s *Server) shutdown(h *http.Server) bool {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return h.Shutdown(ctx) == nil
}

// timedListener gives connections a limit of time for each write: a client that reads nothing holds nothing.
type timedListener struct {
	net.Listener
	limit time.Duration
}

func (l timedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &timedConn{Conn: c, limit: l.limit}, nil
}

type timedConn struct {
	net.Conn
	limit time.Duration
	until atomic.Int64 // the deadline that is set, in nanoseconds
}

// Write moves the deadline only where little is left of it: to do so costs more than many a write.
func (c *timedConn) Write(p []byte) (int, error) {
	now := time.Now()
	if least := now.Add(c.limit); c.until.Load() < least.UnixNano() {
		deadline := least.Add(c.limit / 4)
		if err := c.SetWriteDeadline(deadline); err != nil {
			return 0, err
		}
		c.until.Store(deadline.UnixNano())
	}
	return c.Conn.Write(p)
}
