package regexmod

import (
	"container/list"
	"sync"
)

// maxCached bounds what a cache holds, counted in instructions. One takes about 100 bytes, twice when
// a search had to go on from the middle of a text.
const maxCached = 100_000

// cache keeps compiled patterns, and drops those that were not used for longest. Any goroutine may
// use it.
type cache struct {
	mu      sync.Mutex
	entries map[string]*list.Element
	recent  list.List // of *entry, the last used in front
	held    int
}

type entry struct {
	text    string
	pattern *pattern
}

// weight of an entry. Its text and the bookkeeping count as well: tiny patterns are not free.
func (e *entry) weight() int { return 20 + len(e.text)/10 + e.pattern.size }

func (c *cache) get(text string) (*pattern, error) {
	if p := c.find(text); p != nil {
		return p, nil
	}
	p, err := compile(text)
	if err != nil {
		return nil, err
	}
	c.add(&entry{text, p})
	return p, nil
}

func (c *cache) find(text string) *pattern {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.entries[text]
	if element == nil {
		return nil
	}
	c.recent.MoveToFront(element)
	return element.Value.(*entry).pattern
}

func (c *cache) add(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[e.text] != nil { // another goroutine was faster
		return
	}
	if c.entries == nil {
		c.entries = map[string]*list.Element{}
	}
	c.entries[e.text] = c.recent.PushFront(e)
	c.held += e.weight()
	for c.held > maxCached {
		oldest := c.recent.Back()
		dropped := c.recent.Remove(oldest).(*entry)
		delete(c.entries, dropped.text)
		c.held -= dropped.weight()
	}
}
