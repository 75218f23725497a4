// Package encodingmod gives scripts base64, hex, percent-encoding and query strings. It is strict:
// what is not of the encoding is an error that says where.
package encodingmod

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed encoding.d.luau
var Stub string

// Module is the encoding module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "encoding" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm: vm}, nil }

type instance struct {
	hostmod.Plain
	vm hostmod.VM
}

func (i *instance) Exports() map[string]any {
	exports := map[string]any{}
	// Errors call them as scripts do: base64_encode is encoding.base64.encode.
	add := func(name string, do func(*luau.Call) error) {
		exports[name] = luau.Func{Name: "encoding." + strings.ReplaceAll(name, "_", "."), Do: do, MayWait: true, Pure: true}
	}
	add("base64_encode", func(c *luau.Call) error { return i.base64(c, encodeBase64) })
	add("base64_decode", func(c *luau.Call) error { return i.base64(c, decodeBase64) })
	add("hex_encode", func(c *luau.Call) error { return i.convert(c, c.Name(), 2, encodeHex) })
	add("hex_decode", func(c *luau.Call) error { return i.convert(c, c.Name(), 1, decodeHex) })
	add("url_encode", func(c *luau.Call) error { return i.convert(c, c.Name(), 3, encodeComponent) })
	add("url_decode", func(c *luau.Call) error { return i.convert(c, c.Name(), 1, decodeComponent) })
	add("query_encode", i.queryEncode)
	add("query_decode", i.queryDecode)
	return exports
}

// longData is from where a conversion is done away from the VM's goroutine.
const longData = 4 << 20

// convert answers with what f makes of the first argument, for the function of that name: at most `factor` times as long.
func (i *instance) convert(c *luau.Call, name string, factor int64, f func(data []byte) (string, *fault)) error {
	data, err := c.Bytes(0)
	if wrong, ok := errors.AsType[*luau.ArgumentError](err); ok {
		return &luau.ArgumentError{Function: name, Index: wrong.Index, Problem: wrong.Problem}
	}
	if err != nil {
		return err
	}
	work := func(_ context.Context, room *hostmod.Room) ([]any, error) {
		if err := room.Take((1 + factor) * int64(len(data))); err != nil {
			return nil, err
		}
		text, fault := f(data)
		if fault != nil {
			return nil, fault.in(name)
		}
		return []any{text}, nil
	}
	return hostmod.Compute(i.vm, c, len(data) >= longData, work)
}
