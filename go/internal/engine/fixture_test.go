package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/jsonmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/logmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen: far more than it takes.
const patience = 30 * time.Second

// probe is a host module of the tests: it spawns tasks, counts calls and fails in every way.
type probe struct {
	mu     sync.Mutex
	calls  map[string]int
	signal chan string // what scripts send with probe_signal
}

func newProbe() *probe { return &probe{calls: map[string]int{}, signal: make(chan string, 1024)} }

func (p *probe) Name() string { return "probe" }

func (p *probe) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &probeInstance{p, vm.(*engine.VM)}, nil
}

func (p *probe) count(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[name]++
}

func (p *probe) counted(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[name]
}

type probeInstance struct {
	*probe
	vm *engine.VM
}

func (i *probeInstance) Exports() map[string]any { return nil }
func (i *probeInstance) EndRun()                 { i.count("end") }

func (i *probeInstance) Native() map[string]any {
	functions := map[string]func(*luau.Call) error{
		"probe_spawn": i.spawn, "probe_count": i.counting, "probe_panic": i.panicking, "probe_signal": i.signalling,
		"probe_echo": i.echo, "probe_number": i.number, "probe_call": i.calling, "probe_exit": i.exiting, "probe_wait": i.waiting,
	}
	native := map[string]any{}
	for name, do := range functions {
		native[name] = luau.Func{Name: name, Do: do, MayWait: name == "probe_exit" || name == "probe_wait"}
	}
	return native
}

func (i *probeInstance) spawn(c *luau.Call) error {
	f, err := c.Function(0)
	if err != nil {
		return err
	}
	i.vm.Background(f)
	return nil
}

func (i *probeInstance) counting(c *luau.Call) error {
	name := "count"
	if c.Len() > 0 && c.Type(0) == "string" {
		name, _ = c.Text(0)
	}
	i.count(name)
	return c.ReturnNumber(1)
}

func (i *probeInstance) panicking(c *luau.Call) error {
	kind, err := c.Text(0)
	if err != nil {
		return err
	}
	switch kind {
	case "error":
		panic(errors.New("a Go error"))
	case "string":
		panic("a Go string")
	case "int":
		panic(42)
	case "nil":
		panic(nil) //nolint:govet // the case to test
	}
	var none []int
	return c.ReturnNumber(float64(none[len(kind)]))
}

func (i *probeInstance) signalling(c *luau.Call) error {
	text, err := c.Text(0)
	if err == nil {
		i.signal <- text
	}
	return err
}

func (i *probeInstance) echo(c *luau.Call) error {
	v, err := c.Value(0)
	if err != nil {
		return err
	}
	return c.Return(v)
}

func (i *probeInstance) number(c *luau.Call) error {
	n, err := c.Number(0)
	if err != nil {
		return err
	}
	return c.ReturnNumber(n)
}

func (i *probeInstance) calling(c *luau.Call) error {
	f, err := c.Function(0)
	if err != nil {
		return err
	}
	out, err := f.Call(i.vm.Context())
	if err != nil {
		return err
	}
	return c.Return(out...)
}

func (i *probeInstance) exiting(c *luau.Call) error {
	return i.vm.Await(c, func(context.Context) ([]any, error) {
		runtime.Goexit()
		return nil, nil
	})
}

// waiting waits for the end of its context.
func (i *probeInstance) waiting(c *luau.Call) error {
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		<-ctx.Done()
		i.count("wait ended")
		return nil, ctx.Err()
	})
}

// world is a VM with what it printed, logged and reported.
type world struct {
	t      testing.TB
	probe  *probe
	config engine.Config
	vm     *engine.VM
	mu     sync.Mutex
	out    bytes.Buffer
	failed []error
}

type option func(*engine.Config)

func withMemory(bytes int64) option { return func(c *engine.Config) { c.MemoryLimit = bytes } }
func withModule(m hostmod.Module) option {
	return func(c *engine.Config) { c.Modules = append(c.Modules, m) }
}
func withResolver(r engine.Resolver) option { return func(c *engine.Config) { c.Resolver = r } }

func newWorld(t testing.TB, options ...option) *world {
	t.Helper()
	w := &world{t: t, probe: newProbe()}
	w.config = engine.Config{
		Modules:     []hostmod.Module{jsonmod.Module{}, logmod.Module{}, timemod.Module{}, w.probe},
		MemoryLimit: 64 << 20,
		Malloc:      onMalloc,
		Output:      w.write,
		TaskFailed:  w.taskFailed,
	}
	for _, o := range options {
		o(&w.config)
	}
	vm, err := engine.New(&w.config)
	require.NoError(t, err)
	w.vm = vm
	t.Cleanup(func() { require.NoError(t, vm.Close()) })
	return w
}

func (w *world) write(text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out.Write(text)
}

func (w *world) taskFailed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = append(w.failed, err)
}

// printed takes what was printed so far.
func (w *world) printed() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.out.String()
	w.out.Reset()
	return text
}

// run runs source within patience.
func (w *world) run(source string, args ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return w.vm.RunSource(ctx, "=t", source, engine.RunOptions{}, args...)
}

// prints runs source, which must end well, and gives what it printed.
func (w *world) prints(source string, args ...any) string {
	w.t.Helper()
	require.NoError(w.t, w.run(source, args...))
	return w.printed()
}

// results runs source and gives what it returned.
func (w *world) results(source string, args ...any) (out []any, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	code, err := luau.Compile("=t", source, luau.CompileOptions{})
	require.NoError(w.t, err)
	fn, err := w.vm.State().Load(code, "=t", luau.LoadOptions{})
	require.NoError(w.t, err)
	err = w.vm.Run(ctx, fn, engine.RunOptions{}, func(v luau.Values) (err error) {
		out, err = v.All()
		return err
	}, args...)
	return out, err
}

// deadline runs source with a time limit and says how long after it the run ended.
func (w *world) deadline(limit time.Duration, source string) (late time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	end, _ := ctx.Deadline()
	err = w.vm.RunSource(ctx, "=t", source, engine.RunOptions{})
	return time.Since(end), err
}

// cancelled runs source, cancels it once it signals "ready" (and after the pause), and says how
// long after the cancellation the run ended.
func (w *world) cancelled(source string, pause time.Duration) (late time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var at time.Time
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-w.probe.signal:
			time.Sleep(pause) // into the call that follows the signal
		case <-ctx.Done():
		}
		at = time.Now()
		cancel()
	}()
	err = w.vm.RunSource(ctx, "=t", source, engine.RunOptions{})
	end := time.Now()
	cancel()
	<-done
	return end.Sub(at), err
}

// tree writes files and gives their folder.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// runFile runs dir/main.luau with its modules.
func runFile(t testing.TB, dir string, options ...option) (*world, error) {
	t.Helper()
	main := filepath.Join(dir, "main.luau")
	resolver, err := module.New(module.Options{Script: main})
	require.NoError(t, err)
	w := newWorld(t, append(options, withResolver(resolver))...)
	source, err := module.ReadScript(main)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return w, w.vm.RunSource(ctx, source.Chunk, string(source.Code), engine.RunOptions{})
}

func requireCode(t testing.TB, code luau.Code, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, luau.CodeOf(err), fmt.Sprintf("%v", err))
}
