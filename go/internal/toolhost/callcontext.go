package toolhost

import (
	"context"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
)

// callContext is the context of a run: it ends with the caller's, at the deadline, or with the call. Most runs are
// over before anybody waits for its end, so what that needs (a timer, a place among the caller's contexts) is made
// when somebody does.
type callContext struct {
	context.Context // the caller's
	call            *call
	deadline        time.Time
	cause           error           // of its end by that
	ending          context.Context // of all calls

	mu     sync.Mutex
	timed  context.Context // nil until it is needed
	cancel context.CancelFunc
	over   bool
}

func newCallContext(outer, ending context.Context, c *call, limit time.Duration) *callContext {
	deadline, cause := time.Now().Add(limit), errTime
	if earlier, ok := outer.Deadline(); ok && earlier.Before(deadline) {
		deadline, cause = earlier, errCallersTime
	}
	return &callContext{Context: outer, call: c, deadline: deadline, cause: cause, ending: ending}
}

// whole makes the context with all that belongs to one.
func (x *callContext) whole() context.Context {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.timed == nil {
		outer, cancel := context.WithCancelCause(x.Context)
		timed, stopTimer := context.WithDeadlineCause(outer, x.deadline, x.cause)
		stop := context.AfterFunc(x.ending, func() { cancel(context.Cause(x.ending)) })
		x.timed, x.cancel = timed, func() {
			stop()
			stopTimer()
			cancel(nil)
		}
		if x.over {
			x.cancel()
		}
	}
	return x.timed
}

// end is called when the call is over.
func (x *callContext) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
	if x.cancel != nil {
		x.cancel()
	}
}

// Deadline implements context.Context.
func (x *callContext) Deadline() (time.Time, bool) { return x.deadline, true }

// Done implements context.Context.
func (x *callContext) Done() <-chan struct{} { return x.whole().Done() }

// Err implements context.Context.
func (x *callContext) Err() error {
	x.mu.Lock()
	running := x.timed == nil && !x.over
	x.mu.Unlock()
	if running && x.Context.Err() == nil && x.ending.Err() == nil && time.Now().Before(x.deadline) {
		return nil
	}
	return x.whole().Err()
}

// Value implements context.Context.
func (x *callContext) Value(key any) any {
	switch key.(type) {
	case callKey, toolmod.HostKey:
		return x.call
	case sdkmod.HostKey:
		if host := x.call.sdk(); host != nil {
			return host
		}
	}
	x.mu.Lock()
	timed := x.timed
	x.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return x.Context.Value(key)
}
