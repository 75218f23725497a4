package mcpserver

import (
	"context"
	"sync"
)

// streams are the HTTP requests that wait for what happens, for as long as the client likes. The zero value is
// ready.
type streams struct {
	mu     sync.Mutex
	last   int
	all    map[int]context.CancelFunc
	closed bool
}

// begin gives a request a context that close ends, too.
func (s *streams) begin(ctx context.Context) (_ context.Context, end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, false
	}
	if s.all == nil {
		s.all = map[int]context.CancelFunc{}
	}
	ctx, cancel := context.WithCancel(ctx)
	s.last++
	number := s.last
	s.all[number] = cancel
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, number)
	}, true
}

// close ends them all, and refuses new ones.
func (s *streams) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, cancel := range s.all {
		cancel()
	}
}
