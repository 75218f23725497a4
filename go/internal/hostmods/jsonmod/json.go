// Package jsonmod gives scripts JSON. Values are written and read in C++ beside the VM, so that none
// crosses into Go; texts are laid out here.
package jsonmod

import (
	_ "embed"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed json.d.luau
var Stub string

// Module is the JSON module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "json" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm: vm}, nil }

type instance struct {
	hostmod.Plain
	vm hostmod.VM
}

func (i *instance) Exports() map[string]any {
	exports := map[string]any{
		"pretty": luau.Func{Name: "json.pretty", Do: i.pretty, MayWait: true, Pure: true},
	}
	for _, name := range []string{"decode", "encode", "array", "isarray", "omit", "isnull", "tonumber", "null"} {
		exports[name] = luau.Native("json." + name)
	}
	return exports
}

func (*instance) Native() map[string]any {
	return map[string]any{"json_encode": luau.Native("json_encode"), "json_decode": luau.Native("json_decode")}
}
