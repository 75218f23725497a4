package engine

import (
	"container/list"
	"sync"
)

// maxIdle is how many bytes the idle VMs of the process may hold together. Beyond, those that have
// been idle longest are closed.
const maxIdle = 256 << 20

// idleVMs is the list of idle VMs of all pools.
var idleVMs idleList

type place = list.Element

type idleList struct {
	mu    sync.Mutex
	list  list.List // of *resident, longest idle first
	bytes int64
}

// add notes r as idle and gives those that must go for it. Callers hold the lock of r's pool.
func (l *idleList) add(r *resident) []*resident {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.place = l.list.PushBack(r)
	l.bytes += r.bytes
	var out []*resident
	for l.bytes > maxIdle && l.list.Len() > 1 {
		oldest := l.list.Remove(l.list.Front()).(*resident)
		oldest.place = nil
		l.bytes -= oldest.bytes
		out = append(out, oldest)
	}
	return out
}

// IdleBytes is about what the idle VMs of the process hold.
func IdleBytes() int64 {
	idleVMs.mu.Lock()
	defer idleVMs.mu.Unlock()
	return idleVMs.bytes
}

func (l *idleList) remove(r *resident) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.place != nil {
		l.list.Remove(r.place)
		r.place = nil
		l.bytes -= r.bytes
	}
}
