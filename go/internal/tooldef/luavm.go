package tooldef

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/builtin"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/kvmod"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
	"github.com/hukilau/hukilau/libs"
)

// The bounds of reading one Lua tool.
const (
	luaMemory = 32 << 20
	luaTime   = time.Second
	luaCalls  = 10_000
	luaOutput = 1 << 20
)

//go:embed read.luau
var readSource string

// readChunk names readSource in errors.
const readChunk = "=hukilau"

// luaFields are the fields of a tool table that say something about the tool.
var luaFields = append(sortedKeys(sharedFields), "parameters", "schema", "result")

// metadata is what a script's tool table holds.
type metadata struct {
	kind    string // the type of the global `tool`
	fields  map[string]any
	execute string   // the type of tool.execute
	others  []string // fields that are not known
}

// luaVM runs the top level of scripts, each in a VM that no earlier one has touched. It belongs to one
// goroutine.
type luaVM struct {
	vm    *engine.VM
	entry *luau.Function
	time  time.Duration

	resolverOf func(chunk string) (engine.Resolver, error) // nil: that of the configuration finds modules
	resolver   following

	chunk string
	code  *luau.Bytecode
}

// readingConfig describes VMs that reach nothing: all modules are there, as scripts require them at their top
// level, and nothing is granted.
func readingConfig(modules []hostmod.Module) (*engine.Config, error) {
	if modules == nil {
		client, err := httpmod.New(httpmod.Options{})
		if err != nil {
			return nil, err
		}
		modules = builtin.Modules(builtin.Parts{
			HTTP:    httpmod.NewModule(client),
			Environ: func() []string { return nil },
			Keys:    kvmod.NewStore(kvmod.Options{}).Module(""),
		})
	}
	nowhere, err := module.RootFS()
	if err != nil {
		return nil, err
	}
	resolver, err := module.New(module.Options{Embedded: libs.FS, FS: nowhere, Dir: "/"})
	if err != nil {
		return nil, err
	}
	return &engine.Config{Modules: modules, Resolver: resolver, MemoryLimit: luaMemory}, nil
}

// following finds modules for the script that is being read.
type following struct{ now engine.Resolver }

// Resolve implements engine.Resolver.
func (f *following) Resolve(requirerChunk, name string) (module.Source, error) {
	return f.now.Resolve(requirerChunk, name)
}

func newLuaVM(ctx context.Context, config *engine.Config, limit time.Duration) (*luaVM, error) {
	v := &luaVM{time: limit, resolver: following{config.Resolver}}
	own := *config
	own.Resolver = &v.resolver
	vm, err := engine.New(&own)
	if err != nil {
		return nil, err
	}
	v.vm = vm
	if v.time <= 0 {
		v.time = luaTime
	}
	if err := v.setUp(ctx); err != nil {
		return nil, errors.Join(err, vm.Close())
	}
	return v, nil
}

// setUp keeps the VM as each script shall find it.
func (v *luaVM) setUp(ctx context.Context) error {
	load := luau.Func{Name: "load", Pure: true, Do: func(c *luau.Call) error {
		chunk, err := c.State().Load(v.code, v.chunk, luau.LoadOptions{})
		if err != nil {
			return err
		}
		return c.Return(chunk)
	}}
	out, err := v.vm.State().Do(ctx, readChunk, readSource, load)
	if err != nil {
		return fmt.Errorf("the VM that reads tools: %w", err)
	}
	v.entry = out[0].(*luau.Function)
	return v.vm.State().Save()
}

func (v *luaVM) close() error { return v.vm.Close() }

// read runs a script and takes what its tool table holds.
func (v *luaVM) read(ctx context.Context, chunk, source string) (m metadata, err error) {
	if v.code, err = luau.Compile(chunk, source, luau.CompileOptions{}); err != nil {
		return m, err
	}
	v.chunk = chunk
	if v.resolverOf != nil {
		if v.resolver.now, err = v.resolverOf(chunk); err != nil {
			return m, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, v.time)
	defer cancel()
	options := engine.RunOptions{Mode: engine.EndWithMain, Reset: true, Limits: engine.Limits{
		HostCalls: luaCalls, Output: luaOutput, Log: luaOutput,
	}}
	err = v.vm.Run(ctx, v.entry, options, func(values luau.Values) error {
		all, err := values.All()
		if err == nil {
			m = asMetadata(all)
		}
		return err
	}, luaFields)
	return m, err
}

func asMetadata(values []any) metadata {
	m := metadata{kind: values[0].(string)}
	if len(values) < 4 {
		return m
	}
	m.fields, _ = values[1].(map[string]any)
	m.execute, _ = values[2].(string)
	if others, ok := values[3].([]any); ok {
		for _, name := range others {
			m.others = append(m.others, name.(string))
		}
	}
	return m
}
