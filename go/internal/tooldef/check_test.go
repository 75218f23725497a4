package tooldef

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// findings are those of a YAML tool with a script and other keys, without the notes.
func findings(t *testing.T, keys, script string) []string {
	t.Helper()
	text := "name: a\ndescription: d\n" + keys + "lua: |\n"
	for line := range strings.Lines(script + "\n") {
		text += "  " + line
	}
	var list []string
	for _, f := range Check(readOne(t, text)) {
		grant := ""
		if f.Grant != nil {
			grant = fmt.Sprintf(" [%s=%s]", f.Grant.Key, f.Grant.Value)
		}
		list = append(list, fmt.Sprintf("%s %s:%d %s%s", f.Severity, f.File, f.Line, f.Message, grant))
	}
	return list
}

func TestCheckPermissions(t *testing.T) {
	const in = "warning weather.yaml:5 "
	for name, test := range map[string]struct{ grant, script, want string }{
		"granted":       {"net: [api.x.com]", `ctx.http.get("https://api.x.com/v1", {})`, ""},
		"granted below": {"net: ['*.x.com']", `ctx.http.post("https://api.x.com:443/v1")`, ""},
		"global http":   {"net: []", `http.get("https://api.x.com/v1?q=" .. args.q)`, in + `http.get needs "api.x.com", which net does not grant [net=api.x.com]`},
		"SDK":           {"net: []", `local c = require("http") c.get('https://api.x.com')`, in + `http.get needs "api.x.com", which net does not grant [net=api.x.com]`},
		"required":      {"net: []", `require("haivivi/http").get('https://api.x.com')`, in + `http.get needs "api.x.com", which net does not grant [net=api.x.com]`},
		"alias":         {"net: []", `local get = ctx.http.get get("http://[::1]:80/")`, in + `http.get needs "[::1]:80", which net_private does not grant [net_private=[::1]:80]`},
		"handed on":     {"net: []", `pcall(ctx.http.get, "https://api.x.com/")`, in + `http.get needs "api.x.com", which net does not grant [net=api.x.com]`},
		"interpolated":  {"net: []", "http.get(`https://api.x.com/{args.id}`)", in + `http.get needs "api.x.com", which net does not grant [net=api.x.com]`},
		"private":       {"net: ['*']", `http.get("http://localhost:8080/")`, in + `http.get needs "localhost:8080", which net_private does not grant [net_private=localhost:8080]|` + `warning weather.yaml:1 net grants "*", which the script does not use`},
		"range":         {"net_private: [10.0.0.0/8]", `http.get("http://10.1.2.3/")`, ""},
		"port":          {"net: ['x.com:8443']", `http.get("https://x.com:8443/") http.get("https://x.com:1/")`, in + `http.get needs "x.com:1", which net does not grant [net=x.com:1]`},
		"half a host":   {"net: []", `http.get("https://api." .. d)`, in + `http.get reaches something that only a run shows, and net grants nothing: grant what it needs [net=]`},
		"at run time":   {"net: [api.x.com]", `http.get(ctx.config.url)`, ""},
		"harmless":      {"net: []", `http.query({}) print("http.get") local x = { http = 1 } x.http.get("https://x.com")`, ""},
		"env":           {"env: [A]", `local k = env.get("A") .. env.get('B') .. require("env").get("B")`, in + `env.get needs "B", which env does not grant [env=B]`},
		"env in a text": {"env: []", "local k = `x{env.get('B')}`", in + `env.get needs "B", which env does not grant [env=B]`},
		"read":          {"read: [data]", `fs.read("data/a.txt") fs.list("./data") fs.read("database/b.txt")`, in + `fs.read needs "database/b.txt", which read does not grant [read=database]`},
		"write":         {"write: []", `require("fs").write("out/a.txt", "x")`, in + `fs.write needs "out/a.txt", which write does not grant [write=out]`},
		"models":        {"models: [m]", `ctx.generate("m", "p") ctx.create_agent("n", { prompt = "x", model = "other" })`, in + `ctx.create_agent needs "other", which models does not grant [models=other]`},
		"tools":         {"tools: [a]", `ctx.tools.call("a", {}) ctx.tools.b({}) ctx.tools.list()`, in + `ctx.tools.b needs "b", which tools does not grant [tools=b]`},
		"agent's tools": {"models: [m]\n  tools: [a, b]", `ctx.create_agent("n", { model = "m", memory = { tools = 1 }, tools = { "a", "b", "c" } })`, in + `ctx.create_agent needs "c", which tools does not grant [tools=c]`},
		"given tools":   {"models: [m]\n  tools: [a]", `ctx.generate("m", { { role = "user", tools = { "x" } } }, { tools = { "a" } })`, ""},
		"in a stream":   {"models: [m]\n  tools: [a]", `for x in ctx.generate_stream("m", f(1, 2), { seed = 1, tools = { "a"; } }) do end`, ""},
		"for JSON":      {"models: [m]\n  tools: [a]", `ctx.generate_json("m", "p", { tools = { "x" } }, { tools = { "a" } })`, ""},
		"no options":    {"models: [m]\n  tools: [a]", `ctx.generate("m", { tools = { "a" } })`, `warning weather.yaml:1 tools grants "a", which the script does not use`},
		"none offered":  {"models: [m]\n  tools: [a]", `ctx.create_agent("n", { model = "m", prompt = "tools" })`, `warning weather.yaml:1 tools grants "a", which the script does not use`},
		"named options": {"models: [m]\n  tools: [a]", `local names = { "a" } local o = { model = "m", tools = names } ctx.create_agent("n", o)`, ""},
		"named, more":   {"models: [m]\n  tools: [a]", `local o = { model = "m" } o.tools = { "a" } ctx.create_agent("n", o)`, ""},
		"unseen names":  {"models: [m]\n  tools: [a]", `ctx.create_agent("n", { model = "m", tools = args.names })`, ""},
		"half seen":     {"models: [m]\n  tools: [a, b]", `ctx.create_agent("n", { model = "m", tools = { "a", args.x } })`, ""},
		"unseen":        {"models: [m]\n  tools: [a]", `ctx.create_agent("n", make(args))`, ""},
		"unseen, none":  {"models: [m]", `ctx.generate("m", "p", args.options)`, ""},
		"far away":      {"models: [m]\n  tools: [a]", `ctx.generate("m", { ` + strings.Repeat("1, ", maxAhead) + `}, { tools = { "a" } })`, ""},
		"far within":    {"models: [m]\n  tools: [a]", `ctx.create_agent("n", { model = "m", x = { ` + strings.Repeat("1, ", maxAhead/3) + `}, y = { ` + strings.Repeat("1, ", maxAhead/3) + `}, tools = { "a" } })`, ""},
		"pcall":         {"models: [m]\n  tools: [a]", `pcall(ctx.create_agent, "n", { model = "m", tools = { "a" } })`, ""},
		"unused":        {"net: [x.com]\n  env: [A]", `print(1)`, `warning weather.yaml:1 net grants "x.com", which the script does not use|warning weather.yaml:1 env grants "A", which the script does not use`},
		"modules may":   {"net: [x.com]", `require("./helper").run(ctx)`, ""},
		"another name":  {"net: []", "local function f() end\nfunction invoke(c) c.http.get('https://api.x.com') end", `warning weather.yaml:6 http.get needs "api.x.com", which net does not grant [net=api.x.com]`},
		"S1's context":  {"net: []", `context.search("q")`, ""},
		"native":        {"net: []", `__native.http_request("https://api.x.com", "GET")`, in + `http.request needs "api.x.com", which net does not grant [net=api.x.com]`},
		"ends in a dot": {"net: []", `http`, ""},
		"credentials":   {"net: []", `http.get("https://u:p@api.x.com/")`, in + `http.get needs "api.x.com", which net does not grant [net=api.x.com]`},
	} {
		t.Run(name, func(t *testing.T) {
			script := test.script
			if !strings.Contains(script, "function invoke") {
				script = "function invoke(ctx, args) local _ = 1; " + script + " end"
			}
			if name == "ends in a dot" {
				script = "function invoke() end local x = http"
			}
			if strings.HasPrefix(name, "another") {
				require.Equal(t, test.want, strings.Join(findings(t, "permissions: {"+test.grant+"}\n", script), "|"))
				return
			}
			keys := "permissions: {" + strings.ReplaceAll(test.grant, "\n ", ",") + "}\n"
			require.Equal(t, test.want, strings.Join(findings(t, keys, script), "|"))
		})
	}
}

