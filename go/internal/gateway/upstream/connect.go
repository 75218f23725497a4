package upstream

import (
	"context"
	"fmt"
	"time"
)

// connect makes a connection, up to the end of its handshake.
func (s *Server) connect(ctx context.Context) (*session, *Error) {
	ctx, stop := context.WithTimeout(ctx, s.config.StartTimeout)
	defer stop()
	n := &session{owner: s, changes: make(chan struct{}, 1), began: time.Now()}
	n.peer = newPeer(s.options.Logger, s.config.MaxBytes, n)
	s.mu.Lock()
	older := s.older
	s.mu.Unlock()
	err := s.dial(ctx, n)
	if err == nil {
		if err = n.shake(ctx, older); err == nil {
			s.options.Logger.Info("an upstream server is connected", "protocol", n.version)
			return n, nil
		}
		n.end()
		// A server that ends at a request it does not know is asked the older way next time; and where that was
		// of no use, the new way once more.
		s.mu.Lock()
		s.older = !older && err.broken
		s.mu.Unlock()
	}
	if err.Code == CodeTimeout {
		err.Message = fmt.Sprintf("it did not answer within %v of its start", s.config.StartTimeout)
	}
	return nil, err
}

// dial makes the connection itself.
func (s *Server) dial(ctx context.Context, n *session) *Error {
	// Around a result there may be a message, and a result over the bounds is to be told from a line that never ends.
	most := s.config.MaxBytes + s.config.MaxBytes/2 + 1<<20
	switch {
	case s.config.Command != "":
		return s.startProcess(n, most)
	case s.config.Transport == SSE:
		w := newWeb(s.config, s.options, most)
		if err := openSSE(ctx, w, s.config.URL, n.peer); err != nil {
			w.close()
			return err
		}
		return nil
	}
	newStreamable(newWeb(s.config, s.options, most), s.config.URL, n.peer)
	return nil
}

func (s *Server) startProcess(n *session, most int) *Error {
	if s.options.Start == nil {
		return &Error{Code: CodeUnavailable, Message: "programs cannot be started here"}
	}
	process, err := s.options.Start(Command{
		Path: s.config.Command, Args: s.config.Args, Dir: s.config.Dir,
		Env: environment(s.options.Environ, s.config.Env),
	})
	if err != nil {
		return &Error{Code: CodeUnavailable, Message: "it cannot be started: " + shown(err.Error()), cause: err}
	}
	n.process = process
	n.reading.Go(func() { follow(process.Err, s.printed) })
	newLines(process, n.peer, most)
	return nil
}

// printed keeps a line of the process's error output.
func (s *Server) printed(line string) {
	line = shown(line)
	s.stderr.add(line)
	s.options.Logger.Debug("an upstream server printed", "line", s.redacted(line))
}

// works says whether the connection is of use.
func (s *session) works() bool {
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

// why is why the connection broke.
func (s *session) why() *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// drain waits until no request is under way, or nobody cares.
func (s *session) drain(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, s.owner.config.CallTimeout)
	defer stop()
	for s.underWay() > 0 && pause(ctx, drainPause) == nil {
	}
}

const drainPause = 20 * time.Millisecond

// alone says whether all goes over one connection, which may be dead without anybody noticing.
func (s *session) alone() bool {
	_, many := s.conn.(*streamable)
	return !many
}

// probe finds out whether a server that gave a call no sign of life says anything at all. If not, another connection
// is better.
func (s *session) probe() {
	ctx, stop := context.WithTimeout(context.Background(), probeTime)
	defer stop()
	before := s.heard.Load()
	if _, err := s.roundTrip(ctx, "ping", s.pingParams()); err != nil && err.Code == CodeTimeout && s.heard.Load() == before {
		s.lost(&Error{Code: CodeLost, Message: "the connection to the server is lost: it answers nothing any more"})
	}
}

const probeTime = 10 * time.Second

func (s *session) pingParams() []byte {
	var f fields
	f.raw("_meta", s.owner.meta(s.version, s.owner.options.Client, 0))
	return f.end()
}

// mark notes that a list has changed.
func (s *session) mark() {
	select {
	case s.changes <- struct{}{}:
	default:
	}
}

// end closes the connection and waits until nothing of it runs.
func (s *session) end() {
	s.lost(&Error{Code: CodeClosed, Message: "the connection is closed"})
	s.conn.close()
	s.questions.close()
	if s.process != nil {
		_ = s.process.Err.Close() // a reader of it must not wait for a process that nobody can end
	}
	s.reading.Wait()
}

// told implements handler.
func (s *session) told(m message) {
	switch m.method {
	case "notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed":
		s.mark()
	case "notifications/message":
		s.owner.logged(m.params)
	case "notifications/cancelled":
		s.cancelled(m.params)
	}
}

// subscribe asks to be told of changes of the lists, in the stateless revision; in the others a server tells by itself.
func (s *session) subscribe() {
	if s.version < stateless {
		return
	}
	var wanted fields
	for _, list := range []string{"tools", "prompts", "resources"} {
		if s.said.tells(list) {
			wanted.raw(list+"ListChanged", []byte("true"))
		}
	}
	if wanted.text == nil {
		return
	}
	var f fields
	f.raw("notifications", wanted.end())
	f.raw("_meta", s.owner.meta(s.version, s.owner.options.Client, 0))
	s.reading.Go(func() { s.hearChanges(f.end()) })
}

// hearChanges keeps a subscription open until the connection ends.
func (s *session) hearChanges(params []byte) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		select {
		case <-s.gone:
			stop()
		case <-ctx.Done():
		}
	}()
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		began := time.Now()
		_, err := s.roundTrip(ctx, "subscriptions/listen", params)
		if ctx.Err() != nil || err != nil && err.Number == numberMethodNotFound {
			return
		}
		if time.Since(began) > lastPause {
			wait = firstPause
		}
		if pause(ctx, wait) != nil {
			return
		}
		s.mark() // what changed meanwhile nobody told us
	}
}
