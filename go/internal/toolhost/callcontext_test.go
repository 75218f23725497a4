package toolhost

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
)

func TestCallContext(t *testing.T) {
	type key struct{}
	outer, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "outer"))
	defer cancel(nil)
	c := &call{}
	x := newCallContext(outer, context.Background(), c, time.Hour)
	require.NoError(t, x.Err())
	require.NoError(t, context.Cause(x))
	require.Same(t, c, callOf(x))
	require.Same(t, c, x.Value(toolmod.HostKey{}))
	require.Equal(t, "outer", x.Value(key{}))
	require.Nil(t, x.timed, "nobody waits yet")
	inner, stop := context.WithCancel(x)
	defer stop()
	require.Same(t, c, callOf(inner))
	require.Equal(t, "outer", inner.Value(key{}))
	gone := errors.New("gone")
	cancel(gone)
	<-inner.Done()
	require.ErrorIs(t, x.Err(), context.Canceled)
	require.ErrorIs(t, context.Cause(inner), gone)
}

func TestCallContextEndsWithoutAnybodyWaiting(t *testing.T) {
	outer, cancel := context.WithCancelCause(t.Context())
	x := newCallContext(outer, context.Background(), &call{}, time.Hour)
	gone := errors.New("gone")
	cancel(gone)
	require.ErrorIs(t, x.Err(), context.Canceled)
	require.ErrorIs(t, context.Cause(x), gone)

	x = newCallContext(t.Context(), context.Background(), &call{}, -time.Second)
	require.ErrorIs(t, x.Err(), context.DeadlineExceeded)
	require.ErrorIs(t, context.Cause(x), errTime)

	x = newCallContext(t.Context(), context.Background(), &call{}, time.Hour)
	x.end()
	require.ErrorIs(t, x.Err(), context.Canceled)
	<-x.Done()
}

func TestCallContextHasItsDeadline(t *testing.T) {
	outer, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sooner, _ := outer.Deadline()
	got, ok := newCallContext(outer, context.Background(), &call{}, time.Hour).Deadline()
	require.True(t, ok)
	require.Equal(t, sooner, got)

	x := newCallContext(t.Context(), context.Background(), &call{}, time.Millisecond)
	<-x.Done()
	require.ErrorIs(t, context.Cause(x), errTime)
	done := make(chan struct{})
	context.AfterFunc(x, func() { close(done) })
	<-done
}

func TestCallContextEndsWithAll(t *testing.T) {
	ending := newEnding()
	x := newCallContext(t.Context(), ending.ctx, &call{}, time.Hour)
	defer x.end()
	require.NoError(t, x.Err())
	ending.cancel(ErrShutdown)
	<-x.Done()
	require.ErrorIs(t, x.Err(), context.Canceled)
	require.ErrorIs(t, context.Cause(x), ErrShutdown)
}
