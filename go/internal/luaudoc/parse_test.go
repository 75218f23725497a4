package luaudoc

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, source string) *Module {
	t.Helper()
	m, err := Parse("m", Source{"@m.luau", source}, nil)
	require.NoError(t, err)
	return m
}

// lines are the members of a module as text, each with its comment.
func lines(m *Module) []string {
	var list []string
	for _, found := range m.Members() {
		line, comment := found.Name, ""
		switch {
		case found.Type != nil:
			line, comment = found.Type.Source, found.Type.Comment
		case found.Field != nil:
			line, comment = line+": "+found.Field.Type, found.Field.Comment
		case found.Value.Kind == Function:
			line, comment = found.Value.Signature.Text(line, 1000), found.Value.Comment
		case found.Value.Kind == Link:
			line, comment = line+" -> "+found.Value.Module, found.Value.Comment
		default:
			line, comment = line+": "+found.Value.Type, found.Value.Comment
		}
		if comment != "" {
			line += " -- " + comment
		}
		list = append(list, line)
	}
	return list
}

func TestValues(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   []string
	}{
		"a table with functions": {
			"local M = {}\n-- Adds.\nfunction M.add(a: number, b: number): number return a + b end\n\nfunction M.plain() end\nreturn M",
			[]string{"function m.add(a: number, b: number): number -- Adds.", "function m.plain()"},
		},
		"frozen, with assignments": {
			"local M = {}\n-- One.\nM.a = function(x: string) end\nM.b, M.c = 1, 'x' -- beside is no comment above\nreturn table.freeze(M)",
			[]string{"function m.a(x: string) -- One.", "m.b: number", "m.c: string"},
		},
		"a module that is required later": {
			"local M = {\n\t-- Later.\n\ta = (nil :: any) :: typeof(require('@self/a')),\n\tb = (nil :: any) :: typeof(f('b')),\n}\nreturn table.freeze(setmetatable(M, {}))",
			[]string{"m.a -> @self/a -- Later.", "m.b: typeof(f('b'))"},
		},
		"a literal": {
			"return table.freeze({\n\t-- One.\n\ta = function<T>(x: T): T end,\n\tb = true, -- Two.\n\t['c'] = 1, [1] = 2, 3,\n})",
			[]string{"function m.a<T>(x: T): T -- One.", "m.b: boolean -- Two.", "m.c: number"},
		},
		"local functions by name": {
			"-- The real one.\nlocal function f(...: any): ...string end\nreturn { f = f, -- Another.\n\t-- Its own.\n\tg = f }",
			[]string{"function m.f(...: any): ...string -- Another.", "function m.g(...: any): ...string -- Its own."},
		},
		"aliases of members": {
			"local M = {}\n-- Escapes.\nfunction M.quote(s: string): string end\nM.escape = M.quote\nreturn M",
			[]string{"function m.quote(s: string): string -- Escapes.", "function m.escape(s: string): string -- Escapes."},
		},
		"tables in tables": {
			"local inner = {}\n-- Runs.\nfunction inner.run() end\nlocal M = { inner = table.freeze(inner) }\n-- A clock.\nM.clock = {}\n-- Stops.\nfunction M.clock.stop() end\nreturn M",
			[]string{"m.inner: ", "function m.inner.run() -- Runs.", "m.clock:  -- A clock.", "function m.clock.stop() -- Stops."},
		},
		"methods": {
			"local C = {}\nC.__index = C\nfunction C.new(): any end\nfunction C:go(n: number) end\nfunction C.stop(self: any) end\nfunction C.__tostring(self) end\nC._hidden = 1\nreturn C",
			[]string{"function m.new(): any", "function m:go(n: number)", "function m:stop()"},
		},
		"annotated and cast": {
			"local x: { string } = f()\nlocal M = { x = x, y = g() :: number, z = {} :: any, f = h() :: (a: string) -> () }\nreturn M",
			[]string{"m.x: { string }", "m.y: number", "m.z: ", "function m.f(a: string)"},
		},
		"what a function of the file returns": {
			"local function hook(name: string): (body: () -> ()) -> () end\nreturn { before = hook('x') }",
			[]string{"function m.before(body: () -> ())"},
		},
		"other modules": {"local x = require('./x')\nreturn { x = x, y = require(\"@self/y\") }", []string{"m.x -> ./x", "m.y -> @self/y"}},
		"a function":    {"-- Top.\n\n-- Doubles.\nreturn function(a: number): number end", []string{"function m(a: number): number -- Doubles."}},
		"nothing":       {"print('x')", nil},
		"a number":      {"return 1", nil},
		"export":        {"export local a: string = f()\n-- F.\nexport function f(x) end\nexport const c = 1", []string{"m.a: string", "function m.f(x) -- F.", "m.c: number"}},
		"in blocks": {
			"local M = {}\ndo\n\tlocal n = 1\n\t-- In a block.\n\tfunction M.f() end\nend\nif x then function M.g() end end\nreturn M",
			[]string{"function m.f() -- In a block."},
		},
		"around itself": {"local M = {}\nM.self = M\nM.a = M.b\nM.b = M.a\nlocal q = q\nM.q = q\nreturn M", []string{"m.self: ", "m.a: ", "m.b: ", "m.q: "}},
		"declared": {
			"declare lib: {\n\t-- Works.\n\twork: (a: string, ...any) -> (boolean, string?),\n\tsize: number,\n}\n-- F.\ndeclare function f<T>(x: T): T\ndeclare class C extends D\n\t-- X.\n\tx: number\n\tfunction go(self, y: string): ()\nend\ntype Own = string",
			[]string{
				"lib: ", "function lib.work(a: string, ...: any): (boolean, string?) -- Works.", "lib.size: number",
				"function f<T>(x: T): T -- F.",
				"declare class C extends D\n\t-- X.\n\tx: number\n\tfunction go(self, y: string): ()\nend", "C.x: number -- X.", "C.go: (self, y: string): ()",
				"type Own = string",
			},
		},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, lines(read(t, c.source))) })
	}
}

