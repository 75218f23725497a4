package engine

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Mode says what the end of the main function means.
type Mode int

const (
	// WaitForTasks lets background tasks finish; their errors are reported and make the run fail.
	WaitForTasks Mode = iota
	// EndWithMain cancels everything when the main function returns; an error in a task ends the
	// run.
	EndWithMain
)

// task is one thread of the scheduler.
type task struct {
	thread luau.ThreadID
	module *loaded // what it loads, if it is a require
	keep   bool    // tables among its results are *luau.Table
	then   func(luau.Outcome)
	name   string // of the host function that it waits for

	waitsFor *loaded     // the module whose load it waits for
	passed   *luau.Error // of the module that it required last: see withFrames

	id      uint64 // where somebody asked for it
	token   uint64 // of what it waits for
	timed   bool   // that is among the sleepers
	stop    context.CancelFunc
	parked  bool
	woken   bool // before it parked
	spawned *spawned
	origin  *origin // of the error of another task that it raised last
}

// options keep the identity of what a module returns.
func (t *task) options() luau.ResumeOptions {
	return luau.ResumeOptions{KeepTables: t.keep}
}

// work is a task that can go on, and how: by resume, or without one by what it waited for.
type work struct {
	task   *task
	resume func() (luau.ThreadID, luau.Outcome)
	done   completion
}

// completion is the outcome of a host call, on its way to the VM's goroutine.
type completion struct {
	token  uint64
	values []any
	err    error
}

// RunOptions describe a run. The zero value waits for tasks, without limits.
type RunOptions struct {
	Mode   Mode
	Limits Limits
	// Grace lets the VM outlive an end of the run by its context: the run is broken off and its tasks
	// are dropped, while globals, modules and what else is in the VM stay. A script that is not at a
	// place where that is possible within Grace is killed: in a comparator, a metamethod, a callback, a
	// long library call. Zero kills it at once.
	Grace time.Duration
	// Reset brings back the saved image first.
	Reset bool
	// Entry is as in luau.StartOptions: fn is a chunk that defines a function of that name.
	Entry string
	// Around is as in luau.StartOptions, in place of Entry.
	Around *luau.Function
	// KeepTables gives tables among the results as *luau.Table.
	KeepTables bool
	// Use gets the results of RunSource, as in Run.
	Use func(luau.Values) error

	// long is set when the run uses up a slice. While it is, runs with it wait for their slots among those
	// that did. nil: nobody wants to know.
	long *atomic.Bool
}

// Run calls fn as the main function of a new run, and schedules until the run is over. The results
// are converted by use before anything else happens in the VM; use may be nil. When ctx ends, so
// does the run, at once.
func (v *VM) Run(ctx context.Context, fn *luau.Function, o RunOptions, use func(luau.Values) error, args ...any) error {
	v.context.begin(ctx)
	v.ctx, v.mode, v.limits, v.logged, v.failed, v.current, v.spent = ctx, o.Mode, o.Limits, 0, nil, nil, false
	v.ran, v.wasLong, v.long = false, false, o.long
	v.firstToken = v.last
	defer v.endRun()
	limits := luau.Limits{HostCalls: o.Limits.HostCalls, Output: o.Limits.Output, Memory: o.Limits.Memory}
	begin := v.state.Begin
	if o.Reset {
		begin = v.state.PrepareRun
		v.restoreModules()
	}
	run, err := begin(limits)
	if err != nil {
		return err
	}
	v.run = run
	v.grace.begin(run, o.Grace)
	var result error
	main := &task{keep: o.KeepTables}
	v.main, v.mainEnded = main, false
	main.then = func(out luau.Outcome) {
		v.endMain()
		if result = out.Err; result == nil && use != nil {
			result = use(out.Values)
		}
	}
	v.push(main, func() (luau.ThreadID, luau.Outcome) {
		return v.state.Start(fn, luau.StartOptions{Reset: o.Reset, Entry: o.Entry, Around: o.Around, KeepTables: o.KeepTables}, args...)
	})
	err = v.schedule(func() bool {
		if v.mode == EndWithMain {
			return v.mainEnded || len(v.failed) > 0
		}
		return v.mainEnded && (result != nil || v.tasks == 0)
	})
	switch {
	case err != nil:
		return err
	case result != nil:
		return result
	}
	return v.firstFailure()
}

