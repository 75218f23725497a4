package exit

import (
	"context"
	"sync"
)

// Interrupts lets a command take Ctrl-C for a part of its work. The zero value takes none.
type Interrupts struct {
	mu   sync.Mutex
	take func()
}

// Take makes f the answer to an interrupt until the result is called.
func (i *Interrupts) Take(f func()) (giveBack func()) {
	if i == nil {
		return func() {}
	}
	i.set(f)
	return func() { i.set(nil) }
}

func (i *Interrupts) set(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.take = f
}

// Interrupt says whether somebody took it.
func (i *Interrupts) Interrupt() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.take == nil {
		return false
	}
	i.take()
	return true
}

type interruptsKey struct{}

// WithInterrupts gives a command's context the interrupts of its process.
func WithInterrupts(ctx context.Context, i *Interrupts) context.Context {
	return context.WithValue(ctx, interruptsKey{}, i)
}

// InterruptsOf are those of the context; nil, which takes none, where it has none.
func InterruptsOf(ctx context.Context) *Interrupts {
	i, _ := ctx.Value(interruptsKey{}).(*Interrupts)
	return i
}
