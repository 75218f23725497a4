// Package toolhost runs tools: the one pipeline that the command line, HTTP, MCP and agents use. A call is found,
// its arguments are validated and completed, permission, rate and approval are asked for, the script runs in a VM
// of its own under its limits, and the result is validated. The same input has the same answer on every face.
package toolhost

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/kvmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// Options are what a Host needs of its program. The zero value runs tools that reach nothing.
type Options struct {
	// Limits hold where a tool sets none of its own.
	Timeout   time.Duration // 0: 30 s
	Memory    int64         // bytes; 0: 64 MiB
	HostCalls uint64        // 0: 100,000
	Output    uint64        // bytes printed; 0: 1 MiB
	Log       uint64        // bytes logged; 0: 1 MiB
	MaxResult int           // bytes of a result; 0: 16 MiB
	Depth     int           // how deep tools may call tools; 0: 8
	Tokens    int64         // of models, for one call with all that it calls; 0: no limit

	MaxRuns int           // at once; 0: 64
	Queue   int           // calls that wait to run; 0: 256, negative: none
	Wait    time.Duration // how long one waits to run; 0: 30 s
	Values  int64         // bytes of memory for large arguments and results of all calls at once; 0: 256 MiB

	Environ  func() []string                       // variables that may be granted; nil: none
	Folder   string                                // the config's folder: paths in grants and scripts are seen from it
	Resolver func(t *tooldef.Tool) engine.Resolver // of what a tool requires; nil: nothing is found
	HTTP     func(t *tooldef.Tool) (*httpmod.Module, error)
	Modules  func(t *tooldef.Tool) []hostmod.Module // further modules, as music; nil: none
	Store    *store.Store                           // of state, the log and approvals; nil: there is none
	Redact   func(string) string                    // takes secrets out of what is shown; nil: nothing is secret
	Logger   *slog.Logger                           // nil: nothing is logged
	Models   func(name string) (Model, bool)        // by the name in the config; nil: there are none
	// Sources are the MCP servers and services that the tool of a call may use, by its permissions; nil: none.
	Sources func(Calling) sdkmod.Host
	Tracer  trace.Tracer     // of OpenTelemetry; nil: nothing is traced
	Now     func() time.Time // nil: time.Now
	// Outside is what one call sees of the world, by its tool and its arguments as JSON. All calls have VMs as new
	// then, whatever their isolation. nil: the real one.
	Outside func(ctx context.Context, tool string, args []byte) *hostmod.Outside
}

// Tools is the set of tools that a Host serves.
type Tools interface {
	Tools() []*tooldef.Tool // sorted by name
	Find(name string) (*tooldef.Tool, bool)
}

// Host runs the tools of a set. Any goroutine may use it.
type Host struct {
	options    Options
	current    atomic.Pointer[served]
	admitted   *admission
	rates      rates
	keys       *kvmod.Store // of scripts, apart for each tool; they outlive a reload
	unapproved unapproved
	underway   underway
	ending     atomic.Pointer[ending]
	held       atomic.Int64 // bytes of Options.Values

	mu      sync.Mutex // of what changes the set
	counted map[string]*counters
}

// served is a set of tools with their pools.
type served struct {
	tools   Tools
	runners map[string]*runner // by name
}

// New makes a Host without tools.
func New(o Options) *Host {
	setDefault(&o.Timeout, 30*time.Second)
	setDefault(&o.Memory, 64<<20)
	setDefault(&o.HostCalls, 100_000)
	setDefault(&o.Output, 1<<20)
	setDefault(&o.Log, 1<<20)
	setDefault(&o.MaxResult, 16<<20)
	setDefault(&o.Depth, 8)
	setDefault(&o.MaxRuns, 64)
	setDefault(&o.Queue, 256)
	setDefault(&o.Wait, 30*time.Second)
	setDefault(&o.Values, 256<<20)
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Host{options: o, keys: kvmod.NewStore(kvmod.Options{}), counted: map[string]*counters{}, admitted: newAdmission(o.MaxRuns, o.Queue, o.Wait)}
	h.rates.now = o.Now
	h.ending.Store(newEnding())
	h.current.Store(&served{tools: noTools{}, runners: map[string]*runner{}})
	return h
}

func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

type noTools struct{}

func (noTools) Tools() []*tooldef.Tool            { return nil }
func (noTools) Find(string) (*tooldef.Tool, bool) { return nil, false }

// Serve swaps the set of tools as a whole. Calls that run finish with what they began with; a tool that is the
// same as before keeps its VMs.
func (h *Host) Serve(tools Tools) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.current.Load()
	next := &served{tools: tools, runners: map[string]*runner{}}
	for _, t := range tools.Tools() {
		if r := old.runners[t.Name]; r != nil && r.tool.Hash == t.Hash {
			next.runners[t.Name] = r
			continue
		}
		next.runners[t.Name] = &runner{host: h, tool: t, counters: h.countersOf(t.Name)}
	}
	h.current.Store(next)
	for name, r := range old.runners {
		if next.runners[name] != r {
			r.close()
		}
	}
}

// Tools gives the tools that are served, sorted by name.
func (h *Host) Tools() []*tooldef.Tool { return h.current.Load().tools.Tools() }

// Find gives a tool by its name.
func (h *Host) Find(name string) (*tooldef.Tool, bool) { return h.current.Load().tools.Find(name) }

// Load says how many calls run and how many wait for a place.
func (h *Host) Load() (running, waiting int) { return h.admitted.load() }

// Drain refuses new calls and waits until those that run have ended, or ctx has.
func (h *Host) Drain(ctx context.Context) error {
	h.admitted.close()
	return h.underway.wait(ctx)
}

// Cancel ends the calls that run, and those that begin until Resume; who called hears that the server is shutting down.
// Whoever ends contexts instead cuts off the answers, too.
func (h *Host) Cancel() { h.ending.Load().cancel(ErrShutdown) }

// Resume takes calls again, after Drain and Cancel.
func (h *Host) Resume() {
	h.ending.Store(newEnding())
	h.admitted.open()
}

// Close frees all VMs. Calls that run finish.
func (h *Host) Close() {
	h.Serve(noTools{})
}
