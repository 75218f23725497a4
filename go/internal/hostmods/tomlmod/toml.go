// Package tomlmod gives scripts TOML 1.0, both ways. Dates and times are texts, because Luau has no
// values for them.
package tomlmod

import (
	"context"
	_ "embed"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed toml.d.luau
var Stub string

// Module is the TOML module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "toml" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm: vm}, nil }

type instance struct {
	hostmod.Plain
	vm hostmod.VM
}

func (i *instance) Exports() map[string]any {
	return map[string]any{
		"decode": luau.Func{Name: "toml.decode", Do: i.decode, MayWait: true, Pure: true},
		"encode": luau.Func{Name: "toml.encode", Do: i.encode, MayWait: true, Pure: true},
	}
}

// longText is from where a text is read, or a value written, away from the VM's goroutine.
const longText = 64 << 10

// decode: (text: string | buffer) -> {[string]: any}
func (i *instance) decode(c *luau.Call) error {
	text, err := c.Bytes(0)
	if err != nil {
		return err
	}
	return hostmod.Compute(i.vm, c, len(text) > longText, func(ctx context.Context, room *hostmod.Room) ([]any, error) {
		table, err := decode(text, room.Take)
		if err != nil {
			return nil, err
		}
		return []any{table}, ctx.Err()
	})
}

// encode: (value: {[string]: any}) -> string
func (i *instance) encode(c *luau.Call) error {
	table, err := c.Map(0)
	if err != nil {
		return err
	}
	return hostmod.Compute(i.vm, c, c.Size() > longText, func(_ context.Context, room *hostmod.Room) ([]any, error) {
		text, err := encode(table, room.Take)
		return []any{text}, err
	})
}

// footprint is about what decoding a text takes more, here and on its way to the script: every value
// has one of these bytes before it.
func footprint(text []byte) int64 {
	n := 2 * int64(len(text))
	for _, b := range text {
		switch b {
		case '=', ',', '[', '{', '.':
			n += 300
		}
	}
	return n
}
