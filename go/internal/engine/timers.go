package engine

import "time"

// sleeper is a task that goes on at a time.
type sleeper struct {
	when  time.Time
	token uint64
}

// sleepers is a heap: the first one wakes first. Written out, because container/heap allocates for
// each of them.
type sleepers []sleeper

// add takes a zero time for one that waits for the next turn alone.
func (s *sleepers) add(when time.Time, token uint64) {
	h := append(*s, sleeper{when, token})
	*s = h
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].when.Before(h[up].when) {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

// pop takes the first one.
func (s *sleepers) pop() uint64 {
	h := *s
	token := h[0].token
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	*s = h
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return token
		}
		if down+1 < last && h[down+1].when.Before(h[down].when) {
			down++
		}
		if !h[down].when.Before(h[i].when) {
			return token
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}

// due says whether the first one's time has come.
func (s sleepers) due(now time.Time) bool { return len(s) > 0 && !s[0].when.After(now) }

// pressing says so of a first one that waits for the next turn alone, without a look at the clock.
func (s sleepers) pressing() bool { return len(s) > 0 && s[0].when.IsZero() }

// next gives the time until the earliest one; false when there is none.
func (s sleepers) next(now time.Time) (time.Duration, bool) {
	if len(s) == 0 {
		return 0, false
	}
	return max(0, s[0].when.Sub(now)), true
}

// keep drops those whose token does not count.
func (s *sleepers) keep(counts func(token uint64) bool) {
	old := *s
	*s = old[:0]
	for _, one := range old {
		if counts(one.token) {
			s.add(one.when, one.token)
		}
	}
}
