// Package sdkmod is what a script reaches of the functions of others: sources, which are MCP servers and OpenAPI
// documents, and their functions; results that are kept; and the files of its session. Scripts do not use it
// themselves: `sdk` is made on top of it. Values cross as texts, most of them JSON.
package sdkmod

import (
	"context"
	_ "embed"
	"sync/atomic"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed sdk.d.luau
var Stub string

// Takes says which arguments a function takes.
type Takes int

// The kinds of functions, by their arguments.
const (
	Params Takes = 1 << iota // a table of parameters
	Body                     // a request body; after the parameters, where there are both
)

// Prelude is the Luau that makes `sdk`: it goes in front of what is around a script, in one chunk with it, and gives
// the local variable `gateway`.
//
//go:embed sdk.luau
var Prelude string

// Function is what a script is told of a function.
type Function struct {
	Takes Takes
	Label string // its full name as a script writes it: "sdk.github.create_issue"
}

// How a script wants the result of a call.
const (
	Direct = "direct" // as itself
	Parsed = "parsed" // likewise, and a text that is JSON as its value
	Whole  = "whole"  // as the upstream server gave it
)

// Kinds of texts that a call gives.
const (
	JSON   = "json"
	Text   = "text" // of a result that is a text, or bytes
	Absent = "none"
)

// Script is what runs, and how.
type Script struct {
	Chunk string
	Code  *luau.Bytecode
	// MustSay makes a script without result() an error.
	MustSay bool
}

// Host is what one run offers to its script. Its methods may be called from any goroutine. Errors are raised in
// the script.
type Host interface {
	// Script is what the run is for; nil: it is a tool with a script of its own.
	Script() *Script
	// Sources are the names of the sources that the script may call.
	Sources() []string
	// Source says whether there is a source of that name, and gives the name that it is listed with. The error says
	// which there are.
	Source(name string) (string, error)
	// Functions are the names of a source's functions.
	Functions(source string) []string
	// Function finds a function of a source. The error says which name was meant.
	Function(source, name string) (*Function, error)
	// Split finds the source and the function in a full name. The error says which name was meant.
	Split(name string) (source, function string, err error)
	// Operation finds the source of an operation whose name is the only one; "" where there is none.
	Operation(name string) string
	// Call calls a function with JSON texts; "" is what was not given. Where raw, body is the request body as it is.
	Call(ctx context.Context, source, name, params, body string, raw bool, as string) (kind, text string, err error)
	// Kept gives a part of a result that was kept: path leads into it, and from and to are the first and last item,
	// or character, of what is there; 0 is not given.
	Kept(handle, path string, from, to int) (kind, text string, err error)
	// Files are those of the session.
	Files() Files
}

// Files are those that a script may read and write. Paths are relative, with slashes.
type Files interface {
	Read(ctx context.Context, path string) (string, error)
	Write(ctx context.Context, path, text string, add bool) error
	// List gives the files below a folder as JSON: [{"path", "size"}]; "" is all.
	List(ctx context.Context, folder string) (string, error)
	Remove(ctx context.Context, path string) error
}

// HostKey is the key under which the context of a run gives its [Host].
type HostKey struct{}

// Module is the module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "sdk" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm: vm}, nil }

type instance struct {
	hostmod.Plain
	vm      hostmod.VM
	started map[int]*started // calls of this run that nobody has waited for
	last    int
	sending *atomic.Int64 // bytes of the arguments of this run's calls; nil: there was none
}

func (i *instance) Exports() map[string]any {
	exports := map[string]any{}
	for name, f := range map[string]struct {
		shown string
		do    func(*luau.Call) error
	}{
		"script": {"sdk", i.script}, "sources": {"sdk", i.sources}, "source": {"sdk", i.source}, "functions": {"sdk", i.functions},
		"find": {"sdk", i.function}, "operation": {"sdk", i.operation}, "split": {"call_tool", i.split}, "call": {"sdk", i.call},
		"start": {"sdk", i.start}, "wait": {"await", i.wait}, "kept": {"read_result", i.kept},
		"read": {"scratch.read", i.read}, "write": {"scratch.write", i.write}, "list": {"scratch.list", i.list}, "remove": {"scratch.remove", i.remove},
	} {
		exports[name] = luau.Func{Name: f.shown, Do: f.do, MayWait: true}
	}
	return exports
}

// host is that of the run.
func (i *instance) host(c *luau.Call) (Host, error) {
	if h, ok := i.vm.Context().Value(HostKey{}).(Host); ok {
		return h, nil
	}
	return nil, &luau.Error{Code: "not_available", Message: c.Name() + ": no sources are reached from here"}
}
