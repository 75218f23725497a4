package kvmod

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// Options describe a Store. The zero value has the defaults.
type Options struct {
	MaxEntries int              // of one namespace; 0: 100,000
	MaxBytes   int64            // of one namespace, keys and values; 0: 64 MiB
	TotalBytes int64            // of all namespaces; 0: 256 MiB
	Now        func() time.Time // 0: time.Now, and in a script the time by which its VM sleeps
}

// Store holds keys and values of a process. Any goroutine may use it.
type Store struct {
	options Options
	mu      sync.Mutex
	spaces  map[string]*space
	bytes   int64
}

// space is one namespace, under the Store's lock.
type space struct {
	entries map[string]*entry
	expiry  expiries
	bytes   int64
}

// entry is one key. Its value is never changed, only replaced: it may be read without the lock.
type entry struct {
	key   string
	value any
	bytes int64
	until time.Time // zero: for good
	index int       // in the heap; -1 when not there
}

// NewStore makes an empty Store.
func NewStore(o Options) *Store {
	if o.MaxEntries == 0 {
		o.MaxEntries = 100_000
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 64 << 20
	}
	if o.TotalBytes == 0 {
		o.TotalBytes = 256 << 20
	}
	return &Store{options: o, spaces: map[string]*space{}}
}

// limitError says which bound is reached.
type limitError struct{ message string }

func (e *limitError) Error() string { return e.message }

// view is a namespace as one VM sees it. The clock of a test may stand still or be ahead: then keys end for
// this VM by that clock, and are removed once they have ended for the others as well.
type view struct {
	store     *Store
	namespace string
	now       func() time.Time
}

// real is the time for all VMs.
func (s *Store) real() time.Time {
	if s.options.Now != nil {
		return s.options.Now()
	}
	return time.Now()
}

// with runs f on the namespace, from which what is over has gone.
func (v *view) with(f func(sp *space, now time.Time) error) error {
	s := v.store
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.spaces[v.namespace]
	if sp == nil {
		sp = &space{entries: map[string]*entry{}}
		s.spaces[v.namespace] = sp
	}
	now, over := v.now(), s.real()
	if now.Before(over) {
		over = now
	}
	s.expire(sp, over)
	err := f(sp, now)
	if len(sp.entries) == 0 {
		delete(s.spaces, v.namespace)
	}
	return err
}

// find gives an entry that has not ended.
func (sp *space) find(key string, now time.Time) *entry {
	e := sp.entries[key]
	if e == nil || e.ended(now) {
		return nil
	}
	return e
}

func (e *entry) ended(now time.Time) bool { return !e.until.IsZero() && !now.Before(e.until) }

func (s *Store) expire(sp *space, now time.Time) {
	for len(sp.expiry) > 0 && sp.expiry[0].ended(now) {
		s.remove(sp, sp.expiry[0])
	}
}

func (s *Store) remove(sp *space, e *entry) {
	delete(sp.entries, e.key)
	if e.index >= 0 {
		heap.Remove(&sp.expiry, e.index)
	}
	sp.bytes -= e.bytes
	s.bytes -= e.bytes
}

// entryCost is about what an entry takes beside its key and value: itself, its places in map and heap.
const entryCost = 160

// put adds or replaces an entry with a value of that size. until zero is for good.
func (s *Store) put(sp *space, key string, value any, size int64, until time.Time) error {
	e := &entry{key: key, value: value, bytes: entryCost + int64(len(key)) + size, until: until, index: -1}
	needed := e.bytes
	old := sp.entries[key]
	if old != nil {
		needed -= old.bytes
	}
	if err := s.room(sp, old == nil, needed); err != nil {
		return err
	}
	// Looked for again: it may have ended while room was made.
	if old = sp.entries[key]; old != nil {
		s.remove(sp, old)
	}
	sp.entries[key] = e
	if !until.IsZero() {
		heap.Push(&sp.expiry, e)
	}
	sp.bytes += e.bytes
	s.bytes += e.bytes
	return nil
}

