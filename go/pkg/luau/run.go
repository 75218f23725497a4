package luau

import (
	"context"
	"strings"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// encoder gives one that writes into the State's scratch buffer, which is taken meanwhile: a value's
// own methods may call the State again. The State must be acquired.
func (s *State) encoder() encoder {
	e := encoder{state: s, buf: s.scratch[:0]}
	s.scratch = nil
	return e
}

// reuse gives an encoder's buffer back.
func (s *State) reuse(buf []byte) {
	if cap(buf) <= 1<<20 {
		s.scratch = buf
	}
}

func (s *State) one(v any) ([]byte, error) {
	e := encoder{state: s}
	err := e.value(v)
	if err != nil {
		e.dropFuncs()
	}
	return e.buf, err
}

// SetGlobal sets a global of the scripts; see the package's comment for what becomes what. Code that
// is loaded already sees the new value, unless it was loaded with OwnGlobals.
func (s *State) SetGlobal(name string, v any) error {
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.done()
	flat, err := s.one(v)
	if err != nil {
		return at(name, err)
	}
	if r := s.vm.SetGlobal(name, flat); r.Status != capi.OK {
		return s.failure(r)
	}
	return nil
}

// Global reads a global, converted as [Values.All] does.
func (s *State) Global(name string) (any, error) {
	if err := s.acquire(); err != nil {
		return nil, err
	}
	defer s.done()
	return s.first(s.vm.GetGlobal(name))
}

func (s *State) first(r capi.Result) (any, error) {
	if r.Status != capi.OK {
		return nil, s.failure(r)
	}
	d := decoder{state: s, data: r.Data}
	return d.value(0)
}

// LoadOptions change how code is loaded. The zero value is the default.
type LoadOptions struct {
	// Native makes native code of all of it; else only of what is marked --!native or @native.
	Native bool
	// OwnGlobals gives the code a table of its own for globals, which reads through to the
	// State's.
	OwnGlobals bool
	// LateGlobals is for code that is loaded before a global that it names gets another value, such as a
	// library that is replaced: it looks at globals when it runs. Otherwise it may keep what it found when it
	// was loaded, which is faster. It holds for all code with the same globals.
	LateGlobals bool
}

// Load makes a function of bytecode. The chunk name appears in errors: "@" and a path, or "=" and any
// text; a name without either is such a text.
func (s *State) Load(code *Bytecode, chunk string, o LoadOptions) (*Function, error) {
	if err := s.acquire(); err != nil {
		return nil, err
	}
	defer s.done()
	if code == nil {
		return nil, fail(CodeInvalid, "a nil Bytecode")
	}
	flags := uint32(0)
	if o.Native {
		flags |= capi.LoadNative
	}
	if o.OwnGlobals {
		flags |= capi.LoadOwnGlobals
	}
	if o.LateGlobals {
		flags |= capi.LoadLateGlobals
	}
	r := s.vm.Load(code.code, markedChunk(chunk), flags)
	if r.Status != capi.OK {
		return nil, s.failure(r)
	}
	return s.wrap(capi.RefFunction, r.Thread).(*Function), nil
}

// markedChunk is a chunk's name with the mark that Luau wants: without one it takes it for the source.
func markedChunk(name string) string {
	if strings.HasPrefix(name, "@") || strings.HasPrefix(name, "=") {
		return name
	}
	return "=" + name
}

// callScope is a call under a context.
type callScope struct {
	state *State
	outer context.Context
	stop  func() bool
}

// enter prepares a call under ctx, and begins a run where none is under way.
func (s *State) enter(ctx context.Context) (callScope, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return callScope{}, StoppedBy(context.Cause(ctx))
	}
	if s.depth == 0 && !s.begun {
		s.begin(s.options.Limits)
	}
	scope := callScope{state: s, outer: s.ctx}
	s.ctx = ctx
	if ctx.Done() != nil {
		run := Run(s.run)
		scope.stop = context.AfterFunc(ctx, func() { s.Kill(run, context.Cause(ctx)) })
	}
	return scope, nil
}

