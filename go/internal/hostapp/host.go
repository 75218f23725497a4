package hostapp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Host is a project that runs tools.
type Host struct {
	*toolhost.Host
	Project *Project
	Store   *store.Store
	Logger  *slog.Logger

	clients  clients
	models   modelSet
	tape     *tape
	gateways gateways
	music    jukebox
	tracing  *tracing

	reloading sync.Mutex                    // held while it is read again: by a change of files, or for a script that is saved
	wrong     atomic.Pointer[server.Broken] // the configuration, where it could not be read again
}

// HostOptions say what a Host is for. The zero value keeps state and log in the project's state folder.
type HostOptions struct {
	InMemory bool // state and log are gone when the Host is closed
	Sources  SourceFlags
	// Gateway serves the sources' tools alone, and fails where there are none.
	Gateway bool
	// Client says that a client waits for its first answers: servers are started a moment later, as their start would
	// take the processor from those.
	Client bool

	tape *tape // of a test; nil: nothing is recorded or replayed
}

// NewHost makes a Host that serves the project's tools. Close it.
func (p *Project) NewHost(ctx context.Context, o HostOptions) (*Host, error) {
	if err := p.readyToRun(); err != nil {
		return nil, err
	}
	logger, err := p.newLogger()
	if err != nil {
		return nil, err
	}
	traces := &tracing{}
	if o.tape == nil || !o.tape.session.Replaying() { // a replay sends nothing
		if traces, err = newTracing(ctx); err != nil {
			return nil, err
		}
	}
	kept := p.storeOptions()
	if o.InMemory {
		kept.Path = store.Memory
	}
	s, err := store.Open(ctx, kept)
	if err != nil {
		return nil, errors.Join(err, traces.close())
	}
	h := &Host{Project: p, Store: s, Logger: logger, tracing: traces, tape: o.tape}
	h.models.host, h.music.project = h, p
	c := p.Config()
	options := toolhost.Options{
		Timeout: c.Limits.Time, Memory: c.Limits.Memory, HostCalls: uint64(c.Limits.HostCalls), Output: uint64(c.Limits.Output),
		Log: uint64(c.Limits.Log), Depth: c.Limits.Depth, Tokens: int64(c.Limits.Tokens),
		MaxRuns: c.Server.MaxRuns, Queue: queueOf(c.Server),
		Environ: o.tape.environ, Folder: p.Folder, Resolver: h.resolver, HTTP: h.clients.of,
		Store: s, Redact: p.redact, Logger: logger, Models: h.models.find, Modules: h.music.modules, Tracer: traces.tracer(),
		Sources: h.sourcesFor,
	}
	if o.tape != nil {
		h.clients.wrap, options.Outside = o.tape.session.Transport, o.tape.session.Outside
	}
	h.Host = toolhost.New(options)
	h.gateways.flags, h.gateways.only, h.gateways.start = o.Sources, o.Gateway, rand.Text()
	if o.Client {
		h.gateways.from = time.Now().Add(clientFirst)
	}
	if o.tape == nil {
		if err := h.openGateway(); err != nil {
			return nil, errors.Join(err, h.Close())
		}
	}
	h.publish()
	return h, nil
}

// served are the tools that the project has now, with what is granted to all.
func (p *Project) served() *granted {
	return grant(p.Set().Tools(), p.replaced, p.Config().Permissions)
}

// publish serves the tools that the project has now.
func (h *Host) publish() {
	tools := h.Project.served()
	if h.gateways.only {
		tools = h.Project.saved()
	}
	if g := h.Gateway(); g != nil {
		h.Host.Serve(join(tools, g))
		return
	}
	h.Host.Serve(tools)
}

// Reload reads the project again and serves what it has then. When it fails, all stays as it was.
func (h *Host) Reload(ctx context.Context) error {
	h.reloading.Lock()
	defer h.reloading.Unlock()
	before := h.Project.Config()
	if err := h.Project.Reload(ctx); err != nil {
		return err
	}
	if err := h.openGateway(); err != nil {
		return err
	}
	h.publish()
	now := h.Project.Config()
	for _, section := range []struct {
		name     string
		old, new any
	}{
		{"[limits]", before.Limits, now.Limits}, {"[server]", before.Server, now.Server},
		{"[state]", stateOf(before), stateOf(now)}, {"[log]", before.Log, now.Log},
	} {
		if !reflect.DeepEqual(section.old, section.new) {
			h.Logger.Warn("this section of the configuration has changed; the change holds from the next start on", "section", section.name)
		}
	}
	return nil
}

