package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Codes of errors that tasks end with.
const codeDeadlock luau.Code = "deadlock"

// taskBytes is about what the Go side of a spawned task takes; it is charged to the VM.
const taskBytes = 1 << 10

// dyingSlices is how many slices a cancelled task may go on running without a wait.
const dyingSlices = 10

// maxDeadlocks is how many deadlocks a run may catch: a script that does nothing else must end.
const maxDeadlocks = 1000

// spawned is what only tasks have that a script made.
type spawned struct {
	body       *luau.Function
	concluding bool // body was called again, to hear what ended it
	cancelled  bool
	raised     bool // the script was told of that
	shielded   bool
	abandoned  bool // it waited once more after it was told
	slices     int  // since it was cancelled
	caught     *origin
}

// origin is an error of a task with its place and frames, and its message as the script sees it.
type origin struct {
	err     *luau.Error
	message string
}

// maxOrigins is how many errors of ended tasks keep their frames.
const maxOrigins = 256

// gone says whether it waits where it must not go on.
func (s *spawned) gone() bool { return s != nil && s.abandoned }

// overdue is asked after each slice: whether it was cancelled and ran on for too long.
func (s *spawned) overdue() bool {
	if s == nil || !s.cancelled || s.shielded || s.concluding {
		return false
	}
	s.slices++
	return s.slices > dyingSlices
}

// dying says so of one that is cancelled and should end.
func (t *task) dying() bool { return t != nil && t.spawned != nil && t.spawned.cancelled }

// failure is the error of a task that nobody waited for.
type failure struct {
	task uint64
	err  error
}

var _ hostmod.Tasks = (*VM)(nil)

// Spawn implements hostmod.Tasks.
func (v *VM) Spawn(body *luau.Function) (hostmod.TaskID, error) {
	if !v.Charge(taskBytes) {
		return 0, &luau.Error{Code: luau.CodeMemory, Message: "not enough memory for another task"}
	}
	t := &task{spawned: &spawned{body: body}}
	t.then = func(out luau.Outcome) {
		if out.Err != nil { // it could not even be told what ended it
			v.fail(t.id, out.Err)
		}
	}
	v.identify(t)
	v.tasks++
	v.push(t, func() (luau.ThreadID, luau.Outcome) { return v.begin(t) })
	return hostmod.TaskID(t.id), nil
}

func (v *VM) begin(t *task) (luau.ThreadID, luau.Outcome) {
	s := t.spawned
	if s.cancelled && !s.concluding {
		s.concluding = true
		return v.startConclusion(t, errCancelled)
	}
	return v.state.Start(s.body, luau.StartOptions{})
}

var errCancelled = &luau.Error{Code: luau.CodeCancelled, Message: "the task was cancelled"}

func (v *VM) startConclusion(t *task, err error) (luau.ThreadID, luau.Outcome) {
	code := luau.CodeOf(err)
	if code == "" {
		code = luau.CodeRuntime
	}
	return v.state.Start(t.spawned.body, luau.StartOptions{}, string(code), err.Error())
}

// conclude calls the body again to tell it what ended the task; false when that was done.
func (v *VM) conclude(t *task, err error) bool {
	s := t.spawned
	if s.concluding {
		return false
	}
	s.concluding = true
	t.thread = 0
	v.push(t, func() (luau.ThreadID, luau.Outcome) { return v.startConclusion(t, err) })
	return true
}

// abandon gives up the thread of a cancelled task that would go on.
func (v *VM) abandon(t *task) {
	v.state.Drop(t.thread)
	t.spawned.abandoned = false
	v.conclude(t, errCancelled)
}

// identify gives a task an id under which it is found.
func (v *VM) identify(t *task) {
	if t.id == 0 {
		v.lastTask++
		t.id = v.lastTask
		v.tasksByID[t.id] = t
	}
}

func (v *VM) forgetTask(t *task) {
	if t.id == 0 {
		return
	}
	delete(v.tasksByID, t.id)
	if t.spawned != nil {
		t.spawned.body.Release()
		v.Uncharge(taskBytes)
	}
}

