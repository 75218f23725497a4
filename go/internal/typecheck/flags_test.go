package typecheck_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/checktest"
	"github.com/hukilau/hukilau/go/internal/typecheck"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Those that change what is reported and are not finished, as Luau itself says, and the new solver.
var experimental = []string{"LuauInstantiateInSubtyping", "LuauFixIndexerSubtypingOrdering", "LuauSolverV2"}

// The written list of the checker is what Luau has, and nothing else is on.
func TestFastFlags(t *testing.T) {
	out, err := exec.Command(checktest.Path(), "--flags").Output()
	require.NoError(t, err)
	on := 0
	for line := range strings.Lines(string(out)) {
		state, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, written, _ := strings.Cut(name, " ")
		require.NotEqual(t, "gone", state, "%s is no longer in Luau: take it out of rust/check/native/flags.inc", name)
		require.Equal(t, written == "written", state == "on", name)
		wanted := strings.HasPrefix(name, "Luau") && !strings.Contains(name, "Experimental")
		for _, other := range experimental {
			wanted = wanted && name != other
		}
		require.Equal(t, wanted, state == "on", "%s: is it in rust/check/native/flags.inc?", name)
		if state == "on" {
			on++
		}
	}
	require.Greater(t, on, 40)
}

// What the engine gives to scripts and what the checker knows are the same names.
func TestTheLibraryIsTheEngines(t *testing.T) {
	s, err := luau.New(luau.Options{})
	require.NoError(t, err)
	defer s.Close()
	names, err := s.Do(t.Context(), "=names", `
		local names = {}
		for _, name in { "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "print", "rawequal", "rawget",
			"rawlen", "rawset", "select", "setmetatable", "tonumber", "tostring", "type", "typeof", "unpack", "xpcall", "_VERSION" } do
			if _G[name] == nil then error(name) end
			table.insert(names, name)
		end
		for _, library in { "bit32", "buffer", "coroutine", "debug", "integer", "math", "os", "string", "table", "utf8", "vector" } do
			for name in _G[library] do
				table.insert(names, library .. "." .. name)
			end
		end
		return table.concat(names, "\n")`)
	require.NoError(t, err)
	var script strings.Builder
	count := 0
	for name := range strings.SplitSeq(names[0].(string), "\n") {
		script.WriteString("do local _ = " + name + " end\n")
		count++
	}
	require.Greater(t, count, 150)
	c, _ := checker(t, typecheck.Options{})
	require.Equal(t, "nothing\n", says(check(t, c, script.String())))
	for _, gone := range []string{"getfenv", "setfenv", "loadstring", "collectgarbage", "newproxy", "gcinfo", "os.execute", "os.getenv", "debug.sethook"} {
		findings := check(t, c, gone+"()")
		require.Len(t, findings, 1, gone)
		require.Equal(t, typecheck.UnknownFunction, findings[0].Kind, gone)
		require.Equal(t, typecheck.Error, findings[0].Severity, gone)
	}
}
