// Package toolmod is what the script of a tool reaches of its host: its call, its configuration, its state,
// what it tells the caller meanwhile, models, agents and other tools. Scripts do not use it themselves: `ctx` and
// `context` are made on top of it. Values cross as JSON texts, so that arrays, nulls and digits stay what they are.
package toolmod

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed tool.d.luau
var Stub string

// Host is what one call of a tool offers to its script. Its methods may be called from any goroutine. Errors
// are raised in the script.
type Host interface {
	// About is what `ctx.call` says: id, caller, deadline and so on.
	About() map[string]any
	// Config is the tool's configuration; it is not changed.
	Config() map[string]any
	// Emit sends a chunk, as JSON, to the caller.
	Emit(ctx context.Context, chunk []byte) error
	// Progress tells how much of total is done; total 0 is unknown.
	Progress(ctx context.Context, done, total float64, text string) error
	// State is that of the agent or session which the call belongs to.
	State() State
	// CallTool calls another tool and gives its result as JSON.
	CallTool(ctx context.Context, name string, args []byte) ([]byte, error)
	// Tools are the names that CallTool takes.
	Tools() []string
	// Generate answers a request to a model, both as JSON.
	Generate(ctx context.Context, request []byte) ([]byte, error)
	// GenerateStream does so in pieces.
	GenerateStream(ctx context.Context, request []byte) (Stream, error)
	// NewAgent makes an agent.
	NewAgent(ctx context.Context, name string, config []byte) (Agent, error)
	// Elicit asks the user of the client; answer and schema are JSON.
	Elicit(ctx context.Context, message string, schema []byte) ([]byte, error)
}

// State is the state of an agent or a session: JSON texts by key.
type State interface {
	Load(ctx context.Context) (map[string]json.RawMessage, error)
	// Commit writes all changes in one transaction; nil takes a key away.
	Commit(ctx context.Context, changes map[string]json.RawMessage) error
	// Get gives a value, nil where there is none, and its version.
	Get(ctx context.Context, key string) (value json.RawMessage, version int64, err error)
	// Swap writes a value where the version is still the same; false where it is not. nil takes the key away.
	Swap(ctx context.Context, key string, version int64, value json.RawMessage) (bool, error)
}

// Stream gives an answer in pieces. It is used by one goroutine at a time; Close may come from any.
type Stream interface {
	// Next gives the next piece as JSON; nil at the end.
	Next(ctx context.Context) ([]byte, error)
	Close()
}

// Agent is an agent that a script made.
type Agent interface {
	Stream // of what it answers to the last input
	Input(ctx context.Context, message []byte) error
	NeedsInput() bool
}

// HostKey is the key under which the context of a run gives its [Host].
type HostKey struct{}

// Module is the module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "tool" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm: vm}, nil }

type instance struct {
	hostmod.Plain
	vm      hostmod.VM
	streams map[uint64]Stream // open ones of this run, agents among them
	last    uint64
}

// CallName is how errors, the log and traces call the function that calls another tool.
const CallName = "ctx.tools.call"

// exported is a function, and what scripts call it: that is its name in errors, in tracebacks and in the log.
type exported struct {
	shown string
	do    func(*luau.Call) error
}

func (i *instance) Exports() map[string]any {
	exports := map[string]any{}
	for name, f := range map[string]exported{
		"about": {"ctx.call", i.about}, "config": {"ctx.config", i.config}, "emit": {"ctx.emit", i.emit},
		"progress": {"ctx.progress", i.progress}, "elicit": {"ctx.elicit", i.elicit},
		"tools": {"ctx.tools.list", i.tools}, "call": {CallName, i.call},
		"state_load": {"ctx.state", i.stateLoad}, "state_commit": {"ctx.save_state", i.stateCommit},
		"state_get": {"ctx.update_state", i.stateGet}, "state_swap": {"ctx.update_state", i.stateSwap},
		"generate": {"ctx.generate", i.generate}, "stream": {"ctx.generate_stream", i.stream},
		"agent": {"ctx.create_agent", i.agent}, "input": {"agent.input", i.input}, "next": {"agent.iter", i.next},
		"needs_input": {"agent.needs_input", i.needsInput}, "close": {"agent.close", i.close},
		"seed": {"math.random", i.seed},
	} {
		exports[name] = luau.Func{Name: f.shown, Do: f.do, MayWait: true}
	}
	return exports
}

func (i *instance) EndRun() {
	for _, s := range i.streams {
		s.Close()
	}
	i.streams = nil
}

// host is that of the run.
func (i *instance) host(c *luau.Call) (Host, error) {
	if h, ok := i.vm.Context().Value(HostKey{}).(Host); ok {
		return h, nil
	}
	return nil, &luau.Error{Code: "not_available", Message: c.Name() + ": there is no call of a tool under way"}
}
