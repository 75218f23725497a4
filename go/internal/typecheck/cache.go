package typecheck

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// key is what findings depend on.
type key [sha256.Size]byte

// keyOf is false where modules may have changed.
func keyOf(req Request) (key, bool) {
	if req.Modules.Resolve != nil && req.Modules.ID == "" {
		return key{}, false
	}
	h := sha256.New()
	for _, part := range []string{req.Definitions.ID, req.Modules.ID, string(req.Mode), req.Chunk, req.Source} {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	var k key
	h.Sum(k[:0])
	return k, true
}

// outcome is what a check came to: findings, or why there are none. A script that ends the process would do so again.
type outcome struct {
	findings []Finding
	err      error
}

// cache remembers outcomes, the last used ones.
type cache struct {
	mu    sync.Mutex
	most  int
	order *list.List // of entry, the last used one in front
	found map[key]*list.Element
}

type entry struct {
	key     key
	outcome outcome
}

func newCache(most int) *cache {
	return &cache{most: most, order: list.New(), found: map[key]*list.Element{}}
}

func (c *cache) get(k key) (outcome, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.found[k]
	if !ok {
		return outcome{}, false
	}
	c.order.MoveToFront(at)
	return at.Value.(entry).outcome, true
}

func (c *cache) put(k key, o outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.found[k]; ok {
		c.order.Remove(at)
	}
	c.found[k] = c.order.PushFront(entry{k, o})
	for c.order.Len() > max(0, c.most) {
		last := c.order.Back()
		delete(c.found, last.Value.(entry).key)
		c.order.Remove(last)
	}
}
