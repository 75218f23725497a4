package engine

import (
	"container/heap"
	"time"
)

// sleeper is a task that goes on at a time.
type sleeper struct {
	when  time.Time
	token uint64
}

type sleepers []sleeper

func (s sleepers) Len() int           { return len(s) }
func (s sleepers) Less(i, j int) bool { return s[i].when.Before(s[j].when) }
func (s sleepers) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sleepers) Push(x any)        { *s = append(*s, x.(sleeper)) }
func (s *sleepers) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}

func (s *sleepers) add(when time.Time, token uint64) { heap.Push(s, sleeper{when, token}) }

// due takes the tokens whose time has come.
func (s *sleepers) due(now time.Time) []uint64 {
	var tokens []uint64
	for len(*s) > 0 && !(*s)[0].when.After(now) {
		tokens = append(tokens, heap.Pop(s).(sleeper).token)
	}
	return tokens
}

// next gives the time until the earliest one; false when there is none.
func (s sleepers) next(now time.Time) (time.Duration, bool) {
	if len(s) == 0 {
		return 0, false
	}
	return max(0, s[0].when.Sub(now)), true
}
