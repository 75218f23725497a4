package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

func resolverOf(t testing.TB, dir string) engine.Resolver {
	t.Helper()
	r, err := module.New(module.Options{Script: filepath.Join(dir, "main.luau")})
	require.NoError(t, err)
	return r
}

// requireRuns runs the files' main.luau and gives what it printed.
func requireRuns(t *testing.T, files map[string]string) string {
	t.Helper()
	w, err := runFile(t, tree(t, files))
	require.NoError(t, err)
	return w.printed()
}

// B02: an error three modules deep names the module and lists who required it, with lines.
func TestB02ErrorInAModulesModule(t *testing.T) {
	for name, c := range map[string]struct{ three, want string }{
		"nil":        {"return nil", "module ./three returned nil"},
		"two values": {"return 1, 2", "module ./three returned 2 values"},
		"nothing":    {"local x = 1", "module ./three returned nothing"},
		"throws":     {"local x = 1\nerror('bad three')", "bad three"},
		"table":      {"error({code = 'mine', message = 'bad table'})", "bad table"},
		"no source":  {"local = 1", "three.luau:1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := runFile(t, tree(t, map[string]string{
				"main.luau":  "\nlocal one = require('./one')",
				"one.luau":   "-- one\n-- one\nreturn require('./two')",
				"two.luau":   "-- two\n\n\nreturn require('./three')",
				"three.luau": c.three,
			}))
			var e *luau.Error
			require.ErrorAs(t, err, &e)
			require.Contains(t, e.Error(), c.want)
			require.Contains(t, e.Error()+e.Traceback(), "three")
			for _, frame := range []string{"two.luau:4", "one.luau:3", "main.luau:2"} {
				require.Contains(t, e.Traceback(), frame)
			}
		})
	}
}

func TestB03AliasesAreRelativeToTheirFile(t *testing.T) {
	files := map[string]string{
		".luaurc":            `{"aliases": {"here": ".", "src": "./src"}}`,
		"main.luau":          "print(require('@src/a'), require('@here/b'))",
		"src/a.luau":         "return 'a' .. require('@here/b')",
		"b.luau":             "return 'b'",
		"jobs.luau":          "",
		"jobs/init.luau":     "return 'folder'",
		"elsewhere/x":        "",
		"src/jobs/init.luau": "return 'jobs'",
	}
	dir := tree(t, files)
	for _, from := range []string{dir, filepath.Join(dir, "elsewhere"), "/"} {
		t.Chdir(from)
		w, err := runFile(t, dir)
		require.NoError(t, err)
		require.Equal(t, "ab\tb\n", w.printed(), "from %s", from)
	}
	files["main.luau"] = "require('./jobs')"
	_, err := runFile(t, tree(t, files))
	require.Error(t, err)
	require.Equal(t, luau.Code(module.CodeAmbiguous), luau.CodeOf(err), "%v", err)
}

func TestRequireCycleIsNamed(t *testing.T) {
	_, err := runFile(t, tree(t, map[string]string{
		"main.luau": "require('./a')", "a.luau": "return require('./b')", "b.luau": "return require('./c')", "c.luau": "return require('./a')",
	}))
	require.ErrorContains(t, err, "./a -> ./b -> ./c -> ./a")
	_, err = runFile(t, tree(t, map[string]string{"main.luau": "require('./a')", "a.luau": "return require('./a')"}))
	require.ErrorContains(t, err, "./a -> ./a")
}

// Inside a metamethod modules run in place; a cycle through one is still a cycle.
func TestRequireCycleInsideAMetamethod(t *testing.T) {
	_, err := runFile(t, tree(t, map[string]string{
		"main.luau": "local t = setmetatable({}, {__index = function(_, k) return require(k) end}) return t['./a']",
		"a.luau":    "local t = setmetatable({}, {__index = function(_, k) return require(k) end}) return t['./b']",
		"b.luau":    "return require('./a')",
	}))
	require.ErrorContains(t, err, "./a -> ./b -> ./a")
}

// Each task holds one module and waits for the other's.
func TestRequireCycleAcrossTasks(t *testing.T) {
	w, err := runFile(t, tree(t, map[string]string{
		"main.luau": `
			for _, name in {"./a", "./b"} do
				__native.probe_spawn(function() print(name, pcall(require, name)) end)
			end`,
		"a.luau": "__native.sleep(5) return require('./b')",
		"b.luau": "__native.sleep(5) return require('./a')",
	}))
	require.NoError(t, err)
	out := w.printed()
	require.Contains(t, out, "./a\tfalse")
	require.Contains(t, out, "./b\tfalse")
	require.Contains(t, out, " -> ")
}

func TestRequireOnceForTwoTasks(t *testing.T) {
	out := requireRuns(t, map[string]string{
		"main.luau": `
			local seen = {}
			for i = 1, 3 do
				__native.probe_spawn(function()
					table.insert(seen, require("./m"))
					if #seen == 3 then print(seen[1] == seen[2] and seen[2] == seen[3], seen[1].n) end
				end)
			end`,
		"m.luau": "print('loading') __native.sleep(5) return {n = 7}",
	})
	require.Equal(t, "loading\ntrue\t7\n", out)
}

