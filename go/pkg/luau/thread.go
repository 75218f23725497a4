package luau

import (
	"context"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// Status is where a thread stands after it ran.
type Status int

// The statuses. StatusFailed comes with Outcome.Err.
const (
	StatusDone    Status = iota // finished: Values are its results
	StatusYielded               // coroutine.yield at its top: Values are what it gave
	StatusWaiting               // a host function answered with Call.Wait: Token names it
	StatusSliced                // broken off by BreakOff, or not begun
	StatusFailed
)

// Outcome is what became of a thread. Values are valid until the State is used again.
type Outcome struct {
	Status Status
	Values Values
	Token  uint64
	Err    error
}

// StartOptions change how a thread starts. The zero value is the default.
type StartOptions struct {
	// Reset brings back the saved image first and begins the run that PrepareRun numbered, all in
	// one step.
	Reset bool
	// KeepTables gives tables among the results as *Table, so that they stay the same tables. It
	// lasts for the thread's first stretch; see ResumeOptions for the later ones.
	KeepTables bool
	// InPlace makes host functions wait in place, as in Call.
	InPlace bool
	// Entry names a global function that f, a loaded chunk, defines: f runs with new globals of its
	// own, and then that function with the arguments. While f runs, host functions wait in place.
	Entry string
	// Around is called in place of an Entry: with the globals of f as its first argument.
	Around *Function
	// Suspended leaves the thread at its beginning, with StatusSliced.
	Suspended bool
}

// ThreadID names a thread of a State without an object for each: for schedulers, which hold
// thousands. Zero names none.
type ThreadID uint64

// Start runs f in a thread of its own until it finishes, yields, waits or is broken off. The
// number is 0 unless the thread can go on; give it to Resume or Deliver, and to Drop at the end.
func (s *State) Start(f *Function, o StartOptions, args ...any) (ThreadID, Outcome) {
	if err := s.acquire(); err != nil {
		return 0, Outcome{Status: StatusFailed, Err: err}
	}
	defer s.done()
	if err := f.check(s); err != nil {
		return 0, Outcome{Status: StatusFailed, Err: err}
	}
	if o.Reset {
		// First: arguments may bring new host functions.
		if err := s.prepareReset(); err != nil {
			return 0, Outcome{Status: StatusFailed, Err: err}
		}
	} else if !s.begun && s.depth == 0 && !o.Suspended {
		s.begin(s.options.Limits)
		s.begun = true
	}
	e := s.encoder()
	count, err := e.startArgs(&o, args)
	if err != nil {
		return 0, Outcome{Status: StatusFailed, Err: err}
	}
	r := s.vm.Start(f.ref, e.buf, count, o.flags(), s.run, &s.limits)
	s.reuse(e.buf)
	return ThreadID(r.Thread), s.outcome(r)
}

func (o *StartOptions) flags() uint32 {
	flags := uint32(0)
	if o.Entry != "" || o.Around != nil {
		flags |= capi.StartEntry
	}
	if o.Suspended {
		flags |= capi.StartSuspended
	}
	if o.KeepTables {
		flags |= capi.StartKeep
	}
	if o.InPlace {
		flags |= capi.StartInPlace
	}
	if o.Reset {
		flags |= capi.StartReset
	}
	return flags
}

func (e *encoder) startArgs(o *StartOptions, args []any) (uint32, error) {
	count := uint32(len(args))
	switch {
	case o.Around != nil:
		count++
		if err := e.value(o.Around); err != nil {
			return 0, err
		}
	case o.Entry != "":
		count++
		if err := e.text(capi.TagString, o.Entry); err != nil {
			return 0, err
		}
	}
	return count, e.values(args)
}

// prepareReset does the Go part of a reset, before arguments are written: functions among them must
// not fall to it.
func (s *State) prepareReset() error {
	switch {
	case s.depth > 0:
		return errRunning
	case !s.saved:
		return errUnsaved
	}
	s.afterReset()
	return nil
}

func (s *State) outcome(r capi.Result) Outcome {
	o := Outcome{Values: s.valuesOf(r), Token: r.Token}
	switch r.Status {
	case capi.OK:
		o.Status = StatusDone
	case capi.Yield:
		o.Status = StatusYielded
	case capi.Wait:
		o.Status = StatusWaiting
	case capi.Slice:
		o.Status = StatusSliced
	default:
		return Outcome{Status: StatusFailed, Err: s.failure(r)}
	}
	return o
}

// ResumeOptions change how a thread goes on. The zero value is the default.
type ResumeOptions struct {
	// KeepTables is as in StartOptions.
	KeepTables bool
}

func (o ResumeOptions) flags() uint32 {
	if o.KeepTables {
		return capi.ResumeKeep
	}
	return 0
}

// NewThread makes a coroutine of f that has not begun; the first Resume gives f its arguments.
func (s *State) NewThread(f *Function) (*Thread, error) {
	id, out := s.Start(f, StartOptions{Suspended: true})
	if out.Err != nil {
		return nil, out.Err
	}
	return s.wrap(capi.RefThread, uint64(id)).(*Thread), nil
}

// Resume begins a coroutine or goes on with it, until it yields or finishes, under ctx as
// [Function.Call] does. The arguments are those of the function, later the results of
// coroutine.yield. Host functions that wait do so in place. Coroutines that a script made can be
// resumed as well.
func (t *Thread) Resume(ctx context.Context, args ...any) (values []any, done bool, err error) {
	if t == nil || t.state == nil {
		return nil, false, fail(CodeInvalid, "a nil thread")
	}
	s := t.state
	if err := s.acquire(); err != nil {
		return nil, false, err
	}
	defer s.done()
	if err := t.check(s); err != nil {
		return nil, false, err
	}
	e := s.encoder()
	if err := e.values(args); err != nil {
		return nil, false, err
	}
	scope, err := s.enter(ctx)
	if err != nil {
		return nil, false, err
	}
	defer scope.leave()
	out := s.outcome(s.vm.Resume(t.ref, e.buf, uint32(len(args)), capi.ResumeInPlace))
	s.reuse(e.buf)
	if out.Err != nil {
		return nil, true, out.Err
	}
	values, err = out.Values.All()
	return values, out.Status == StatusDone, err
}

// Resume goes on with a thread that yielded, was broken off or has not begun. After a yield the
// arguments are the results of coroutine.yield.
func (s *State) Resume(t ThreadID, o ResumeOptions, args ...any) Outcome {
	return s.resume(t, o, "", nil, args)
}

// Deliver goes on with a thread that waits: the host function returns these values.
func (s *State) Deliver(t ThreadID, o ResumeOptions, values ...any) Outcome {
	return s.resume(t, o, "", nil, values)
}

// DeliverError goes on with a thread that waits: the host function, by name, raises err.
func (s *State) DeliverError(t ThreadID, o ResumeOptions, name string, err error) Outcome {
	return s.resume(t, o, name, err, nil)
}

func (s *State) resume(t ThreadID, o ResumeOptions, name string, raised error, values []any) Outcome {
	if err := s.acquire(); err != nil {
		return Outcome{Status: StatusFailed, Err: err}
	}
	defer s.done()
	e := s.encoder()
	count, flags := uint32(len(values)), o.flags()
	if raised == nil {
		if err := e.values(values); err != nil {
			// The thread must hear of it: it would wait for ever.
			e.buf, e.depth = e.buf[:0], 0
			name, raised = "result", err
		}
	}
	if raised != nil {
		count, flags = 1, flags|capi.ResumeError
		e.raised(name, raised)
	}
	out := s.outcome(s.vm.Resume(uint64(t), e.buf, count, flags))
	s.reuse(e.buf)
	return out
}

// Drop gives up a thread that will not go on. Where it stands it ends, and so do the coroutines that it
// waits for: a script that still has one of them finds it dead.
func (s *State) Drop(t ThreadID) {
	if t == 0 || s.take() != nil {
		return
	}
	defer s.done()
	s.vm.Drop(uint64(t))
}
