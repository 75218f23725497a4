package tooldef

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ticket = `--[[ a tool in the old form ]]
local key = crypto.hmac_sha256("k", base64.encode("x"))
print("this is dropped")
log.info("so is this")
local json2 = require("json")

tool = {
    name = "create_ticket",
    version = "0.1.0",
    title = "Ticket",
    description = "Create a ticket",
    tags = {},
    annotations = { destructiveHint = true },
    parameters = {
        { name = "title", type = "string", required = true, description = "Ticket title", minLength = 1 },
        { name = "priority", type = "string", required = false, default = "medium", enum = { "low", "medium" } },
        { name = "labels", type = "array", default = {}, items = { type = "string", enum = {"a"} } },
        { name = "extra", type = "object", default = {}, properties = { list = { type = "array", default = {} } } },
        { name = "id", type = "integer", default = 9007199254740993i },
        { name = "opt", type = { "string", "null" } },
    },
    helper = function() end,
}

function tool.execute(params, context)
    local resp = http.get("https://example.com")
    return { ok = resp.ok, key = key, j = json.parse("1"), s = json2 }
end
`

func newVM(t *testing.T) *luaVM {
	t.Helper()
	config, err := readingConfig(nil)
	require.NoError(t, err)
	vm, err := newLuaVM(t.Context(), config, time.Minute)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, vm.close()) })
	return vm
}

func TestLuaTool(t *testing.T) {
	vm := newVM(t)
	for range 2 { // the VM is as new for each script
		tool, broken := readLua(t.Context(), vm, "tools/ticket.lua", ticket)
		require.Empty(t, broken)
		require.Equal(t, "create_ticket", tool.Name)
		require.Equal(t, "Ticket", tool.Title)
		require.Equal(t, "Create a ticket", tool.Description)
		require.Equal(t, "0.1.0", tool.Version)
		require.Equal(t, Execute, tool.Dialect)
		require.True(t, *tool.Annotations.Destructive)
		require.Equal(t, 7, tool.Line)
		require.Equal(t, "@tools/ticket.lua", tool.Chunk)
		require.Equal(t, ticket, tool.Source)
		require.Empty(t, tool.Tags)
	}
}

func schemaOf(t *testing.T, source string) string {
	t.Helper()
	d := &draft{at: func(...string) (int, int) { return 0, 0 }}
	m, err := newVM(t).read(t.Context(), "@x.lua", source)
	require.NoError(t, err)
	require.True(t, d.luaTree(m, scan("@x.lua", source)), d.errs)
	d.luaTool(m)
	require.Empty(t, d.errs)
	text, err := json.Marshal(d.tool.Params.Document())
	require.NoError(t, err)
	return string(text)
}

// S1's list of parameters becomes the schema that S1 shows; empty tables are what their place wants.
func TestLuaSchema(t *testing.T) {
	require.JSONEq(t, `{"type": "object", "required": ["title"], "properties": {
		"title": {"type": "string", "description": "Ticket title", "minLength": 1},
		"priority": {"type": "string", "default": "medium", "enum": ["low", "medium"]},
		"labels": {"type": "array", "default": [], "items": {"type": "string", "enum": ["a"]}},
		"extra": {"type": "object", "default": {}, "properties": {"list": {"type": "array", "default": []}}},
		"id": {"type": "integer", "default": 9007199254740993},
		"opt": {"type": ["string", "null"]}}}`, schemaOf(t, ticket))
	const whole = `tool = { name = "a", schema = { type = "object", required = {}, properties = {
		list = { type = "array", default = {} }, of = { anyOf = { { type = "array", const = {} }, { enum = { {} } } } } } } }
	function tool.execute() end`
	require.JSONEq(t, `{"type": "object", "required": [], "properties": {"list": {"type": "array", "default": []},
		"of": {"anyOf": [{"type": "array", "const": []}, {"enum": [{}]}]}}}`, schemaOf(t, whole))
	require.JSONEq(t, `{"type": "object", "properties": {}}`, schemaOf(t, `tool = { name = "a", parameters = {} } function tool.execute() end`))
}

// The digits of an integer stay: D23.
func TestLuaExactNumbers(t *testing.T) {
	require.Contains(t, schemaOf(t, ticket), `"default":9007199254740993`)
}

