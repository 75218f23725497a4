// Package contextmod lets scripts create contexts: named sets of values that the embedding program
// reads, as what a model is to know. It calls no model.
package contextmod

import (
	"crypto/rand"
	_ "embed"
	"encoding/hex"
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
	return &instance{vm: vm, store: m.registry.store, owner: &registry.Owner{}}, nil
}

// instance knows the ids of its own run and answers for no others.
type instance struct {
	vm      hostmod.VM
	store   *registry.Store[string, kept]
	owner   *registry.Owner
	ids     []string
	charged int64
}

func (i *instance) Exports() map[string]any { return nil }

func (i *instance) Native() map[string]any {
	return map[string]any{
		"context_create": luau.Func{Name: "context_create", Do: i.create},
		"context_set":    luau.Func{Name: "context_set", Do: i.set},
		"context_get":    luau.Func{Name: "context_get", Do: i.get},
	}
}

// EndRun leaves the contexts to the registry, under its own cap.
func (i *instance) EndRun() {
	if len(i.ids) == 0 {
		return // most runs; they must stay cheap
	}
	i.store.End(i.owner, i.ids)
	i.vm.Uncharge(i.charged)
	i.owner, i.ids, i.charged = &registry.Owner{}, nil, 0
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
	if len(i.ids) >= maxContexts {
		return &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf("context_create: this run has %d contexts, which is the most", maxContexts)}
	}
	if !i.vm.Charge(size) {
		return noMemory("context_create")
	}
	id := newID()
	k := kept{Context{id, known.Name, known.Description, options, map[string]any{}}, map[string]int64{}}
	if err := i.store.Add(i.owner, id, k, size); err != nil {
		i.vm.Uncharge(size)
		return refused("context_create", err)
	}
	i.charged += size
	i.ids = append(i.ids, id)
	return c.ReturnString(id)
}

// newID is random, so that no script can name a context of another.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: see its documentation
	return "context-" + hex.EncodeToString(b[:])
}

// set: (id: string, key: string, value: any) -> ()
func (i *instance) set(c *luau.Call) error {
	id, key, err := address(c)
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
		size += int64(len(key)) + 2*entryOverhead
	}
	before := int64(0)
	if err := i.store.Update(i.owner, id, 0, func(k *kept) { before = k.sizes[key] }); err != nil {
		return refused("context_set", err)
	}
	grow := size - before
	if grow > 0 && !i.vm.Charge(grow) {
		return noMemory("context_set")
	}
	if err := i.store.Update(i.owner, id, grow, func(k *kept) { k.put(key, value, size) }); err != nil {
		i.vm.Uncharge(max(grow, 0))
		return refused("context_set", err)
	}
	i.vm.Uncharge(max(-grow, 0))
	i.charged += grow
	return nil
}

// entryOverhead is about what a key takes in a map of Go's.
const entryOverhead = 32

func (k *kept) put(key string, value any, size int64) {
	if value == nil {
		delete(k.Values, key)
		delete(k.sizes, key)
		return
	}
	k.Values[key], k.sizes[key] = value, size
}

// get: (id: string, key: string) -> any
func (i *instance) get(c *luau.Call) error {
	id, key, err := address(c)
	if err != nil {
		return err
	}
	var value any
	if err := i.store.Update(i.owner, id, 0, func(k *kept) { value = k.Values[key] }); err != nil {
		return refused("context_get", err)
	}
	return c.Return(value)
}

func address(c *luau.Call) (id, key string, err error) {
	if id, err = c.Text(0); err != nil {
		return "", "", err
	}
	if key, err = c.Text(1); err != nil {
		return "", "", err
	}
	if len(key) > maxKey {
		return "", "", c.Argument(1, fmt.Sprintf("must be at most %d bytes long, got %d", maxKey, len(key)))
	}
	return id, key, nil
}

func noMemory(name string) error {
	return &luau.Error{Code: luau.CodeMemory, Message: name + ": the memory limit was reached"}
}

// refused words the errors of the registry.
func refused(name string, err error) error {
	if errors.Is(err, registry.ErrFull) {
		return &luau.Error{Code: luau.CodeLimit, Message: name + ": the host's registry of contexts is full"}
	}
	return &luau.Error{Code: "not_found", Message: name + ": this script has no context of that id; take the one that context_create gave"}
}
