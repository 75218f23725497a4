package hostmod

import (
	"context"
	"crypto/rand"
	"io"
	"time"
)

// Outside is what a run sees of the world where that is not the real one: a test that is replayed sees again what
// it saw when it was recorded. Its functions may be called from any goroutine.
type Outside struct {
	ID     string                           // of the call, in place of its own
	Random io.Reader                        // random bytes; it never fails
	Read   func(actual time.Time) time.Time // what a script reads from the clock
}

type outsideKey struct{}

// WithOutside gives the runs of ctx another outside.
func WithOutside(ctx context.Context, o *Outside) context.Context {
	return context.WithValue(ctx, outsideKey{}, o)
}

func outsideOf(vm VM) *Outside {
	o, _ := vm.Context().Value(outsideKey{}).(*Outside)
	return o
}

// Random is where a script's random bytes come from.
func Random(vm VM) io.Reader {
	if o := outsideOf(vm); o != nil {
		return o.Random
	}
	return rand.Reader
}

// ReadClock is what a script reads from the clock when it is actual.
func ReadClock(vm VM, actual time.Time) time.Time {
	if o := outsideOf(vm); o != nil {
		return o.Read(actual)
	}
	return actual
}

// IsReal says whether the script sees the real world.
func IsReal(vm VM) bool { return outsideOf(vm) == nil }
