package tooldef

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

const weather = `name: get_weather
title: Weather
description: 查询指定城市的天气
version: 1.10
params:
  type: object
  properties:
    city: {type: string, enum: [NO, on, y, 2001-12-14]}
    id: {type: integer, default: 9007199254740993}
  required: [city]
result: {type: object}
timeout: 30s
memory: 64MiB
isolation: thread
permissions:
  net: [api.weather.com]
  env: [WEATHER_KEY]
rate: 10/1m
approve: true
config: {mode: 0o17, off: off, list: [1_000, 1.5]}
annotations: {readOnlyHint: true, openWorldHint: false}
tags: [weather]
examples:
- name: one
  args: {city: NO}
  result: null
- args: {city: on}
  error: upstream
- {args: {city: y}}
lua: |
  function invoke(ctx, args)
    error("here")
  end
`

func noFile(string) (script, error) { return script{}, errors.New("no files here") }

// readOne is the one tool of a text without errors.
func readOne(t *testing.T, text string) *Tool {
	t.Helper()
	tools, broken := readYAML("weather.yaml", []byte(text), noFile)
	require.Empty(t, broken)
	require.Len(t, tools, 1)
	return tools[0]
}

func TestYAMLTool(t *testing.T) {
	tool := readOne(t, weather)
	require.Equal(t, "get_weather", tool.Name)
	require.Equal(t, "Weather", tool.Title)
	require.Equal(t, "查询指定城市的天气", tool.Description)
	require.Equal(t, "1.10", tool.Version)
	require.Equal(t, 30*time.Second, tool.Timeout)
	require.EqualValues(t, 64<<20, tool.Memory)
	require.Equal(t, engine.Shared, tool.Isolation)
	require.Equal(t, Permissions{Net: []string{"api.weather.com"}, Env: []string{"WEATHER_KEY"}}, tool.Permissions)
	require.Equal(t, Rate{10, time.Minute}, tool.Rate)
	require.True(t, tool.Approve)
	require.Equal(t, map[string]any{"mode": 15.0, "off": "off", "list": []any{"1_000", 1.5}}, tool.Config)
	require.True(t, *tool.Annotations.ReadOnly)
	require.False(t, *tool.Annotations.OpenWorld)
	require.Nil(t, tool.Annotations.Idempotent)
	require.Equal(t, []string{"weather"}, tool.Tags)
	require.Equal(t, []Example{
		{Name: "one", Args: map[string]any{"city": "NO"}, Line: 24},
		{Args: map[string]any{"city": "on"}, Error: "upstream", Line: 27},
		{Args: map[string]any{"city": "y"}, Any: true, Line: 29},
	}, tool.Examples)
	require.Equal(t, "@weather.yaml", tool.Chunk)
	require.Equal(t, 1, tool.Line)
	require.NotNil(t, tool.Result)
	require.Equal(t, map[string]any{"city": "y", "id": json.Number("9007199254740993")}, tool.Params.Defaults(map[string]any{"city": "y"}))
}

// An error of the script has the line of the YAML file, whatever kind of scalar the script is in.
func TestYAMLScriptLines(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		line int
	}{
		"literal":      {"name: a\nlua: |\n  x = 1\n  error('here')\n", 4},
		"after blanks": {"name: a\nlua: |2- # note\n\n\n  error('here')\n", 5},
		"one line":     {"name: a\n\nlua: error('here')\n", 3},
		"quoted":       {"name: a\nlua: \"error('here')\"\n", 2},
		"flow":         {"{name: a,\n lua: error('here')}", 2},
		"second":       {"name: b\nlua: x = 1\n---\nname: a\nlua: |\n  error('here')\n", 6},
		"behind dots":  {"# note\n...\n%YAML 1.2\n---\nname: a\nlua: |\n  error('here')\n", 7},
		"alias":        {"description: &s |\n  error('here')\nname: a\nlua: *s\n", 2},
		"CRLF":         {"name: a\r\nlua: |\r\n  x = 1\r\n  error('here')\r\n", 4},
		"BOM":          {"\xef\xbb\xbfname: a\nlua: error('here')\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			tools, broken := readYAML("weather.yaml", []byte(test.text), noFile)
			require.Empty(t, broken)
			tool := tools[len(tools)-1]
			s, err := luau.New(luau.Options{})
			require.NoError(t, err)
			defer s.Close()
			_, err = s.Do(t.Context(), tool.Chunk, tool.Source)
			require.EqualError(t, err, fmt.Sprintf("weather.yaml:%d: here", test.line))
		})
	}
}