func TestCheckEntry(t *testing.T) {
	for script, want := range map[string]string{
		"function invoke() end":                          "",
		"invoke = function() end":                        "",
		"_G.invoke = function() end":                     "",
		"local function invoke() end":                    "error weather.yaml:4 invoke is a local: leave the word local out, so that the host finds it",
		"local invoke = function() end":                  "error weather.yaml:4 invoke is a local: leave the word local out, so that the host finds it",
		"function run() end":                             "error weather.yaml:1 the script defines no function invoke(ctx, args)",
		"local t = {} function t.invoke() end":           "error weather.yaml:1 the script defines no function invoke(ctx, args)",
		"local t = {} function t:invoke() end":           "error weather.yaml:1 the script defines no function invoke(ctx, args)",
		"local function invoke() end _G.invoke = invoke": "",
		"local function invoke() end invoke = invoke":    "error weather.yaml:4 invoke is a local: leave the word local out, so that the host finds it",
		"local invoke\nfunction invoke() end":            "error weather.yaml:4 invoke is a local: leave the word local out, so that the host finds it",
		"local function f() local invoke if f then invoke = f end end\nfunction invoke() end":   "",
		"do local function invoke() end end local x = if y then 1 else 2 function invoke() end": "",
		`_G["invoke"] = function() end`:        "",
		`rawset(_G, "invoke", function() end)`: "",
		`local t = {} t["invoke"] = 1`:         "error weather.yaml:1 the script defines no function invoke(ctx, args)",
	} {
		require.Equal(t, want, strings.Join(findings(t, "", script), "|"), script)
		finding := CheckEntry(readOne(t, "name: a\nlua: |\n  "+strings.ReplaceAll(script, "\n", "\n  ")+"\n"))
		require.Equal(t, want != "", finding != nil, script)
	}
}

