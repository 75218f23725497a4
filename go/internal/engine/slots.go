package engine

import (
	"container/list"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// slice is how long a script may run while others wait for a processor.
const slice = 10 * time.Millisecond

// slots limits how many scripts run at the same moment, and so how many OS threads the process
// needs: a script holds one while it runs. Who waits gets a slot in order of arrival, but those that
// used up their last slice come after those that did not, and never have all slots: a short run does not
// wait for many long ones.
var slots = newSlotTable(min(24, max(4, 2*runtime.GOMAXPROCS(0))), runtime.GOMAXPROCS(0))

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
	long    int       // how many slots those have
	most    int       // of long: more would only be in the way of short runs
	fresh   int       // how many of waiting got a slot since one of spent did
	ticking bool
	unseen  bool // somebody came since the last tick
}

type holder struct {
	who    tenant
	long   bool // it had used up a slice when it got the slot
	seen   bool // by a tick
	broken bool // asked to stop
	stop   func() bool
}

// patience is how many others may come before one that used up its slice and waits.
const patience = 4

// turn is a place in a queue; given is closed when slot is valid.
type turn struct {
	given   chan struct{}
	slot    int
	taken   bool
	spent   bool // it is in that queue
	long    *atomic.Bool
	element *list.Element
}

// newSlotTable has n slots, of which those that used up a slice get at most long.
func newSlotTable(n, long int) *slotTable {
	t := &slotTable{holders: make([]holder, n), most: max(1, min(long, n-1))}
	for i := range n {
		t.free = append(t.free, i)
	}
	return t
}

// take waits for a slot and gives its index, or -1 when ctx ended first. spent says that who used up
// its last slice. long, which may be nil, says that those like who do so, and may say it while who waits.
func (t *slotTable) take(ctx context.Context, who tenant, spent bool, long *atomic.Bool) int {
	spent = spent || isLong(long)
	t.mu.Lock()
	if n := len(t.free); n > 0 && !(spent && t.long >= t.most) {
		slot := t.free[n-1]
		t.free = t.free[:n-1]
		t.count(spent)
		t.settle(slot, who, spent)
		t.mu.Unlock()
		return slot
	}
	place := &turn{given: make(chan struct{}), long: long}
	t.enqueue(place, spent)
	if !spent {
		t.breakOne()
	}
	t.startTicking()
	t.mu.Unlock()
	select {
	case <-place.given:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !place.taken {
		t.dequeue(place)
		return -1
	}
	t.settle(place.slot, who, place.spent)
	return place.slot
}

func isLong(long *atomic.Bool) bool { return long != nil && long.Load() }

func (t *slotTable) enqueue(place *turn, spent bool) {
	place.spent = spent
	place.element = t.queue(spent).PushBack(place)
}

func (t *slotTable) dequeue(place *turn) { t.queue(place.spent).Remove(place.element) }

func (t *slotTable) queue(spent bool) *list.List {
	if spent {
		return &t.spent
	}
	return &t.waiting
}

func (t *slotTable) count(long bool) {
	if long {
		t.long++
	}
}

func (t *slotTable) settle(slot int, who tenant, long bool) {
	t.holders[slot] = holder{who: who, long: long}
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

// next takes the one whose turn it is out of its queue; nil when nobody waits, or only those that have enough.
func (t *slotTable) next() *turn {
	t.sortOut()
	spent := t.long < t.most && (t.waiting.Len() == 0 || t.fresh >= patience && t.spent.Len() > 0)
	first := t.queue(spent).Front()
	if first == nil {
		return nil
	}
	if spent {
		t.fresh = 0
		t.long++
	} else {
		t.fresh++
	}
	place := first.Value.(*turn)
	t.dequeue(place)
	return place
}

// sortOut moves those in front that turned out to be long ones to the others of that kind.
func (t *slotTable) sortOut() {
	for first := t.waiting.Front(); first != nil; first = t.waiting.Front() {
		place := first.Value.(*turn)
		if !isLong(place.long) {
			return
		}
		t.dequeue(place)
		t.enqueue(place, true)
	}
}

// give hands the slot to whose turn it is.
func (t *slotTable) give(slot int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stop := t.holders[slot].stop; stop != nil {
		stop()
	}
	if t.holders[slot].long {
		t.long--
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
