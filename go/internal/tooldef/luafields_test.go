package tooldef

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
)

const wholeLua = `tool = {
    name = "whole",
    approve = true,
    rate = "1/h",
    timeout = 1.5,
    memory = "32MiB",
    isolation = "thread",
    permissions = { net = { "api.example.com" }, env = { "HOME" }, read = { "data" }, write = {}, tools = { "other" } },
    config = { url = "https://example.com", retries = 3 },
    tags = { "a" },
    parameters = { { name = "list", type = "array" } },
    result = { type = "object", properties = { list = { type = "array" } } },
    examples = {
        { name = "empty", args = { list = {} }, result = { list = {} } },
        { args = {}, error = "bad_request" },
        {},
    },
}
function tool.execute() end`

// What a YAML tool says of itself a Lua tool says, too.
func TestLuaToolHasAllKeys(t *testing.T) {
	tool, broken := readLua(t.Context(), newVM(t), "x.lua", wholeLua)
	require.Empty(t, broken)
	require.True(t, tool.Approve)
	require.Equal(t, Rate{Calls: 1, Per: time.Hour}, tool.Rate)
	require.Equal(t, 1500*time.Millisecond, tool.Timeout)
	require.EqualValues(t, 32<<20, tool.Memory)
	require.Equal(t, engine.Shared, tool.Isolation)
	require.Equal(t, Permissions{
		Net: []string{"api.example.com"}, Env: []string{"HOME"}, Read: []string{"data"}, Write: []string{}, Tools: []string{"other"},
	}, tool.Permissions)
	require.Equal(t, map[string]any{"url": "https://example.com", "retries": 3.0}, tool.Config)
	require.Equal(t, []string{"a"}, tool.Tags)
	require.Equal(t, []Example{
		{Name: "empty", Args: map[string]any{"list": []any{}}, Want: map[string]any{"list": []any{}}, Line: 14},
		{Args: map[string]any{}, Error: "bad_request", Line: 15},
		{Args: map[string]any{}, Any: true, Line: 16},
	}, tool.Examples)
}

// Each key of a YAML tool is one of a Lua tool, but for those that have another form there.
func TestLuaKeysAreThoseOfYAML(t *testing.T) {
	other := map[string]bool{"params": true, "lua": true, "lua_file": true, "agent": true}
	for key := range yamlFields {
		if !other[key] {
			require.Contains(t, luaFields, key)
		}
	}
}

// The checks are those of YAML, with the place.
func TestLuaKeysAreChecked(t *testing.T) {
	vm := newVM(t)
	for body, want := range map[string]string{
		"approve = 'yes'":                                `x.lua:3: approve must be true or false, got the text "yes"`,
		"rate = '1 per hour'":                            `x.lua:3: "1 per hour" is no rate; write it as "10/1m"`,
		"rate = { calls = 0, per = 1 }":                  `x.lua:3: a rate has 1 to 1000000 calls`,
		"timeout = 'soon'":                               `x.lua:3: timeout "soon" is no duration`,
		"memory = 5":                                     `x.lua:3: memory must be at least 1MiB`,
		"isolation = 'none'":                             `x.lua:3: isolation must be "pristine" or "thread", got the text "none"`,
		"permissions = { nett = {} }":                    `x.lua:3: unknown key "nett" in permissions; did you mean "net"?`,
		"permissions = {\n net = { 'http://x' } }":       `x.lua:3: permissions.net`,
		"permissions = {\n net = {\n 'a.example', 5 } }": `x.lua:5: permissions.net.1 must be a text, got the number 5`,
		"config = { 1, 2 }":                              `x.lua:3: config must be a mapping, got a list`,
		"config = { f = print }":                         `x.lua:3: tool.config.f is a function; what describes a tool is plain data`,
		"examples = { {\n args = 5 } }":                  `x.lua:4: examples.0.args must be a mapping, got the number 5`,
		"examples = { { result = 1, error = 'x' } }":     `x.lua:3: examples.0 has both result and error; leave one out`,
		"aprove = true":                                  `x.lua:3: unknown field tool.aprove; did you mean "approve"?`,
		"params = {}":                                    `x.lua:3: unknown field tool.params; in Lua it is tool.parameters, a list, or tool.schema, a JSON Schema`,
	} {
		_, broken := readLua(t.Context(), vm, "x.lua", "tool = {\n name = 'a',\n "+body+" }\nfunction tool.execute() end")
		require.NotEmpty(t, broken, body)
		require.Contains(t, broken[0].Err.Error(), want)
	}
	_, broken := readLua(t.Context(), vm, "x.lua", "tool = { name = 'a' }\nfunction tool.execute() end\n\ntool.approve = 1")
	require.NotEmpty(t, broken)
	require.Contains(t, broken[0].Err.Error(), "x.lua:4: approve must be true or false, got the number 1")
}

// The configuration wins over what the file says.
func TestConfigurationOfALuaTool(t *testing.T) {
	tool, broken := readLua(t.Context(), newVM(t), "x.lua", wholeLua)
	require.Empty(t, broken)
	changed, err := Script{Timeout: time.Minute, Rate: Rate{5, time.Second}, Config: map[string]any{"url": "https://other"}}.apply(tool)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"url": "https://other", "retries": 3.0}, changed.Config)
	require.Equal(t, "https://example.com", tool.Config["url"], "the tool stays as it was")
	require.Equal(t, time.Minute, changed.Timeout)
	require.Equal(t, Rate{5, time.Second}, changed.Rate)
	require.True(t, changed.Approve)
	no := false
	changed, err = Policy{Approve: &no, Permissions: Permissions{Net: []string{}}}.apply(changed)
	require.NoError(t, err)
	require.False(t, changed.Approve)
	require.Empty(t, changed.Permissions.Net)
	require.Equal(t, []string{"HOME"}, changed.Permissions.Env)
}

// The title of the annotations is that of a tool without one, and stays beside another.
func TestTitleOfAnnotations(t *testing.T) {
	vm := newVM(t)
	for fields, want := range map[string][2]string{
		"annotations = { title = 'A' }":              {"A", "A"},
		"title = 'T', annotations = { title = 'A' }": {"T", "A"},
		"title = 'T', annotations = {}":              {"T", ""},
	} {
		tool, broken := readLua(t.Context(), vm, "x.lua", "tool = { name = 'a', "+fields+" } function tool.execute() end")
		require.Empty(t, broken)
		require.Equal(t, want, [2]string{tool.Title, tool.Annotations.Title})
	}
}