// endTasks forgets all tasks of a run that is over.
func (v *VM) endTasks() {
	for _, t := range v.tasksByID {
		v.forgetTask(t)
	}
	v.main, v.afterMain, v.stale, v.deadlocks = nil, nil, 0, 0
	clear(v.origins)
	v.clock.Thaw()
}

// Current implements hostmod.Tasks.
func (v *VM) Current() hostmod.TaskID {
	if v.current == nil {
		return 0
	}
	v.identify(v.current)
	return hostmod.TaskID(v.current.id)
}

// Park implements hostmod.Tasks.
func (v *VM) Park(c *luau.Call, d time.Duration) error {
	if goOn, err := v.mayWait(c); !goOn {
		return err
	}
	t := v.current
	if t == nil || !c.CanWait() {
		return cannotWait(c)
	}
	if t.woken {
		t.woken = false
		return c.Return(true)
	}
	v.identify(t)
	t.parked = true
	if d >= 0 {
		v.sleep(c, d)
		return nil
	}
	t.name = c.Name()
	c.Wait(v.token())
	return nil
}

// AwaitMain implements hostmod.Tasks.
func (v *VM) AwaitMain(c *luau.Call) error {
	if goOn, err := v.mayWait(c); !goOn {
		return err
	}
	switch {
	case v.mainEnded:
		return nil
	case v.current == v.main || !c.CanWait():
		return cannotWait(c)
	}
	token := v.token()
	v.current.name = c.Name()
	v.afterMain = append(v.afterMain, token)
	c.Wait(token)
	return nil
}

// endMain lets those go on that waited for it.
func (v *VM) endMain() {
	v.mainEnded = true
	for _, token := range v.afterMain {
		v.finish(completion{token: token})
	}
	v.afterMain = nil
}

func cannotWait(c *luau.Call) error {
	return &luau.Error{Code: luau.CodeInvalid, Message: c.Name() +
		": a comparator, metamethod or callback cannot wait for another task of its script; wait before it and hand the result in"}
}

// Wake implements hostmod.Tasks.
func (v *VM) Wake(id hostmod.TaskID) bool {
	t := v.tasksByID[uint64(id)]
	if t == nil || t.spawned.gone() || t.dying() && t.spawned.raised && !t.spawned.shielded {
		return false
	}
	if !t.parked || t.token == 0 {
		t.woken = true
		return true
	}
	v.interrupt(t, completion{values: []any{true}})
	return true
}

// interrupt ends a wait before its time.
func (v *VM) interrupt(t *task, c completion) {
	c.token = t.token
	timed := t.timed
	v.finish(c)
	if timed {
		v.leaveSleep()
	}
}

// Cancel implements hostmod.Tasks.
func (v *VM) Cancel(id hostmod.TaskID) bool {
	t := v.tasksByID[uint64(id)]
	if t == nil || t.spawned == nil {
		return false
	}
	s := t.spawned
	if s.cancelled {
		return true
	}
	s.cancelled = true
	if t.token != 0 && !s.shielded {
		s.raised = true
		v.interrupt(t, completion{err: errCancelled})
	}
	return true
}

// Shield implements hostmod.Tasks.
func (v *VM) Shield(on bool) {
	if v.current != nil && v.current.spawned != nil {
		v.current.spawned.shielded = on
	}
}

// mayWait says whether the current task may wait. A cancelled one hears of it at its first wait, and
// does not come back from the next one.
func (v *VM) mayWait(c *luau.Call) (bool, error) {
	t := v.current
	if !t.dying() || t.spawned.shielded || t.spawned.concluding {
		return true, nil
	}
	s := t.spawned
	if s.raised && c.CanWait() {
		s.abandoned = true
		c.Wait(v.token())
		return false, nil
	}
	s.raised = true
	return false, errCancelled
}

