package toolhost

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/builtin"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// runner has the VMs of one tool. They are made when it is first called.
type runner struct {
	host     *Host
	tool     *tooldef.Tool
	counters *counters

	mu   sync.Mutex
	pool *engine.Pool
	err  error // why there is no pool
	gone bool  // no more calls begin, but for those that are on their way
}

func (r *runner) start() (*engine.Pool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pool == nil && r.err == nil {
		r.pool, r.err = r.newPool()
		if r.gone && r.pool != nil {
			r.pool.Close() // it keeps no VMs then
		}
	}
	return r.pool, r.err
}

func (r *runner) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	if r.pool != nil {
		r.pool.Close()
	}
}

func (r *runner) timeout() time.Duration {
	if r.tool.Timeout > 0 {
		return r.tool.Timeout
	}
	return r.host.options.Timeout
}

func (r *runner) memory() int64 {
	if r.tool.Memory > 0 {
		return r.tool.Memory
	}
	return r.host.options.Memory
}

func (r *runner) newPool() (*engine.Pool, error) {
	config, err := r.config()
	if err != nil {
		return nil, err
	}
	o := &r.host.options
	used := r.usedParts()
	program := engine.Program{Chunk: r.tool.Chunk, Source: r.tool.Source, Around: prelude, AroundArgs: r.aroundArgs(used)}
	if slices.Contains(used, "sdk") {
		program.Around = sdkmod.Prelude + prelude
	}
	if o.Outside != nil {
		program.Before = outside
	}
	return engine.NewPool(config, program, engine.PoolOptions{
		Isolation: r.isolation(),
		Limits:    engine.Limits{HostCalls: o.HostCalls, Output: o.Output, Log: o.Log},
	})
}

// isolation is that of the tool; runs that see another world have VMs as new.
func (r *runner) isolation() engine.Isolation {
	if r.host.options.Outside != nil {
		return engine.Pristine
	}
	return r.tool.Isolation
}

func (r *runner) config() (*engine.Config, error) {
	o := &r.host.options
	parts := builtin.Parts{Environ: o.Environ, Folder: o.Folder, Keys: r.host.keys.Module(r.tool.Name)}
	if o.HTTP != nil {
		module, err := o.HTTP(r.tool)
		if err != nil {
			return nil, err
		}
		parts.HTTP = module
	}
	modules := append(builtin.Modules(parts), toolmod.Module{}, sdkmod.Module{})
	if o.Modules != nil {
		modules = append(modules, o.Modules(r.tool)...)
	}
	config := &engine.Config{
		Modules: modules, Grants: r.grants(), MemoryLimit: r.memory(),
		Print: printed, Log: logged, Waited: waited,
	}
	var others engine.Resolver
	if o.Resolver != nil {
		others = o.Resolver(r.tool)
	}
	config.Resolver = partsResolver{others}
	return config, nil
}

// grants are the tool's permissions.
func (r *runner) grants() *hostmod.Grants {
	p := &r.tool.Permissions
	return &hostmod.Grants{
		Net: p.Net, NetPrivate: p.NetPrivate, Env: p.Env, Read: p.Read, Write: p.Write, Tool: r.tool.Name,
	}
}

// What a script prints, logs and waits for belongs to the call in the run's context.

func printed(ctx context.Context, text []byte) {
	if c := callOf(ctx); c != nil {
		c.print(text)
	}
}

func logged(record engine.Record) {
	if c := callOf(record.Context); c != nil {
		c.log(levels[record.Level], record.Message, record.Fields)
	}
}

func waited(ctx context.Context, w engine.Wait) {
	if c := callOf(ctx); c != nil {
		c.waited(w)
	}
}

var levels = map[hostmod.Level]slog.Level{
	hostmod.Debug: slog.LevelDebug, hostmod.Info: slog.LevelInfo, hostmod.Warn: slog.LevelWarn, hostmod.Error: slog.LevelError,
}
