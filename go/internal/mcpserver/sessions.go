package mcpserver

//lint:file-ignore SA1019 Sampling and logging are deprecated from 2026-07-28 on, and go on to work; sessions have nothing else.

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions are those over HTTP. Few clients end theirs: one that is unused for long is ended, and when there are too
// many, the one that is longest unused makes room.
type sessions struct {
	most int
	idle time.Duration // before one is ended
	now  func() time.Time

	mu  sync.Mutex
	all map[string]*session // by id
}

type session struct {
	sdk    *mcp.ServerSession
	ended  context.Context
	cancel context.CancelFunc // of ended

	// Under the lock of sessions.
	requests int // under way, its open stream among them
	last     time.Time
	timer    *time.Timer // ends it

	mu        sync.Mutex // of what follows
	level     mcp.LoggingLevel
	calls     map[jsonrpc.ID]context.CancelFunc // that run without the SDK
	questions map[string]chan<- clientAnswer
	lastAsked int
}

// begin adds one, if it is not there already.
func (s *sessions) begin(id string, sdk *mcp.ServerSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[id] != nil {
		return false
	}
	of := &session{sdk: sdk, last: s.now(), calls: map[jsonrpc.ID]context.CancelFunc{}, questions: map[string]chan<- clientAnswer{}}
	of.ended, of.cancel = context.WithCancel(context.Background())
	of.timer = time.AfterFunc(s.idle, func() {
		if s.leave(id, of) {
			of.close()
		}
	})
	s.all[id] = of
	return true
}

// leave takes one out that is unused, so that no request finds it any more; false: there is one.
func (s *sessions) leave(id string, of *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.requests > 0 || s.all[id] != of {
		return false
	}
	delete(s.all, id)
	return true
}

// close ends a session, with what runs in it: the SDK would wait for that.
func (s *session) close() {
	s.timer.Stop()
	s.end()
	s.sdk.Close()
}

// forget takes one out that has ended.
func (s *sessions) forget(id string) {
	s.mu.Lock()
	of := s.all[id]
	delete(s.all, id)
	s.mu.Unlock()
	if of != nil {
		of.timer.Stop()
		of.end()
	}
}

// end ends what runs in all of them.
func (s *sessions) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range s.all {
		of.end()
	}
}

// use counts a request of a session until done is called. It is nil where there is no such session.
func (s *sessions) use(id string) (of *session, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of = s.all[id]
	if of == nil {
		return nil, func() {}
	}
	of.requests++
	of.timer.Stop()
	return of, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		of.last = s.now()
		if of.requests--; of.requests == 0 && s.all[id] == of {
			of.timer.Reset(s.idle)
		}
	}
}

// room says whether one more may begin. One that is in the way is to be closed.
func (s *sessions) room() (inTheWay *session, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) < s.most {
		return nil, true
	}
	var name string
	for id, of := range s.all {
		if of.requests == 0 && (inTheWay == nil || of.last.Before(inTheWay.last)) {
			name, inTheWay = id, of
		}
	}
	delete(s.all, name)
	return inTheWay, inTheWay != nil
}

// levels are those of log messages, from the least on.
var levels = []mcp.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// want has the client get log messages from a level on.
func (s *session) want(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}

// wants says whether the client wants log messages of a level. It wants none before it has said so.
func (s *session) wants(level mcp.LoggingLevel) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level != "" && slices.Index(levels, level) >= slices.Index(levels, s.level)
}

// noting notes what there is to know of a session over HTTP: that it has begun, which log messages it wants, and
// that it has ended.
func (s *Server) noting(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch params := req.GetParams().(type) {
		case *mcp.InitializeParams:
			if session, ok := req.GetSession().(*mcp.ServerSession); ok && session.ID() != "" && s.sessions.begin(session.ID(), session) {
				s.following.Go(func() {
					_ = session.Wait() // how it ended makes no difference
					s.sessions.forget(session.ID())
				})
			}
		case *mcp.SetLoggingLevelParams:
			if !slices.Contains(levels, params.Level) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("there is no level %.40q; levels are %v", params.Level, levels)}
			}
			result, err := next(ctx, method, req)
			if of, done := s.sessions.use(req.GetSession().ID()); err == nil && of != nil {
				defer done()
				of.want(params.Level)
			}
			return result, err
		}
		return next(ctx, method, req)
	}
}

// followed tells when a session that begins has ended.
func (s *Server) followed(ctx context.Context, req *mcp.InitializedRequest) {
	who := callerIn(ctx, req.Session)
	s.following.Go(func() {
		_ = req.Session.Wait()
		s.options.Ended(who)
	})
}
