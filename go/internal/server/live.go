package server

import (
	"context"
	"strconv"
	"sync"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// liveCalls are the calls of this process that run on their own.
type liveCalls struct {
	mu    sync.Mutex
	calls map[string]*liveCall
	ended []*liveCall // the latest, for who comes back for their last events
}

// keptEnded is how many calls that have ended keep their events.
const keptEnded = 64

func (l *liveCalls) add(c *liveCall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls[c.id] != nil {
		return false
	}
	l.calls[c.id] = c
	return true
}

func (l *liveCalls) remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.calls[id]
	delete(l.calls, id)
	if c == nil {
		return
	}
	told := c.told()
	if told == nil {
		return
	}
	if len(l.ended) == keptEnded {
		l.ended[0] = nil
		l.ended = l.ended[1:]
	}
	l.ended = append(l.ended, told)
}

// last gives a call that has ended; nil where its events are forgotten.
func (l *liveCalls) last(id string) *liveCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.ended {
		if c.id == id {
			return c
		}
	}
	return nil
}

func (l *liveCalls) find(id string) *liveCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[id]
}

func (l *liveCalls) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls)
}

// What is kept of the events of a call for who asks later; older ones are dropped, and of one that is larger only
// its size is told.
const (
	keptEvents = 256
	keptBytes  = 256 << 10
)

// liveCall is a call that runs on its own, with what it told last. Nobody has to listen.
type liveCall struct {
	teller
	id, owner, tool string
	cancel          context.CancelCauseFunc
	accepted        func(ctx context.Context) *toolhost.Error

	mu      sync.Mutex
	events  []event
	first   int // number of the first one kept; they count from 1
	bytes   int
	last    *event // how the call ended
	changed chan struct{}
}

func newLiveCall(id, owner, tool string, cancel context.CancelCauseFunc) *liveCall {
	c := &liveCall{id: id, owner: owner, tool: tool, cancel: cancel, first: 1, changed: make(chan struct{})}
	c.put = func(_ context.Context, e event, _ bool) error {
		c.tell(e)
		return nil
	}
	return c
}

// Accepted implements toolhost.Follower.
func (c *liveCall) Accepted(ctx context.Context) *toolhost.Error {
	if c.accepted == nil {
		return nil
	}
	return c.accepted(ctx)
}

func (c *liveCall) tell(e event) {
	if len(e.data) > keptBytes {
		e.data = append(strconv.AppendInt([]byte(`{"dropped":`), int64(len(e.data)), 10), '}')
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
	c.bytes += len(e.data)
	for len(c.events) > keptEvents || c.bytes > keptBytes {
		c.bytes -= len(c.events[0].data)
		c.events[0] = event{}
		c.events = c.events[1:]
		c.first++
	}
	c.wake()
}

// end tells how the call ended.
func (c *liveCall) end(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = &e
	c.wake()
}

// told is what the call told before it ended, without the answer, which may be large; nil while it runs.
func (c *liveCall) told() *liveCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		return nil
	}
	return &liveCall{id: c.id, events: c.events, first: c.first}
}

func (c *liveCall) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// after gives the events that follow a number, the number of the first of them, how the call ended, and what is
// closed when there is more.
func (c *liveCall) after(number int) (events []event, first int, last *event, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	skip := min(max(number+1-c.first, 0), len(c.events))
	return append(events, c.events[skip:]...), c.first + skip, c.last, c.changed
}
