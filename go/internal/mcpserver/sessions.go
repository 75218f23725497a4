package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions are those over HTTP. Few clients end theirs; when there are too many, the one that is longest unused
// makes room.
type sessions struct {
	most int
	now  func() time.Time

	mu  sync.Mutex
	all map[string]*session // by id
}

type session struct {
	requests int // under way, its open stream among them
	last     time.Time
}

// use counts a request of a session until done is called.
func (s *sessions) use(id string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.all[id]
	if of == nil {
		of = &session{}
		s.all[id] = of
	}
	of.requests++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		of.requests--
		of.last = s.now()
	}
}

// room says whether one more may begin, given those that there are; one that is in the way is to be closed.
func (s *sessions) room(there []string) (inTheWay string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := map[string]*session{}
	for _, id := range there {
		if of := s.all[id]; of != nil {
			known[id] = of
		}
	}
	s.all = known // others have ended
	if len(known) < s.most {
		return "", true
	}
	for id, of := range known {
		if of.requests == 0 && (inTheWay == "" || of.last.Before(known[inTheWay].last)) {
			inTheWay = id
		}
	}
	delete(s.all, inTheWay)
	return inTheWay, inTheWay != ""
}

// followed tells when a session that begins has ended.
func (s *Server) followed(ctx context.Context, req *mcp.InitializedRequest) {
	who := callerIn(ctx, req.Session)
	s.following.Go(func() {
		_ = req.Session.Wait() // how it ended makes no difference
		s.options.Ended(who)
	})
}
