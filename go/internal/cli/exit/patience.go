package exit

import (
	"context"
	"sync/atomic"
)

type patienceKey struct{}

// WithPatience lets the commands of ctx ask for time to end. patient says whether one has.
func WithPatience(ctx context.Context) (with context.Context, patient func() bool) {
	asked := new(atomic.Bool)
	return context.WithValue(ctx, patienceKey{}, asked), asked.Load
}

// AskPatience is for a command that ends in its own time once its context is over, as a server that lets calls
// finish. Whoever cannot wait sends a second signal.
func AskPatience(ctx context.Context) {
	if asked, ok := ctx.Value(patienceKey{}).(*atomic.Bool); ok {
		asked.Store(true)
	}
}
