package engine

import (
	"context"
	"sync"
)

// runContext is the context of a run as host functions see it. It ends with the run, for which a
// context of its own is made when somebody asks: most short runs do without.
type runContext struct {
	mu     sync.Mutex
	given  context.Context // by the caller of Run; nil between runs
	own    context.Context
	cancel context.CancelFunc
}

var over = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (r *runContext) begin(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given = ctx
}

// get may be called by any goroutine.
func (r *runContext) get() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.given == nil {
		return over
	}
	if r.own == nil {
		r.own, r.cancel = context.WithCancel(r.given)
	}
	return r.own
}

func (r *runContext) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own != nil {
		r.cancel()
	}
	r.given, r.own, r.cancel = nil, nil, nil
}