// stateOf is the section [state].
func stateOf(c *config.Config) [3]any { return [3]any{c.StateDir, c.MaxKept, c.MaxState} }

// tellBroken logs the definitions that are no tools.
func (h *Host) tellBroken() {
	for _, b := range h.Project.Broken() {
		h.tellOneBroken(b)
	}
}

func (h *Host) tellOneBroken(b tooldef.Broken) {
	h.Logger.Error("a tool is broken", "file", b.File, "name", b.Name, "error", h.Project.redact(b.Err.Error()))
}

// endTime is how long calls may take to be over that were cancelled.
const endTime = 5 * time.Second

// Close ends what runs and writes what the store still holds.
func (h *Host) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := h.Drain(ctx); err != nil {
		h.Logger.Error("calls do not end; the log may not have them", "error", err.Error())
	}
	h.Host.Close()
	h.closeGateway()
	h.models.close()
	h.clients.close()
	if err := h.tracing.close(); err != nil {
		h.Logger.Warn(err.Error())
	}
	return errors.Join(h.music.close(), h.Store.Close())
}

// queueOf is how many calls wait to run at most: none where the configuration says so.
func queueOf(c config.Server) int {
	if c.QueueSet && c.Queue == 0 {
		return -1
	}
	return c.Queue
}

// storeOptions say where the project's store is, and what it may hold.
func (p *Project) storeOptions() store.Options {
	c := p.Config()
	return store.Options{Path: p.StatePath(), MaxState: c.MaxState, MaxKept: c.MaxKept, MaxLog: c.Log.MaxSize}
}

// StatePath is the file of the project's store. Without a configuration it is beside the tools that are named first:
// clients start servers anywhere, and the working directory says nothing then.
func (p *Project) StatePath() string {
	dir := p.Config().StateDir
	switch {
	case dir != "":
		dir = p.Config().Path(dir)
	case p.file == "" && len(p.given) > 0:
		dir = filepath.Join(filepath.Dir(p.given[0]), ".hukilau")
	default:
		dir = p.Config().Path(".hukilau")
	}
	return filepath.Join(dir, "state.db")
}

func (h *Host) resolver(t *tooldef.Tool) engine.Resolver {
	r, err := h.Project.resolverOf(t.Chunk)
	if err != nil {
		h.Logger.Error("modules cannot be found", "tool", t.Name, "error", err.Error())
		return nil
	}
	return r
}

func (p *Project) newLogger() (*slog.Logger, error) {
	if p.options.Stderr == nil {
		return slog.New(slog.DiscardHandler), nil
	}
	name, format := p.options.LogLevel, p.options.LogFormat
	if name == "" {
		name = p.Config().Log.Level
	}
	if name == "" {
		name = p.options.QuietLevel
	}
	if format == "" {
		format = p.Config().Log.Format
	}
	level := slog.LevelInfo
	if name != "" {
		if err := level.UnmarshalText([]byte(name)); err != nil {
			return nil, &usageError{fmt.Sprintf("--log-level must be debug, info, warn or error, not %q", name)}
		}
	}
	options := &slog.HandlerOptions{Level: level}
	switch format {
	case "", "text":
		return slog.New(slog.NewTextHandler(p.options.Stderr, options)), nil
	case "json":
		options.ReplaceAttr = inSeconds
		return slog.New(slog.NewJSONHandler(p.options.Stderr, options)), nil
	}
	return nil, &usageError{fmt.Sprintf("--log-format must be text or json, not %q", format)}
}

// inSeconds writes durations as numbers of seconds, as the execution log does.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.Float64Value(a.Value.Duration().Seconds())
	}
	return a
}

// clients are the HTTP clients: one for each tool and policy, so that no tool rides another's connection.
type clients struct {
	mu   sync.Mutex
	all  map[string]*httpmod.Client
	wrap func(http.RoundTripper) http.RoundTripper // as httpmod.Options.Wrap
}

func (c *clients) of(t *tooldef.Tool) (*httpmod.Module, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &t.Permissions
	key := t.Name + "\x00" + strings.Join(p.Net, "\n") + "\x00" + strings.Join(p.NetPrivate, "\n")
	client := c.all[key]
	if client == nil {
		made, err := httpmod.New(httpmod.Options{Policy: httpmod.Policy{Net: p.Net, NetPrivate: p.NetPrivate, Tool: t.Name}, Wrap: c.wrap})
		if err != nil {
			return nil, err
		}
		if c.all == nil {
			c.all = map[string]*httpmod.Client{}
		}
		c.all[key], client = made, made
	}
	return httpmod.NewModule(client), nil
}

func (c *clients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.all {
		client.CloseIdle()
	}
}
