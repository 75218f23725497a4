package engine

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Isolation says what invocations of one program share.
type Isolation int

const (
	// Pristine gives each invocation a VM that no script can tell from a new one.
	Pristine Isolation = iota
	// Shared runs invocations one after the other in a warm VM, each with globals of its own. What
	// they require is shared.
	Shared
)

// Program is a script that defines a function to be invoked again and again. It is immutable.
type Program struct {
	Chunk  string // name of the source, as "@weather.luau"
	Source string
	Entry  string // name of the global function
	// Around is the source of a chunk that runs before the script, in the same globals, with AroundArgs.
	// The function that it returns is invoked in place of Entry, with the script's globals before the
	// other arguments.
	Around     string
	AroundArgs []any
	// Before is the source of a chunk that runs before the script in each invocation, and so does the script's top
	// level then. A pool of shared VMs has none.
	Before string
}

// AroundChunk names Around in errors and their frames.
const AroundChunk = "=hukilau"

// PoolOptions describe a Pool. The zero value means pristine VMs without limits.
type PoolOptions struct {
	Isolation Isolation
	Limits    Limits
}

// Pool keeps VMs for one program. It may be used by many goroutines.
type Pool struct {
	config  *Config
	program Program
	options PoolOptions
	code    *luau.Bytecode
	around  *luau.Bytecode // nil without one
	before  *luau.Bytecode // likewise

	mu     sync.Mutex
	idle   []*resident
	top    topLevel
	closed bool
	// long says that the last invocation used up a slice. The next one then waits for its slot among those
	// that did: hundreds of a program that burns its time are not each taken for a short run.
	long atomic.Bool
}

// topLevel says whether what the top level of a program leaves behind may be kept in an image.
type topLevel uint8

const (
	topUnknown topLevel = iota
	topPure
	topImpure // it runs in every invocation
)

// resident is a VM that stays for later invocations.
type resident struct {
	pool *Pool
	vm   *VM
	fn   *luau.Function // what an invocation starts: the entry, or what runs the chunk and then it
	// around is called by each invocation of a shared VM after fn, the chunk; nil: it calls the entry.
	around *luau.Function
	bytes  int64  // about what it holds while idle
	place  *place // in the list of idle VMs of the process
}

// NewPool compiles the program. VMs are made when they are needed.
func NewPool(config *Config, program Program, o PoolOptions) (*Pool, error) {
	if program.Entry == "" {
		program.Entry = "invoke"
	}
	p := &Pool{config: config, program: program, options: o}
	code, err := compileCached(program.Chunk, program.Source, config.compileOptions())
	if err != nil {
		return nil, err
	}
	p.code = code
	if program.Around != "" {
		if p.around, err = compileCached(AroundChunk, program.Around, config.compileOptions()); err != nil {
			return nil, err
		}
	}
	if program.Before != "" {
		p.top = topImpure
		p.before, err = compileCached(AroundChunk, program.Before, config.compileOptions())
	}
	return p, err
}

// Close frees the idle VMs. Invocations that run finish, and their VMs are freed then.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, r := range idle {
		idleVMs.remove(r)
		r.close()
	}
}

// Invoke calls the program's function. use converts the results before the VM is used again; it
// may be nil. Everything that the invocation started ends with it.
func (p *Pool) Invoke(ctx context.Context, use func(luau.Values) error, args ...any) error {
	r := p.take()
	if r != nil {
		err := r.vm.Run(ctx, r.fn, p.runOptions(r, true), use, args...)
		p.learn(r.vm, err)
		p.put(r, err)
		return err
	}
	return p.first(ctx, use, args)
}

func (p *Pool) runOptions(r *resident, reset bool) RunOptions {
	o := p.topOptions()
	o.Reset = reset
	if p.options.Isolation == Shared {
		o.Reset, o.Entry, o.Around = false, p.program.Entry, r.around
	}
	return o
}

func (p *Pool) topOptions() RunOptions {
	return RunOptions{Mode: EndWithMain, Limits: p.options.Limits, long: &p.long}
}

// learn remembers an invocation that was a short one. One that was ended, or never had a slot, says nothing.
func (p *Pool) learn(vm *VM, err error) {
	if vm.ran && !vm.wasLong && p.long.Load() && !vm.cut && !luau.IsKilled(err) {
		p.long.Store(false)
	}
}