func TestTypes(t *testing.T) {
	m := read(t, `
export type Options = {
	-- Seconds.
	timeout: number?, -- not this one
	retries: number?, -- how often
	read name: string; ["a b"]: number, [string]: any,
	call: <T>(x: T, ...any) -> (T, ...any),
	nested: {
		deep: boolean, -- x
	},
}
-- Either.
export type Either<T, U...> = | T | { read T } | ((U...) -> ...string)?
type Hidden = { a: number }
local C = {}
function C.go(self: C, n: number) end
export type C = typeof(setmetatable({} :: Hidden, C))
export type function make(t) return t end
`)
	assert.Equal(t, []string{
		"type Options = {\n\t-- Seconds.\n\ttimeout: number?, -- not this one\n\tretries: number?, -- how often\n\tread name: string; [\"a b\"]: number, [string]: any,\n\tcall: <T>(x: T, ...any) -> (T, ...any),\n\tnested: {\n\t\tdeep: boolean, -- x\n\t},\n}",
		"m.Options.timeout: number? -- Seconds.", "m.Options.retries: number? -- how often", "m.Options.name: string",
		"m.Options.call: <T>(x: T, ...any) -> (T, ...any)", "m.Options.nested: { deep: boolean }",
		"type Either<T, U...> = | T | { read T } | ((U...) -> ...string)? -- Either.",
		"type C = {\n\ta: number,\n}", "function m.C:go(n: number)", "m.C.a: number",
		"type function make(t)",
	}, lines(m))
	require.True(t, m.Types[0].Fields[3].Function)
	require.Equal(t, "<T, U...>", m.Types[1].Generics)
}

func TestCommentsOfModules(t *testing.T) {
	for source, want := range map[string]string{
		"--!strict\n-- A.\n-- B.\n\nlocal x = 1":           "A.\nB.",
		"-- A.\nlocal M = {}\nreturn M":                    "A.",
		"-- A.\n\n-- Of the type.\nexport type T = string": "A.",
		"-- Of the function.\nlocal function f() end":      "",
		"-- A.\n\n-- B.\n\nreturn {}":                      "A.\n\nB.",
		"--[[ A ]]\nreturn {}":                             "A",
		"--[==[\n  A\n    B ]]\n]==]\nreturn {}":           "A\n  B ]]\n",
		"--- A.\n----------\n--\n--  B\nreturn {}":         "A.\n\n\n B",
		"-- A only": "A only",
		"--!native\r\n-- A.\r\n--[[\r\n\tB\r\n\t\tC\r\n]]\r\nreturn 1": "A.\nB\n\tC",
	} {
		assert.Equal(t, strings.Trim(want, "\n"), read(t, source).Comment, "%q", source)
	}
}

