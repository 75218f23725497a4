package toolhost

import (
	"context"
	"sync"
)

// underway counts the calls that have not ended. Unlike a sync.WaitGroup it may be waited for while others begin. The
// zero value is ready.
type underway struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is 0; nil while nobody waits
}

func (u *underway) begin() {
	u.mu.Lock()
	u.n++
	u.mu.Unlock()
}

func (u *underway) end() {
	u.mu.Lock()
	if u.n--; u.n == 0 && u.none != nil {
		close(u.none)
		u.none = nil
	}
	u.mu.Unlock()
}

// wait returns when no call is under way, or with the cause of the end of ctx.
func (u *underway) wait(ctx context.Context) error {
	u.mu.Lock()
	if u.n == 0 {
		u.mu.Unlock()
		return nil
	}
	if u.none == nil {
		u.none = make(chan struct{})
	}
	none := u.none
	u.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ending ends all calls at once.
type ending struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newEnding() *ending {
	e := &ending{}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	return e
}
