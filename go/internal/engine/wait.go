package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// maxBlocked is how many scripts of the process may wait in place at once: each holds an OS thread.
const maxBlocked = 32

var blocked = make(chan struct{}, maxBlocked)

func (v *VM) token() uint64 {
	v.last++
	return v.last
}

// Await implements hostmod.VM.
func (v *VM) Await(c *luau.Call, work hostmod.Work) error {
	if goOn, err := v.mayWait(c); !goOn {
		return err
	}
	work = v.watched(c.Name(), work)
	if !c.CanWait() {
		return v.waitInPlace(c, work)
	}
	token := v.token()
	name, ctx := c.Name(), v.Context()
	if t := v.current; t != nil {
		t.name = name
		if t.spawned != nil {
			ctx, t.stop = context.WithCancel(ctx)
		}
	}
	v.outside++
	go func() {
		// Sent whatever becomes of the goroutine: the script would wait for ever.
		done := completion{token: token, err: &luau.Error{
			Code: luau.CodePanic, Message: name + ": its goroutine ended without a result"}}
		defer func() { v.complete(done) }()
		done.values, done.err = guard(ctx, name, work)
	}()
	c.Wait(token)
	return nil
}

// watched tells Config.Waited of the outcome of work.
func (v *VM) watched(name string, work hostmod.Work) hostmod.Work {
	if v.config.Waited == nil {
		return work
	}
	run, began := v.ctx, time.Now()
	return func(ctx context.Context) (values []any, err error) {
		err = &luau.Error{Code: luau.CodePanic, Message: name + ": panic"} // unless it returns
		defer func() { v.config.Waited(run, Wait{Function: name, Began: began, Took: time.Since(began), Err: err}) }()
		return work(ctx)
	}
}

// guard runs work and turns a panic into an error.
func guard(ctx context.Context, name string, work hostmod.Work) (values []any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &luau.Error{Code: luau.CodePanic, Message: fmt.Sprintf("%s: panic: %v", name, p)}
		}
	}()
	return work(ctx)
}

// waitInPlace blocks the VM: Luau cannot yield where the script is.
func (v *VM) waitInPlace(c *luau.Call, work hostmod.Work) error {
	select {
	case blocked <- struct{}{}:
	default:
		return &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf(
			"%s: more than %d scripts wait inside sort comparators, metamethods or callbacks at once; wait outside of them", c.Name(), maxBlocked)}
	}
	defer func() { <-blocked }()
	held := v.slot >= 0
	v.releaseSlot()
	values, err := guard(v.Context(), c.Name(), work)
	if held {
		// A run that is over gets no slot and needs none: the script ends where it stands.
		v.takeSlot()
	}
	v.killIfOver()
	if err != nil {
		return err
	}
	return c.Return(values...)
}

// killIfOver ends the run before the script can catch the error of what was cut short.
func (v *VM) killIfOver() {
	if v.ctx.Err() != nil {
		v.state.Kill(v.run, context.Cause(v.ctx))
	}
}

// Sleep implements hostmod.VM.
func (v *VM) Sleep(c *luau.Call, d time.Duration) error {
	if goOn, err := v.mayWait(c); !goOn {
		return err
	}
	if !c.CanWait() {
		if v.clock.frozen {
			return &luau.Error{Code: luau.CodeInvalid, Message: c.Name() +
				": the clock is stopped, and nothing can move it on during a wait inside a comparator, metamethod or callback"}
		}
		return v.waitInPlace(c, func(ctx context.Context) ([]any, error) {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
				return nil, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		})
	}
	v.sleep(c, d)
	return nil
}

// Collect implements hostmod.VM. That the State is closed is no reason to fail: nothing is left then.
func (v *VM) Collect() { _ = v.state.Collect() }

// sleep puts the current task among the sleepers.
func (v *VM) sleep(c *luau.Call, d time.Duration) {
	token := v.token()
	if v.current != nil {
		v.current.name, v.current.timed = c.Name(), true
	}
	when := time.Time{}
	if d > 0 {
		when = v.clock.Now().Add(d)
	}
	v.sleeping.add(when, token)
	c.Wait(token)
}
