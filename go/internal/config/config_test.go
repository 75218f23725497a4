package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/units"
)

var env = map[string]string{
	"JIRA_TOKEN": "jira-secret-1", "EMPTY": "", "NAME": "bot", "KEY": "sk-12345", "PORT": "9999",
}

func options() Options {
	return Options{Dir: "/srv/tools", LookupEnv: func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}}
}

func parse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse([]byte(text), options())
	require.NoError(t, err)
	return c
}

const whole = `
[tools]
dirs = ["tools", "/opt/tools"]

[tools.script.create_jira_ticket]
path = "tools/create-jira-ticket.lua"
timeout = 30
approve = true
rate = "10/m"
url = "https://jira.example.com"
api_token = "${JIRA_TOKEN}"
retries = 3
tags = ["a", "${NAME}"]
nested = { user = "${NAME:-nobody}", when = 2026-01-02, list = [{ x = 1 }] }

[tools.policy.create_jira_ticket]
memory = "64MiB"
timeout = "500ms"
isolation = "thread"
net = ["jira.example.com"]
net_private = []
read = ["data", "*", "/var/data"]

[server]
bind = "127.0.0.1:8787"
token = "tok-${KEY}"
operator_token = "op-token-1"
cors = ["https://app.example.com"]
hosts = ["localhost"]
body_limit = 4194304
max_runs = 8
queue = 0
header_timeout = "5s"
idle_timeout = "2m"
drain = 10.5

[models.fast]
provider = "openai-compatible"
model = "small"
base_url = "http://127.0.0.1:${PORT}/v1"
api_key = "${KEY}"
headers = { "X-Team" = "a", Authorization = "Basic abcdefgh" }
max_retries = 0

[models.play]
provider = "script"
script = "models/play.luau"

[limits]
time = "1m"
memory = "1.5GiB"
host_calls = 1000
tokens = 20000
depth = 4

[permissions]
env = ["LANG"]

[state]
dir = "state"
max_kept = "64 MiB"
max_size = "2 GiB"

[log]
max_size = "100 MiB"
retention = "7d"
level = "info"
format = "json"

[music]
folder = "songs"
output = "out.wav"
`

func TestParse(t *testing.T) {
	c := parse(t, whole)
	assert.Equal(t, []string{"/srv/tools/tools", "/opt/tools"}, c.Tools.Dirs)
	assert.Equal(t, Script{
		Path: "/srv/tools/tools/create-jira-ticket.lua", Timeout: 30 * time.Second, Approve: true, Rate: units.Rate{Count: 10, Per: time.Minute},
		Config: map[string]any{
			"url": "https://jira.example.com", "api_token": "jira-secret-1", "retries": 3.0, "tags": []any{"a", "bot"},
			"nested": map[string]any{"user": "bot", "when": "2026-01-02", "list": []any{map[string]any{"x": 1.0}}},
		},
	}, c.Tools.Scripts["create_jira_ticket"])
	assert.Equal(t, Policy{
		Memory: 64 << 20, Timeout: 500 * time.Millisecond, Isolation: Thread,
		Permissions: Permissions{Net: []string{"jira.example.com"}, NetPrivate: []string{}, Read: []string{"/srv/tools/data", "*", "/var/data"}},
	}, c.Tools.Policies["create_jira_ticket"])
	assert.Equal(t, Server{
		Bind: "127.0.0.1:8787", Token: "tok-sk-12345", OperatorToken: "op-token-1", Cors: []string{"https://app.example.com"},
		Hosts: []string{"localhost"}, BodyLimit: 4 << 20, MaxRuns: 8, QueueSet: true, HeaderTimeout: 5 * time.Second,
		IdleTimeout: 2 * time.Minute, Drain: 10500 * time.Millisecond,
	}, c.Server)
	assert.Equal(t, Model{
		Provider: "openai-compatible", Model: "small", BaseURL: "http://127.0.0.1:9999/v1", APIKey: "sk-12345",
		Headers: map[string]string{"X-Team": "a", "Authorization": "Basic abcdefgh"}, RetriesSet: true,
	}, c.Models["fast"])
	assert.Equal(t, "/srv/tools/models/play.luau", c.Models["play"].Script)
	assert.Equal(t, Limits{Time: time.Minute, Memory: 3 << 29, HostCalls: 1000, Tokens: 20000, Depth: 4}, c.Limits)
	assert.Equal(t, []string{"LANG"}, c.Permissions.Env)
	assert.Equal(t, "/srv/tools/state", c.StateDir)
	assert.EqualValues(t, 64<<20, c.MaxKept)
	assert.EqualValues(t, 2<<30, c.MaxState)
	assert.Equal(t, Log{Retention: 7 * 24 * time.Hour, MaxSize: 100 << 20, Level: "info", Format: "json"}, c.Log)
	assert.Equal(t, Music{Folder: "/srv/tools/songs", Output: "/srv/tools/out.wav"}, c.Music)
}

