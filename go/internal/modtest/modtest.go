// Package modtest runs one host module in a State of its own, for the module's tests. It waits in
// place; the scheduler is the engine's and tested there.
package modtest

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// VM is a hostmod.VM that notes what its module does.
type VM struct {
	State   *luau.State
	Logs    []string
	Fields  []map[string]any // of the log records
	Slept   []time.Duration
	Awaited []string // the functions that called Await
	LogErr  error    // what Log answers
	EndedBy error    // the cause of the first End
	grants  hostmod.Grants
}

var _ hostmod.VM = (*VM)(nil)

// New makes a State with the module's functions in `__native`, and compares its stub with them.
func New(t testing.TB, m hostmod.Module, stub string) *VM {
	t.Helper()
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	vm := &VM{State: s}
	instance, err := m.NewInstance(vm)
	require.NoError(t, err)
	t.Cleanup(instance.EndRun)
	require.NotEmpty(t, m.Name())
	native, exports := maps.Clone(instance.Native()), instance.Exports()
	require.Equal(t, names(native), declared(field, stub), "the stub and the functions in __native differ")
	require.Equal(t, names(exports), declared(groupField, group(m.Name(), stub)), "the stub and the exports differ")
	if len(exports) > 0 {
		if native == nil {
			native = map[string]any{}
		}
		native[m.Name()] = luau.ReadOnly(exports)
	}
	require.NoError(t, s.SetGlobal("__native", luau.ReadOnly(native)))
	return vm
}

func names(m map[string]any) []string {
	list := make([]string, 0, len(m))
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// The fields of the stub's `declare __native`: functions one tab deep, and those of the module's table
// two tabs deep, functions and constants.
var (
	field      = regexp.MustCompile(`(?m)^\t(\w+): \(`)
	groupField = regexp.MustCompile(`(?m)^\t\t(\w+): `)
)

// group is what the stub declares inside of the module's table.
func group(name, stub string) string {
	_, inside, _ := strings.Cut(stub, "\n\t"+name+": {")
	inside, _, _ = strings.Cut(inside, "\n\t}")
	return inside
}

func declared(field *regexp.Regexp, stub string) []string {
	list := []string{}
	for _, match := range field.FindAllStringSubmatch(stub, -1) {
		list = append(list, match[1])
	}
	slices.Sort(list)
	return list
}

// Run runs source and gives its results.
func (v *VM) Run(t testing.TB, source string) []any {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, err := v.State.Do(ctx, "=test", source)
	require.NoError(t, err)
	return out
}

// Await implements hostmod.VM: it works in place.
func (v *VM) Await(c *luau.Call, work hostmod.Work) error {
	v.Awaited = append(v.Awaited, c.Name())
	values, err := work(context.Background())
	if err != nil {
		return err
	}
	return c.Return(values...)
}

// Sleep implements hostmod.VM: it notes the time and does not wait.
func (v *VM) Sleep(_ *luau.Call, d time.Duration) error {
	v.Slept = append(v.Slept, d)
	return nil
}

// End implements hostmod.VM: it notes the cause and ends nothing.
func (v *VM) End(cause error) {
	if v.EndedBy == nil {
		v.EndedBy = cause
	}
}

// Collect implements hostmod.VM.
func (v *VM) Collect() { _ = v.State.Collect() }

// Context implements hostmod.VM.
func (v *VM) Context() context.Context { return context.Background() }

// Charge implements hostmod.VM.
func (v *VM) Charge(n int64) bool { return v.State.Charge(n) }

// Uncharge implements hostmod.VM.
func (v *VM) Uncharge(n int64) { v.State.Uncharge(n) }

// Log implements hostmod.VM.
func (v *VM) Log(level hostmod.Level, message string, fields map[string]any) error {
	v.Fields = append(v.Fields, fields)
	v.Logs = append(v.Logs, level.String()+" "+message)
	return v.LogErr
}

// Grants implements hostmod.VM.
func (v *VM) Grants() *hostmod.Grants { return &v.grants }
