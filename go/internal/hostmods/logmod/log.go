// Package logmod lets scripts write log records. Where they go is the embedding program's choice.
package logmod

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed log.d.luau
var Stub string

// Module is the log module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "log" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm: vm}, nil }

type instance struct {
	hostmod.Plain
	vm hostmod.VM
}

func (i *instance) Native() map[string]any {
	return map[string]any{
		"log":        luau.Func{Name: "log", Do: i.log},
		"log_record": luau.Func{Name: "log_record", Do: i.record},
	}
}

// log: (level: string, ...any) -> ()
func (i *instance) log(c *luau.Call) error {
	level, err := levelArgument(c)
	if err != nil {
		return err
	}
	parts := make([]string, 0, c.Len())
	for n := 1; n < c.Len(); n++ {
		v, err := c.Value(n)
		if err != nil {
			return err
		}
		parts = append(parts, luau.Format(v))
	}
	return i.vm.Log(level, strings.Join(parts, " "), nil)
}

// record: (level: string, message: string, fields: {[string]: any}?) -> ()
func (i *instance) record(c *luau.Call) error {
	level, err := levelArgument(c)
	if err != nil {
		return err
	}
	message, err := c.Text(1)
	if err != nil {
		return err
	}
	fields, err := c.MapOpt(2)
	if err != nil {
		return err
	}
	return i.vm.Log(level, message, fields)
}

// longest is how much one record may hold, in bytes.
const longest = 1 << 20

func levelArgument(c *luau.Call) (hostmod.Level, error) {
	if c.Size() > longest {
		return 0, &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf(
			"%s: a record may hold %d bytes, and this one has about %d; log less of it", c.Name(), longest, c.Size())}
	}
	name, err := c.Text(0)
	if err != nil {
		return 0, err
	}
	level, ok := hostmod.ParseLevel(strings.ToLower(name))
	if !ok {
		return 0, c.Argument(0, `must be "debug", "info", "warn" or "error", got "`+name+`"`)
	}
	return level, nil
}
