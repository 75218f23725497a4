package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// grouped is a module without functions of its own in `__native`.
type grouped struct{ made *int }

func (grouped) Name() string { return "grouped" }

func (g grouped) NewInstance(hostmod.VM) (hostmod.Instance, error) { return g, nil }

func (g grouped) Exports() map[string]any {
	*g.made++
	double := func(c *luau.Call) error {
		n, err := c.Number(0)
		if err != nil {
			return err
		}
		return c.ReturnNumber(2 * n)
	}
	return map[string]any{"double": luau.Func{Name: "grouped.double", Do: double, Pure: true}, "limit": 7}
}

func (grouped) Native() map[string]any { return nil }
func (grouped) EndRun()                {}

func TestModulesAreMadeWhenAsked(t *testing.T) {
	made := 0
	w := newWorld(t, withModule(grouped{&made}))
	require.NoError(t, w.run(`assert(__native.nothing == nil and __native[1] == nil and __native.sleep)`))
	require.Zero(t, made)
	require.Equal(t, "6\t7\ttrue\n", w.prints(`
		local g = __native.grouped
		print(g.double(3), g.limit, g == __native.grouped)`))
	require.Equal(t, 1, made)
	for source, want := range map[string]string{
		"__native.grouped = nil":                       "attempt to modify a readonly table",
		"__native.grouped.limit = 8":                   "attempt to modify a readonly table",
		"setmetatable(__native, {})":                   "protected metatable",
		"getmetatable(__native).__index = print":       "attempt to index boolean with '__index'",
		"rawset(__native, 'x', 1)":                     "attempt to modify a readonly table",
		"__native.grouped.double('x')":                 "grouped.double: argument 1 must be a number, got string",
		"return __native[string.rep('x', 1000)].field": "attempt to index nil with 'field'",
	} {
		require.ErrorContains(t, w.run(source), want, source)
	}
}

func TestModulesAfterAReset(t *testing.T) {
	made := 0
	config := testConfig()
	config.Modules = append(config.Modules, grouped{&made})
	for _, source := range []string{
		"local g = __native.grouped function invoke(n) return g.double(n) end",
		"function invoke(n) return __native.grouped.double(n) end",
	} {
		p, err := engine.NewPool(config, engine.Program{Chunk: "=tool", Source: source}, engine.PoolOptions{})
		require.NoError(t, err)
		for n := range 5 {
			require.Equal(t, []any{float64(2 * n)}, invoke(t, p, n))
		}
		p.Close()
	}
}

// What a tool requires and computes at its top level is part of the image, and done once.
func TestRequireAtTheTopLevelIsKept(t *testing.T) {
	var printed strings.Builder
	made := 0
	config := testConfig()
	config.Modules = append(config.Modules, grouped{&made})
	config.Output = func(text []byte) { printed.Write(text) }
	config.Resolver = oneModule("print('loaded') return {n = __native.grouped.double(4)}")
	p, err := engine.NewPool(config, engine.Program{Chunk: "=tool", Source: `
		local m = require("m")
		function invoke(x) m.n += x return m.n, require("m") == m end`}, engine.PoolOptions{})
	require.NoError(t, err)
	defer p.Close()
	for range 6 {
		require.Equal(t, []any{9.0, true}, invoke(t, p, 1))
	}
	require.Equal(t, 2, strings.Count(printed.String(), "loaded"), "once to look, once for the image")
}

// oneModule resolves every name to the same source.
type oneModule string

func (m oneModule) Resolve(string, string) (module.Source, error) {
	return module.Source{ID: "m", Chunk: "=m", Code: []byte(m)}, nil
}
