package engine

import (
	"context"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// grace is what a run has between the end of its context and the kill: see RunOptions.Grace. The zero
// value is none.
type grace struct {
	time time.Duration // of the run that is under way; for the VM's goroutine and who watches it

	mu    sync.Mutex
	run   luau.Run // that may still be broken off or killed; 0: none
	timer *time.Timer
}

func (g *grace) begin(run luau.Run, time time.Duration) {
	g.time = time
	if time == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.run = run
}

// over asks the script to stop, and kills the run when it is still there after the grace. Any goroutine
// may call it.
func (g *grace) over(state *luau.State, run luau.Run, cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.run != run || g.timer != nil {
		return
	}
	state.BreakOff()
	g.timer = time.AfterFunc(g.time, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.run == run { // else the VM does something else by now
			state.Kill(run, cause)
		}
	})
}

// end is called when the run is over, however that came.
func (g *grace) end() {
	if g.time == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Stop()
	}
	g.time, g.run, g.timer = 0, 0, nil
}

// endedBy is the error of a run that its context ended while no script ran.
func endedBy(ctx context.Context, grace time.Duration) error {
	if grace > 0 {
		return luau.StoppedBy(context.Cause(ctx))
	}
	return luau.KilledBy(context.Cause(ctx))
}

// giveUp ends a task where it stands, because its run is over: where it can wait, it waits for nothing.
func (v *VM) giveUp(c *luau.Call) error {
	if v.grace.time > 0 && c.CanWait() {
		c.Wait(v.token())
		return nil
	}
	v.killIfOver()
	return nil
}