func (v *VM) push(t *task, resume func() (luau.ThreadID, luau.Outcome)) {
	v.pushWork(work{task: t, resume: resume})
}

func (v *VM) pushWork(w work) {
	if len(v.ready) == 0 {
		v.ready = v.readyRoom
	}
	v.ready = append(v.ready, w)
	if cap(v.ready) > cap(v.readyRoom) {
		v.readyRoom = v.ready[:0]
	}
	if v.busy.Load() {
		v.armSlice() // what runs has company from now on
	}
}

func (v *VM) resume(w *work) (luau.ThreadID, luau.Outcome) {
	t := w.task
	switch {
	case w.resume != nil:
		return w.resume()
	case w.done.err != nil:
		return t.thread, v.state.DeliverError(t.thread, t.options(), t.name, w.done.err)
	default:
		return t.thread, v.state.Deliver(t.thread, t.options(), w.done.values...)
	}
}

// schedule runs tasks until over says so, nothing can happen any more, or the run was killed.
func (v *VM) schedule(over func() bool) error {
	defer v.releaseSlot()
	for {
		for len(v.ready) > 0 {
			if err := v.step(); err != nil {
				return err
			}
			if over() {
				return nil
			}
			v.collect()
		}
		if v.outside == 0 && !v.someSleeper() {
			if err := v.stuck(over); err != nil || over() {
				return err
			}
			continue
		}
		if err := v.waitForWork(); err != nil {
			return err
		}
	}
}

// step resumes the first ready task and deals with what came of it.
func (v *VM) step() error {
	if !v.takeSlot() || v.ctx.Err() != nil {
		return v.ended()
	}
	w := v.ready[0]
	v.ready[0] = work{}
	v.ready = v.ready[1:]
	v.current, v.ran = w.task, true
	v.busy.Store(true)
	v.armSlice() // after that: what arrives from now on arms it itself
	thread, out := v.resume(&w)
	v.busy.Store(false)
	v.current = nil
	if thread != 0 {
		w.task.thread = thread
	}
	return v.settle(w.task, out)
}

func (v *VM) settle(t *task, out luau.Outcome) error {
	switch out.Status {
	case luau.StatusWaiting:
		v.spent = false
		if t.spawned.gone() {
			v.abandon(t)
			return nil
		}
		t.token = out.Token
		v.waiting[out.Token] = t
		return nil
	case luau.StatusSliced:
		v.usedUp()
		if t.spawned.overdue() {
			v.abandon(t)
			return nil
		}
		if slots.crowded() {
			v.releaseSlot()
		}
		v.push(t, func() (luau.ThreadID, luau.Outcome) { return t.thread, v.state.Resume(t.thread, t.options()) })
		return nil
	case luau.StatusYielded:
		// Where it yielded it hears that nobody can resume it; it may catch that.
		v.push(t, func() (luau.ThreadID, luau.Outcome) {
			return t.thread, v.state.DeliverError(t.thread, t.options(), "coroutine.yield", errNobody)
		})
		return nil
	}
	if luau.IsKilled(out.Err) {
		return out.Err
	}
	v.state.Drop(t.thread)
	if out.Err != nil {
		out.Err = t.blamed(t.withFrames(out.Err))
	}
	if t.spawned != nil && out.Err != nil && v.conclude(t, out.Err) {
		return nil
	}
	v.forgetTask(t)
	if t.then != nil {
		t.then(out)
	}
	if t != v.main {
		v.tasks--
	}
	return nil
}

// usedUp notes that a slice is over.
func (v *VM) usedUp() {
	v.spent, v.wasLong = true, true
	if v.long != nil && !v.long.Load() {
		v.long.Store(true)
	}
}