func TestRequireKeepsIdentity(t *testing.T) {
	out := requireRuns(t, map[string]string{
		"main.luau": `
			for _, name in {"./table", "./fn", "./buffer", "./thread", "./frozen"} do
				print(name, require(name) == require(name))
			end
			print(getmetatable(require("./table")).__index.x, require("./table").y, require("./false"), table.isfrozen(require("./frozen")))`,
		"table.luau":  "return setmetatable({}, {__index = {x = 1, y = 2}})",
		"fn.luau":     "return function() end",
		"buffer.luau": "return buffer.create(3)",
		"thread.luau": "return coroutine.create(function() end)",
		"false.luau":  "return false",
		"frozen.luau": "return table.freeze({1})",
	})
	require.Equal(t, "./table\ttrue\n./fn\ttrue\n./buffer\ttrue\n./thread\ttrue\n./frozen\ttrue\n1\t2\tfalse\ttrue\n", out)
}

func TestRequireInEveryPlace(t *testing.T) {
	for name, main := range map[string]string{
		"coroutine":       `coroutine.wrap(function() print(require("./m")) end)()`,
		"pcall":           `print(select(2, pcall(require, "./m")))`,
		"comparator":      `table.sort({2, 1}, function(a, b) m = require("./m") return a < b end) print(m)`,
		"gsub callback":   `print((("x"):gsub("x", function() return require("./m") end)))`,
		"index":           `print(setmetatable({}, {__index = function() return require("./m") end}).x)`,
		"index is itself": `print(setmetatable({}, {__index = function(_, k) return require(k) end})["./m"])`,
		"task":            `__native.probe_spawn(function() print(require("./m")) end)`,
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, "m\n", requireRuns(t, map[string]string{"main.luau": main, "m.luau": "__native.sleep(1) return require('./n')", "n.luau": "return 'm'"}))
		})
	}
}

// A module that yields at its top level has nobody to resume it.
func TestRequireOfAModuleThatYields(t *testing.T) {
	_, err := runFile(t, tree(t, map[string]string{"main.luau": "require('./m')", "m.luau": "coroutine.yield(1) return 1"}))
	require.ErrorContains(t, err, "coroutine.yield")
	out := requireRuns(t, map[string]string{
		"main.luau": `print(pcall(coroutine.wrap(function() return require('./m') end)))`, "m.luau": "coroutine.yield(1) return 1",
	})
	require.True(t, strings.HasPrefix(out, "false\t"), out)
}

func TestRequireDoesNotCacheFailure(t *testing.T) {
	out := requireRuns(t, map[string]string{
		"main.luau": `
			print(pcall(require, "./m"))
			_G.ready = true
			print(pcall(require, "./m"))
			print(package.loaded["./m"])`,
		"m.luau": "if not ready then error('not yet', 0) end return 'ready'",
	})
	require.Contains(t, out, "not yet")
	require.True(t, strings.HasSuffix(out, "\ntrue\tready\nready\n"), out)
}

// A failed load is an error for everyone who waited for it.
func TestRequireFailsForAllWhoWait(t *testing.T) {
	out := requireRuns(t, map[string]string{
		"main.luau": `for i = 1, 3 do __native.probe_spawn(function() print(pcall(require, "./m")) end) end`,
		"m.luau":    "__native.sleep(5) error('broken', 0)",
	})
	require.Equal(t, 3, strings.Count(out, "m.luau:1: broken\n"), out)
}

// In a comparator nothing can wait for a module that another task is loading.
func TestRequireOfAModuleBeingLoadedWhereNothingCanWait(t *testing.T) {
	out := requireRuns(t, map[string]string{
		"main.luau": `
			__native.probe_spawn(function() require("./m") print("loaded") end)
			__native.sleep(1)
			print(pcall(table.sort, {2, 1}, function(a, b) return require("./m") end))`,
		"m.luau": "__native.sleep(50) return 1",
	})
	require.Contains(t, out, "false")
	require.Contains(t, out, "still being loaded by another task")
	require.Contains(t, out, "loaded\n")
}

func TestRequireWrongArguments(t *testing.T) {
	w := newWorld(t)
	out := w.prints(`
		print(pcall(require)) print(pcall(require, 1)) print(pcall(require, {})) print(pcall(require, "x"))`)
	require.Contains(t, out, "require: argument 1 must be a string, got no value")
	require.Contains(t, out, "require: argument 1 must be a string, got table")
	require.Contains(t, out, "no modules are available here")
}

// Globals of a module are its own.
func TestRequireGlobals(t *testing.T) {
	require.Equal(t, "nil\t1\tnil\n", requireRuns(t, map[string]string{
		"main.luau": "mine = 1 local m = require('./m') print(theirs, m.seen, m.after)",
		"m.luau":    "theirs = 2 return {seen = mine, after = rawget(_G, 'theirs')}",
	}))
}
