package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSleepersWakeInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Now()
	for range 200 {
		var s sleepers
		delays := map[uint64]time.Duration{}
		for token := range uint64(random.IntN(40)) {
			delays[token] = time.Duration(random.IntN(20))
			s.add(start.Add(delays[token]), token)
		}
		s.add(time.Time{}, 1000)
		require.True(t, s.pressing())
		require.Equal(t, uint64(1000), s.pop(), "the next turn comes before any time")
		require.False(t, s.pressing())
		var woken []time.Duration
		for now := time.Duration(0); len(s) > 0; now += time.Duration(1 + random.IntN(4)) {
			for s.due(start.Add(now)) {
				token := s.pop()
				require.LessOrEqual(t, delays[token], now)
				woken = append(woken, delays[token])
				delete(delays, token)
			}
			for _, d := range delays {
				require.Greater(t, d, now, "a sleeper was left behind")
			}
			if next, ok := s.next(start.Add(now)); ok {
				require.Positive(t, next)
			}
		}
		require.Empty(t, delays)
		require.True(t, slices.IsSorted(woken))
	}
}

func TestContextEndsWithTheRun(t *testing.T) {
	var r runContext
	require.Error(t, r.get().Err(), "there is no run")
	r.begin(t.Context())
	ctx := r.get()
	require.NoError(t, ctx.Err())
	require.Same(t, ctx, r.get())
	r.end()
	require.Error(t, ctx.Err())
	require.Error(t, r.get().Err())
	r.begin(t.Context())
	require.NoError(t, r.get().Err())
}
