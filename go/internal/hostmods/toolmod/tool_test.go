package toolmod_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// fake is a host that notes what it is asked.
type fake struct {
	seen   []string
	state  map[string]json.RawMessage
	closed int
}

func (f *fake) note(format string, args ...any) {
	f.seen = append(f.seen, fmt.Sprintf(format, args...))
}

func (f *fake) About() map[string]any  { return map[string]any{"id": "call-1"} }
func (f *fake) Config() map[string]any { return map[string]any{"url": "https://x"} }
func (f *fake) Tools() []string        { return []string{"add"} }
func (f *fake) State() toolmod.State   { return (*fakeState)(f) }

func (f *fake) Emit(_ context.Context, chunk []byte) error {
	f.note("emit %s", chunk)
	return nil
}

func (f *fake) Progress(_ context.Context, done, total float64, text string) error {
	f.note("progress %g %g %s", done, total, text)
	return nil
}

func (f *fake) CallTool(_ context.Context, name string, args []byte) ([]byte, error) {
	if name != "add" {
		return nil, errors.New("no such tool")
	}
	return args, nil
}

func (f *fake) Generate(_ context.Context, request []byte) ([]byte, error) { return request, nil }

func (f *fake) GenerateStream(_ context.Context, request []byte) (toolmod.Stream, error) {
	if string(request) == "fail" {
		return nil, errors.New("no stream")
	}
	return struct{ toolmod.Stream }{&pieces{of: f, left: []string{"a", "b"}}}, nil
}

func (f *fake) NewAgent(_ context.Context, name string, config []byte) (toolmod.Agent, error) {
	f.note("agent %s %s", name, config)
	return &pieces{of: f}, nil
}

func (f *fake) Elicit(_ context.Context, message string, schema []byte) ([]byte, error) {
	return []byte(message + string(schema)), nil
}

// pieces is a stream, and an agent that says what it hears.
type pieces struct {
	of   *fake
	left []string
}

func (p *pieces) Next(context.Context) ([]byte, error) {
	if len(p.left) == 0 {
		return nil, nil
	}
	first := p.left[0]
	p.left = p.left[1:]
	return []byte(first), nil
}

func (p *pieces) Close() { p.of.closed++ }

func (p *pieces) Input(_ context.Context, message []byte) error {
	p.left = append(p.left, string(message))
	return nil
}

func (p *pieces) NeedsInput() bool { return len(p.left) == 0 }

type fakeState fake

func (s *fakeState) Load(context.Context) (map[string]json.RawMessage, error) { return s.state, nil }

func (s *fakeState) Commit(_ context.Context, changes map[string]json.RawMessage) error {
	for key, value := range changes {
		if s.state[key] = value; value == nil {
			delete(s.state, key)
		}
	}
	return nil
}

func (s *fakeState) Get(_ context.Context, key string) (json.RawMessage, int64, error) {
	return s.state[key], int64(len(s.state)), nil
}

func (s *fakeState) Swap(_ context.Context, key string, version int64, value json.RawMessage) (bool, error) {
	if version != int64(len(s.state)) {
		return false, nil
	}
	s.state[key] = value
	return true, nil
}

// hosted is the module in runs of a host.
type hosted struct {
	toolmod.Module
	host toolmod.Host
}

func (h hosted) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return h.Module.NewInstance(hostedVM{vm, context.WithValue(context.Background(), toolmod.HostKey{}, h.host)})
}

type hostedVM struct {
	hostmod.VM
	ctx context.Context
}

func (v hostedVM) Context() context.Context { return v.ctx }

func TestWhatAScriptAsksReachesTheHost(t *testing.T) {
	f := &fake{state: map[string]json.RawMessage{"n": json.RawMessage("1"), "old": json.RawMessage("2")}}
	vm := modtest.New(t, hosted{host: f}, toolmod.Stub)
	out := vm.Run(t, `
		local tool = __native.tool
		tool.emit('{"text":"x"}')
		tool.progress(1, 2, "half")
		local added = tool.call("add", '{"a":1}')
		local before = tool.state_load().n
		tool.state_commit({ n = "5", old = false })
		local value, version = tool.state_get("n")
		local swapped, again = tool.state_swap("n", version, "6"), tool.state_swap("n", 99, "7")
		local none = tool.state_get("never")
		return tool.about().id, tool.config().url, tool.tools()[1], added, before, value, swapped, again, none == nil,
			tool.generate("g"), tool.elicit("Sure?", "{}")`)
	require.Equal(t, []any{"call-1", "https://x", "add", `{"a":1}`, "1", "5", true, false, true, "g", "Sure?{}"}, out)
	require.Equal(t, []string{`emit {"text":"x"}`, "progress 1 2 half"}, f.seen)
	require.Equal(t, map[string]json.RawMessage{"n": json.RawMessage("6")}, f.state)
}

func TestStreamsAndAgents(t *testing.T) {
	f := &fake{}
	vm := modtest.New(t, hosted{host: f}, toolmod.Stub)
	out := vm.Run(t, `
		local tool = __native.tool
		local id = tool.stream("s")
		local text = tool.next(id) .. tool.next(id)
		local over = tool.next(id) == nil
		tool.close(id)
		tool.close(id)
		local ok, err = pcall(tool.next, id)
		local agent = tool.agent("helper", "{}")
		tool.input(agent, "hello")
		local waits = tool.needs_input(agent)
		local said = tool.next(agent)
		local failed, why = pcall(tool.stream, "fail")
		local no, wrong = pcall(tool.input, tool.stream("s"), "x")
		return text, over, ok, err.code, waits, said, tool.needs_input(agent), failed, why.message, wrong.code`)
	require.Equal(t, []any{"ab", true, false, "closed", false, "hello", true, false, "no stream", "invalid_argument"}, out)
	require.Equal(t, 1, f.closed)
}

func TestOpenStreamsAreLimitedAndEndWithTheRun(t *testing.T) {
	f := &fake{}
	t.Run("run", func(t *testing.T) {
		vm := modtest.New(t, hosted{host: f}, toolmod.Stub)
		out := vm.Run(t, `
			for i = 1, 100 do
				assert(not pcall(__native.tool.stream, "fail"))
			end
			for i = 1, 1000 do
				local ok, err = pcall(__native.tool.stream, "s")
				if not ok then return i, err.code end
			end`)
		require.Equal(t, []any{65.0, "limit"}, out)
	})
	require.Equal(t, 64, f.closed)
}

func TestWithoutACallThereIsNothing(t *testing.T) {
	vm := modtest.New(t, toolmod.Module{}, toolmod.Stub)
	out := vm.Run(t, `
		local codes = {}
		for name, args in { about = {}, config = {}, tools = {}, emit = { "x" }, progress = { 1 }, call = { "a", "b" }, generate = { "x" },
			elicit = { "a", "b" }, state_load = {}, state_get = { "x" }, stream = { "x" } } do
			local ok, err = pcall(__native.tool[name], unpack(args))
			assert(not ok)
			codes[err.code] = true
		end
		return codes`)
	require.Equal(t, []any{map[string]any{"not_available": true}}, out)
}