func TestEmptyFile(t *testing.T) {
	c := parse(t, "")
	assert.Empty(t, c.Tools.Scripts)
	assert.Nil(t, c.Permissions.Net)
	assert.Empty(t, c.Secrets())
	assert.Nil(t, redact.New(c.Secrets()))
	assert.Equal(t, "hukilau.toml", c.Name)
}

func TestSecrets(t *testing.T) {
	c := parse(t, whole)
	assert.Equal(t, []string{"9999", "Basic abcdefgh", "bot", "jira-secret-1", "op-token-1", "sk-12345", "tok-sk-12345"}, c.Secrets())
	assert.Equal(t, "call with [redacted] and [redacted], by bot", redact.New(c.Secrets()).Text("call with jira-secret-1 and tok-sk-12345, by bot"))
	c = parse(t, "[tools.script.x]\npath='x'\n[tools.script.x.db]\npassword='pass-1'\nhosts=['a-host']\n[tools.script.x.secret]\ndeep={a=['deep-1']}")
	assert.Equal(t, []string{"deep-1", "pass-1"}, c.Secrets())
	_, err := Parse([]byte("[server]\ndrain = \"${JIRA_TOKEN}\""), options())
	require.ErrorContains(t, err, "is no duration")
	assert.NotContains(t, err.Error(), "jira-secret-1")
}

func TestVariables(t *testing.T) {
	config := func(value string) any {
		return parse(t, "[tools.script.x]\npath='x'\nv="+value).Tools.Scripts["x"].Config["v"]
	}
	for value, want := range map[string]any{
		`"${NAME}"`: "bot", `"a ${NAME} b ${NAME}"`: "a bot b bot", `"${NONE:-some text}"`: "some text", `"${NONE:-}"`: "",
		`"${EMPTY}"`: "", `"${EMPTY:-full}"`: "full", `"$${NAME}"`: "${NAME}", `"$$${NAME}"`: "$${NAME}", `"$NAME $ {"`: "$NAME $ {",
		`'${NAME}'`: "bot", `["${NAME}", ["${NAME}"]]`: []any{"bot", []any{"bot"}},
	} {
		assert.Equal(t, want, config(value), value)
	}
	// What a variable holds is not read again.
	env["NESTED"] = "${NAME}"
	assert.Equal(t, "${NAME}", config(`"${NESTED}"`))
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a = ":                                                "hukilau.toml:1:4: expected value",
		"[server]\nbind = 1\nbind = 2":                        "hukilau.toml:3:1: ",
		"[servr]\nbind = 'x:1'":                               `hukilau.toml:1:2: the file has no key "servr" (did you mean "server"?)`,
		"\n[server]\n  bnd = 'x:1'":                           `hukilau.toml:3:3: server has no key "bnd" (did you mean "bind"?)`,
		"[log]\nfoo = 1":                                      `hukilau.toml:2:1: log has no key "foo"; known are retention, max_size, level, format`,
		"server.max_runs = 'many'":                            "hukilau.toml:1:8: server.max_runs must be a whole number, not a string",
		"[server]\nmax_runs = 0":                              "hukilau.toml:2:1: server.max_runs must be a whole number of at least 1",
		"[server]\nqueue = 1.5":                               "hukilau.toml:2:1: server.queue must be a whole number of at least 0",
		"[server]\nqueue = 9223372036854775807":               "hukilau.toml:2:1: server.queue is too large",
		"[server]\nbind = '8787'":                             `hukilau.toml:2:1: server.bind must be an address with a port, as "127.0.0.1:8787"`,
		"[server]\ncors = 'x'":                                "hukilau.toml:2:1: server.cors must be a list of strings, not a string",
		"[server]\ncors = [\n 'http://a',\n 5]":               "hukilau.toml:4:2: server.cors.1 must be a string, not a number",
		"[server]\ntoken='abcd'\noperator_token='abcd'":       "hukilau.toml:3:1: server.operator_token must not be the same as server.token",
		"server = 5":                                          "hukilau.toml:1:1: server must be a table, not a number",
		"[limits]\nmemory = 'much'":                           `hukilau.toml:2:1: limits.memory "much" is no size`,
		"[limits]\ntime = inf":                                "hukilau.toml:2:1: limits.time must be a finite number",
		"[log]\nlevel = 'inof'":                               `hukilau.toml:2:1: log.level must be one of debug, info, warn, error (did you mean "info"?)`,
		"[tools.script.x]\nurl = 'y'":                         `hukilau.toml:1:15: tools.script.x needs path: the tool's file`,
		"[tools.script]\nx = 'y'":                             "hukilau.toml:2:1: tools.script.x must be a table, not a string",
		"[tools.policy.\"a b\"]\nisolation='none'":            `hukilau.toml:2:1: tools.policy."a b".isolation must be one of pristine, thread`,
		"[models.m]\nmodel = 'x'":                             "hukilau.toml:1:9: models.m needs provider: one of openai, anthropic",
		"[models.m]\nprovider = 'openia'":                     `hukilau.toml:2:1: models.m.provider must be one of openai, anthropic, gemini, openai-compatible, script (did you mean "openai"?)`,
		"[models.m]\nprovider = 'openai'":                     "hukilau.toml:1:9: models.m needs model: the name by which the provider knows it",
		"[log]\nlevel = 'trace'":                              "hukilau.toml:2:1: log.level must be one of debug, info, warn, error",
		"[server]\ntoken = '${EMPTY}'":                        "hukilau.toml:2:1: server.token is empty",
		"[server]\noperator_token = ''":                       "hukilau.toml:2:1: server.operator_token is empty",
		"[models.m]\nprovider = 'script'":                     "hukilau.toml:1:9: models.m needs script",
		"[models.m]\nprovider = 'openai'\nbase_url='ftp://x'": "hukilau.toml:3:1: models.m.base_url must begin with http",
		"[models.m]\nprovider='openai'\nheaders={a=1}":        "hukilau.toml:3:10: models.m.headers.a must be a string, not a number",
		"[tools]\ndirs = ['a', '${GONE}']":                    "hukilau.toml:2:14: tools.dirs.1 needs the variable GONE, which is not set: set it, or write ${GONE:-default}",
		"[[tools.script.x.list]]\na='b'\n[[tools.script.x.list]]\na='${GONE}'": "hukilau.toml:4:1: tools.script.x.list.1.a needs the variable GONE",
		"[state]\ndir = 'x${'":                  `hukilau.toml:2:1: state.dir has a "${" without "}"`,
		"[state]\ndir = '${a b}'":               `hukilau.toml:2:1: state.dir has "${a b}", which names no variable`,
		"[state]\ndir = '${}'":                  `state.dir has "${}", which names no variable`,
		strings.Repeat("a = [", 200):            "nesting deeper than 100",
		"x = '" + strings.Repeat("a", mostText): "hukilau.toml: the file has more than 1048576 bytes",
	} {
		_, err := Parse([]byte(text), options())
		assert.ErrorContains(t, err, want, clipped(text))
		assert.NotContains(t, err.Error(), "info, warn, error;", "known twice")
		var list Errors
		assert.True(t, errors.As(err, &list))
	}
}

