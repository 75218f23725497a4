package tooldef

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/redact"
)

// findings are those of a YAML tool with a script and other keys, without the notes.
func findings(t *testing.T, keys, script string) []string {
	t.Helper()
	text := "name: a\ndescription: d\n" + keys + "lua: |\n"
	for line := range strings.Lines(script + "\n") {
		text += "  " + line
	}
	var list []string
	for _, f := range checked(readOne(t, text)) {
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
		"also at run":   {"net: []", `http.get("https://a.com/") http.get(args.url)`, in + `http.get needs "a.com", which net does not grant [net=a.com]|` + in + `http.get reaches something that only a run shows, and net grants nothing: grant what it needs [net=]`},
		"granted, also": {"net: [a.com]", `http.get("https://a.com/") http.get(args.url)`, `note weather.yaml:5 http.get reaches something that only a run shows, and net grants what the rest of the script reaches [net=]`},
		"cannot be it":  {"net: [a.com]", `http.get("https://api." .. args.x)`, in + `http.get reaches something that only a run shows, and net grants nothing that it could be: grant what it needs [net=]`},
		"may be it":     {"net: [api.com]", `http.get("https://api." .. args.x)`, ""},
		"harmless":      {"net: []", `http.query({}) print("http.get") local x = { http = 1 } x.http.get("https://x.com")`, ""},
		"env":           {"env: [A]", `local k = env.get("A") .. env.get('B') .. require("env").get("B")`, in + `env.get needs "B", which env does not grant [env=B]`},
		"env in a text": {"env: []", "local k = `x{env.get('B')}`", in + `env.get needs "B", which env does not grant [env=B]`},
		"read":          {"read: [data]", `fs.read("data/a.txt") fs.list("./data") fs.read("database/b.txt")`, in + `fs.read needs "database/b.txt", which read does not grant [read=database]`},
		"write":         {"write: []", `require("fs").write("out/a.txt", "x")`, in + `fs.write needs "out/a.txt", which write does not grant [write=out]`},
		"read all":      {"read: ['*']", `fs.read("/etc/hosts") fs.list(".")`, ""},
		"own folder":    {"read: []", `fs.list(".") fs.read("a.txt") fs.read("/passwd")`, in + `fs.list needs ".", which read does not grant [read=]|` + in + `fs.read needs "a.txt", which read does not grant [read=]|` + in + `fs.read needs "/passwd", which read does not grant [read=]`},
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

// TestCheckConstants follows texts that have a name, and the tool's own configuration.
func TestCheckConstants(t *testing.T) {
	const host, dynamic = `[net=api.x.com]`, `[net=]`
	for script, want := range map[string]string{
		`local BASE = "https://api.x.com" function invoke() http.get(BASE .. "/a") end`:                                   host,
		`local BASE: string = 'https://api.x.com' function invoke() http.get(BASE .. "/a") end`:                           host,
		`BASE = "https://api.x.com" function invoke() http.get(BASE) end`:                                                 host,
		`local H = "api.x.com" local BASE = "https://" .. H .. "/v1" function invoke() http.get(BASE .. "/a") end`:        host,
		"local H = 'api.x.com' function invoke() http.get(`https://{H}/v1`) end":                                          host,
		`function invoke(ctx, args) http.get(ctx.config.url .. "/a/" .. args.id) end`:                                     host,
		`function invoke(c) local url = c.config.url http.get(url .. "/a") end`:                                           host,
		`function invoke(ctx) local config = ctx.config local u = config.url .. "/a/" .. ctx.x return http.get(u) end`:    host,
		"function invoke(ctx) http.get(`{ctx.config.url}/a/{ctx.x}`) end":                                                 host,
		`function invoke(ctx) local u = ctx.config.none or "https://api.x.com" http.get(u .. "/a") end`:                   host,
		`function invoke(ctx) local u = (ctx.config.url or "https://b.com") .. "/a" http.get(u) end`:                      host,
		`function invoke(ctx) http.get(ctx.config.none or ctx.config.url, {}) end`:                                        host,
		`function invoke(ctx) http.get({ url = 1 }, ctx.config.url) end`:                                                  dynamic,
		`function invoke(ctx) http.get(ctx.config.url .. ctx.x) end`:                                                      dynamic,
		`function invoke(ctx) http.get(ctx.config.none .. "/a") end`:                                                      dynamic,
		`function invoke(ctx) http.get(ctx.config.number .. "/a") end`:                                                    dynamic,
		`function invoke(ctx) http.get(ctx.config.hidden .. "/a") end`:                                                    dynamic,
		`function invoke(ctx) http.get(ctx.config.url:gsub("x", "y")) end`:                                                dynamic,
		`local function get(url) return http.get(url) end function invoke() local url = "https://api.x.com" get(url) end`: dynamic,
		`local B = "https://api.x.com" if x then B = y() end function invoke() http.get(B) end`:                           dynamic,
		`local B = "https://api.x.com" B ..= y() function invoke() http.get(B) end`:                                       dynamic,
		`local B = "https://api.x.com" for B in pairs({}) do http.get(B) end function invoke() end`:                       dynamic,
		`local B = "https://api.x.com" local a, B = f() function invoke() http.get(B) end`:                                dynamic,
		`local a, B = "https://api.x.com", "https://b.com" function invoke() http.get(B) end`:                             dynamic,
		`local B = "https://api.x.com" or y function invoke() http.get({ B = 1 }, B[1]) end`:                              dynamic,
		`local B = B .. B function invoke() http.get(B) end`:                                                              dynamic,
		`local x = ` + strings.Repeat("(", 10_000) + ` function invoke() http.get(x) end`:                                 dynamic,
	} {
		tool := readOne(t, "name: a\ndescription: d\nlua: function invoke() end\n")
		tool.Source = script
		tool.Config = map[string]any{"url": "https://api.x.com", "number": 1.0, "hidden": "https://" + redact.Mark}
		c := newChecker(tool)
		c.permissions()
		require.Len(t, c.list, 1, script)
		require.Equal(t, want, fmt.Sprintf("[%s=%s]", c.list[0].Grant.Key, c.list[0].Grant.Value), script)
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
	list := checked(readOne(t, "name: a\nparams: {properties: {x: {type: string}, y: {type: string, description: d}}}\nlua: function invoke() end\n"))
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
	require.Contains(t, list[0], "error weather.yaml:1 a default does not fit its schema: ")
}

// The global fs of a Lua tool begins in the folder of its script; the SDK's does not.
func TestCheckLuaPaths(t *testing.T) {
	source := "tool = { name = 'a', description = 'd' }\nfunction tool.execute(p, c)\n fs.read('data.txt')\n require('fs').read('data.txt')\n c.http.get('https://x.com')\nend"
	tool, broken := readLua(t.Context(), newVM(t), "tools/a.lua", source)
	require.Empty(t, broken)
	list := checked(tool)
	require.Len(t, list, 3)
	for i, want := range []Grant{{Key: "read", Value: "tools"}, {Key: "read"}, {Key: "net", Value: "x.com"}} {
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
	require.Equal(t, &Grant{Key: "net", Value: "example.com"}, last.Grant)
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

// checked is what is to be said about one tool.
func checked(t *Tool) []Finding { return (&Set{root: "/"}).check(t, Known{}) }
