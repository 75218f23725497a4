package hostmod

import (
	"context"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Room is the host memory that one call of a function holds, charged to the VM's limit in steps. It
// is used by one goroutine at a time.
type Room struct {
	vm         VM
	name       string
	held, used int64
}

// roomStep is what a Room charges at least, so that many small pieces cost few charges.
const roomStep = 64 << 10

// Take counts n more bytes. It fails when the limit has no room for them.
func (r *Room) Take(n int64) error {
	r.used += n
	if r.used <= r.held {
		return nil
	}
	more := max(r.used-r.held, roomStep)
	if !r.vm.Charge(more) {
		return NoMemory(r.name)
	}
	r.held += more
	return nil
}

func (r *Room) release() {
	r.vm.Uncharge(r.held)
	r.held, r.used = 0, 0
}

// Compute runs work that may take long or much memory for a function marked MayWait: away from the
// VM's goroutine where long says so, in place otherwise. What it takes from the Room is given back
// when it is done.
func Compute(vm VM, c *luau.Call, long bool, work func(context.Context, *Room) ([]any, error)) error {
	room := &Room{vm: vm, name: c.Name()}
	run := func(ctx context.Context) ([]any, error) {
		defer room.release()
		return work(ctx, room)
	}
	if long {
		return vm.Await(c, run)
	}
	values, err := run(vm.Context())
	if err != nil {
		return err
	}
	return c.Return(values...)
}
