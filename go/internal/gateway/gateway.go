// Package gateway lets scripts call the functions of others: tools of MCP servers and operations of OpenAPI
// services. It has the catalogue of what there is, the tools by which a model looks into it and runs its scripts,
// and what stands around such a script: policy, limits, results that are kept, files of a session. How a source is
// reached is the work of packages upstream and openapi; how tools are called by clients that of package toolhost.
package gateway

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/finder"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Options are what a Gateway needs. The zero value calls nothing.
type Options struct {
	Face        config.Face   // "": the default one
	Check       config.Check  // "": config.CheckError
	MaxCalls    int           // of one script; 0: 1,000
	Concurrency int           // calls at once to one source; 0: 32
	Timeout     time.Duration // of one script; 0: 60 s
	Memory      int64         // bytes of one script; 0: the host's default
	MaxResult   int           // characters; more is kept and read in pages; 0: 50,000
	MaxBytes    int64         // that one script may get from sources; 0: 64 MiB
	MaxScript   int           // bytes of a script; 0: 256 KiB
	NoSamples   bool          // no tool is called to see what it gives
	Policy      []config.Rule

	Upstreams []Upstream
	Before    *catalog.Catalog                         // of the gateway that this one follows: names stay; nil: there was none
	Resolver  engine.Resolver                          // of what scripts require; nil: nothing is found
	Checker   Checker                                  // of types; nil: nothing is checked
	Files     func(session string) (Folder, error)     // where a session's files are; nil: there are none
	Save      func(context.Context, SavedScript) error // keeps a script as a tool; nil: none may be saved
	Limits    func(source string) (concurrency int)    // of one source; nil or 0: Concurrency
	Redact    func(string) string                      // takes secrets out of what is shown; nil: nothing is secret
	Logger    *slog.Logger                             // nil: nothing is logged
	Now       func() time.Time                         // nil: time.Now
	// StartTime is how long after the start calls wait for the sources that they are about; 0: 10 s.
	StartTime time.Duration
}

// Gateway is the functions of a set of upstreams. Any goroutine may use it.
type Gateway struct {
	options  Options
	sessions sessions
	slots    slots

	mu      sync.Mutex // of what makes a new view
	current atomic.Pointer[view]
	pools   pools
	faces   []*tooldef.Tool
	byName  map[string]*tooldef.Tool // of both faces
	samples samples
	started time.Time
}

// view is the catalogue with what is made of it.
type view struct {
	catalog   *catalog.Catalog
	sources   []*catalog.Source // that it was made of
	globals   map[string]string // as globalsOf gives them
	functions sync.Map          // *catalog.Callable to *function
	index     func() *finder.Index
}

// New makes a Gateway. Close it.
func New(o Options) (*Gateway, error) {
	o.setDefaults()
	g := &Gateway{options: o, started: time.Now()}
	g.sessions.init(&g.options)
	g.slots.init(&g.options)
	expected := make([]catalog.Expected, len(o.Upstreams))
	for i, u := range o.Upstreams {
		expected[i] = expectedOf(u)
	}
	// Names are decided before anything is known of the sources; the first view takes them over.
	g.current.Store(&view{catalog: catalog.Expecting(o.Before, expected, g.whyAbsent)})
	g.refresh()
	return g, g.newFaces()
}

func (o *Options) setDefaults() {
	setDefault(&o.Face, config.SDKFace)
	setDefault(&o.Check, config.CheckError)
	setDefault(&o.MaxCalls, config.DefaultMaxCalls)
	setDefault(&o.Concurrency, config.DefaultConcurrency)
	setDefault(&o.Timeout, time.Minute)
	setDefault(&o.MaxResult, config.DefaultMaxResult)
	setDefault(&o.MaxBytes, config.DefaultMaxBytes)
	setDefault(&o.MaxScript, 256<<10)
	setDefault(&o.StartTime, 10*time.Second)
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// Catalog is what there is now.
func (g *Gateway) Catalog() *catalog.Catalog { return g.view().catalog }

// view is the one of the sources as they are now.
func (g *Gateway) view() *view {
	v := g.current.Load()
	if slices.Equal(v.sources, g.sources()) {
		return v
	}
	return g.refresh()
}

// sources are those that are known, in the order of the configuration.
func (g *Gateway) sources() []*catalog.Source {
	list := make([]*catalog.Source, 0, len(g.options.Upstreams))
	for _, u := range g.options.Upstreams {
		if s := u.Source(); s != nil {
			list = append(list, s)
		}
	}
	return list
}

func (g *Gateway) refresh() *view {
	g.mu.Lock()
	defer g.mu.Unlock()
	sources := g.sources()
	old := g.current.Load()
	if old.index != nil && slices.Equal(old.sources, sources) {
		return old
	}
	v := &view{sources: sources, catalog: catalog.New(old.catalog, sources)}
	v.globals = globalsOf(v.catalog)
	v.index = sync.OnceValue(func() *finder.Index { return finder.New(v.catalog) })
	g.current.Store(v)
	return v
}

func expectedOf(u Upstream) catalog.Expected { return catalog.Expected{Name: u.Name(), Kind: u.Kind()} }

// whyAbsent says why nothing is known of a source.
func (g *Gateway) whyAbsent(e catalog.Expected) string {
	for _, u := range g.options.Upstreams {
		if expectedOf(u) != e {
			continue
		}
		if reason := u.Status().Reason; reason != "" {
			return spelling.Clip(g.options.Redact(reason), maxSummary)
		}
	}
	return "it is not connected yet; try again"
}

// upstream finds the one of a source.
func (g *Gateway) upstream(s *catalog.Scope) Upstream {
	for _, u := range g.options.Upstreams {
		if u.Name() == s.Name && u.Kind() == s.Kind {
			return u
		}
	}
	return nil
}

// Tools are those by which a client uses the gateway.
func (g *Gateway) Tools() []*tooldef.Tool { return g.faces }

// Find gives one of these, or one of the other face; or the tool that a function is, by its full name: an inner one.
func (g *Gateway) Find(name string) (*tooldef.Tool, bool) {
	if t, ok := g.byName[name]; ok {
		return t, true
	}
	rest, inner := strings.CutPrefix(name, innerPrefix)
	if !inner {
		return nil, false
	}
	v := g.view()
	c, err := v.catalog.Find(rest)
	if err != nil {
		return nil, false
	}
	f, err := g.function(v, c)
	if err != nil {
		g.options.Logger.Error("a function cannot be called", "function", c.FullName(), "error", err.Error())
		return nil, false
	}
	return f.tool, true
}

// Close ends sessions and frees all VMs. Upstreams are closed by whoever opened them.
func (g *Gateway) Close() {
	g.sessions.close()
	g.pools.close()
}

// Forget ends what was kept and opened for one connection of a caller.
func (g *Gateway) Forget(caller toolhost.Caller) {
	client := clientOf(caller)
	g.sessions.forget(client)
	for _, u := range g.options.Upstreams {
		u.Forget(client)
	}
}
