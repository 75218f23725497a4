package luau

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// DefaultMemoryLimit is the MemoryLimit of a State that is given none, in bytes.
const DefaultMemoryLimit = capi.DefaultMemory

// Options describe a State. The zero value is a good default.
type Options struct {
	// MemoryLimit is the most memory a script may use, in bytes: Luau's own and what host
	// functions charge. Zero means DefaultMemoryLimit. Address space of this size is reserved, not memory.
	MemoryLimit int64
	// NoNative turns native code off, also for scripts that ask for it with --!native.
	NoNative bool
	// Malloc takes memory from malloc instead of an arena, so that address sanitizers see every
	// block. Such a State cannot be saved and reset.
	Malloc bool
	// Output receives what scripts print, whole writes in order. It must not keep the slice. Nil
	// drops it.
	Output func(text []byte)
	// OutputLines calls Output after each print, for people who watch. Otherwise it is called when
	// some kilobytes are there, before host functions and at the end.
	OutputLines bool
	// Limits are of each run that was not begun with Begin. Zero means no limit but MemoryLimit.
	Limits Limits
}

// State is one Luau VM. It belongs to one goroutine at a time; only Kill, BreakOff, Charge and
// Uncharge may be called from others. While it runs a script, only the goroutine of a host function
// that the script called may use it.
//
// Close it when it is no longer needed. The garbage collector does so too, but it sees only the Go
// side of a State, which is small.
type State struct {
	vm      capi.VM
	host    uint64
	handler *handler
	cleanup runtime.Cleanup
	options Options
	busy    atomic.Bool
	nested  int    // uses of the State by a host function, inside the use that runs the script
	stamp   uint64 // changes with each use: Values of an earlier one are over

	abandoned bool // a host function ended its goroutine: C frames are gone, nothing but Close is safe
	ended     error
	endedRun  uint64

	// guard is held by whoever touches the VM from another goroutine, and by Close.
	guard     sync.Mutex
	closed    bool
	killCause error
	dropped   []uint64 // references to release at the next call

	hasDropped atomic.Bool

	ctx     context.Context // of the innermost Function.Call
	run     uint64
	begun   bool // by Begin: the run lasts until the next one, not for one call
	limits  capi.Limits
	funcs   funcTable
	saved   bool
	calls   []*Call // one for each nesting depth, reused
	depth   int
	scratch []byte
	raised  raisedErrors

	sampling chan struct{} // closed when a profile ends; nil without one
}

// New makes a State with Luau's libraries, sandboxed.
func New(o Options) (*State, error) {
	if o.MemoryLimit < 0 {
		return nil, fail(CodeInvalid, "MemoryLimit is negative")
	}
	s := &State{options: o, handler: &handler{output: o.Output}}
	flags := uint32(0)
	if o.Malloc {
		flags |= capi.VMMalloc
	}
	if !o.NoNative {
		flags |= capi.VMNative
	}
	if o.OutputLines {
		flags |= capi.VMLines
	}
	s.host = capi.Register(s.handler)
	vm, status := capi.NewVM(uint64(o.MemoryLimit), flags, s.host)
	if status != capi.OK {
		capi.Unregister(s.host)
		return nil, fail(CodeMemory, "no memory for a State: its limit is %d bytes of address space, of which it uses about 512 KiB at once",
			cmp.Or(o.MemoryLimit, DefaultMemoryLimit))
	}
	s.vm = vm
	s.cleanup = runtime.AddCleanup(s, release, owned{vm, s.host})
	return s, nil
}

// owned is what a State must give back.
type owned struct {
	vm   capi.VM
	host uint64
}

func release(o owned) {
	o.vm.Close()
	capi.Unregister(o.host)
}

// Close frees the State and everything in it. Later use is an error. Closing twice does nothing.
func (s *State) Close() error {
	switch err := s.acquire(); err {
	case nil, errAbandoned:
	case errClosed:
		return nil
	default:
		return err
	}
	defer s.done()
	if s.depth > 0 && !s.abandoned {
		return fail(CodeBusy, "a State cannot be closed by a host function that its script called")
	}
	s.guard.Lock()
	s.closed = true
	s.guard.Unlock()
	s.cleanup.Stop()
	s.stopSampling()
	release(owned{s.vm, s.host})
	return nil
}

