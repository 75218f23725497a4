package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Config describes VMs. It is read, never changed, and may be shared.
type Config struct {
	Modules     []hostmod.Module
	Grants      *hostmod.Grants   // nil: nothing is granted
	Resolver    Resolver          // nil: require finds nothing
	MemoryLimit int64             // bytes; 0: the default of package luau
	Native      bool              // native code for everything, not only what is marked
	Optimize    luau.Optimization // zero: what suits Native
	Malloc      bool              // memory from malloc: for sanitizers
	Coverage    bool              // count what runs: see VM.Coverage
	CountChecks bool              // count calls of assert, for luau.Stats
	Output      func(text []byte) // what scripts print; nil drops it
	OutputLines bool              // Output is called after each print
	// Print is Output with the context of the run that printed, in place of it. The context is as given to
	// Run; between runs it is the background's.
	Print func(ctx context.Context, text []byte)
	Log   func(Record) // nil drops it
	// Waited is told of each host call that waited, when its outcome is there. May be nil.
	Waited func(ctx context.Context, w Wait)
	// TaskFailed is told of each background task that ends with an error while the run goes on.
	TaskFailed func(err error)
}

// Record is one log record of a script.
type Record struct {
	Level   hostmod.Level
	Message string
	Fields  map[string]any
	Time    time.Time
	Context context.Context // of the run, as given to Run
}

// Wait is a host call that waited.
type Wait struct {
	Function string // as errors call it: "http.request"
	Began    time.Time
	Took     time.Duration
	Err      error
}

// Limits are of one run. Zero means no limit.
type Limits struct {
	HostCalls uint64
	Output    uint64 // bytes printed
	Log       uint64 // bytes logged
	Memory    uint64 // bytes, at most Config.MemoryLimit
}

// VM is one Luau VM with its host modules and its scheduler. It belongs to one goroutine at a time.
type VM struct {
	config    *Config
	state     *luau.State
	instances []hostmod.Instance // of config.Modules, in their order
	modules   map[string]*loaded
	saved     map[string]*loaded // modules of the image

	// The run.
	ctx      context.Context // as given to Run
	context  runContext
	run      luau.Run
	mode     Mode
	limits   Limits
	logged   uint64
	grace    grace
	slot     int  // of slots, or -1
	spent    bool // the last stretch used up a slice
	ran      bool // a script did in this run
	wasLong  bool // a stretch of this run used up a slice
	cut      bool // the last run's context had ended when it did
	long     *atomic.Bool
	current  *task
	ready    []work
	waiting  map[uint64]*task
	sleeping sleepers
	tasks    int // that have not ended, without the main one
	outside  int // host calls whose outcome other goroutines will send
	last     uint64
	failed   []failure // of tasks, in order

	firstToken uint64 // tokens of this run are above it
	main       *task
	mainEnded  bool
	afterMain  []uint64         // tokens of those that wait for that
	tasksByID  map[uint64]*task // those that somebody asked for
	lastTask   uint64
	origins    map[uint64]*origin // of errors, by the task that ended with it
	stale      int                // sleepers that nobody waits for any more
	deadlocks  int
	clock      clock
	covered    []coveredChunk

	inbox struct {
		sync.Mutex
		list []completion
		some atomic.Bool // list is not empty
	}
	inboxRoom []completion // room for the lists, used again
	readyRoom []work
	wake      chan struct{}
	timer     *time.Timer
	slice     *time.Timer
	sliced    atomic.Bool // that timer is on
	busy      atomic.Bool // a script is on the processor: others that become ready want a slice
}

// New makes a VM with all modules in place.
func New(config *Config) (*VM, error) {
	v := &VM{
		config: config, slot: -1, modules: map[string]*loaded{}, waiting: map[uint64]*task{},
		wake: make(chan struct{}, 1), ctx: context.Background(), tasksByID: map[uint64]*task{}, origins: map[uint64]*origin{},
	}
	v.clock.vm = v
	output := config.Output
	if config.Print != nil {
		output = func(text []byte) { config.Print(v.ctx, text) }
	}
	state, err := luau.New(luau.Options{
		MemoryLimit: config.MemoryLimit, Malloc: config.Malloc, Output: output,
		OutputLines: config.OutputLines,
	})
	if err != nil {
		return nil, err
	}
	v.state = state
	if err := v.install(); err != nil {
		return nil, errors.Join(err, state.Close())
	}
	return v, nil
}

func (v *VM) install() error {
	for _, m := range v.config.Modules {
		instance, err := m.NewInstance(v)
		if err != nil {
			return err
		}
		v.instances = append(v.instances, instance)
	}
	find := luau.Func{Name: "__native", Pure: true, Do: v.findNative}
	if err := v.state.SetGlobal("__native", luau.Lazy{Find: find}); err != nil {
		return err
	}
	return v.installRequire()
}

// findNative gives a field of `__native`: the functions of a module, or one function. They are made
// when a script first asks: most scripts use few, and a VM has to be ready in microseconds.
func (v *VM) findNative(c *luau.Call) error {
	name, err := c.Text(0)
	if err != nil {
		return err
	}
	for i, m := range v.config.Modules {
		if m.Name() != name {
			continue
		}
		if exports := v.instances[i].Exports(); len(exports) > 0 {
			return c.Return(luau.ReadOnly(exports))
		}
	}
	for _, instance := range v.instances {
		if function, known := instance.Native()[name]; known {
			return c.Return(function)
		}
	}
	return nil
}

// Close frees the VM.
func (v *VM) Close() error {
	v.endRun()
	return v.state.Close()
}

// State is the VM's State, for the goroutine that owns the VM.
func (v *VM) State() *luau.State { return v.state }

// Context implements hostmod.VM.
func (v *VM) Context() context.Context { return v.context.get() }

// End implements hostmod.VM.
func (v *VM) End(cause error) { v.state.Kill(v.run, cause) }

// Charge implements hostmod.VM.
func (v *VM) Charge(n int64) bool { return v.state.Charge(n) }

// Uncharge implements hostmod.VM.
func (v *VM) Uncharge(n int64) { v.state.Uncharge(n) }

// Grants implements hostmod.VM.
func (v *VM) Grants() *hostmod.Grants {
	if v.config.Grants == nil {
		return &hostmod.Grants{}
	}
	return v.config.Grants
}

// Log implements hostmod.VM.
func (v *VM) Log(level hostmod.Level, message string, fields map[string]any) error {
	v.logged += uint64(len(message)) + 1
	if len(fields) > 0 && v.limits.Log > 0 {
		v.logged += uint64(len(luau.Format(fields)))
	}
	if v.limits.Log > 0 && v.logged > v.limits.Log {
		return &luau.Error{Code: luau.CodeLimit, Message: "the log limit of this run is reached"}
	}
	if v.config.Log != nil {
		v.config.Log(Record{Level: level, Message: message, Fields: fields, Time: time.Now(), Context: v.ctx})
	}
	return nil
}

func (v *VM) breakOff() { v.state.BreakOff() }

func (v *VM) watch() func() bool {
	ctx, run := v.ctx, v.run
	if ctx.Done() == nil {
		return nil
	}
	if v.grace.time > 0 {
		return context.AfterFunc(ctx, func() { v.grace.over(v.state, run, context.Cause(ctx)) })
	}
	return context.AfterFunc(ctx, func() { v.state.Kill(run, context.Cause(ctx)) })
}
