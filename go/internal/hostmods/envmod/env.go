// Package envmod lets scripts read the environment variables that they are granted. They cannot set
// any: all scripts of a process share its environment, and one would change what another does.
//
// Values are often secrets. They go to the script that asked and into no error or log record.
package envmod

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed env.d.luau
var Stub string

// Module is the env module. Any goroutine may use it.
type Module struct{ environ func() []string }

var _ hostmod.Module = (*Module)(nil)

// New makes the module over an environment in the form of os.Environ, which is asked on each use.
func New(environ func() []string) *Module { return &Module{environ} }

// Name implements hostmod.Module.
func (*Module) Name() string { return "env" }

// NewInstance implements hostmod.Module.
func (m *Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &instance{Module: m, vm: vm}, nil
}

type instance struct {
	hostmod.Plain
	*Module
	vm hostmod.VM
}

func (i *instance) Exports() map[string]any {
	return map[string]any{
		"get":  luau.Func{Name: "env.get", Do: i.get},
		"list": luau.Func{Name: "env.list", Do: i.list},
	}
}

// get: (name: string) -> string?
func (i *instance) get(c *luau.Call) error {
	name, err := c.Text(0)
	if err != nil {
		return err
	}
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return c.Argument(0, `must be the name of a variable: not empty, without "=" and zero bytes`)
	}
	if refused := i.refusal(name); refused != nil {
		return refused
	}
	// The last one counts, as in os.Environ and exec.Cmd.
	for _, pair := range slices.Backward(i.environ()) {
		if key, value, ok := cut(pair); ok && key == name {
			return c.ReturnString(value)
		}
	}
	return c.Return(nil)
}

// list: () -> {string}
func (i *instance) list(c *luau.Call) error {
	seen := map[string]bool{}
	names := []string{}
	for _, pair := range i.environ() {
		name, _, ok := cut(pair)
		if ok && !seen[name] && i.refusal(name) == nil {
			seen[name] = true
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return c.Return(names)
}

func cut(pair string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(pair, "=")
	return name, value, ok && name != ""
}

// refusal says why the script may not read a variable; nil when it may.
func (i *instance) refusal(name string) error {
	g := i.vm.Grants()
	switch {
	case covers(g.DenyEnv, name):
		return &hostmod.PermissionError{Key: "deny_env",
			Message: "env.get: the variable " + name + " is denied by deny_env (on the command line: --deny-env)"}
	case g.All, covers(g.Env, name):
		return nil
	}
	return &hostmod.PermissionError{Key: "env",
		Message: "env.get: the variable " + name + " is not granted; add it to env " + hostmod.Advice(g.Tool, "env", name, name)}
}

// covers says whether a list of names has the name, or all.
func covers(list []string, name string) bool {
	return slices.Contains(list, name) || slices.Contains(list, "*")
}
