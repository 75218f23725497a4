package fsmod

import (
	_ "embed"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed fs.d.luau
var Stub string

// Module is the fs module. Its zero value is ready, and any goroutine may use it.
type Module struct {
	// Dir is where relative paths begin, of scripts and of grants; empty: the working directory.
	Dir string
}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "fs" }

// NewInstance implements hostmod.Module.
func (m Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &instance{dir: m.Dir, vm: vm}, nil
}

type instance struct {
	hostmod.Plain
	dir  string
	vm   hostmod.VM
	held *ledger // of this run; nil before its first call
}

func (i *instance) Exports() map[string]any {
	exports := map[string]any{}
	for name, do := range map[string]func(*luau.Call) error{
		"read": i.read, "write": i.write, "append": i.append, "list": i.list, "stat": i.stat,
		"exists": i.exists, "mkdir": i.mkdir, "remove": i.remove, "copy": i.copy, "rename": i.rename,
	} {
		exports[name] = luau.Func{Name: "fs." + name, Do: do, MayWait: true}
	}
	return exports
}

func (i *instance) ledger() *ledger {
	if i.held == nil {
		i.held = &ledger{vm: i.vm}
	}
	return i.held
}

func (i *instance) EndRun() {
	if i.held != nil {
		i.held.settle()
		i.held = nil
	}
}