func TestCheckTexts(t *testing.T) {
	list := Check(readOne(t, "name: a\nparams: {properties: {x: {type: string}, y: {type: string, description: d}}}\nlua: function invoke() end\n"))
	require.Len(t, list, 2)
	require.Equal(t, Finding{Severity: Warning, Tool: "a", File: "weather.yaml", Line: 1, Message: "the tool has no description: a model chooses tools by it"}, list[0])
	require.Equal(t, Finding{Severity: Note, Tool: "a", File: "weather.yaml", Line: 1, Message: `the parameter "x" has no description`}, list[1])
}

func TestCheckExamples(t *testing.T) {
	keys := `params: {properties: {n: {type: integer, description: d, default: 1}, m: {type: string, description: d}}, required: [n, m]}
result: {type: string}
examples:
- {args: {m: x}, result: good}
- {name: bad args, args: {n: "5", m: x}}
- {args: {n: "5"}, error: invalid_params}
- args: {m: x}
  result: 5
`
	list := findings(t, keys, "function invoke() end")
	require.Len(t, list, 2)
	require.Contains(t, list[0], "error weather.yaml:7 the arguments of example 2 (bad args) do not fit params: ")
	require.Contains(t, list[1], "error weather.yaml:9 the result of example 4 does not fit the schema: ")

	list = findings(t, "params: {properties: {n: {type: integer, description: d, default: x}}}\n", "function invoke() end")
	require.Len(t, list, 1)
	require.Contains(t, list[0], "warning weather.yaml:1 a default does not fit its schema: ")
}

// The global fs of a Lua tool begins in the folder of its script; the SDK's does not.
func TestCheckLuaPaths(t *testing.T) {
	source := "tool = { name = 'a', description = 'd' }\nfunction tool.execute(p, c)\n fs.read('data.txt')\n require('fs').read('data.txt')\n c.http.get('https://x.com')\nend"
	tool, broken := readLua(t.Context(), newVM(t), "tools/a.lua", source)
	require.Empty(t, broken)
	list := Check(tool)
	require.Len(t, list, 3)
	for i, want := range []Grant{{"read", "tools"}, {"read", ""}, {"net", "x.com"}} {
		require.Equal(t, want, *list[i].Grant)
		require.Equal(t, 3+i, list[i].Line)
	}
}

func TestCheckSet(t *testing.T) {
	f := newFolder(t, map[string]string{"tools/a.yaml": yamlText("a"), "tools/b.yaml": "name: b\ntilte: x\nlua: x = 1\n", "tools/c.lua": ticket})
	f.load()
	list := f.o.Previous.Check(Known{})
	require.Equal(t, Finding{Severity: Failure, Tool: "b", File: "tools/b.yaml", Line: 2, Message: `unknown key "tilte"; did you mean "title"?`}, list[1])
	require.Equal(t, "the tool has no description: a model chooses tools by it", list[0].Message)
	last := list[len(list)-1]
	require.Equal(t, "tools/c.lua", last.File)
	require.Equal(t, &Grant{"net", "example.com"}, last.Grant)
	require.Equal(t, 26, last.Line)
}

func TestCheckNames(t *testing.T) {
	f := newFolder(t, map[string]string{
		"tools/agent.yaml": "name: ask\ndescription: d\nagent: {model: writr, tools: [weihg, elsewhere, broken], prompt: p}\n",
		"tools/script.yaml": "name: script\ndescription: d\npermissions: {models: [writer, '*', wide], tools: [weigh, '*', none-such]}\n" +
			"lua: |\n  function invoke(ctx) return ctx.generate(ctx.config.m, '') .. ctx.tools.call(ctx.config.t) end\n",
		"tools/weigh.yaml":  "name: weigh\ndescription: d\nlua: function invoke() end\n",
		"tools/broken.yaml": "name: broken\nlau: x\nlua: function invoke() end\n",
	})
	f.load()
	said := func(known Known) (list []string) {
		for _, finding := range f.o.Previous.Check(known) {
			if finding.Severity == Warning {
				list = append(list, finding.File+" "+finding.Message)
			}
		}
		return list
	}
	require.Empty(t, said(Known{}))
	require.Equal(t, []string{
		`tools/agent.yaml agent.model names "writr", and there is no such model; did you mean "writer"?`,
		`tools/agent.yaml agent.tools names "weihg", and there is no such tool; did you mean "weigh"?`,
		`tools/script.yaml permissions.models names "wide", and there is no such model`,
		`tools/script.yaml permissions.tools names "none-such", and there is no such tool`,
	}, said(Known{Models: []string{"writer"}, Tools: []string{"elsewhere"}}))
	require.Contains(t, said(Known{Models: []string{}}), `tools/agent.yaml agent.model names "writr", and there is no such model`)
}