// Caught implements hostmod.Tasks.
func (v *VM) Caught(code, message string) {
	t := v.current
	if t == nil || t.spawned == nil {
		return
	}
	o := &origin{v.state.Raised(luau.Code(code), message), message}
	o.err = t.originOf(o.err, message)
	t.spawned.caught = o
	if len(v.origins) >= maxOrigins {
		clear(v.origins)
	}
	v.origins[t.id] = o
}

// Raise implements hostmod.Tasks.
func (v *VM) Raise(id hostmod.TaskID) {
	if v.current != nil {
		v.current.origin = v.origins[uint64(id)]
	}
}

// originOf is err, with the place where it came from when it is another task's.
func (t *task) originOf(err *luau.Error, message string) *luau.Error {
	if t.origin == nil {
		return err
	}
	from := t.origin.err
	if t.origin.message != message && from.Message != message { // with its place in front, or without
		return err
	}
	copied := err.Behind(from)
	copied.Message, copied.Subject = from.Message, from.Subject
	return copied
}

// blamed is an error as the run reports it: at the place where it came from, and never in the SDK's own
// code where the script called that.
func (t *task) blamed(err error) error {
	var e *luau.Error
	if err == nil || !errors.As(err, &e) || luau.IsKilled(err) {
		return err
	}
	if from := t.originOf(e, e.Message); from != e {
		err, e = from, from
	}
	if strings.HasPrefix(e.Chunk, module.EmbeddedChunk) {
		return inUserCode(e)
	}
	return err
}

// inUserCode is an error that happened in the SDK's own code, at the place where the script called that.
func inUserCode(e *luau.Error) *luau.Error {
	if !strings.HasPrefix(e.Chunk, module.EmbeddedChunk) {
		return e
	}
	for _, f := range e.Frames {
		if f.Line > 0 && !strings.HasPrefix(f.Chunk, module.EmbeddedChunk) {
			copied := *e
			copied.Chunk, copied.Line = f.Chunk, f.Line
			copied.Subject = nil // a name of the SDK's own
			return &copied
		}
	}
	return e
}

// Report implements hostmod.Tasks.
func (v *VM) Report() {
	if t := v.current; t != nil && t.spawned != nil && t.spawned.caught != nil {
		v.fail(t.id, t.blamed(t.spawned.caught.err))
	}
}

func (v *VM) fail(task uint64, err error) {
	v.failed = append(v.failed, failure{task, err})
	if v.config.TaskFailed != nil {
		v.config.TaskFailed(err)
	}
}

// Forgive implements hostmod.Tasks.
func (v *VM) Forgive(id hostmod.TaskID) {
	for i, f := range v.failed {
		if f.task == uint64(id) {
			v.failed = append(v.failed[:i], v.failed[i+1:]...)
			return
		}
	}
}

func (v *VM) firstFailure() error {
	if len(v.failed) == 0 {
		return nil
	}
	return v.failed[0].err
}

// Clock implements hostmod.Tasks.
func (v *VM) Clock() hostmod.Clock { return &v.clock }

// stuck deals with a run in which nothing can happen any more: one of those that wait hears of it.
func (v *VM) stuck(over func() bool) error {
	if over() {
		return nil
	}
	err := &luau.Error{Code: codeDeadlock, Message: v.stuckMessage()}
	t := v.main
	if t == nil || t.token == 0 {
		t = v.longestWaiting()
	}
	v.deadlocks++
	if t == nil || v.deadlocks > maxDeadlocks {
		return err
	}
	v.interrupt(t, completion{err: err})
	return nil
}

func (v *VM) stuckMessage() string {
	message := "deadlock: this waits for something that cannot happen any more"
	if n := len(v.waiting); n > 1 {
		message = fmt.Sprintf("deadlock: this and all other tasks (%d) wait for something that cannot happen any more", n-1)
	}
	if v.clock.frozen && len(v.sleeping) > v.stale {
		message += ", because the clock of the test is stopped: move it on from another task"
	}
	return message
}

func (v *VM) longestWaiting() *task {
	var longest *task
	for _, t := range v.waiting {
		if longest == nil || t.token < longest.token {
			longest = t
		}
	}
	return longest
}