var errNobody = &luau.Error{
	Code: luau.CodeRuntime, Message: "coroutine.yield outside of a coroutine: nobody can resume this thread",
}

func (v *VM) takeSlot() bool {
	if v.slot < 0 {
		v.slot = slots.take(v.ctx, v, v.spent, v.long)
	}
	return v.slot >= 0
}

func (v *VM) releaseSlot() {
	if v.slot >= 0 {
		slots.give(v.slot)
		v.slot = -1
	}
}

// armSlice limits what runs now to a slice, if others of this VM are ready or will be after a sleep.
func (v *VM) armSlice() {
	alone := len(v.ready) == 0 && len(v.sleeping) == 0 && !v.inbox.some.Load()
	if alone && !v.current.dying() || v.sliced.Swap(true) {
		return
	}
	if v.slice == nil {
		v.slice = time.AfterFunc(slice, v.sliceOver)
		return
	}
	v.slice.Reset(slice)
}

// sliceOver may break off what came later than what it was armed for: that is then sliced early.
func (v *VM) sliceOver() {
	v.sliced.Store(false)
	if v.busy.Load() {
		v.state.BreakOff()
	}
}

// ended is the error of a run whose context is over while no script runs, at the place where the main
// function waits, or the task that has waited longest.
func (v *VM) ended() error {
	err := endedBy(v.ctx, v.grace.time)
	var e *luau.Error
	if frames := v.whereItWaits(); len(frames) > 0 && errors.As(err, &e) {
		return inUserCode(e.At(frames))
	}
	return err
}

func (v *VM) whereItWaits() []luau.Frame {
	if v.main != nil && !v.mainEnded {
		return v.stackOf(v.main)
	}
	var oldest *task
	for _, t := range v.waiting {
		if oldest == nil || t.token < oldest.token {
			oldest = t
		}
	}
	return v.stackOf(oldest)
}

// stackOf has the frames of the module that t waits for in front.
func (v *VM) stackOf(t *task) []luau.Frame {
	var frames []luau.Frame
	for ; t != nil; t = t.waitsFor.loader {
		frames = append(v.state.Stack(t.thread), frames...)
		if t.waitsFor == nil {
			break
		}
	}
	return frames
}

// waitForWork blocks until a task can go on or the run is over.
func (v *VM) waitForWork() error {
	yielded := false
	for {
		v.collect()
		if len(v.ready) > 0 || v.clock.tick(v.sleeping) {
			return nil
		}
		if v.outside == 0 && !v.someSleeper() {
			return nil
		}
		if !yielded {
			// What was just asked for may be done by a goroutine that only needs its turn.
			yielded = true
			runtime.Gosched()
			continue
		}
		_ = v.state.Sweep() // a killed VM has nothing left to tell
		v.releaseSlot()
		var alarm <-chan time.Time
		if d, ok := v.sleeping.next(time.Now()); ok && !v.clock.frozen {
			if v.timer == nil {
				v.timer = time.NewTimer(d)
			} else {
				v.timer.Reset(d)
			}
			alarm = v.timer.C
		}
		select {
		case <-v.wake:
		case <-alarm:
		case <-v.ctx.Done():
			return v.ended()
		}
	}
}

// complete sends the outcome of a host call to the VM. Any goroutine may call it, once for each
// token; what comes after the end of the run is dropped.
func (v *VM) complete(c completion) {
	v.inbox.Lock()
	first := len(v.inbox.list) == 0
	v.inbox.list = append(v.inbox.list, c)
	v.inbox.some.Store(true)
	v.inbox.Unlock()
	select {
	case v.wake <- struct{}{}:
	default:
	}
	if first && v.busy.Load() {
		v.armSliceFromOutside()
	}
}

// armSliceFromOutside gives what runs now a last slice. It is too long by at most one slice.
func (v *VM) armSliceFromOutside() {
	time.AfterFunc(slice, func() {
		v.inbox.Lock()
		waits := len(v.inbox.list) > 0
		v.inbox.Unlock()
		if waits && v.busy.Load() {
			v.state.BreakOff()
		}
	})
}