func TestLuaErrors(t *testing.T) {
	vm := newVM(t)
	const execute = "\nfunction tool.execute() end"
	parameters := func(list string) string {
		return "tool = {\n name = 'a',\n parameters = {\n  { name = 'p', type = 'string' },\n" + list + "\n } }" + execute
	}
	for name, test := range map[string]struct{ source, want string }{
		"no tool":           {"local x = 1", `x.lua: the script defines no global table tool; write tool = { name = ..., description = ..., parameters = { ... } }`},
		"local tool":        {"local tool = { name = 'a' }" + execute, `x.lua:1: the script defines no global table tool; its "tool" is a local: leave the word local out`},
		"a text":            {"\ntool = 'a'", `x.lua:2: the script defines no global table tool: it is a string; write tool`},
		"no name":           {"\ntool = {}" + execute, `x.lua:2: tool.name is missing; write name = "..." in the table`},
		"bad name":          {"tool = {\n\n name = 'a b' }" + execute, `x.lua:3: the tool name "a b" is not allowed`},
		"no execute":        {"tool = { name = 'a' }", `x.lua:1: tool.execute must be a function, got nil; write function tool.execute`},
		"near field":        {"tool = { name = 'a',\n paramters = {} }" + execute, `x.lua:2: unknown field tool.paramters; did you mean "parameters"?`},
		"number name":       {"tool = {\n name = 5 }" + execute, `x.lua:2: name must be a text, got the number 5; put it in quotes`},
		"function":          {"tool = { name = 'a',\n description = print }" + execute, `x.lua:2: tool.description is a function; what describes a tool is plain data`},
		"mixed":             {"tool = { name = 'a',\n annotations = { 1, a = 2 } }" + execute, `x.lua:2: tool.annotations is a table with both numbered and named fields`},
		"cycle":             {"local t = {} t.t = t tool = { name = 'a', parameters = t }" + execute, `contains itself`},
		"NaN":               {parameters("{ name = 'q', type = 'number', default = 0/0 }"), `x.lua:3: tool.parameters[2].default is nan, which JSON has not`},
		"not UTF-8":         {"tool = { name = 'a', description = '\\xff' }" + execute, `x.lua:1: tool.description is a text that is no UTF-8`},
		"parameters":        {"tool = { name = 'a', parameters = { title = {} } }" + execute, `x.lua:1: tool.parameters must be a list of tables, got a table; write`},
		"parameter":         {parameters("'q'"), `x.lua:5: parameter 2 must be a table with name and type, got the text "q"`},
		"nameless":          {parameters("{ type = 'string' }"), `x.lua:5: parameter 2 needs a name: a text, got nil`},
		"twice":             {parameters("\n{ name = 'p', type = 'string' }"), `x.lua:6: parameters 1 and 2 have the same name "p"`},
		"typeless":          {parameters("{ name = 'q' }"), `x.lua:5: parameter 2 (q) needs a type: string, integer, number, boolean, array, object, null`},
		"type":              {parameters("{ name = 'q', type = 'int' }"), `x.lua:5: parameter 2 (q): the text "int" is no type; did you mean "integer"?`},
		"required":          {parameters("{ name = 'q', type = 'string', required = 'yes' }"), `x.lua:5: parameter 2 (q): required must be true or false, got the text "yes"`},
		"enum":              {parameters("{ name = 'q', type = 'string', enum = {} }"), `x.lua:5: parameter 2 (q): enum must be a list of values, got a list`},
		"unknown":           {parameters("{ name = 'q', type = 'string', dafault = 1 }"), `x.lua:5: parameter 2 (q): unknown field "dafault"; did you mean "default"?`},
		"description":       {parameters("{ name = 'q', type = 'string', description = 1 }"), `x.lua:5: parameter 2 (q): description must be a text, got the number 1`},
		"keyword":           {parameters("{ name = 'q', type = 'string', pattern = '(' }"), `x.lua:5: schema of tool.parameters: not a JSON Schema: /properties/q/pattern: `},
		"in schema":         {"tool = { name = 'a', schema = {\n properties = {\n q = 5 } } }" + execute, `x.lua:3: schema of tool.schema: not a JSON Schema: /properties/q: `},
		"both":              {"tool = { name = 'a', parameters = {},\n schema = { type = 'object' } }" + execute, `x.lua:2: the tool has both parameters and schema; leave one out`},
		"no object":         {"tool = { name = 'a', schema = { type = 'array' } }" + execute, `schema.type must be "object", got the text "array"`},
		"syntax":            {"tool = {\n\n", `x.lua:3:1: the script does not compile: `},
		"error":             {"tool = { name = 'a' }\nerror('broken')" + execute, `x.lua:2: broken`},
		"http":              {"tool = { name = 'a' }\nlocal x = http.get('https://x')" + execute, `x.lua:2: http.get cannot be used while the tool is read; use it inside of tool.execute`},
		"env":               {"tool = { name = 'a', description = env.get('HOME') }" + execute, `x.lua:1: env.get cannot be used while the tool is read`},
		"fs":                {"\nfs.read('/etc/passwd')", `x.lua:2: fs.read cannot be used while the tool is read`},
		"sleep":             {"\nsleep(1)", `x.lua:2: sleep cannot be used while the tool is read`},
		"context":           {"\ncontext.search('q')", `x.lua:2: context.search cannot be used while the tool is read`},
		"agent":             {"\ncontext.create_agent('a', {})", `x.lua:2: context.create_agent cannot be used while the tool is read; use it inside`},
		"SDK":               {"\nrequire('fs').read('/etc/passwd')", `x.lua:2: while the tool is read nothing is granted: `},
		"SDK env":           {"\nrequire('env').get('HOME')", `x.lua:2: while the tool is read nothing is granted: `},
		"SDK http":          {"\nrequire('http').get('http://127.0.0.1:1/')", `x.lua:2: while the tool is read nothing is granted: `},
		"file module":       {"\nrequire('./x')", `x.lua:2: `},
		"endless memory":    {"local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end", `x.lua:1: reading the tool took more than 32 MiB of memory; the top level defines the tool`},
		"too much":          {"tool = { name = 'a', description = string.rep('x', 5 * 2^20) }" + execute, `x.lua:1: the fields of the tool hold more than 4 MiB`},
		"caught memory":     {"pcall(function() local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end end) tool = { name = 'a' }", ``},
		"metatable":         {"tool = setmetatable({}, { __index = function() error('no') end })", `x.lua:1: no`},
		"other wait":        {"coroutine.yield()", `nobody can resume`},
		"too much output":   {"while true do print(string.rep('x', 10000)) end", `the top level defines the tool`},
		"json at top level": {"tool = { name = json.parse('{') }", `x.lua:1: `},
	} {
		t.Run(name, func(t *testing.T) {
			tool, broken := readLua(t.Context(), vm, "x.lua", test.source)
			require.Nil(t, tool)
			require.NotEmpty(t, broken)
			require.Contains(t, broken[0].Err.Error(), test.want)
		})
	}
	_, broken := readLua(t.Context(), vm, "x.lua", ticket)
	require.Empty(t, broken, "after all that the VM reads the next tool")
}

