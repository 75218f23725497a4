// Package yamlmod gives scripts YAML with the core schema of YAML 1.2, as JSON needs it: NO, on, y and
// dates are texts.
package yamlmod

import (
	"context"
	_ "embed"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed yaml.d.luau
var Stub string

// Module is the YAML module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "yaml" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm: vm}, nil }

type instance struct {
	hostmod.Plain
	vm hostmod.VM
}

func (i *instance) Exports() map[string]any {
	return map[string]any{
		"decode":     luau.Func{Name: "yaml.decode", Do: i.decode, MayWait: true, Pure: true},
		"decode_all": luau.Func{Name: "yaml.decode_all", Do: i.decodeAll, MayWait: true, Pure: true},
		"encode":     luau.Func{Name: "yaml.encode", Do: i.encode, MayWait: true, Pure: true},
	}
}

// decode: (text: string | buffer) -> any
func (i *instance) decode(c *luau.Call) error {
	return i.documents(c, func(d *decoder, documents []any) (any, error) {
		switch len(documents) {
		case 0:
			return nil, nil
		case 1:
			return documents[0], nil
		}
		return nil, d.fail(CodeYAML, d.second, "a second document begins (yaml.decode_all reads them all)")
	})
}

// decodeAll: (text: string | buffer) -> {any}
func (i *instance) decodeAll(c *luau.Call) error {
	return i.documents(c, func(_ *decoder, documents []any) (any, error) {
		for n, document := range documents {
			if document == nil { // a hole in an array otherwise
				documents[n] = luau.Null{}
			}
		}
		return documents, nil
	})
}

// longText is from where a text is read, or a value written, away from the VM's goroutine.
const longText = 16 << 10

func (i *instance) documents(c *luau.Call, answer func(*decoder, []any) (any, error)) error {
	text, err := c.Bytes(0)
	if err != nil {
		return err
	}
	name := c.Name()
	return hostmod.Compute(i.vm, c, len(text) > longText, func(ctx context.Context, room *hostmod.Room) ([]any, error) {
		d := &decoder{ctx: ctx, room: room, function: name}
		documents, err := d.read(text)
		if err != nil {
			return nil, err
		}
		value, err := answer(d, documents)
		return []any{value}, err
	})
}

// encode: (value: any) -> string
func (i *instance) encode(c *luau.Call) error {
	value, err := c.Value(0)
	if err != nil {
		return err
	}
	return hostmod.Compute(i.vm, c, c.Size() > longText, func(_ context.Context, room *hostmod.Room) ([]any, error) {
		e := encoder{room: room}
		text, err := e.encode(value)
		return []any{text}, err
	})
}