// acquire takes the State for one use. Every use of the VM stands between acquire and done, but after
// errAbandoned, with which it is taken as well.
func (s *State) acquire() error {
	maybeCollect()
	err := s.take()
	if err == nil {
		s.stamp++
	}
	return err
}

// take is acquire for uses that leave earlier Values alone.
func (s *State) take() error {
	if s == nil {
		return fail(CodeInvalid, "a nil State")
	}
	if !s.busy.CompareAndSwap(false, true) {
		if !s.inHostCall() {
			return errBusy
		}
		s.nested++
	} else if s.closed {
		s.busy.Store(false)
		return errClosed
	} else if s.abandoned {
		s.busy.Store(false)
		return errAbandoned
	} else {
		s.handler.state = s
	}
	if s.hasDropped.Load() {
		s.drop()
	}
	return nil
}

func (s *State) done() {
	if s.nested > 0 {
		s.nested--
		return
	}
	s.handler.state = nil // so that nothing keeps a forgotten State alive
	s.busy.Store(false)
}

// inHostCall says whether the goroutine is inside a host function that this State's script called:
// it is tied to its OS thread then, so the thread tells.
func (s *State) inHostCall() bool {
	s.guard.Lock()
	defer s.guard.Unlock()
	return !s.closed && !s.abandoned && s.vm.InHostCall()
}

func (s *State) drop() {
	s.guard.Lock()
	list := s.dropped
	s.dropped = nil
	s.hasDropped.Store(false)
	s.guard.Unlock()
	for _, ref := range list {
		s.vm.Release(ref)
	}
}

// forget notes a reference for release at the next call. Any goroutine may call it.
func (s *State) forget(ref uint64) {
	s.guard.Lock()
	if !s.closed {
		s.dropped = append(s.dropped, ref)
		s.hasDropped.Store(true)
	}
	s.guard.Unlock()
}

// Limits are of one run. Zero means no limit.
type Limits struct {
	HostCalls uint64 // calls of host functions
	Output    uint64 // bytes printed
	Memory    uint64 // bytes, at most Options.MemoryLimit; zero means that
}

// Run names one run of a State, for Kill.
type Run uint64

// Begin starts a new run, which lasts until the next Begin or Reset: its limits count for all calls
// in it together, and Kill can end it. Without Begin, each [Function.Call] and [State.Do] is a run of
// its own, under [Options.Limits].
func (s *State) Begin(l Limits) (Run, error) {
	if err := s.acquire(); err != nil {
		return 0, err
	}
	defer s.done()
	if s.depth > 0 {
		return 0, errRunning
	}
	s.begun = true
	return s.begin(l), nil
}

// PrepareRun numbers a new run, so that Kill knows it, and leaves its begin to Start with Reset.
func (s *State) PrepareRun(l Limits) (Run, error) {
	if err := s.acquire(); err != nil {
		return 0, err
	}
	defer s.done()
	if s.depth > 0 {
		return 0, errRunning
	}
	s.begun = true
	s.nextRun(l)
	return Run(s.run), nil
}

func (s *State) begin(l Limits) Run {
	s.nextRun(l)
	s.vm.RunBegin(s.run, &s.limits)
	return Run(s.run)
}

func (s *State) nextRun(l Limits) {
	s.guard.Lock()
	s.run++
	s.killCause = nil
	s.guard.Unlock()
	s.limits = capi.Limits(l)
}

// Kill ends a run at its next safe point, within a millisecond in most code. The script cannot
// catch it. The cause becomes part of the error: context.DeadlineExceeded gives CodeTimeout. Any
// goroutine may call it at any time; a run that is over is left alone.
func (s *State) Kill(run Run, cause error) {
	s.guard.Lock()
	defer s.guard.Unlock()
	if s.closed || uint64(run) != s.run || run == 0 {
		return
	}
	if s.killCause == nil {
		s.killCause = cause
	}
	s.vm.Kill(uint64(run), capi.KillUser)
}

// BreakOff asks the running script to stop at its next safe point with StatusSliced, where it can.
// Any goroutine may call it.
func (s *State) BreakOff() {
	s.guard.Lock()
	defer s.guard.Unlock()
	if !s.closed {
		s.vm.Attend(capi.AttendSlice)
	}
}