// A script that never ends is ended, also where it catches errors.
func TestLuaTimeLimit(t *testing.T) {
	config, err := readingConfig(nil)
	require.NoError(t, err)
	vm, err := newLuaVM(t.Context(), config, 50*time.Millisecond)
	require.NoError(t, err)
	defer vm.close()
	for _, source := range []string{
		"while true do end", "while true do pcall(function() while true do end end) end",
		"require('time').sleep(1000)", "tool = setmetatable({}, { __index = function() while true do end end })",
	} {
		_, broken := readLua(t.Context(), vm, "x.lua", source)
		require.Len(t, broken, 1, source)
		require.Equal(t, "reading the tool took more than 50ms", broken[0].Err.(*Error).Problem, source)
	}
}

// Nothing that one script leaves behind is seen by the next.
func TestLuaScriptsAreApart(t *testing.T) {
	vm := newVM(t)
	_, broken := readLua(t.Context(), vm, "a.lua", "leak = 1 json.parse = nil _G.http = nil tool = { name = 'a' } function tool.execute() end")
	require.Empty(t, broken)
	_, broken = readLua(t.Context(), vm, "b.lua", "assert(leak == nil and json.parse and http.get and tool == nil) tool = { name = 'b' } function tool.execute() end")
	require.Empty(t, broken)
}

func TestScan(t *testing.T) {
	for source, want := range map[string]bool{
		"tool = {}": true, "_G.tool = {}": true, "tool = require('./x')": true, "if true then tool = {} end": true,
		"local tool = {}": false, "local tool tool = {}": false, "x.tool = {}": false, "return { tool = 1 }": false,
		"f(tool)": false, "-- tool = 1": false, "return 'tool = 1'": false, "x = tool == 1": false, "tool = '": false,
	} {
		require.Equal(t, want, scan("@x", source).globalTool, source)
	}
	n := scan("@x", "tool = {\n a = if x then 1 else 2,\n f = function() if x then return if y then 1 else 2 end end,\n b = { {\n}, {\nname=1} },\n c = 1 }")
	require.Equal(t, []int{2, 3, 4, 5, 7, 1}, []int{
		n.place([]string{"a"}), n.place([]string{"f"}), n.place([]string{"b"}), n.place([]string{"b", "1"}), n.place([]string{"c"}), n.place([]string{"z"}),
	})
	scan("@x", strings.Repeat("tool = {", 100_000))
	for _, stray := range []string{")", "]", "end", "until", ",", ";"} {
		scan("@x", "tool = { "+stray+" }")
	}
}

// Scripts that were made to take long are looked through as fast as others.
func TestScanOfHostileScripts(t *testing.T) {
	for _, part := range []string{"ctx.create_agent(", "function tool.execute(", "local a = a.b.c.d ", "tool = {", "`{`{", "local a = `{", "require ", "{ a = if ",
		"a = a .. ", "local a = (a or ", "a = `{a}{", "function (a, "} {
		n := scan("@x", strings.Repeat(part, maxFile/len(part)))
		n.uses("", map[string]any{"a": "b"})
		n.looksLikeTool()
	}
}

// Whatever the tokens are, a look through them ends and finds places within the script.
func FuzzScan(f *testing.F) {
	f.Add(ticket)
	f.Add("local get = ctx.http.get get`https://{x}` require 'fs'.read[[a]] tool = {{}, a = if b then c else {d}}")
	f.Add("_G.tool = { f = function() if x then end repeat until y end, [1] = 2; }")
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 1<<16 {
			return
		}
		lines := 1 + strings.Count(source, "\n")
		n := scan("@x", source)
		uses, _ := n.uses("folder", map[string]any{"a": "b"})
		for _, u := range uses {
			require.True(t, u.line >= 1 && u.line <= lines)
			require.NotEmpty(t, u.key)
		}
		for _, line := range n.lines {
			require.True(t, line >= 1 && line <= lines)
		}
	})
}