func TestYAMLErrors(t *testing.T) {
	const script = "\nlua: x = 1\n"
	for name, test := range map[string]struct{ text, want string }{
		"unknown key":     {"name: a\ndescripton: b" + script, `weather.yaml:2:1: unknown key "descripton"; did you mean "description"?`},
		"far key":         {"name: a\nzzzzzzzzz: b" + script, `weather.yaml:2:1: unknown key "zzzzzzzzz"; the keys are agent, annotations, approve, config, description, examples, isolation, lua, lua_file, memory, name, params, permissions, rate, result, tags, timeout, title, version`},
		"nested key":      {"name: a\npermissions:\n  nets: []" + script, `weather.yaml:3:3: unknown key "nets" in permissions; did you mean "net"?`},
		"twice":           {"name: a\nname: b" + script, `weather.yaml:2:1: the key "name" is there twice`},
		"twice in params": {"name: a\nparams: {type: object, type: object}" + script, `weather.yaml:2:24: the key "type" is there twice`},
		"name":            {"name: a b" + script, `weather.yaml:1:1: the tool name "a b" is not allowed: it begins with a letter or underscore, and letters, digits, underscores and hyphens follow`},
		"number name":     {"name: 12" + script, `weather.yaml:1:1: name must be a text, got the number 12; put it in quotes`},
		"no name":         {"description: a" + script, `weather.yaml:1:1: this is no tool yet: name is missing`},
		"nothing":         {"description: a", `weather.yaml:1:1: this is no tool yet: name and lua (or lua_file, or agent) are missing`},
		"both":            {"name: a\nlua_file: b.luau" + script, `weather.yaml:2:1: the tool has both lua and lua_file; leave one out`},
		"no file":         {"name: a\nlua_file: b.luau", `weather.yaml:2:1: lua_file "b.luau": no files here`},
		"not a mapping":   {"- a", `weather.yaml:1:1: a tool is a mapping of name, description, params and lua, not a list`},
		"no document":     {"# nothing\n", `weather.yaml: there is no tool in this file; a tool has name, description, params and lua`},
		"timeout":         {"name: a\ntimeout: soon" + script, `weather.yaml:2:1: timeout "soon" is no duration; write it as "30s", "500ms" or a number of seconds`},
		"no time":         {"name: a\ntimeout: 0" + script, `weather.yaml:2:1: timeout must be above 0 and at most 24h; write it as "30s", "500ms" or a number of seconds`},
		"memory":          {"name: a\nmemory: 10" + script, `weather.yaml:2:1: memory must be at least 1MiB and at most 64GiB; write it as "64MiB" or a number of bytes`},
		"isolation":       {"name: a\nisolation: process" + script, `weather.yaml:2:1: isolation must be "pristine" or "thread", got the text "process"`},
		"rate":            {"name: a\nrate: often" + script, `weather.yaml:2:1: "often" is no rate; write it as "10/1m": ten calls in a minute`},
		"rate of none":    {"name: a\nrate: {calls: 0, per: 1m}" + script, `weather.yaml:2:1: a rate has 1 to 1000000 calls in a time above 0 and at most 24h`},
		"approve":         {"name: a\napprove: yes" + script, `weather.yaml:2:1: approve must be true or false, got the text "yes"`},
		"tags":            {"name: a\ntags: [b, 1]" + script, `weather.yaml:2:11: tags.1 must be a text, got the number 1; put it in quotes`},
		"no list":         {"name: a\npermissions: {net: api.x.com}" + script, `weather.yaml:2:15: permissions.net must be a list of texts, got the text "api.x.com"`},
		"URL":             {"name: a\npermissions: {net: ['https://x.com']}" + script, `weather.yaml:2:1: permissions.net: "https://x.com" is a URL: write its host alone, as api.example.com`},
		"schema":          {"name: a\nparams:\n  properties:\n    a/b:\n      type: strin" + script, `weather.yaml:5:7: schema of params: not a JSON Schema: /properties/a~1b/type: must be one of`},
		"another file":    {"services: {a: b}\nvolumes: []", `weather.yaml:1:1: this is no tool yet: name and lua (or lua_file, or agent) are missing`},
		"example":         {"name: a\nexamples:\n- args: {}\n  result: 1\n  error: x" + script, `weather.yaml:3:3: examples.0 has both result and error; leave one out`},
		"params":          {"name: a\nparams: {type: array}" + script, `weather.yaml:2:10: the arguments of a tool are an object: params.type must be "object", got the text "array"`},
		"infinity":        {"name: a\nconfig: {n: .inf}" + script, `weather.yaml:2:13: .inf is no number of JSON; put a text in quotes`},
		"syntax":          {"name: a\n b: [" + script, `weather.yaml:2:3: mapping values are not allowed in this context`},
		"script":          {"name: a\nlua: |\n  x = 1\n  x = )\n", `weather.yaml:4: the script does not compile: `},
		"NUL":             {"name: a\nlua: x\x00", "weather.yaml:2: the file has a NUL byte, so it is no YAML"},
		"NUL escape":      {"name: a\nlua: \"x\\0\"", "weather.yaml:2:1: lua has a NUL byte"},
		"no UTF-8":        {"name: a\nlua: \xff", "weather.yaml:2:6: the text is no UTF-8"},
		"UTF-16":          {"\xff\xfen\x00", "weather.yaml:1: the file has a NUL byte, so it is no YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			tools, broken := readYAML("weather.yaml", []byte(test.text), noFile)
			require.Empty(t, tools)
			require.Len(t, broken, 1, "%v", broken)
			require.Contains(t, broken[0].Err.Error(), test.want)
		})
	}
}

