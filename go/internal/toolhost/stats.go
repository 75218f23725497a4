package toolhost

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Bounds are the upper bounds of the durations that [ToolStats] counts.
var Bounds = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
	2500 * time.Millisecond, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute,
}

// Stats is what a Host does, and has done since it was made.
type Stats struct {
	Running, Waiting int
	Tools            []ToolStats // sorted by name; those that were called
}

// ToolStats counts the calls of a tool, those by other tools included.
type ToolStats struct {
	Tool   string
	Status map[string]uint64       // "ok", or the code of the error
	Under  [len(Bounds) + 1]uint64 // calls that took no longer than each of Bounds but longer than the one before; the last: longer than all
	Took   time.Duration           // all together
}

// outcomes are what a call can end with; the first is not an error.
var outcomes = [...]Code{"ok", BadRequest, Unauthorized, Permission, NotFound, Timeout, TooLarge, RateLimited, Cancelled, ToolError, Upstream, Busy, NeedsApproval}

// counters count the calls of one tool.
type counters struct {
	ended [len(outcomes)]atomic.Uint64
	under [len(Bounds) + 1]atomic.Uint64
	took  atomic.Int64
}

func (c *counters) count(failed *Error, took time.Duration) {
	outcome := 0
	if failed != nil {
		outcome = max(slices.Index(outcomes[:], failed.Code), 1)
	}
	c.ended[outcome].Add(1)
	c.took.Add(int64(took))
	bucket := 0
	for bucket < len(Bounds) && took > Bounds[bucket] {
		bucket++
	}
	c.under[bucket].Add(1)
}

// countersOf are kept when a tool is changed. The lock is held.
func (h *Host) countersOf(tool string) *counters {
	c := h.counted[tool]
	if c == nil {
		c = &counters{}
		h.counted[tool] = c
	}
	return c
}

// Stats says what the host does now and has done.
func (h *Host) Stats() Stats {
	var s Stats
	s.Running, s.Waiting = h.admitted.load()
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, c := range h.counted {
		t := ToolStats{Tool: name, Status: map[string]uint64{}, Took: time.Duration(c.took.Load())}
		for i := range c.ended {
			if n := c.ended[i].Load(); n > 0 {
				t.Status[string(outcomes[i])] = n
			}
		}
		for i := range c.under {
			t.Under[i] = c.under[i].Load()
		}
		if len(t.Status) > 0 {
			s.Tools = append(s.Tools, t)
		}
	}
	slices.SortFunc(s.Tools, func(a, b ToolStats) int { return strings.Compare(a.Tool, b.Tool) })
	return s
}
