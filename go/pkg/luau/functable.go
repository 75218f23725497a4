package luau

import "github.com/hukilau/hukilau/go/internal/capi"

// funcTable numbers the Go functions that scripts hold: C knows numbers, never Go pointers. Numbers
// come back when Luau has collected the function.
type funcTable struct {
	list    []*Func
	free    []uint32
	saved   int // those below belong to the image, and stay
	next    int // length of list at which to look for collected ones
	watched int // how many of list have a Gone
}

func (t *funcTable) add(vm capi.VM, f *Func) uint32 {
	if len(t.free) == 0 && len(t.list) >= t.next {
		t.sweep(vm)
	}
	if f.Gone != nil {
		t.watched++
	}
	if n := len(t.free); n > 0 {
		id := t.free[n-1]
		t.free = t.free[:n-1]
		t.list[id] = f
		return id
	}
	t.list = append(t.list, f)
	return uint32(len(t.list) - 1)
}

// get gives nil for a number that was never given out.
func (t *funcTable) get(id uint32) *Func {
	if int(id) >= len(t.list) {
		return nil
	}
	return t.list[id]
}

// drop takes back a function that never reached the VM.
func (t *funcTable) drop(id uint32) {
	if int(id) < t.saved || int(id) >= len(t.list) || t.list[id] == nil {
		return
	}
	gone := t.list[id].Gone
	t.list[id] = nil
	t.free = append(t.free, id)
	if gone != nil {
		t.watched--
		gone()
	}
}

func (t *funcTable) sweep(vm capi.VM) {
	var ids [64]uint32
	for n := len(ids); n == len(ids); {
		n = vm.TakeUnused(ids[:])
		for _, id := range ids[:n] {
			t.drop(id)
		}
	}
	t.next = max(64, 2*(len(t.list)-len(t.free)))
}

// save makes what is there now part of the image. Free numbers below are given up: a later run must
// not fill them, because a reset does not know them.
func (t *funcTable) save(vm capi.VM) {
	t.sweep(vm)
	t.saved, t.free = len(t.list), nil
}

func (t *funcTable) reset() {
	clear(t.list[t.saved:])
	t.list, t.free, t.watched = t.list[:t.saved], nil, 0
}
