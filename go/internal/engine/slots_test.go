package engine

import (
	"context"
	"sync"
	"sync/atomic"
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
	queuedAs(t, table, name, spent, nil, order)
}

func queuedAs(t *testing.T, table *slotTable, name string, spent bool, long *atomic.Bool, order chan<- string) {
	t.Helper()
	table.mu.Lock()
	before := table.waiting.Len() + table.spent.Len()
	table.mu.Unlock()
	go func() {
		slot := table.take(t.Context(), &fakeTenant{}, spent, long)
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
	table := newSlotTable(1, 1)
	slot := table.take(t.Context(), &fakeTenant{}, false, nil)
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
	table := newSlotTable(2, 2)
	table.ticking = true // no clock of its own
	seen, other := &fakeTenant{}, &fakeTenant{}
	first, second := table.take(t.Context(), other, false, nil), table.take(t.Context(), seen, false, nil)
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

func TestLongRunsNeverHaveAllSlots(t *testing.T) {
	for _, test := range []struct{ slots, long, want int }{{4, 2, 2}, {4, 8, 3}, {4, 0, 1}, {1, 1, 1}} {
		table := newSlotTable(test.slots, test.long)
		var taken []int
		for range test.want {
			taken = append(taken, table.take(t.Context(), &fakeTenant{}, true, nil))
		}
		order := make(chan string, 4)
		queued(t, table, "long", true, order)
		for range test.slots - test.want {
			require.GreaterOrEqual(t, table.take(t.Context(), &fakeTenant{}, false, nil), 0, "%+v", test)
		}
		require.Empty(t, order)
		table.give(taken[0])
		require.Equal(t, "long", <-order)
	}
}

// Runs of a program that turns out to be a long one are passed by others that wait behind them.
func TestWhoTurnsOutToBeLongIsPassed(t *testing.T) {
	table := newSlotTable(1, 1)
	slot := table.take(t.Context(), &fakeTenant{}, false, nil)
	order := make(chan string, 4)
	var long atomic.Bool
	queuedAs(t, table, "burns 1", false, &long, order)
	queuedAs(t, table, "burns 2", false, &long, order)
	queued(t, table, "short", false, order)
	long.Store(true)
	queuedAs(t, table, "burns 3", false, &long, order)
	queued(t, table, "short", false, order)
	table.give(slot)
	var got []string
	for range 5 {
		got = append(got, <-order)
	}
	require.Equal(t, []string{"short", "short", "burns 3", "burns 1", "burns 2"}, got)
}

func TestWhoGivesUpLeavesTheQueueItWasMovedTo(t *testing.T) {
	table := newSlotTable(2, 1)
	first, second := table.take(t.Context(), &fakeTenant{}, true, nil), table.take(t.Context(), &fakeTenant{}, false, nil)
	var long atomic.Bool
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan int)
	go func() { stopped <- table.take(ctx, &fakeTenant{}, false, &long) }()
	require.Eventually(t, func() bool { return table.crowded() }, 20*time.Second, time.Millisecond)
	long.Store(true)
	table.give(second) // it may not have this one: the long ones have theirs
	require.Equal(t, 1, table.spent.Len())
	stop()
	require.Equal(t, -1, <-stopped)
	require.False(t, table.crowded())
	table.give(first)
	require.Len(t, table.free, 2)
	require.Zero(t, table.long)
}

// A pool knows whether its program ran long the last time.
func TestAPoolRemembersLongRuns(t *testing.T) {
	p, err := NewPool(&Config{}, Program{Chunk: "=test", Source: `function invoke(long) while long do end end`}, PoolOptions{})
	require.NoError(t, err)
	defer p.Close()
	require.NoError(t, p.Invoke(t.Context(), nil, false))
	require.NoError(t, p.Invoke(t.Context(), nil, false))
	require.False(t, p.long.Load())
	ctx, cancel := context.WithCancel(t.Context())
	var burning sync.WaitGroup
	for range len(slots.holders) + 1 {
		burning.Go(func() { _ = p.Invoke(ctx, nil, true) })
	}
	require.Eventually(t, p.long.Load, 20*time.Second, time.Millisecond)
	cancel()
	burning.Wait()
	require.True(t, p.long.Load())
	require.NoError(t, p.Invoke(t.Context(), nil, false))
	require.False(t, p.long.Load())
}
