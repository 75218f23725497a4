package store_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
)

func begin(t *testing.T, s *store.Store, key, hash string) *store.Attempt {
	t.Helper()
	a, err := s.Idempotency.Begin(t.Context(), store.NewRequestID("caller", "tool", key), hash)
	require.NoError(t, err)
	return a
}

func TestTheFirstAnswerIsGivenAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		first := begin(t, s, "k", "h")
		require.Equal(t, store.New, first.Kind)
		require.Equal(t, store.InFlight, begin(t, s, "k", "h").Kind)
		require.Equal(t, store.Mismatch, begin(t, s, "k", "other").Kind)
		require.Equal(t, store.New, begin(t, s, "other", "h").Kind)
		answer := store.Answer{Status: 201, Type: "application/json", Body: []byte(`{"a": 1}`)}
		require.NoError(t, first.Finish(ctx, answer))
		requireCode(t, first.Finish(ctx, answer), store.CodeState)
		again := begin(t, s, "k", "h")
		require.Equal(t, store.Answered, again.Kind)
		require.Equal(t, answer, again.Answer)
		requireCode(t, again.Finish(ctx, answer), store.CodeInvalid)
		require.Equal(t, store.Mismatch, begin(t, s, "k", "other").Kind)
		c.Advance(24*time.Hour - time.Second)
		require.Equal(t, store.Answered, begin(t, s, "k", "h").Kind)
		c.Advance(time.Second)
		require.Equal(t, store.New, begin(t, s, "k", "other").Kind, "after a day the key is free")
	})
}

func TestPartsOfTheIdentityStayApart(t *testing.T) {
	require.NotEqual(t, store.NewRequestID("ab", "c", "d"), store.NewRequestID("a", "bc", "d"))
	require.NotEqual(t, store.NewRequestID("", "a", ""), store.NewRequestID("a", "", ""))
	require.Equal(t, store.NewRequestID("a", "b", "c"), store.NewRequestID("a", "b", "c"))
}

func TestAbandonedRequestMayBeSentAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		first := begin(t, s, "k", "h")
		require.NoError(t, first.Abandon(t.Context()))
		second := begin(t, s, "k", "another body is fine now")
		require.Equal(t, store.New, second.Kind)
		requireCode(t, first.Finish(t.Context(), store.Answer{}), store.CodeState)
		require.NoError(t, second.Finish(t.Context(), store.Answer{Status: 200}))
	})
}

// A cancelled caller must still be able to say how its request ended.
func TestFinishHearsNoContext(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		first := begin(t, s, "k", "h")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, first.Finish(ctx, store.Answer{Status: 200}))
		require.Equal(t, store.Answered, begin(t, s, "k", "h").Kind)
	})
}

func TestLargeAnswerIsRememberedWithoutItsBody(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		require.NoError(t, begin(t, s, "k", "h").Finish(t.Context(), store.Answer{Status: 200, Body: make([]byte, store.MaxAnswer+1)}))
		require.Equal(t, store.Answer{Status: 200, Dropped: true}, begin(t, s, "k", "h").Answer)
	})
}

func TestWaitersWakeUp(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		first := begin(t, s, "k", "h")
		var answered, taken atomic.Int32
		var group sync.WaitGroup
		for range 20 {
			waiting := begin(t, s, "k", "h")
			require.Equal(t, store.InFlight, waiting.Kind)
			group.Go(func() {
				next, err := waiting.Wait(t.Context())
				if !assert.NoError(t, err) {
					return
				}
				if next.Kind == store.New {
					taken.Add(1)
					assert.NoError(t, next.Finish(t.Context(), store.Answer{Status: 200}))
					return
				}
				assert.Equal(t, store.Answered, next.Kind)
				answered.Add(1)
			})
		}
		require.NoError(t, first.Abandon(t.Context()))
		group.Wait()
		require.EqualValues(t, 1, taken.Load(), "one takes over")
		require.EqualValues(t, 19, answered.Load())
	})
}

func TestWaitHearsItsContextAndClose(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		begin(t, s, "k", "h")
		ctx, cancel := context.WithCancel(t.Context())
		waiting := begin(t, s, "k", "h")
		var cancelled, group sync.WaitGroup
		cancelled.Go(func() {
			_, err := waiting.Wait(ctx)
			assert.ErrorIs(t, err, context.Canceled)
		})
		cancel()
		cancelled.Wait()
		group.Go(func() {
			_, err := waiting.Wait(t.Context())
			assert.Equal(t, store.CodeClosed, store.CodeOf(err), err)
		})
		require.NoError(t, s.Close())
		group.Wait()
	})
}

func TestExpiredRequestsAreRemovedByNewOnes(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		for i := range 10 {
			require.NoError(t, begin(t, s, fmt.Sprint(i), "h").Finish(t.Context(), store.Answer{Status: 200}))
		}
		c.Advance(25 * time.Hour)
		begin(t, s, "new", "h")
		n, err := s.Trim(t.Context(), store.Retention{})
		require.NoError(t, err)
		require.EqualValues(t, 2, n, "8 of 10 went with the new one")
	})
}

// In one process each of many keys is worked on once, whatever happens to the attempts.
func TestIdempotencyHammer(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		const keys = 10
		var finished [keys]atomic.Int32
		var group sync.WaitGroup
		for worker := range 8 {
			group.Go(func() {
				for key := range keys {
					a, err := s.Idempotency.Begin(t.Context(), store.NewRequestID("caller", "tool", fmt.Sprint(key)), "h")
					for err == nil && a.Kind == store.InFlight {
						a, err = a.Wait(t.Context())
					}
					if !assert.NoError(t, err) {
						return
					}
					switch {
					case a.Kind == store.Answered:
					case worker%2 == 0:
						assert.NoError(t, a.Abandon(t.Context()))
					default:
						finished[key].Add(1)
						assert.NoError(t, a.Finish(t.Context(), store.Answer{Status: 200}))
					}
				}
			})
		}
		group.Wait()
		for key := range keys {
			require.EqualValues(t, 1, finished[key].Load())
		}
	})
}