// A broken document hides no other one, wherever it stands.
func TestYAMLDocuments(t *testing.T) {
	text := "name: a\nlua: x = 1\n---\nname: [\n--- # second\nname: b\nlua: x = 2\n...\n---\nname: c\nlua: x =\n---\nname: d\nlua: |\n  x = [[\n  ---\n  ]]\n"
	tools, broken := readYAML("weather.yaml", []byte(text), noFile)
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	require.Equal(t, []string{"a", "b", "d"}, names)
	require.Equal(t, []int{1, 6, 13}, []int{tools[0].Line, tools[1].Line, tools[2].Line})
	require.Len(t, broken, 2)
	require.Equal(t, "", broken[0].Name)
	require.Equal(t, "c", broken[1].Name)
	require.Equal(t, 11, broken[1].Line)
}

// Each error of a tool is told, with its place.
func TestYAMLManyErrors(t *testing.T) {
	_, broken := readYAML("weather.yaml", []byte("name: a\ntitle: 1\napprove: no\nlua: x = 1\n"), noFile)
	require.Len(t, broken, 2)
	require.Equal(t, []int{3, 2}, []int{broken[0].Line, broken[1].Line})
	require.Equal(t, "a", broken[0].Name)
}

func TestYAMLHostile(t *testing.T) {
	laughs := "name: a\nlua: x = 1\nconfig:\n  a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 'b'; i < 'k'; i++ {
		item := fmt.Sprintf("*%c, ", i-1)
		laughs += fmt.Sprintf("  %c: &%c [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(item, 10), ", "))
	}
	for name, test := range map[string]struct{ text, want string }{
		"laughs":    {laughs, "aliases"},
		"itself":    {"name: a\nlua: x = 1\nconfig: &c {a: *c}", "inside of what it repeats"},
		"deep flow": {"name: a\nconfig: " + strings.Repeat("[", 100_000), "depth"},
		"deep":      {"name: a\nlua: x = 1\nconfig: " + strings.Repeat("[", 201) + strings.Repeat("]", 201), "deep"},
		"values":    {"name: a\nlua: x = 1\nconfig:\n  a: [" + strings.Repeat("1,", 200_000) + "]", "more than 100000 values"},
		"documents": {strings.Repeat("---\na\n", 2000), "at most 1000"},
		"padding":   {strings.Repeat("\n", 200_000) + strings.Repeat("---\nname: a\nlua: x = 1\n", 900), "too far from its beginning"},
	} {
		t.Run(name, func(t *testing.T) {
			_, broken := readYAML("weather.yaml", []byte(test.text), noFile)
			require.NotEmpty(t, broken)
			require.Contains(t, broken[len(broken)-1].Err.Error(), test.want)
		})
	}
}

func FuzzYAML(f *testing.F) {
	f.Add([]byte(weather))
	f.Add([]byte("name: a\nlua: |\n  x\n---\n- b\n...\n%YAML 1.2\n---\n<<: {a: b}\n"))
	f.Add([]byte("a: &a [*a]\nname: !!str 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		kept := string(text)
		tools, broken := readYAML("f.yaml", text, noFile)
		require.Equal(t, kept, string(text), "the text is not changed")
		require.NotZero(t, len(tools)+len(broken))
		for _, tool := range tools {
			require.NoError(t, CheckName(tool.Name))
			require.NotNil(t, tool.Params)
			require.NotEmpty(t, tool.Hash)
		}
		for _, b := range broken {
			require.NotEmpty(t, b.Err.Error())
		}
	})
}
