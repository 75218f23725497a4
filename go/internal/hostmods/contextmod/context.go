// Package contextmod lets scripts create contexts: named sets of values that the embedding program
// reads, as what a model is to know. It calls no model.
package contextmod

import (
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"

	"github.com/hukilau/hukilau/go/internal/registry"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed context.d.luau
var Stub string

// maxContexts is how many contexts one run may create.
const maxContexts = 1000

// maxKey is the longest name of a value, in bytes.
const maxKey = 1024

// Module is the context module over one Registry. Any goroutine may use it.
type Module struct{ registry *Registry }

var _ hostmod.Module = (*Module)(nil)

// New makes the module. r gets the contexts of every VM.
func New(r *Registry) *Module { return &Module{r} }

// Name implements hostmod.Module.
func (*Module) Name() string { return "context" }

// NewInstance implements hostmod.Module.
func (m *Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &instance{run: registry.NewRun(vm, m.registry.store, "contexts", maxContexts)}, nil
}

// instance knows the ids of its own run and answers for no others.
type instance struct {
	hostmod.Plain
	run   *registry.Run[string, Context]
	sizes map[address]int64 // of the values of this run; nil before the first
}

// address is where a value is.
type address struct{ id, key string }

func (i *instance) Native() map[string]any {
	return map[string]any{
		"context_create": luau.Func{Name: "context_create", Do: i.create},
		"context_set":    luau.Func{Name: "context_set", Do: i.set},
		"context_get":    luau.Func{Name: "context_get", Do: i.get},
	}
}

func (i *instance) EndRun() {
	i.run.EndRun()
	i.sizes = nil
}

// create: (options: {name: string?, description: string?, [string]: any}) -> string
func (i *instance) create(c *luau.Call) error {
	options, err := c.Map(0)
	if err != nil {
		return err
	}
	var known struct {
		Name        string `luau:"name"`
		Description string `luau:"description"`
	}
	if err := c.Bind(0, &known); err != nil {
		return err
	}
	size, err := registry.Measure(options)
	if err != nil {
		return c.Argument(0, ": "+err.Error())
	}
	id := "context-" + rand.Text() // so that no script can name a context of another
	context := Context{id, known.Name, known.Description, options, map[string]any{}}
	if err := i.run.Add(c.Name(), id, context, size); err != nil {
		return err
	}
	return c.ReturnString(id)
}

// set: (id: string, key: string, value: any) -> ()
func (i *instance) set(c *luau.Call) error {
	at, err := addressArgument(c)
	if err != nil {
		return err
	}
	value, err := c.Value(2)
	if err != nil {
		return err
	}
	size := int64(0)
	if value != nil {
		if size, err = registry.Measure(value); err != nil {
			return c.Argument(2, ": "+err.Error())
		}
		size += int64(len(at.key)) + entryOverhead
	}
	err = i.run.Update(c.Name(), at.id, size-i.sizes[at], func(context *Context) {
		if value == nil {
			delete(context.Values, at.key)
		} else {
			context.Values[at.key] = value
		}
	})
	if err != nil {
		return refused(c, err)
	}
	i.note(at, size)
	return nil
}

// entryOverhead is about what a key takes in two maps of Go's.
const entryOverhead = 128

// note keeps the size of a value; 0 forgets it.
func (i *instance) note(at address, size int64) {
	if size == 0 {
		delete(i.sizes, at)
		return
	}
	if i.sizes == nil {
		i.sizes = map[address]int64{}
	}
	i.sizes[at] = size
}

// get: (id: string, key: string) -> any
func (i *instance) get(c *luau.Call) error {
	at, err := addressArgument(c)
	if err != nil {
		return err
	}
	var value any
	err = i.run.Update(c.Name(), at.id, 0, func(context *Context) { value = context.Values[at.key] })
	if err != nil {
		return refused(c, err)
	}
	return c.Return(value)
}

func addressArgument(c *luau.Call) (at address, err error) {
	if at.id, err = c.Text(0); err != nil {
		return at, err
	}
	if at.key, err = c.Text(1); err != nil {
		return at, err
	}
	if len(at.key) > maxKey {
		return at, c.Argument(1, fmt.Sprintf("must be at most %d bytes long, got %d", maxKey, len(at.key)))
	}
	return at, nil
}

// refused words the errors of the registry.
func refused(c *luau.Call, err error) error {
	if errors.Is(err, registry.ErrGone) {
		return &luau.Error{Code: "not_found", Message: c.Name() + ": this script has no context of that id; take the one that context_create gave"}
	}
	return err
}
