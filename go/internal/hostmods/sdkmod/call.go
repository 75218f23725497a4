package sdkmod

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// asked is the call that the arguments are about.
func (i *instance) asked(c *luau.Call) (func(context.Context) ([]any, error), error) {
	h, texts, err := i.given(c, 5)
	if err != nil {
		return nil, err
	}
	raw, err := c.Bool(5)
	if err != nil {
		return nil, err
	}
	if i.sending == nil {
		i.sending = new(atomic.Int64)
	}
	all, size := i.sending, int64(len(texts[3])+len(texts[4]))
	if now := all.Add(size); now > maxSending && now > size {
		all.Add(-size)
		return nil, &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf(
			"the arguments of the calls that are under way have more than %d bytes; await some of them before the next", maxSending)}
	}
	return func(ctx context.Context) ([]any, error) {
		defer all.Add(-size)
		return both(h.Call(ctx, texts[0], texts[1], texts[3], texts[4], raw, texts[2]))
	}, nil
}

// maxSending bounds the arguments of one run's calls that are under way: one text of the script, which counts once for
// its memory, may be sent by thousands.
const maxSending = 16 << 20

// maxStarted is how many calls one run may have begun and not waited for.
const maxStarted = 10_000

// started is a call that goes on while the script does.
type started struct {
	cancel context.CancelFunc
	done   chan struct{}
	values []any
	err    error
}

// start: (source: string, name: string, as: string, params: string, body: string, raw: boolean) -> number
func (i *instance) start(c *luau.Call) error {
	if len(i.started) >= maxStarted {
		return &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf("%d calls were begun; await some of them before the next", maxStarted)}
	}
	made, err := i.asked(c)
	if err != nil {
		return err
	}
	if i.started == nil {
		i.started = map[int]*started{}
	}
	ctx, cancel := context.WithCancel(i.vm.Context())
	s := &started{cancel: cancel, done: make(chan struct{})}
	i.last++
	i.started[i.last] = s
	go func() {
		defer close(s.done)
		defer func() {
			if cause := recover(); cause != nil {
				s.err = &luau.Error{Code: luau.CodePanic, Message: fmt.Sprintf("the call failed: %v", cause)}
			}
		}()
		s.values, s.err = made(ctx)
	}()
	return c.ReturnNumber(float64(i.last))
}

// wait: (call: number) -> (string, string)
func (i *instance) wait(c *luau.Call) error {
	id, err := c.Int(0)
	if err != nil {
		return err
	}
	s := i.started[id]
	if s == nil {
		return &luau.Error{Code: luau.CodeInvalid, Message: fmt.Sprintf("there is no call %d that was begun and not waited for", id)}
	}
	delete(i.started, id)
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		defer s.cancel()
		select {
		case <-s.done:
			return s.values, s.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
}

// EndRun ends calls that nobody waits for any more.
func (i *instance) EndRun() {
	for _, s := range i.started {
		s.cancel()
	}
	i.started, i.last, i.sending = nil, 0, nil
}
