package toolhost

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Calls may begin while somebody waits for the end of all: a server that ends refuses them one by one.
func TestUnderwayWhileOthersBegin(t *testing.T) {
	var u underway
	require.NoError(t, u.wait(t.Context()))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20_000 {
				u.begin()
				u.end()
			}
		})
		wg.Go(func() {
			for range 2_000 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Microsecond)
				_ = u.wait(ctx) // either way
				cancel()
			}
		})
	}
	wg.Wait()
	require.NoError(t, u.wait(t.Context()))
	u.begin()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, u.wait(ctx), context.Canceled)
	done := make(chan error)
	go func() { done <- u.wait(t.Context()) }()
	u.end()
	require.NoError(t, <-done)
}
