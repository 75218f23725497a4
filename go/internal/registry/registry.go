// Package registry keeps what scripts leave with the process that runs them: values by owner and key,
// under a cap on bytes. It is what host modules share for that, and knows none of them.
package registry

import (
	"errors"
	"sync"
)

// Errors of Put.
var (
	ErrFull  = errors.New("the registry is full")
	ErrGone  = errors.New("the entry is no longer there")
	ErrTaken = errors.New("the key is taken")
)

// Options say how much a Store keeps. Zero means the default.
type Options struct {
	Bytes   int64 // of all entries together; 0: 64 MiB
	Entries int   // 0: 10,000
}

// Store is a bounded map. Entries of owners that have ended stay until room is needed; then the
// oldest of them go first. Entries of living owners are never dropped. Any goroutine may use it.
type Store[K comparable, V any] struct {
	options Options
	mu      sync.Mutex
	entries map[K]*entry[V]
	order   []place[K] // oldest first; may name entries that are gone
	bytes   int64
	stamp   uint64
}

// place is where an entry stands in the order. An entry that was added again has another stamp.
type place[K comparable] struct {
	key   K
	stamp uint64
}

type entry[V any] struct {
	value V
	size  int64
	stamp uint64 // its place in order
	owner *Owner
}

// Owner is who put entries: one run of a script.
type Owner struct{ ended bool } // under the lock of its Store

// New makes a Store.
func New[K comparable, V any](o Options) *Store[K, V] {
	if o.Bytes == 0 {
		o.Bytes = 64 << 20
	}
	if o.Entries == 0 {
		o.Entries = 10_000
	}
	return &Store[K, V]{options: o, entries: map[K]*entry[V]{}}
}

// Add puts a new entry. A key of an ended owner is free again.
func (s *Store[K, V]) Add(owner *Owner, key K, value V, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.entries[key]; old != nil {
		if !old.owner.ended {
			return ErrTaken
		}
		s.drop(key)
	}
	if !s.room(size, 1) {
		return ErrFull
	}
	s.stamp++
	s.entries[key] = &entry[V]{value: value, size: size, owner: owner, stamp: s.stamp}
	s.order = append(s.order, place[K]{key, s.stamp})
	s.bytes += size
	return nil
}

// Update changes an entry of the owner's and its size by grow.
func (s *Store[K, V]) Update(owner *Owner, key K, grow int64, change func(*V)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil || e.owner != owner {
		return ErrGone
	}
	if grow > 0 && !s.room(grow, 0) {
		return ErrFull
	}
	change(&e.value)
	e.size += grow
	s.bytes += grow
	return nil
}

// room drops entries of ended owners until there is place.
func (s *Store[K, V]) room(bytes int64, entries int) bool {
	fits := func() bool {
		return s.bytes+bytes <= s.options.Bytes && len(s.entries)+entries <= s.options.Entries
	}
	if fits() && len(s.order) < 2*len(s.entries)+16 {
		return true
	}
	kept := s.order[:0]
	for _, p := range s.order {
		e := s.at(p)
		switch {
		case e == nil:
		case e.owner.ended && !fits():
			s.drop(p.key)
		default:
			kept = append(kept, p)
		}
	}
	clear(s.order[len(kept):])
	s.order = kept
	return fits()
}

// at gives the entry at a place, or nil.
func (s *Store[K, V]) at(p place[K]) *entry[V] {
	if e := s.entries[p.key]; e != nil && e.stamp == p.stamp {
		return e
	}
	return nil
}

func (s *Store[K, V]) drop(key K) {
	s.bytes -= s.entries[key].size
	delete(s.entries, key)
}

// Read calls use with an entry; false when there is none. use must not call the Store.
func (s *Store[K, V]) Read(key K, use func(V)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil {
		return false
	}
	use(e.value)
	return true
}

// Each calls use with every entry, oldest first. use must not call the Store.
func (s *Store[K, V]) Each(use func(K, V)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.order {
		if e := s.at(p); e != nil {
			use(p.key, e.value)
		}
	}
}

// Remove drops an entry; false when there is none.
func (s *Store[K, V]) Remove(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries[key] == nil {
		return false
	}
	s.drop(key)
	return true
}

// End says that the owner puts nothing any more: its entries may make room for others.
func (s *Store[K, V]) End(owner *Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner.ended = true
}
