package engine

import (
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
