package registry

import (
	"errors"
	"fmt"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Run is what the runs of one VM put into a Store, each as an [Owner] of its own and charged to the
// VM's memory limit while it lasts.
type Run[K comparable, V any] struct {
	vm      hostmod.VM
	store   *Store[K, V]
	noun    string // of many entries, for messages
	most    int    // entries of one run
	owner   *Owner
	count   int
	charged int64
}

// NewRun makes the part of a VM in a Store. A run may add most entries, which messages call noun.
func NewRun[K comparable, V any](vm hostmod.VM, store *Store[K, V], noun string, most int) *Run[K, V] {
	return &Run[K, V]{vm: vm, store: store, noun: noun, most: most, owner: &Owner{}}
}

// Owner is that of the current run.
func (r *Run[K, V]) Owner() *Owner { return r.owner }

// Add puts a new entry for the function of that name. Errors are those that scripts see, and ErrTaken.
func (r *Run[K, V]) Add(function string, key K, value V, size int64) error {
	if r.count >= r.most {
		return limit("%s: this run has %d %s, which is the most", function, r.most, r.noun)
	}
	err := r.charge(function, size, func() error { return r.store.Add(r.owner, key, value, size) })
	if err == nil {
		r.count++
	}
	return err
}

// Update changes an entry of this run and its size by grow, for the function of that name. Errors are
// those that scripts see, and ErrGone.
func (r *Run[K, V]) Update(function string, key K, grow int64, change func(*V)) error {
	return r.charge(function, grow, func() error { return r.store.Update(r.owner, key, grow, change) })
}

// charge counts what put adds, or takes away.
func (r *Run[K, V]) charge(function string, grow int64, put func() error) error {
	if grow > 0 && !r.vm.Charge(grow) {
		return hostmod.NoMemory(function)
	}
	if err := put(); err != nil {
		r.vm.Uncharge(max(grow, 0))
		if errors.Is(err, ErrFull) {
			return limit("%s: the host's registry of %s is full", function, r.noun)
		}
		return err
	}
	r.vm.Uncharge(max(-grow, 0))
	r.charged += grow
	return nil
}

// EndRun leaves the entries to the Store, under its own cap; the next run is another owner.
func (r *Run[K, V]) EndRun() {
	if r.count == 0 {
		return // most runs; they must stay cheap
	}
	r.store.End(r.owner)
	r.vm.Uncharge(r.charged)
	r.owner, r.count, r.charged = &Owner{}, 0, 0
}

func limit(format string, args ...any) error {
	return &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf(format, args...)}
}