// Charge counts n bytes of Go memory against MemoryLimit, and says whether there is room. Any
// goroutine may call it.
func (s *State) Charge(n int64) bool {
	s.guard.Lock()
	defer s.guard.Unlock()
	return !s.closed && n >= 0 && s.vm.Charge(n)
}

// Uncharge takes back what Charge counted. Any goroutine may call it.
func (s *State) Uncharge(n int64) {
	s.guard.Lock()
	defer s.guard.Unlock()
	if !s.closed && n > 0 {
		s.vm.Uncharge(n)
	}
}

// Stats are counts of the current run.
type Stats struct {
	MemoryUsed, MemoryPeak, MemoryLimit uint64 // bytes
	HostCalls, Output                   uint64 // calls; bytes printed
	ImageBytes                          uint64 // 0 without an image
	Refs                                uint64 // live references held by Go
	Checks                              uint64 // calls of assert: see CompileOptions.CountChecks
}

// Stats reads the counters.
func (s *State) Stats() (Stats, error) {
	if err := s.acquire(); err != nil {
		return Stats{}, err
	}
	defer s.done()
	return Stats(s.vm.Stats()), nil
}

// Save keeps the State as it is now, for Reset. It replaces an earlier image. References made so
// far stay valid after every Reset.
func (s *State) Save() error {
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.done()
	if r := s.vm.Save(); r.Status != capi.OK {
		return s.failure(r)
	}
	s.saved = true
	s.funcs.save(s.vm)
	return nil
}

// Reset brings back what Save kept, as if nothing had run since, but for random numbers and
// addresses as scripts see them. It works after a kill and after memory ran out. References made
// since Save become invalid. Without an earlier Save it is an error, and after a kill it is too late
// for one: call Save once, when the State is set up and nothing has run.
func (s *State) Reset() error {
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.done()
	if !s.saved {
		return errUnsaved
	}
	if r := s.vm.Reset(); r.Status != capi.OK {
		return s.failure(r)
	}
	s.begun = false
	s.afterReset()
	return nil
}

func (s *State) afterReset() {
	s.ended = nil
	s.funcs.reset()
}

// Caller gives the chunk and line of the script code that called the host function that runs now.
func (s *State) Caller() (chunk string, line int, err error) {
	if err := s.acquire(); err != nil {
		return "", 0, err
	}
	defer s.done()
	d := decoder{state: s, data: s.vm.Caller().Data}
	v, err := d.value(0)
	if err != nil {
		return "", 0, err
	}
	n, err := d.value(0)
	if err != nil {
		return "", 0, err
	}
	at, _ := n.(float64)
	chunk, _ = v.(string)
	return chunk, int(at), nil
}

// Observe starts to watch for effects that an image must not keep; Impure says whether there were
// any: randomness, clocks, addresses, host calls. Nothing is collected in between.
func (s *State) Observe() error {
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.done()
	s.vm.Observe()
	return nil
}

// Impure ends what Observe began.
func (s *State) Impure() (bool, error) {
	if err := s.acquire(); err != nil {
		return true, err
	}
	defer s.done()
	return s.vm.Impure(), nil
}

// Collect runs a full garbage collection, and then Sweep.
func (s *State) Collect() error {
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.done()
	s.vm.Collect()
	s.funcs.sweep(s.vm)
	return nil
}

// Sweep calls Func.Gone of the functions that Luau has collected. It costs nothing where no Func has one.
func (s *State) Sweep() error {
	if s.funcs.watched == 0 {
		return nil
	}
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.done()
	s.funcs.sweep(s.vm)
	return nil
}

// handler takes calls from C. It knows its State only while that is in use.
type handler struct {
	state  *State
	output func([]byte)
}

func (h *handler) HostCall(c capi.Call) { h.state.hostCall(c) }

// Output must not panic: there are C frames below it. A panic of the program's function ends the run.
func (h *handler) Output(text []byte) {
	if h.output == nil {
		return
	}
	s := h.state
	returned := false
	defer func() {
		if returned {
			return
		}
		if p := recover(); p != nil {
			s.Kill(Run(s.run), panicError("output", p))
			return
		}
		s.abandoned = true
	}()
	h.output(text)
	returned = true
}
