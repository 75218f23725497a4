package engine

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeTenant counts how often it is asked to stop.
type fakeTenant struct{ asked int }

func (f *fakeTenant) breakOff()          { f.asked++ }
func (f *fakeTenant) watch() func() bool { return nil }

// queued starts a take and returns when it waits.
func queued(t *testing.T, table *slotTable, name string, spent bool, order chan<- string) {
	t.Helper()
	table.mu.Lock()
	before := table.waiting.Len() + table.spent.Len()
	table.mu.Unlock()
	go func() {
		slot := table.take(&fakeTenant{}, spent, nil)
		order <- name
		table.give(slot)
	}()
	require.Eventually(t, func() bool {
		table.mu.Lock()
		defer table.mu.Unlock()
		return table.waiting.Len()+table.spent.Len() > before
	}, 20*time.Second, time.Millisecond)
}

func TestShortRunsComeBeforeThoseThatUsedUpASlice(t *testing.T) {
	table := newSlotTable(1)
	slot := table.take(&fakeTenant{}, false, nil)
	order := make(chan string, 20)
	queued(t, table, "long 1", true, order)
	queued(t, table, "long 2", true, order)
	for range patience + 1 {
		queued(t, table, "short", false, order)
	}
	table.give(slot)
	var got []string
	for range patience + 3 {
		got = append(got, <-order)
	}
	require.Equal(t, []string{"short", "short", "short", "short", "long 1", "short", "long 2"}, got)
}

func TestSomebodyWhoHadASliceIsAskedToStopAtOnce(t *testing.T) {
	table := newSlotTable(2)
	table.ticking = true // no clock of its own
	seen, other := &fakeTenant{}, &fakeTenant{}
	first, second := table.take(other, false, nil), table.take(seen, false, nil)
	table.holders[second].seen = true
	order := make(chan string, 3)
	queued(t, table, "short", false, order)
	queued(t, table, "long", true, order)
	require.Equal(t, [2]int{0, 1}, [2]int{other.asked, seen.asked})
	table.give(first)
	table.give(second)
	<-order
	<-order
}

// An invocation waits like the one before it ended: many that begin at once are not all short.
func TestPoolWhoseRunsAreLongWaitsBehindOthers(t *testing.T) {
	pool, err := NewPool(&Config{}, Program{Chunk: "=test", Source: "function invoke(loop) while loop do end end"}, PoolOptions{})
	require.NoError(t, err)
	defer pool.Close()
	invoke := func(loop bool) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if loop {
			ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
		}
		defer cancel()
		return pool.Invoke(ctx, nil, loop)
	}
	waits := func() (short, long int) {
		var held []int
		for len(slots.free) > 0 {
			held = append(held, slots.take(&fakeTenant{}, false, nil))
		}
		done := make(chan error)
		go func() { done <- invoke(false) }()
		require.Eventually(t, func() bool {
			slots.mu.Lock()
			defer slots.mu.Unlock()
			short, long = slots.waiting.Len(), slots.spent.Len()
			return short+long > 0
		}, 20*time.Second, time.Millisecond)
		for _, slot := range held {
			slots.give(slot)
		}
		require.NoError(t, <-done)
		return short, long
	}
	require.NoError(t, invoke(false))
	short, long := waits()
	require.Equal(t, [2]int{1, 0}, [2]int{short, long})
	require.ErrorIs(t, invoke(true), context.DeadlineExceeded)
	short, long = waits()
	require.Equal(t, [2]int{0, 1}, [2]int{short, long})
	short, long = waits() // the last one was short again
	require.Equal(t, [2]int{1, 0}, [2]int{short, long})
}