func (c callScope) leave() {
	if c.stop != nil {
		c.stop()
	}
	s := c.state
	s.ctx = c.outer
	if s.depth == 0 && !s.begun {
		s.endedRun = 0 // the run is over: what comes next is no part of its end
	}
}

// Call calls the function and waits for it. Host functions that wait do so in place. When ctx
// ends, so does the whole run, also when a host function made the call, and the State takes no more
// calls until Reset, which needs an earlier Save: a killed VM may be in the middle of anything. The
// results are as [Values.All] has them; CallInto fills variables of the program's own types.
func (f *Function) Call(ctx context.Context, args ...any) ([]any, error) {
	var out []any
	err := f.call(ctx, args, func(v Values) (err error) {
		out, err = v.All()
		return err
	})
	return out, err
}

// CallKeep is Call with tables among the results as *[Table], so that they stay the same tables.
func (f *Function) CallKeep(ctx context.Context, args ...any) ([]any, error) {
	if f == nil || f.state == nil {
		return nil, fail(CodeInvalid, "a nil function")
	}
	s := f.state
	if err := s.acquire(); err != nil {
		return nil, err
	}
	scope, err := s.enter(ctx)
	s.done()
	if err != nil {
		return nil, err
	}
	defer scope.leave()
	id, out := s.Start(f, StartOptions{KeepTables: true, InPlace: true}, args...)
	if out.Err != nil {
		return nil, out.Err
	}
	if out.Status != StatusDone {
		s.Drop(id)
		return nil, fail(CodeRuntime, "coroutine.yield where nothing can resume it")
	}
	return out.Values.All()
}

// CallInto is Call with the results scanned as [Values.Scan] does.
func (f *Function) CallInto(ctx context.Context, into []any, args ...any) error {
	return f.call(ctx, args, func(v Values) error { return v.Scan(into...) })
}

func (f *Function) call(ctx context.Context, args []any, use func(Values) error) error {
	if f == nil || f.state == nil {
		return fail(CodeInvalid, "a nil function")
	}
	s := f.state
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.done()
	if err := f.check(s); err != nil {
		return err
	}
	e := s.encoder()
	if err := e.values(args); err != nil {
		return err
	}
	scope, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer scope.leave()
	r := s.vm.CallFunction(f.ref, e.buf, uint32(len(args)))
	s.reuse(e.buf)
	if r.Status != capi.OK {
		return s.failure(r)
	}
	return use(s.valuesOf(r))
}

// SetPath sets a field of nested tables under a global: path[0] is the global. Raw: no metamethod
// runs.
func (s *State) SetPath(path []string, v any) error {
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.done()
	if len(path) == 0 {
		return fail(CodeInvalid, "an empty path")
	}
	table := uint64(0)
	for _, name := range path[:len(path)-1] {
		key, err := s.one(name)
		if err != nil {
			return err
		}
		r := s.vm.GetTable(table, key)
		if table != 0 {
			s.vm.Release(table)
		}
		if r.Status != capi.OK {
			return s.failure(r)
		}
		table = r.Thread
	}
	if table != 0 {
		defer s.vm.Release(table)
	}
	e := encoder{state: s}
	if err := e.values([]any{path[len(path)-1], v}); err != nil {
		e.dropFuncs()
		return err
	}
	if r := s.vm.SetField(table, e.buf); r.Status != capi.OK {
		return s.failure(r)
	}
	return nil
}

// Do compiles source, loads it and calls it: the short way for small things. Results and errors are
// those of [Function.Call].
func (s *State) Do(ctx context.Context, chunk, source string, args ...any) ([]any, error) {
	code, err := Compile(chunk, source, CompileOptions{})
	if err != nil {
		return nil, err
	}
	f, err := s.Load(code, chunk, LoadOptions{})
	if err != nil {
		return nil, err
	}
	defer f.Release()
	return f.Call(ctx, args...)
}
