package gateway

import (
	"context"
	"sync"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// slots bound how many calls of one source are under way.
type slots struct {
	options *Options

	mu  sync.Mutex
	all map[string]chan struct{} // by source
}

func (s *slots) init(o *Options) { s.options, s.all = o, map[string]chan struct{}{} }

// enter waits for a place. leave gives it back.
func (s *slots) enter(ctx context.Context, source *catalog.Scope) (leave func(), err error) {
	slot := s.of(source)
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	default:
	}
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *slots) of(source *catalog.Scope) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := string(source.Kind) + " " + source.Name
	slot := s.all[key]
	if slot == nil {
		most := s.options.Concurrency
		if s.options.Limits != nil {
			if own := s.options.Limits(source.Name); own > 0 {
				most = own
			}
		}
		slot = make(chan struct{}, most)
		s.all[key] = slot
	}
	return slot
}
