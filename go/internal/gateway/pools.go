package gateway

import (
	"context"
	_ "embed"
	"maps"
	"sync"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/hostmods/builtin"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

//go:embed prelude.luau
var prelude string

// pools have the VMs of scripts. There is one pool for the names of sources that are globals; others come to an end
// when those change. The zero value is ready.
type pools struct {
	mu      sync.Mutex
	names   map[string]string
	current *engine.Pool
}

// globalsOf are the sources that are globals, by their names there.
func globalsOf(c *catalog.Catalog) map[string]string {
	names := map[string]string{}
	for _, s := range c.Sources() {
		if s.Global && s.Kind == catalog.MCP {
			names[s.Ident] = s.Name
		}
	}
	return names
}

// of gives the pool for the sources that are globals.
func (p *pools) of(g *Gateway, names map[string]string, calling toolhost.Calling) (*engine.Pool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil && maps.Equal(p.names, names) {
		return p.current, nil
	}
	limits, memory := calling.Limits()
	if g.options.Memory > 0 {
		memory = g.options.Memory
	}
	made, err := engine.NewPool(
		&engine.Config{
			Modules: append(builtin.Modules(builtin.Parts{}), sdkmod.Module{}), Grants: &hostmod.Grants{Instead: "scratch has the files of this session"},
			Resolver: g.options.Resolver, MemoryLimit: memory,
			Print: printed, Log: logged, Waited: waited,
		},
		engine.Program{Chunk: "=sdk", Around: sdkmod.Prelude + prelude, AroundArgs: []any{names}},
		engine.PoolOptions{Limits: limits})
	if err != nil {
		return nil, err
	}
	if p.current != nil {
		p.current.Close()
	}
	p.current, p.names = made, names
	return made, nil
}

func (p *pools) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil {
		p.current.Close()
		p.current = nil
	}
}

// What a script prints, logs and waits for belongs to the run in its context.

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(sdkmod.HostKey{}).(*run)
	return r
}

func printed(ctx context.Context, text []byte) {
	if r := runOf(ctx); r != nil {
		r.print(text)
	}
}

func logged(record engine.Record) {
	if r := runOf(record.Context); r != nil {
		r.log(record)
	}
}

func waited(ctx context.Context, w engine.Wait) {
	if r := runOf(ctx); r != nil {
		r.calling.Waited(w)
	}
}