func (p *Pool) take() *resident {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	r := p.idle[n-1]
	p.idle[n-1] = nil
	p.idle = p.idle[:n-1]
	idleVMs.remove(r)
	return r
}

// put keeps the VM for later, or closes it.
func (p *Pool) put(r *resident, err error) {
	if !r.rest(p.options.Isolation, err) {
		r.close()
		return
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		r.close()
		return
	}
	p.idle = append(p.idle, r)
	surplus := idleVMs.add(r)
	p.mu.Unlock()
	for _, old := range surplus {
		if old.pool.evict(old) {
			old.close()
		}
	}
}

// evict takes r out of the idle ones; false when it is in use again.
func (p *Pool) evict(r *resident) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.idle {
		if other == r {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return true
		}
	}
	return false
}

// keepGrowth is how much memory a run may leave to the idle VM, for the next run to find in place.
const keepGrowth = 1 << 20

// rest makes the VM ready to wait; false when it cannot be used again.
func (r *resident) rest(isolation Isolation, err error) bool {
	if isolation == Shared {
		return !luau.IsKilled(err) && luau.CodeOf(err) != luau.CodeMemory
	}
	stats, statsErr := r.vm.state.Stats()
	if statsErr != nil {
		return false
	}
	if int64(stats.MemoryPeak) > r.bytes+keepGrowth {
		return r.vm.state.Reset() == nil
	}
	return true
}

func (r *resident) close() {
	// The only error is that the VM is in use, and it is not.
	_ = r.vm.Close()
}

// first makes a VM for an invocation and invokes in it.
func (p *Pool) first(ctx context.Context, use func(luau.Values) error, args []any) error {
	vm, err := New(p.config)
	if err != nil {
		return err
	}
	r := &resident{pool: p, vm: vm}
	top := p.topLevel()
	switch {
	case p.options.Isolation == Shared:
		err = p.firstShared(ctx, r, use, args)
	case top == topUnknown:
		err = p.survey(ctx, r, use, args)
	case top == topPure:
		err = p.firstPure(ctx, r, use, args)
	default:
		err = p.firstImpure(ctx, r, use, args)
	}
	if r.fn == nil {
		r.close()
		return err
	}
	p.learn(vm, err)
	p.put(r, err)
	return err
}

func (p *Pool) topLevel() topLevel {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.top
}

func (p *Pool) firstShared(ctx context.Context, r *resident, use func(luau.Values) error, args []any) error {
	around, err := p.runAround(ctx, r.vm)
	if err != nil {
		return err
	}
	fn, err := p.load(r.vm)
	if err != nil {
		return err
	}
	r.fn, r.around = fn, around
	return r.vm.Run(ctx, fn, p.runOptions(r, false), use, args...)
}

// runAround gives the function that Around returns; nil without one.
func (p *Pool) runAround(ctx context.Context, vm *VM) (around *luau.Function, err error) {
	if p.around == nil {
		return nil, nil
	}
	chunk, err := vm.state.Load(p.around, AroundChunk, luau.LoadOptions{})
	if err != nil {
		return nil, err
	}
	err = vm.Run(ctx, chunk, p.topOptions(), func(values luau.Values) error { return values.Scan(&around) }, p.program.AroundArgs...)
	return around, err
}

func (p *Pool) load(vm *VM) (*luau.Function, error) {
	return vm.state.Load(p.code, p.program.Chunk, luau.LoadOptions{Native: p.config.Native, LateGlobals: p.before != nil})
}

// survey is the first invocation of all. It takes no image, which costs more than a run: many programs
// are invoked once. The next one will know from it what to keep. Top level and function are one run, as what
// the host made for the one belongs to the other.
func (p *Pool) survey(ctx context.Context, r *resident, use func(luau.Values) error, args []any) error {
	vm := r.vm
	around, err := p.runAround(ctx, vm)
	if err != nil {
		return err
	}
	chunk, err := p.load(vm)
	if err != nil {
		return err
	}
	// The arguments are not there before the top level has run: their texts would be taken for its own.
	between := luau.Func{Name: "arguments", Pure: true, Do: func(c *luau.Call) error {
		impure, err := c.State().Impure()
		if err != nil {
			return err
		}
		p.noteTop(impure)
		return c.Return(args...)
	}}
	both, err := vm.bound(surveySource, chunk, orNil(around), p.program.Entry, p.missing(), between)
	if err != nil {
		return err
	}
	if err := vm.state.Observe(); err != nil {
		return err
	}
	o := p.runOptions(r, false)
	if o.Limits.HostCalls > 0 {
		o.Limits.HostCalls++ // between is one
	}
	return vm.Run(ctx, both, o, use)
}