func TestErrors(t *testing.T) {
	for source, want := range map[string]string{
		"local x = \n":                     "m.luau:2: expected an expression, got the end of the file",
		"\nfunction f()\n\nprint()":        "m.luau:4: expected `end` to close the function of line 2, got the end of the file",
		"return {\n1,\n":                   "m.luau:3: expected `}` to close the table of line 1, got the end of the file",
		"--[[ never":                       "m.luau:1: the comment that begins here has no end: ]] is missing",
		"x = [==[ ]=]":                     "m.luau:1: the string that begins here has no end: ]==] is missing",
		"x = 'a\n'":                        "m.luau:1: the string that begins here has no end in its line",
		"x = `a {b`":                       "m.luau:1: the string that begins here has no end",
		"local t: {a: } = 1":               "m.luau:1: expected a type, got `}`",
		"end":                              "m.luau:1: expected a statement, got `end`",
		"x, y":                             "m.luau:1: expected `=`, got the end of the file",
		"local 1 = 2":                      "m.luau:1: expected a name, got `1`",
		"export x = 1":                     "m.luau:1: expected `type`, `local`, `const` or `function`, got `x`",
		"x = " + strings.Repeat("(", 1000): "m.luau:1: this is nested too deeply",
		strings.Repeat("`{\n", 1000):       "m.luau:401: strings are nested too deeply",
		"x = \x1b[31m":                     `m.luau:1: expected an expression, got "\x1b"`,
		"x = $" + strings.Repeat("x", 99):  "m.luau:1: expected an expression, got `$`",
		strings.Repeat("x", 99) + " @":     "m.luau:1: expected",
		"local '" + strings.Repeat("é", 40) + "'": "m.luau:1: expected a name, got `'" + strings.Repeat("é", 19) + "`...",
	} {
		_, err := Parse("m", Source{"@m.luau", source}, nil)
		var e *Error
		require.True(t, errors.As(err, &e), "%q: %v", source, err)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%q: %s", source, err)
	}
}

func TestSyntaxThatIsRead(t *testing.T) {
	for _, source := range []string{
		"local s = `a {`b {c}` .. '}'} \\{ {{1}}`\nlocal t = [[x]] .. 'a\\z\n  b' .. \"\\\"\"",
		"for i, v: number in pairs(t) do if i then continue elseif v then break else return end end",
		"local x = if a then b elseif c then d else e\nx += 1 x ..= 'a' x //= 2",
		"repeat local a = 1 until a > 0x_ff and 1e-5 < .5 or not #x == -1_000i",
		"@native @[deprecated {use = 'x'}, checked] local function f<T, U...>(a: T, ...: U...): (T, ...any) end",
		"local f = @native function() end",
		"f<<string, {number}>>(1) a.b['c']:d'e'{} ((g))()",
		"local x: typeof(f(1)) & {[string]: any} | 'a' | true | nil = nil",
		"type F = @checked (a: number?, b: (...string) -> ()) -> ...any",
		"local type = type(x) type = 1 export = 2 declare = 3 continue = 4 const = 5 local read: { read: number, read write: string }",
		"if local x = f() then end while const y = g() do end",
		"type = type\ntype(x)\nexport(y)",
		"local a <const> = 1",
	} {
		_, err := Parse("m", Source{"@m.luau", source}, nil)
		if strings.Contains(source, "<const>") {
			require.Error(t, err, "that is Lua 5.4")
			continue
		}
		require.NoError(t, err, source)
	}
}

func TestOtherModules(t *testing.T) {
	sources := map[string]string{
		"./task": "-- A task.\nexport type Task = { state: string }\nexport type Odd<T> = { T }\nlocal M = {}\n-- Starts.\nfunction M.start(): Task end\nreturn M",
		"./loop": "local m = require('./loop')\nlocal M = {}\nM.x = m.x\nreturn M",
		"lib":    "export type T = string\nreturn {}",
		"./bad":  "local",
	}
	asked := map[string]int{}
	load := func(chunk, name string) (Source, error) {
		asked[name]++
		if text, ok := sources[name]; ok {
			return Source{"@" + name, text}, nil
		}
		return Source{}, errors.New("not found")
	}
	m, err := Parse("m", Source{"@m.luau", `
local task, loop, lib = require("./task"), require("./loop"), require("lib")
local bad, none = require("./bad"), require("./none")
export type Task = task.Task
-- Ours.
export type Job = task.Task
export type Text = lib.T
export type None = none.T
local M = { loop = loop.x, bad = bad.x, none = none.x }
M.start = task.start
return M`}, load)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"m.loop: ", "m.bad: ", "m.none: ", "function m.start(): Task -- Starts.",
		"type Task = { state: string } -- A task.", "m.Task.state: string",
		"type Job = task.Task -- Ours.", "m.Job.state: string", "type Text = lib.T", "type None = none.T",
	}, lines(m))
	assert.Equal(t, 1, asked["./task"])

	m, err = Parse("m", Source{"@m.luau", `return require("./task")`}, load)
	require.NoError(t, err)
	assert.Equal(t, []string{"function m.start(): Task -- Starts."}, lines(m))
}

