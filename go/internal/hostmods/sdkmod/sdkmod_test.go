package sdkmod_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// fake is a host that notes what it is asked.
type fake struct {
	script *sdkmod.Script
	mu     sync.Mutex
	seen   []string
	gate   chan struct{} // a call of "wait" ends when it closes, or with its context
	ended  chan error    // how that ended
}

func (f *fake) Script() *sdkmod.Script               { return f.script }
func (f *fake) Sources() []string                    { return []string{"maths"} }
func (f *fake) Functions(string) []string            { return []string{"add", "wait"} }
func (f *fake) Split(string) (string, string, error) { return "maths", "add", nil }
func (f *fake) Files() sdkmod.Files                  { return (*fakeFiles)(f) }
func (f *fake) Operation(name string) string         { return map[string]string{"op": "maths"}[name] }
func (f *fake) Kept(handle, path string, from, to int) (string, string, error) {
	return sdkmod.Text, fmt.Sprint(handle, path, from, to), nil
}

func (f *fake) Source(name string) (string, error) {
	if name != "maths" {
		return "", errors.New("no source")
	}
	return name, nil
}

func (f *fake) Function(source, name string) (*sdkmod.Function, error) {
	return &sdkmod.Function{Takes: sdkmod.Params | sdkmod.Body, Label: source + "." + name}, nil
}

func (f *fake) Call(ctx context.Context, source, name, params, body string, raw bool, as string) (kind, text string, err error) {
	f.mu.Lock()
	f.seen = append(f.seen, fmt.Sprint(source, " ", name, " ", params, " ", body, " ", raw, " ", as))
	f.mu.Unlock()
	switch name {
	case "fail":
		return "", "", &luau.Error{Code: "upstream", Message: "it failed"}
	case "wait":
		select {
		case <-f.gate:
		case <-ctx.Done():
			f.ended <- ctx.Err()
			return "", "", ctx.Err()
		}
	}
	return sdkmod.JSON, "7", nil
}

type fakeFiles fake

func (f *fakeFiles) Read(_ context.Context, path string) (string, error) {
	return "text of " + path, nil
}

func (f *fakeFiles) Write(_ context.Context, path, text string, add bool) error {
	f.seen = append(f.seen, fmt.Sprint("write ", path, " ", text, " ", add))
	return nil
}

func (f *fakeFiles) List(_ context.Context, folder string) (string, error) {
	return "[" + folder + "]", nil
}

func (f *fakeFiles) Remove(_ context.Context, path string) error {
	f.seen = append(f.seen, "remove "+path)
	return nil
}

// hosted is the module in runs of a host.
type hosted struct {
	sdkmod.Module
	host sdkmod.Host
}

func (h hosted) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return h.Module.NewInstance(hostedVM{vm, context.WithValue(context.Background(), sdkmod.HostKey{}, h.host)})
}

type hostedVM struct {
	hostmod.VM
	ctx context.Context
}

func (v hostedVM) Context() context.Context { return v.ctx }

func TestWhatAScriptAsksReachesTheHost(t *testing.T) {
	f := &fake{}
	vm := modtest.New(t, hosted{host: f}, sdkmod.Stub)
	out := vm.Run(t, `
		local sdk = __native.sdk
		local takes, label = sdk.find("maths", "add")
		local kind, text = sdk.call("maths", "add", "direct", "{}", "b\255", true)
		local _, kept = sdk.kept("r1", "a.b", 1, 2)
		sdk.write("a", "x", true)
		sdk.remove("a")
		local ok, err = pcall(sdk.source, "other")
		return sdk.sources()[1], sdk.source("maths"), sdk.functions("maths")[2], takes, label, kind, text, kept, sdk.read("a"), sdk.list(""),
			sdk.operation("op"), sdk.operation("none"), ok, sdk.script() == nil`)
	require.Equal(t, []any{
		"maths", "maths", "wait", 3.0, "maths.add", "json", "7", "r1a.b1 2", "text of a", "[]", "maths", "", false, true,
	}, out)
	require.Equal(t, []string{"maths add {} b\xff true direct", "write a x true", "remove a"}, f.seen)
}

// A call that was begun goes on at once, is waited for once, and ends with the run.
func TestCallsThatAreBegun(t *testing.T) {
	f := &fake{gate: make(chan struct{}), ended: make(chan error, 1)}
	vm := modtest.New(t, hosted{host: f}, sdkmod.Stub)
	close(f.gate)
	out := vm.Run(t, `
		local sdk = __native.sdk
		local id = sdk.start("maths", "wait", "direct", "{}", "", false)
		local _, text = sdk.wait(id)
		local again, err = pcall(sdk.wait, id)
		local failed, why = pcall(sdk.wait, sdk.start("maths", "fail", "direct", "", "", false))
		return text, again, failed, why.message`)
	require.Equal(t, []any{"7", false, false, "it failed"}, out)
}

func TestCallsEndWithTheRun(t *testing.T) {
	f := &fake{gate: make(chan struct{}), ended: make(chan error, 1)}
	t.Run("run", func(t *testing.T) {
		vm := modtest.New(t, hosted{host: f}, sdkmod.Stub)
		vm.Run(t, `__native.sdk.start("maths", "wait", "direct", "{}", "", false)`)
	}) // EndRun is called at its end
	require.ErrorIs(t, <-f.ended, context.Canceled)
}

// The function that a run is for comes with the run.
func TestScriptOfTheRun(t *testing.T) {
	code, err := luau.Compile("=script", "return 1, ...", luau.CompileOptions{})
	require.NoError(t, err)
	vm := modtest.New(t, hosted{host: &fake{script: &sdkmod.Script{Chunk: "=script", Code: code, MustSay: true}}}, sdkmod.Stub)
	require.Equal(t, []any{1.0, 2.0, true}, vm.Run(t, `local main, must = __native.sdk.script() local a, b = main(2) return a, b, must`))
}

func TestOutsideOfARun(t *testing.T) {
	vm := modtest.New(t, sdkmod.Module{}, sdkmod.Stub)
	require.Equal(t, []any{false, "not_available"}, vm.Run(t, `local ok, err = pcall(__native.sdk.sources) return ok, err.code`))
}
