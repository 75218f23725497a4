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
// needs: a script holds one while it runs. Who waits gets a slot in order of arrival.
var slots = newSlotTable(min(24, max(4, 2*runtime.GOMAXPROCS(0))))

// breaker is asked to stop soon, from another goroutine.
type breaker interface{ breakOff() }

type slotTable struct {
	mu      sync.Mutex
	free    []int // unused indexes of holders
	holders []holder
	waiting list.List // of *turn
	ticks   uint64
	ticking bool
}

type holder struct {
	who   breaker
	since uint64 // in ticks
}

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

// take waits for a slot and gives its index, or -1 when stop was closed first.
func (t *slotTable) take(who breaker, stop <-chan struct{}) int {
	t.mu.Lock()
	if n := len(t.free); n > 0 {
		slot := t.free[n-1]
		t.free = t.free[:n-1]
		t.holders[slot] = holder{who, t.ticks}
		t.mu.Unlock()
		return slot
	}
	place := &turn{given: make(chan struct{})}
	element := t.waiting.PushBack(place)
	if !t.ticking {
		t.ticking = true
		time.AfterFunc(slice, t.tick)
	}
	t.mu.Unlock()
	select {
	case <-place.given:
	case <-stop:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !place.taken {
		t.waiting.Remove(element)
		return -1
	}
	t.holders[place.slot] = holder{who, t.ticks}
	return place.slot
}

// give hands the slot to who waits longest.
func (t *slotTable) give(slot int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holders[slot] = holder{}
	if first := t.waiting.Front(); first != nil {
		place := t.waiting.Remove(first).(*turn)
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
	return t.waiting.Len() > 0
}

// tick breaks off whoever has had a whole slice, as long as somebody waits.
func (t *slotTable) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting.Len() == 0 {
		t.ticking = false
		return
	}
	t.ticks++
	for _, h := range t.holders {
		if h.who != nil && h.since < t.ticks {
			h.who.breakOff()
		}
	}
	time.AfterFunc(slice, t.tick)
}