// size is how many values a module has, and how many bytes of source were put into words for them.
func size(m *Module) (values, bytes int) {
	var walk func([]*Value)
	walk = func(list []*Value) {
		for _, v := range list {
			values++
			bytes += len(v.Type)
			if v.Signature != nil {
				bytes += len(v.Signature.Returns) + len(strings.Join(v.Signature.Params, ""))
			}
			walk(v.Members)
		}
	}
	walk(m.Values)
	for _, t := range m.Types {
		walk(t.Methods)
		values += len(t.Fields)
		bytes += len(t.Source)
		for _, f := range t.Fields {
			bytes += len(f.Type)
		}
	}
	return values, bytes
}

// What is hostile ends soon and in bounds, also of the stack.
func TestHostileSources(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(16 << 20))
	many := func(text string, n int) string {
		if testing.Short() {
			n /= 10
		}
		return strings.Repeat(text, n)
	}
	var doubled strings.Builder
	for i := range 60 {
		fmt.Fprintf(&doubled, "local t%d = { a = t%d, b = t%d }\n", i+1, i, i)
	}
	doubled.WriteString("return t60")
	var chain strings.Builder
	chain.WriteString("local M = {}\n")
	for i := range 100000 {
		fmt.Fprintf(&chain, "M.a%d = M.a%d\n", i, i+1)
	}
	chain.WriteString("return M")
	for name, source := range map[string]string{
		"doubled":        doubled.String(),
		"one long type":  "local function h(): {" + many("a: string, ", 100000) + "} end\nlocal M = {}\n" + many("M.x = h()\n", 20000) + "return M",
		"one line":       "export type T = {" + many("a: b,", 300000) + "}",
		"one class":      "type H = {" + many("a: b,", 50000) + "}\n" + many("export type T = typeof(setmetatable({} :: H, C))\n", 20000),
		"chain":          chain.String(),
		"indexed":        "return x" + many(".a", 500000),
		"long path":      "x" + many(".a", 500000) + " = 1",
		"comments":       many("-- a\n", 500000),
		"unions":         "export type T = " + many("a | ", 500000) + "b",
		"strings":        "x = " + many("`{", 1000000),
		"lines":          "x = " + many("`{\n", 1000000),
		"attributes":     "type T = " + many("@a", 1000000) + " number",
		"type arguments": "type T = " + many("A<", 5000),
		"unary":          "x = " + many("- ", 500000) + "1",
		"casts":          "return { a = 1" + many(":: any", 100000) + "}",
		"blocks":         many("do ", 100000),
		"functions":      many("function f() ", 100000),
		"brackets":       "--[" + many("=", 1000000),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Parse("m", Source{"@m.luau", source}, nil)
			if err == nil {
				require.LessOrEqual(t, len(m.Members()), 30000)
				values, bytes := size(m)
				require.LessOrEqual(t, values, 400000)
				require.LessOrEqual(t, bytes, 64<<20)
			}
		})
	}
}

func FuzzDoc(f *testing.F) {
	f.Add("--!strict\n-- A.\n\nlocal M = {}\n-- B.\n@native\nfunction M.f<T>(a: T, ...: any): (T, ...any) return `x{a}` end\nexport type T = { a: number?, [string]: any } & typeof(M)\nreturn table.freeze(M)")
	f.Add("declare function f(a: string): ()\ndeclare x: { f: (self: any) -> () }\ntype X<T...> = (T...) -> (number, ...string)")
	f.Add("--[==[ a ]==] return require('./x')")
	f.Add("--- ```luau\n--- f()\n--- ```\n--- - a\n---   b\nreturn function(self) end")
	f.Fuzz(func(t *testing.T, source string) {
		load := func(_, _ string) (Source, error) { return Source{"@x", source}, nil }
		m, err := Parse("m", Source{"@m.luau", source}, load)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Line > strings.Count(source, "\n")+1 {
				t.Fatalf("%v", err)
			}
			return
		}
		Blocks(m.Comment)
		for _, found := range m.Members() {
			if found.Value != nil && found.Value.Kind == Function {
				found.Value.Signature.Text(found.Name, 80)
			}
			if _, ok := m.Find(strings.TrimPrefix(found.Name, m.Prefix())); !ok && found.Name != "m" {
				t.Fatalf("%q is listed and not found", found.Name)
			}
		}
	})
}