func (s *Store) room(sp *space, another bool, bytes int64) error {
	const advice = "; delete keys or give them a ttl"
	if another && len(sp.entries) >= s.options.MaxEntries {
		return &limitError{fmt.Sprintf("the store holds %d keys, the most that it may%s", len(sp.entries), advice)}
	}
	if bytes <= 0 {
		return nil
	}
	if sp.bytes+bytes > s.options.MaxBytes {
		return &limitError{fmt.Sprintf("the store may hold %d bytes and has %d: no room for %d more%s",
			s.options.MaxBytes, sp.bytes, bytes, advice)}
	}
	if s.bytes+bytes > s.options.TotalBytes {
		if s.sweep(); s.bytes+bytes > s.options.TotalBytes {
			return &limitError{fmt.Sprintf("the stores of this process together may hold %d bytes: no room for %d more%s",
				s.options.TotalBytes, bytes, advice)}
		}
	}
	return nil
}

// sweep takes what is over from every namespace: one that nobody uses keeps it otherwise.
func (s *Store) sweep() {
	now := s.real()
	for _, sp := range s.spaces {
		s.expire(sp, now)
	}
}

// keys lists the keys with a prefix that have not ended.
func (sp *space) keys(prefix string, now time.Time) []string {
	list := []string{}
	for key, e := range sp.entries {
		if strings.HasPrefix(key, prefix) && !e.ended(now) {
			list = append(list, key)
		}
	}
	return list
}

// get reads a key.
func (v *view) get(key string) (value any) {
	_ = v.with(func(sp *space, now time.Time) error {
		if e := sp.find(key, now); e != nil {
			value = e.value
		}
		return nil
	})
	return value
}

// set writes a key; with absent only when it is not there.
func (v *view) set(key string, value any, size int64, ttl time.Duration, absent bool) (done bool, err error) {
	err = v.with(func(sp *space, now time.Time) error {
		if absent && sp.find(key, now) != nil {
			return nil
		}
		done = true
		return v.store.put(sp, key, value, size, deadline(now, ttl))
	})
	return done, err
}

// delete removes a key.
func (v *view) delete(key string) (was bool) {
	_ = v.with(func(sp *space, now time.Time) error {
		e := sp.find(key, now)
		if was = e != nil; was {
			v.store.remove(sp, e)
		}
		return nil
	})
	return was
}

// notNumber is the value of a key that cannot be incremented.
type notNumber struct{ value any }

func (e *notNumber) Error() string { return "not a number" }

// numberSize is that of a sum.
const numberSize = 16

// increment adds to a number. What is there keeps its time.
func (v *view) increment(key string, by float64, ttl time.Duration) (sum float64, err error) {
	err = v.with(func(sp *space, now time.Time) error {
		until := deadline(now, ttl)
		sum = by
		if e := sp.find(key, now); e != nil {
			n, ok := e.value.(float64)
			if !ok {
				return &notNumber{e.value}
			}
			sum, until = n+by, e.until
		}
		return v.store.put(sp, key, sum, numberSize, until)
	})
	return sum, err
}

// list gives the keys with a prefix, sorted.
func (v *view) list(prefix string) (keys []string) {
	_ = v.with(func(sp *space, now time.Time) error {
		keys = sp.keys(prefix, now)
		return nil
	})
	slices.Sort(keys)
	return keys
}

// clear removes the keys with a prefix.
func (v *view) clear(prefix string) (n int) {
	_ = v.with(func(sp *space, now time.Time) error {
		keys := sp.keys(prefix, now)
		for _, key := range keys {
			v.store.remove(sp, sp.entries[key])
		}
		n = len(keys)
		return nil
	})
	return n
}

// deadline is zero for a ttl of 0, and for one without end.
func deadline(now time.Time, ttl time.Duration) time.Time {
	if ttl == 0 || ttl == hostmod.Forever {
		return time.Time{}
	}
	return now.Add(ttl)
}

// expiries is a heap of the entries that end, the next one first.
type expiries []*entry

func (h expiries) Len() int           { return len(h) }
func (h expiries) Less(i, j int) bool { return h[i].until.Before(h[j].until) }
func (h expiries) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *expiries) Push(x any) {
	e := x.(*entry)
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *expiries) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	e.index = -1
	return e
}