// collect makes the tasks ready whose sleep is over or whose host call has an outcome.
func (v *VM) collect() {
	v.wakeSleepers()
	if !v.inbox.some.Load() {
		return
	}
	v.inbox.Lock()
	list := v.inbox.list
	v.inbox.list = v.inboxRoom[:0]
	v.inbox.some.Store(false)
	v.inbox.Unlock()
	for _, c := range list {
		if c.token > v.firstToken { // an earlier run's is of no interest
			v.outside--
			v.finish(c)
		}
	}
	clear(list)
	v.inboxRoom = list
}

// finish makes the task that waits for the token ready; false when none does.
func (v *VM) finish(c completion) bool {
	t, ok := v.waiting[c.token]
	if !ok {
		return false
	}
	delete(v.waiting, c.token)
	if t.stop != nil {
		t.stop()
		t.stop = nil
	}
	t.waitsFor, t.token, t.timed, t.parked = nil, 0, false, false
	v.pushWork(work{task: t, done: c})
	return true
}

// endRun forgets all that is left of the run.
func (v *VM) endRun() {
	v.cut = v.ctx.Err() != nil
	v.context.end()
	v.releaseSlot()
	v.grace.end()
	for _, i := range v.instances {
		i.EndRun()
	}
	for _, w := range v.ready {
		v.leave(w.task)
	}
	for _, t := range v.waiting {
		v.leave(t)
	}
	v.ready, v.sleeping, v.tasks, v.outside = nil, nil, 0, 0
	clear(v.waiting)
	v.endTasks()
	v.inbox.Lock()
	v.inbox.list = nil
	v.inbox.some.Store(false)
	v.inboxRoom = emptied(v.inboxRoom)
	v.inbox.Unlock()
	if v.slice != nil && v.slice.Stop() {
		v.sliced.Store(false)
	}
	v.forgetRun()
}

// emptied is room for the next run, without what the last one left in it.
func emptied[T any](room []T) []T {
	const most = 64
	if cap(room) > most {
		return nil
	}
	clear(room[:cap(room)])
	return room[:0]
}

// forgetRun lets go of what the run was given: an idle VM may wait for long.
func (v *VM) forgetRun() {
	v.readyRoom = emptied(v.readyRoom)
	v.ctx, v.main, v.failed, v.current, v.long = over, nil, nil, nil, nil
}

// leave gives up a task that its run leaves behind. A module that it loads is not there then, and no
// later run may wait for it.
func (v *VM) leave(t *task) {
	v.state.Drop(t.thread)
	if m := t.module; m != nil && v.modules[m.id] == m && !m.done {
		delete(v.modules, m.id)
	}
}

// RunSource compiles and runs source as the main function.
func (v *VM) RunSource(ctx context.Context, chunk, source string, o RunOptions, args ...any) error {
	code, err := v.compile(ctx, chunk, source)
	if errors.Is(err, errGivenUp) {
		return endedBy(ctx, o.Grace)
	}
	if err != nil {
		return err
	}
	fn, err := v.loadChunk(code, chunk, luau.LoadOptions{Native: v.config.Native})
	if err != nil {
		return err
	}
	if !v.config.Coverage {
		defer fn.Release()
	}
	return v.Run(ctx, fn, o, o.Use, args...)
}

// compile gives up waiting for the compiler when ctx ends; what it does then is thrown away.
func (v *VM) compile(ctx context.Context, chunk, source string) (*luau.Bytecode, error) {
	if len(source) < smallSource || ctx.Done() == nil {
		return compileCached(chunk, source, v.config.compileOptions())
	}
	type outcome struct {
		code *luau.Bytecode
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		code, err := compileCached(chunk, source, v.config.compileOptions())
		done <- outcome{code, err}
	}()
	select {
	case o := <-done:
		return o.code, o.err
	case <-ctx.Done():
		return nil, errGivenUp
	}
}

var errGivenUp = errors.New("the run ended while its source was compiled")

// smallSource compiles in less than a few milliseconds.
const smallSource = 32 << 10
