package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
)

// spoilers are what an invocation may try to leave for the next.
var spoilers = map[string]string{
	"string library":      `string.spoiled = 1`,
	"replace a function":  `string.upper = function() return "spoiled" end`,
	"string metatable":    `getmetatable("").__index = {spoiled = 1}`,
	"string's index":      `getmetatable("").__index.spoiled = 1`,
	"set string's meta":   `setmetatable("", {})`,
	"_G metatable":        `setmetatable(_G, {__index = function() return "spoiled" end})`,
	"global":              `spoiled = 1`,
	"_G":                  `_G.spoiled = 1`,
	"shadow a library":    `string = {spoiled = 1} math = nil print = nil`,
	"shadow in _G":        `_G.pcall = nil _G.table = {spoiled = 1}`,
	"rawset":              `rawset(math, "spoiled", 1)`,
	"table.insert":        `table.insert(table, "spoiled")`,
	"every library":       `for k, v in _G do if type(v) == "table" then pcall(rawset, v, "spoiled", 1) end end for _, l in {string, table, math, os, debug, coroutine, bit32, utf8, buffer, vector} do pcall(rawset, l, "spoiled", 1) end`,
	"clear libraries":     `for _, l in {string, table, math, os} do pcall(table.clear, l) end`,
	"natives":             `__native.spoiled = 1`,
	"rawset natives":      `rawset(__native, "spoiled", 1)`,
	"shadow natives":      `__native = {spoiled = 1}`,
	"package":             `package.loaded.spoiled = 1`,
	"debug.info's":        `local f = debug.info(1, "f") setfenv = f getfenv = f spoiled = getfenv`,
	"freeze":              `pcall(table.freeze, _G) pcall(table.freeze, string)`,
	"random seed":         `math.randomseed(42)`,
	"error's metatable":   `local _, e = pcall(__native.probe_number, "x") getmetatable(e).__tostring = function() return "spoiled" end`,
	"json's null":         `local n = __native.json_decode("[null]")[1] getmetatable(n).spoiled = 1`,
	"vector's metatable":  `getmetatable(vector.create(1, 2, 3)).__index = {spoiled = 1}`,
	"coroutine left over": `left = coroutine.create(function() coroutine.yield() end) coroutine.resume(left)`,
}

const checkSource = `
	function invoke(spoil)
		if spoil ~= nil then return pcall(spoil_it) end
		local seen = {}
		local function note(...)
			local t = table.pack(...)
			for i = 1, t.n do t[i] = tostring(t[i]) end
			table.insert(seen, table.concat(t, " "))
		end
		note(spoiled, left, setfenv, getfenv, loadstring, collectgarbage, newproxy)
		note(getmetatable(_G) ~= nil and getmetatable(_G).__index == nil, rawget(_G, "pcall"), type(pcall), ("a"):upper(), string.upper("a"))
		for _, library in {string, table, math, os, debug, coroutine, bit32, utf8, buffer, vector, __native, package.loaded} do
			local names = {}
			for k in library do table.insert(names, tostring(k)) end
			table.sort(names)
			note(table.isfrozen(library), table.unpack(names))
		end
		note(("x").spoiled, (string :: any).spoiled, type(getmetatable("").__index))
		note(debug.info(1, "s"), debug.info(print, "s"), debug.info(invoke, "n"))
		note(select(2, pcall(__native.probe_number, "x")))
		note(pcall(function() string.x = 1 end))
		mine = 5
		note(mine, _G.mine, rawget(_G, "mine"))
		return table.concat(seen, "\n")
	end`

// A13: what one invocation does to libraries and metatables, the next one does not see.
func TestA13InvocationsFindAPristineVM(t *testing.T) {
	config := testConfig()
	config.Modules = append(config.Modules, newProbe())
	invocations := func(t *testing.T, spoil string) *engine.Pool {
		t.Helper()
		source := "local function spoil_it() " + spoil + " end\n" + checkSource
		p, err := engine.NewPool(config, engine.Program{Chunk: "=tool", Source: source}, engine.PoolOptions{})
		require.NoError(t, err)
		t.Cleanup(p.Close)
		return p
	}
	want := invoke(t, invocations(t, "return"))
	require.NotContains(t, want[0], "spoiled")
	require.Contains(t, want[0], "5 5 5")
	for name, spoil := range spoilers {
		t.Run(name, func(t *testing.T) {
			p := invocations(t, spoil)
			for range 2 {
				_ = invoke(t, p, true)
				require.Equal(t, want, invoke(t, p))
			}
		})
	}
}
