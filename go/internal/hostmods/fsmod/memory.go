package fsmod

import (
	"sync"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// ledger is what the buffers of one run have charged to the VM's memory limit. Work that outlives
// its run still has the run's ledger, which then refuses.
type ledger struct {
	vm   hostmod.VM
	mu   sync.Mutex
	held int64
	over bool
}

func (l *ledger) charge(n int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || !l.vm.Charge(n) {
		return errNoMemory
	}
	l.held += n
	return nil
}

var errNoMemory = &fault{code: string(luau.CodeMemory), message: "there is no room for it within the memory limit"}

func (l *ledger) uncharge(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	l.held -= n
	l.vm.Uncharge(n)
}

// settle ends the run: everything is given back.
func (l *ledger) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.vm.Uncharge(l.held)
	l.held = 0
}

// contents are the bytes of a file on their way to the script. They stay charged until the VM has
// taken them, which may be long after they were read.
type contents struct {
	held  *ledger
	bytes []byte
	cost  int64
}

// MarshalText makes it a string for the script. It is called once, when the VM takes it.
func (c *contents) MarshalText() ([]byte, error) {
	c.held.uncharge(c.cost)
	c.cost = 0
	return c.bytes, nil
}
