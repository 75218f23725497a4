package engine

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Resolver finds modules.
type Resolver interface {
	Resolve(requirerChunk, name string) (module.Source, error)
}

// loaded is a module in a VM: its value, or the task that still runs it.
type loaded struct {
	id      string
	name    string // as it was first required
	value   any
	done    bool
	loader  *task // that runs it
	waiters []uint64
}

func (v *VM) installRequire() error {
	fn := luau.Func{Name: "require", MayWait: true, Pure: true, Do: v.require}
	if err := v.state.SetGlobal("require", fn); err != nil {
		return err
	}
	return v.state.SetGlobal("package", map[string]any{"loaded": map[string]any{}})
}

func (v *VM) restoreModules() {
	if len(v.modules) == 0 && len(v.saved) == 0 {
		return
	}
	v.modules = make(map[string]*loaded, len(v.saved))
	for id, m := range v.saved {
		v.modules[id] = m
	}
}

func (v *VM) require(c *luau.Call) error {
	name, err := c.Text(0)
	if err != nil {
		return err
	}
	if v.config.Resolver == nil {
		return &luau.Error{Code: "not_found", Message: "require: no modules are available here"}
	}
	chunk, _, err := v.state.Caller()
	if err != nil {
		return err
	}
	source, err := v.config.Resolver.Resolve(chunk, name)
	if err != nil {
		return err
	}
	m, known := v.modules[source.ID]
	switch {
	case known && m.done:
		return c.Return(m.value)
	case known:
		return v.joinLoad(c, m)
	}
	m = &loaded{id: source.ID, name: name}
	v.modules[source.ID] = m
	if err := v.load(c, m, source); err != nil || m.loader == nil {
		delete(v.modules, source.ID)
		return err
	}
	return nil
}

// joinLoad waits for a module that is being loaded, unless that in turn waits for the caller.
func (v *VM) joinLoad(c *luau.Call, m *loaded) error {
	if names := v.cycle(m); names != nil {
		return &luau.Error{Code: luau.CodeRuntime, Message: "require: a cycle of modules: " + strings.Join(names, " -> ")}
	}
	if !c.CanWait() {
		return &luau.Error{Code: luau.CodeRuntime, Message: fmt.Sprintf(
			"require: %s is still being loaded by another task, and nothing can wait for it inside a comparator, metamethod or callback", m.name)}
	}
	v.waitFor(c, m)
	return nil
}

// cycle follows who waits for whom from m on; nil when that does not lead to the current task.
func (v *VM) cycle(m *loaded) []string {
	var names []string
	for n := m; n != nil; n = n.loader.waitsFor {
		names = append(names, n.name)
		if n.loader == v.current {
			return append(names, m.name)
		}
	}
	return nil
}

func (v *VM) waitFor(c *luau.Call, m *loaded) {
	token := v.token()
	v.current.name, v.current.waitsFor = "require", m
	m.waiters = append(m.waiters, token)
	c.Wait(token)
}

func (v *VM) load(c *luau.Call, m *loaded, source module.Source) error {
	code, err := v.compile(v.ctx, source.Chunk, string(source.Code))
	if errors.Is(err, errGivenUp) {
		return v.giveUp(c)
	}
	if err != nil {
		return err
	}
	fn, err := v.loadChunk(code, source.Chunk, luau.LoadOptions{Native: v.config.Native, OwnGlobals: true})
	if err != nil {
		return err
	}
	t := &task{module: m, keep: true} // what a module returns keeps its identity
	m.loader = t
	if !c.CanWait() {
		return v.loadInPlace(c, t, fn)
	}
	t.then = func(out luau.Outcome) { v.loadedModule(m, out) }
	v.tasks++
	v.push(t, func() (luau.ThreadID, luau.Outcome) {
		return v.state.Start(fn, luau.StartOptions{KeepTables: true})
	})
	v.waitFor(c, m)
	return nil
}

// loadInPlace runs the module inside the call, where Luau cannot yield.
func (v *VM) loadInPlace(c *luau.Call, t *task, fn *luau.Function) error {
	outer := v.current
	if outer != nil {
		outer.waitsFor = t.module
	}
	v.current = t
	values, err := fn.CallKeep(v.ctx)
	v.current = outer
	if outer != nil {
		outer.waitsFor = nil
	}
	if err = t.withFrames(err); err != nil {
		outer.passOn(err)
		return err
	}
	value, err := moduleValue(t.module, values)
	if err != nil {
		return err
	}
	v.keepModule(t.module, value)
	return c.Return(value)
}

