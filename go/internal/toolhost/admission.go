package toolhost

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"
)

// admission limits how many calls run at once, and how many of one tool: at least one place is always left for
// the others. Calls wait in order of arrival; one whose tool has no place left does not hold up those behind it.
type admission struct {
	most, queue int
	wait        time.Duration

	mu      sync.Mutex
	running int
	tools   map[string]int // running calls of each tool
	waiting list.List      // of *ticket
	closed  bool
}

type ticket struct {
	tool     string
	admitted chan struct{}
	in       bool
	element  *list.Element // of those that wait
}

func newAdmission(most, queue int, wait time.Duration) *admission {
	return &admission{most: max(most, 1), queue: max(queue, 0), wait: wait, tools: map[string]int{}}
}

// room says whether a call of the tool may begin. The lock is held.
func (a *admission) room(tool string) bool {
	return a.running < a.most && (a.tools[tool] < a.most-1 || a.most == 1)
}

func (a *admission) begin(tool string) {
	a.running++
	a.tools[tool]++
}

// join gives a place at once, or a ticket with which to wait for one.
func (a *admission) join(tool string) (*ticket, *Error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return nil, &Error{Code: Busy, Message: "the server is shutting down", RetryAfter: time.Second}
	case a.waiting.Len() == 0 && a.room(tool):
		a.begin(tool)
		return nil, nil
	case a.waiting.Len() >= a.queue && !a.room(tool):
		return nil, &Error{Code: Busy, Message: fmt.Sprintf("%d calls are waiting to run; try again later", a.queue), RetryAfter: time.Second}
	}
	t := &ticket{tool: tool, admitted: make(chan struct{})}
	t.element = a.waiting.PushBack(t)
	a.admit()
	return t, nil
}

// await waits until the ticket is a place; leave must follow when the error is nil.
func (a *admission) await(ctx context.Context, t *ticket) *Error {
	if t == nil {
		return nil
	}
	timer := time.NewTimer(a.wait)
	defer timer.Stop()
	var refused *Error
	select {
	case <-t.admitted:
		return nil
	case <-ctx.Done():
		refused = &Error{Code: Cancelled, Message: "the call was cancelled before it ran", cause: context.Cause(ctx)}
	case <-timer.C:
		refused = &Error{Code: Busy, Message: fmt.Sprintf("no place to run within %s; try again later", a.wait), RetryAfter: time.Second}
	}
	a.drop(t.tool, t)
	return refused
}

// drop gives up what join gave.
func (a *admission) drop(tool string, t *ticket) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t == nil || t.in {
		a.end(tool)
		return
	}
	a.waiting.Remove(t.element)
}

// admit lets in whom there is room for. The lock is held.
func (a *admission) admit() {
	for e := a.waiting.Front(); e != nil && a.running < a.most; {
		next := e.Next()
		if t := e.Value.(*ticket); a.room(t.tool) {
			a.waiting.Remove(e)
			a.begin(t.tool)
			t.in = true
			close(t.admitted)
		}
		e = next
	}
}

func (a *admission) leave(tool string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.end(tool)
}

func (a *admission) end(tool string) {
	a.running--
	if a.tools[tool]--; a.tools[tool] == 0 {
		delete(a.tools, tool)
	}
	a.admit()
}

// close refuses calls from now on. Those that wait still run.
func (a *admission) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
}

// open takes calls again.
func (a *admission) open() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = false
}

// load says how many calls run and wait.
func (a *admission) load() (running, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running, a.waiting.Len()
}
