package engine

import (
	"time"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// clock is the time by which a VM sleeps: the real one, or for tests one that stands still until it
// is moved on. Then sleepers wake in order, each at its own time, as if the time had passed.
type clock struct {
	vm     *VM
	frozen bool
	now    time.Time
	target time.Time // up to where it may be moved on
}

var _ hostmod.Clock = (*clock)(nil)

// Now implements hostmod.Clock.
func (k *clock) Now() time.Time {
	if k.frozen {
		return k.now
	}
	return time.Now()
}

// Freeze implements hostmod.Clock.
func (k *clock) Freeze() {
	if !k.frozen {
		k.frozen, k.now = true, time.Now()
		k.target = k.now
	}
}

// Thaw implements hostmod.Clock.
func (k *clock) Thaw() { k.frozen = false }

// Advance implements hostmod.Clock.
func (k *clock) Advance(c *luau.Call, d time.Duration) error {
	if !k.frozen {
		return &luau.Error{Code: luau.CodeInvalid, Message: c.Name() + ": the clock is not stopped"}
	}
	if goOn, err := k.vm.mayWait(c); !goOn {
		return err
	}
	if !c.CanWait() {
		return cannotWait(c)
	}
	// A nanosecond later than all that is due at that time.
	d++
	if target := k.now.Add(d); target.After(k.target) {
		k.target = target
	}
	k.vm.sleep(c, d)
	return nil
}

// tick moves a stopped clock to the next sleeper, where it may go so far.
func (k *clock) tick(s sleepers) bool {
	if !k.frozen || len(s) == 0 || s[0].when.After(k.target) {
		return false
	}
	if s[0].when.After(k.now) {
		k.now = s[0].when
	}
	return true
}

// wakeSleepers makes those ready whose time has come.
func (v *VM) wakeSleepers() {
	for v.sleeping.pressing() {
		v.wakeSleeper()
	}
	if len(v.sleeping) == 0 {
		return
	}
	for now := v.clock.Now(); v.sleeping.due(now); {
		v.wakeSleeper()
	}
}

func (v *VM) wakeSleeper() {
	if !v.finish(completion{token: v.sleeping.pop()}) {
		v.stale--
	}
}

// someSleeper says whether one will wake by itself.
func (v *VM) someSleeper() bool {
	if len(v.sleeping) == v.stale {
		return false
	}
	return !v.clock.frozen || !v.sleeping[0].when.After(v.clock.target)
}

// leaveSleep notes that nobody waits for a sleeper any more. Once they are many, they are dropped.
func (v *VM) leaveSleep() {
	v.stale++
	if v.stale > 64 && v.stale > len(v.sleeping)/2 {
		v.sleeping.keep(func(token uint64) bool { _, waits := v.waiting[token]; return waits })
		v.stale = 0
	}
}
