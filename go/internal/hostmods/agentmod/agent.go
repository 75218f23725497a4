// Package agentmod lets scripts register agents: a name and a configuration that the embedding
// program reads. It runs no agent.
package agentmod

import (
	_ "embed"
	"errors"
	"fmt"

	"github.com/hukilau/hukilau/go/internal/registry"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed agent.d.luau
var Stub string

const (
	maxAgents = 1000 // of one run
	maxName   = 256  // bytes
)

// Options say how much a Registry keeps. Zero means the default.
type Options = registry.Options

// Agent is what a script registered. Config is shared and must not be changed.
type Agent struct {
	Name   string
	Config map[string]any
}

// Registry holds the agents of all VMs for the embedding program. Those of ended runs stay until
// their room is needed. Two runs may register the same name. Any goroutine may use it.
type Registry struct {
	store *registry.Store[key, Agent]
}

type key struct {
	owner *registry.Owner
	name  string
}

// NewRegistry makes an empty Registry.
func NewRegistry(o Options) *Registry { return &Registry{registry.New[key, Agent](o)} }

// Agents gives all agents, oldest first.
func (r *Registry) Agents() []Agent {
	var list []Agent
	r.store.Each(func(_ key, a Agent) { list = append(list, a) })
	return list
}

// Module is the agent module over one Registry. Any goroutine may use it.
type Module struct{ registry *Registry }

var _ hostmod.Module = (*Module)(nil)

// New makes the module. r gets the agents of every VM.
func New(r *Registry) *Module { return &Module{r} }

// Name implements hostmod.Module.
func (*Module) Name() string { return "agent" }

// NewInstance implements hostmod.Module.
func (m *Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &instance{run: registry.NewRun(vm, m.registry.store, "agents", maxAgents)}, nil
}

type instance struct {
	hostmod.Plain
	run *registry.Run[key, Agent]
}

func (i *instance) Native() map[string]any {
	return map[string]any{"agent_register": luau.Func{Name: "agent_register", Do: i.register}}
}

func (i *instance) EndRun() { i.run.EndRun() }

// register: (name: string, config: {[string]: any}?) -> ()
func (i *instance) register(c *luau.Call) error {
	name, err := c.Text(0)
	if err != nil {
		return err
	}
	if name == "" || len(name) > maxName {
		return c.Argument(0, fmt.Sprintf("must be a name of 1 to %d bytes, got %d", maxName, len(name)))
	}
	config, err := c.MapOpt(1)
	if err != nil {
		return err
	}
	size, err := registry.Measure(config)
	if err != nil {
		return c.Argument(1, ": "+err.Error())
	}
	err = i.run.Add(c.Name(), key{i.run.Owner(), name}, Agent{name, config}, size+int64(len(name)))
	if errors.Is(err, registry.ErrTaken) {
		return &luau.Error{Code: "exists", Message: fmt.Sprintf("agent_register: this script has registered %q already; choose another name", name)}
	}
	return err
}
