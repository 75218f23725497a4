package sdkmod

import (
	"context"
	"fmt"

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
	return func(ctx context.Context) ([]any, error) {
		return both(h.Call(ctx, texts[0], texts[1], texts[3], texts[4], raw, texts[2]))
	}, nil
}

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
	made, err := i.asked(c)
	if err != nil {
		return err
	}
	if len(i.started) >= maxStarted {
		return &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf("%d calls were begun; await some of them before the next", maxStarted)}
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
	i.started, i.last = nil, 0
}
