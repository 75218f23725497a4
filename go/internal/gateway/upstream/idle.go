package upstream

import (
	"context"
	"sync"
	"time"
)

// idle ends a call that gives no sign of life. While our client is asked something, time stands still. A nil one
// does nothing.
type idle struct {
	after time.Duration
	mu    sync.Mutex
	timer *time.Timer
	open  int // questions
	over  bool
}

func newIdle(after time.Duration, stop context.CancelCauseFunc) *idle {
	i := &idle{after: after}
	i.timer = time.AfterFunc(after, func() { stop(errIdle) })
	return i
}

func (i *idle) alive() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.open == 0 && !i.over {
		i.timer.Reset(i.after)
	}
}

func (i *idle) asking(begins bool) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if begins {
		i.open++
		i.timer.Stop()
		return
	}
	if i.open--; i.open == 0 && !i.over {
		i.timer.Reset(i.after)
	}
}

func (i *idle) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
	i.timer.Stop()
}