func TestByteOrderMark(t *testing.T) {
	text := "\ufeff[tools.policy.a]\nnet = ['x.com']\n"
	c, err := Parse([]byte(text), options())
	require.NoError(t, err)
	require.Equal(t, []string{"x.com"}, c.Tools.Policies["a"].Permissions.Net)
	edited, err := AddToList([]byte(text), []string{"tools", "policy", "a"}, "net", []string{"y.com"})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(edited), text[:5]), string(edited))
	c, err = Parse(edited, options())
	require.NoError(t, err)
	require.Contains(t, c.Tools.Policies["a"].Permissions.Net, "y.com")
}

func clipped(text string) string { return text[:min(len(text), 80)] }

func TestErrorsComeTogether(t *testing.T) {
	_, err := Parse([]byte("[server]\nqueue = -1\nbnd = 'x'\n\n[log]\nlevel = 1\n[nothing]\n"), Options{Name: "my.toml"})
	require.EqualError(t, err, `my.toml:2:1: server.queue must be a whole number of at least 0
my.toml:3:1: server has no key "bnd" (did you mean "bind"?)
my.toml:6:1: log.level must be a string, not a number
my.toml:7:2: the file has no key "nothing"; known are tools, server, models, limits, permissions, state, log, music, mcp_servers, apis, gateway`)
	var one *Error
	require.ErrorAs(t, err, &one)
	assert.Equal(t, 2, one.Line)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("[server]\nbind = '${'\nqueue = 1.5"))
	f.Add([]byte("[[tools.script.x.a]]\nb.c.d=[{e='${NAME}'}]\n[[tools.script.x.a.f]]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data, options())
		if err == nil {
			redact.New(c.Secrets()).Text(string(data))
			return
		}
		for _, one := range err.(Errors) {
			if one.Problem == "" || one.Line < 0 {
				t.Fatalf("%+v", one)
			}
			if strings.Contains(one.Error(), env["JIRA_TOKEN"]) && !strings.Contains(string(data), env["JIRA_TOKEN"]) {
				t.Fatalf("a secret is shown: %v", one)
			}
		}
	})
}