// loadedModule delivers a module that has run to all that wait for it.
func (v *VM) loadedModule(m *loaded, out luau.Outcome) {
	err := out.Err
	var value any
	if err == nil {
		var values []any
		if values, err = out.Values.All(); err == nil {
			value, err = moduleValue(m, values)
		}
	}
	if err != nil {
		delete(v.modules, m.id)
	} else {
		v.keepModule(m, value)
	}
	for _, token := range m.waiters {
		if err != nil {
			v.waiting[token].passOn(err)
			v.finish(completion{token: token, err: err})
		} else {
			v.finish(completion{token: token, values: []any{value}})
		}
	}
	m.waiters = nil
}

// passOn notes the error of a module that t required, on its way to the script.
func (t *task) passOn(err error) {
	var e *luau.Error
	if t != nil && errors.As(err, &e) {
		t.passed = e
	}
}

// withFrames gives an error that the task let through, as it came from a module, the frames it had
// there: a table that a script raised cannot carry them itself.
func (t *task) withFrames(err error) error {
	var e *luau.Error
	if t.passed == nil || !errors.As(err, &e) || e.Value == nil || !reflect.DeepEqual(e.Value, t.passed.Value) {
		return err
	}
	// A host's table does carry them.
	if n := len(t.passed.Frames); n <= len(e.Frames) && slices.Equal(e.Frames[:n], t.passed.Frames) {
		return err
	}
	return e.Behind(t.passed)
}

func (v *VM) keepModule(m *loaded, value any) {
	m.value, m.done = value, true
	// Best effort: a script that replaced `package` does without.
	_ = v.state.SetPath([]string{"package", "loaded", m.name}, value)
}

func moduleValue(m *loaded, values []any) (any, error) {
	if len(values) == 1 && values[0] != nil {
		return values[0], nil
	}
	what := fmt.Sprintf("%d values", len(values))
	if len(values) == 0 {
		what = "nothing"
	} else if len(values) == 1 {
		what = "nil"
	}
	return nil, &luau.Error{Code: luau.CodeRuntime, Message: fmt.Sprintf(
		"module %s returned %s: a module must return exactly one value that is not nil", m.name, what)}
}

func (c *Config) compileOptions() luau.CompileOptions {
	o := luau.CompileOptions{Coverage: c.Coverage, CountChecks: c.CountChecks}
	if c.Native {
		o.Optimization, o.Types = luau.OptimizeFull, true
	}
	if c.Optimize != luau.OptimizeDefault {
		o.Optimization = c.Optimize
	}
	return o
}

// compiled caches bytecode by content, in memory only: on disk it would be a way in.
var compiled = struct {
	sync.Mutex
	code map[codeKey]*luau.Bytecode
	size int
}{code: map[codeKey]*luau.Bytecode{}}

type codeKey struct {
	digest  [sha256.Size]byte
	options luau.CompileOptions
}

// maxCompiled is the size in bytes of cached bytecode above which entries are dropped.
const maxCompiled = 64 << 20

// Compile compiles a script for VMs without options of their own, or gives what was made of the same text before.
func Compile(chunk, source string) (*luau.Bytecode, error) {
	return compileCached(chunk, source, luau.CompileOptions{})
}

func compileCached(chunk, source string, o luau.CompileOptions) (*luau.Bytecode, error) {
	key := codeKey{sha256.Sum256([]byte(source)), o}
	compiled.Lock()
	code := compiled.code[key]
	compiled.Unlock()
	if code != nil {
		return code, nil
	}
	code, err := luau.Compile(chunk, source, o)
	if err != nil {
		return nil, err
	}
	compiled.Lock()
	defer compiled.Unlock()
	if other := compiled.code[key]; other != nil {
		return other, nil
	}
	for k, old := range compiled.code {
		if compiled.size+code.Size() <= maxCompiled {
			break
		}
		compiled.size -= old.Size()
		delete(compiled.code, k)
	}
	compiled.code[key] = code
	compiled.size += code.Size()
	return code, nil
}