func (p *Pool) noteTop(impure bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.top = topPure
	if impure {
		p.top = topImpure
	}
}

// surveySource is bothSource, with a function that gives the arguments.
const surveySource = `local chunk, around, name, missing, arguments = ...
return function()
	chunk()
	if around then
		return around(_G, arguments())
	end
	local entry = _G[name]
	if type(entry) ~= "function" then
		error(missing, 0)
	end
	return entry(arguments())
end`

// missing is what is raised where a program has no function to invoke.
func (p *Pool) missing() map[string]any {
	err := noEntry(p.program.Chunk, p.program.Entry)
	return map[string]any{"code": string(err.Code), "message": err.Message}
}

// firstPure keeps the state after the top level: an invocation is the function alone.
func (p *Pool) firstPure(ctx context.Context, r *resident, use func(luau.Values) error, args []any) error {
	around, err := p.runAround(ctx, r.vm)
	if err != nil {
		return err
	}
	chunk, err := p.load(r.vm)
	if err != nil {
		return err
	}
	entry, err := p.runTop(ctx, r.vm, chunk, around)
	if err != nil {
		return err
	}
	if err := r.save(); err != nil {
		return err
	}
	r.fn = entry
	return r.vm.Run(ctx, entry, p.runOptions(r, true), use, args...)
}

// firstImpure keeps the state before the top level, which runs in each invocation.
func (p *Pool) firstImpure(ctx context.Context, r *resident, use func(luau.Values) error, args []any) error {
	around, err := p.runAround(ctx, r.vm)
	if err != nil {
		return err
	}
	chunk, err := p.load(r.vm)
	if err != nil {
		return err
	}
	var before *luau.Function
	if p.before != nil {
		if before, err = r.vm.state.Load(p.before, AroundChunk, luau.LoadOptions{}); err != nil {
			return err
		}
	}
	both, err := r.vm.bound(bothSource, orNil(before), chunk, orNil(around), p.program.Entry, p.missing())
	if err != nil {
		return err
	}
	if err := r.save(); err != nil {
		return err
	}
	r.fn = both
	return r.vm.Run(ctx, both, p.runOptions(r, true), use, args...)
}

// runTop runs the top level and finds the function.
func (p *Pool) runTop(ctx context.Context, vm *VM, chunk, around *luau.Function) (*luau.Function, error) {
	if err := vm.Run(ctx, chunk, p.topOptions(), nil); err != nil {
		return nil, err
	}
	if around != nil {
		return vm.bound(boundSource, around)
	}
	v, err := vm.state.Global(p.program.Entry)
	if err != nil {
		return nil, err
	}
	entry, ok := v.(*luau.Function)
	if !ok {
		return nil, noEntry(p.program.Chunk, p.program.Entry)
	}
	return entry, nil
}

// boundSource gives a function its globals.
const boundSource = `local around = ...
return function(...)
	return around(_G, ...)
end`

func noEntry(chunk, name string) *luau.Error {
	return &luau.Error{Code: "not_found", Message: fmt.Sprintf(
		"%s defines no global function %s", luau.ChunkName(chunk), name)}
}

// save takes the image, modules included.
func (r *resident) save() error {
	if err := r.vm.state.Save(); err != nil {
		return err
	}
	r.vm.saved = maps.Clone(r.vm.modules)
	stats, err := r.vm.state.Stats()
	r.bytes = int64(stats.ImageBytes + stats.MemoryUsed)
	return err
}

// bothSource runs a chunk and then the function that it defined, or the one around it.
const bothSource = `local before, chunk, around, name, missing = ...
return function(...)
	if before then
		before()
	end
	chunk()
	if around then
		return around(_G, ...)
	end
	local entry = _G[name]
	if type(entry) ~= "function" then
		error(missing, 0)
	end
	return entry(...)
end`

// orNil is nil without a function: a nil *luau.Function would be an error.
func orNil(fn *luau.Function) any {
	if fn == nil {
		return nil
	}
	return fn
}

// bound makes a function of our own that holds on to args.
func (v *VM) bound(source string, args ...any) (*luau.Function, error) {
	out, err := v.state.Do(context.Background(), AroundChunk, source, args...)
	if err != nil {
		return nil, err
	}
	return out[0].(*luau.Function), nil
}
