package kvmod

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hukilau/hukilau/go/internal/registry"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed kv.d.luau
var Stub string

// Module is one namespace of a Store. Any goroutine may use it.
type Module struct {
	store     *Store
	namespace string
}

var _ hostmod.Module = (*Module)(nil)

// Module gives a namespace of the store. Modules of one namespace share their keys.
func (s *Store) Module(namespace string) *Module { return &Module{s, namespace} }

// Name implements hostmod.Module.
func (*Module) Name() string { return "kv" }

// NewInstance implements hostmod.Module.
func (m *Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	now := m.store.options.Now
	if now == nil {
		now = hostmod.Now(vm)
	}
	return instance{view: view{m.store, m.namespace, now}}, nil
}

type instance struct {
	hostmod.Plain
	view
}

func (i instance) Exports() map[string]any {
	exports := map[string]any{}
	for name, do := range map[string]func(*luau.Call) error{
		"get": i.get, "set": i.set, "add": i.add, "delete": i.remove,
		"increment": i.increment, "keys": i.keys, "clear": i.clear,
	} {
		exports[name] = luau.Func{Name: "kv." + name, Do: do}
	}
	return exports
}

// maxKey is the longest key in bytes.
const maxKey = 4096

func key(c *luau.Call) (string, error) {
	k, err := c.Text(0)
	if err != nil {
		return "", err
	}
	if k == "" || len(k) > maxKey {
		return "", c.Argument(0, fmt.Sprintf("must be a key of 1 to %d bytes, got %d", maxKey, len(k)))
	}
	return k, nil
}

// value reads what is to be kept, and its size. The conversion made a copy of it that nobody else has.
func value(c *luau.Call) (any, int64, error) {
	if c.IsNil(1) {
		return nil, 0, c.Argument(1, "must not be nil; kv.delete removes a key")
	}
	v, err := c.Value(1)
	if err != nil {
		return nil, 0, err
	}
	size, err := registry.Measure(v)
	if err != nil {
		return nil, 0, c.Argument(1, ": "+err.Error())
	}
	return v, size, nil
}

// ttl reads the options; 0 when the key stays.
func ttl(c *luau.Call) (time.Duration, error) {
	options, err := hostmod.Options(c, 2, "ttl")
	if err != nil {
		return 0, err
	}
	given := options["ttl"]
	if given == nil {
		return 0, nil
	}
	seconds, _ := given.(float64)
	d, _ := hostmod.Duration(seconds, time.Second)
	if d == 0 {
		return 0, c.Argument(2, ": ttl must be a number of seconds, more than 0")
	}
	return d, nil
}

// get: (key: string) -> any
func (i instance) get(c *luau.Call) error {
	k, err := key(c)
	if err != nil {
		return err
	}
	return c.Return(i.view.get(k))
}

// put is set and add.
func (i instance) put(c *luau.Call, absent bool) (done bool, err error) {
	k, err := key(c)
	if err != nil {
		return false, err
	}
	v, size, err := value(c)
	if err != nil {
		return false, err
	}
	t, err := ttl(c)
	if err != nil {
		return false, err
	}
	done, err = i.view.set(k, v, size, t, absent)
	return done, told(c, err)
}

// set: (key: string, value: any, options: {ttl: number?}?) -> ()
func (i instance) set(c *luau.Call) error {
	_, err := i.put(c, false)
	return err
}

// add: (key: string, value: any, options: {ttl: number?}?) -> boolean
func (i instance) add(c *luau.Call) error {
	done, err := i.put(c, true)
	if err != nil {
		return err
	}
	return c.Return(done)
}

// remove: (key: string) -> boolean
func (i instance) remove(c *luau.Call) error {
	k, err := key(c)
	if err != nil {
		return err
	}
	return c.Return(i.view.delete(k))
}

// increment: (key: string, by: number?, options: {ttl: number?}?) -> number
func (i instance) increment(c *luau.Call) error {
	k, err := key(c)
	if err != nil {
		return err
	}
	by, err := c.NumberOpt(1, 1)
	if err != nil {
		return err
	}
	if math.IsNaN(by) || math.IsInf(by, 0) {
		return c.Argument(1, "must be a finite number")
	}
	t, err := ttl(c)
	if err != nil {
		return err
	}
	sum, err := i.view.increment(k, by, t)
	if err != nil {
		return told(c, err)
	}
	return c.ReturnNumber(sum)
}

// keys: (prefix: string?) -> {string}
func (i instance) keys(c *luau.Call) error {
	prefix, err := c.TextOpt(0, "")
	if err != nil {
		return err
	}
	return c.Return(i.view.list(prefix))
}

// clear: (prefix: string?) -> number
func (i instance) clear(c *luau.Call) error {
	prefix, err := c.TextOpt(0, "")
	if err != nil {
		return err
	}
	return c.ReturnNumber(float64(i.view.clear(prefix)))
}

// told is the store's error as the script sees it.
func told(c *luau.Call, err error) error {
	var full *limitError
	var other *notNumber
	switch {
	case errors.As(err, &full):
		return &luau.Error{Code: luau.CodeLimit, Message: c.Name() + ": " + full.message}
	case errors.As(err, &other):
		return &luau.Error{Code: luau.CodeArgument,
			Message: c.Name() + ": the key holds " + typeName(other.value) + ", not a number"}
	}
	return err
}
