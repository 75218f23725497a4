package engine

import (
	"container/list"
	"runtime"
	"sync"
	"time"
)

// slice is how long a script may run while others wait for a processor.
const slice = 10 * time.Millisecond

// slots limits how many scripts run at the same moment, and so how many OS threads the process
// needs: a script holds one while it runs. Who waits gets a slot in order of arrival, but those that
// used up their last slice come after those that did not: a short run does not wait for many long ones.
var slots = newSlotTable(min(24, max(4, 2*runtime.GOMAXPROCS(0))))

// tenant holds a slot. It is called from another goroutine, while it does.
type tenant interface {
	// breakOff asks it to stop soon.
	breakOff()
	// watch ends its run when the run's context is over, until the result is called. nil: no need.
	watch() (stop func() bool)
}

type slotTable struct {
	mu      sync.Mutex
	free    []int // unused indexes of holders
	holders []holder
	waiting list.List // of *turn
	spent   list.List // of *turn: of those that used up a slice
	fresh   int       // how many of waiting got a slot since one of spent did
	ticking bool
	unseen  bool // somebody came since the last tick
}

type holder struct {
	who    tenant
	seen   bool // by a tick
	broken bool // asked to stop
	stop   func() bool
}

// patience is how many others may come before one that used up its slice and waits.
const patience = 4

// turn is a place in the queue; given is closed when slot is valid.
type turn struct {
	given chan struct{}
	slot  int
	taken bool
}

func newSlotTable(n int) *slotTable {
	t := &slotTable{holders: make([]holder, n)}
	for i := range n {
		t.free = append(t.free, i)
	}
	return t
}

// take waits for a slot and gives its index, or -1 when stop was closed first. spent says that who used up
// its last slice.
func (t *slotTable) take(who tenant, spent bool, stop <-chan struct{}) int {
	t.mu.Lock()
	if n := len(t.free); n > 0 {
		slot := t.free[n-1]
		t.free = t.free[:n-1]
		t.settle(slot, who)
		t.mu.Unlock()
		return slot
	}
	place := &turn{given: make(chan struct{})}
	queue := &t.waiting
	if spent {
		queue = &t.spent
	} else {
		t.breakOne()
	}
	element := queue.PushBack(place)
	t.startTicking()
	t.mu.Unlock()
	select {
	case <-place.given:
	case <-stop:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !place.taken {
		queue.Remove(element)
		return -1
	}
	t.settle(place.slot, who)
	return place.slot
}

func (t *slotTable) settle(slot int, who tenant) {
	t.holders[slot] = holder{who: who}
	t.unseen = true
	t.startTicking()
}

func (t *slotTable) startTicking() {
	if !t.ticking {
		t.ticking = true
		time.AfterFunc(slice, t.tick)
	}
}

// breakOne asks one that had a whole slice to stop: the next tick may be far.
func (t *slotTable) breakOne() {
	for i := range t.holders {
		if h := &t.holders[i]; h.who != nil && h.seen && !h.broken {
			h.broken = true
			h.who.breakOff()
			return
		}
	}
}

// next takes the one whose turn it is out of its queue; nil when nobody waits.
func (t *slotTable) next() *turn {
	queue := &t.waiting
	if queue.Len() == 0 || t.fresh >= patience && t.spent.Len() > 0 {
		queue = &t.spent
	}
	first := queue.Front()
	if first == nil {
		return nil
	}
	if queue == &t.waiting {
		t.fresh++
	} else {
		t.fresh = 0
	}
	return queue.Remove(first).(*turn)
}

// give hands the slot to whose turn it is.
func (t *slotTable) give(slot int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stop := t.holders[slot].stop; stop != nil {
		stop()
	}
	t.holders[slot] = holder{}
	if place := t.next(); place != nil {
		place.slot, place.taken = slot, true
		close(place.given)
		return
	}
	t.free = append(t.free, slot)
}

// crowded says whether somebody waits.
func (t *slotTable) crowded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.someWait()
}

func (t *slotTable) someWait() bool { return t.waiting.Len() > 0 || t.spent.Len() > 0 }

// tick watches the runs that it sees for the first time: most are over before, and to watch one costs
// as much as half a small run. As long as somebody waits, it breaks off whoever had a whole slice.
func (t *slotTable) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	waited := t.someWait()
	if !waited && !t.unseen {
		t.ticking = false
		return
	}
	t.unseen = false
	for i := range t.holders {
		h := &t.holders[i]
		if h.who == nil {
			continue
		}
		switch {
		case !h.seen:
			h.seen, h.stop = true, h.who.watch()
		case waited:
			h.broken = true
			h.who.breakOff()
		}
	}
	time.AfterFunc(slice, t.tick)
}
