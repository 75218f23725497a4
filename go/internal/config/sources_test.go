package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sources = `
[mcp_servers.filesystem]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]
env = { HOME = "/tmp", GITHUB_PAT = "ghp-plain" }
cwd = "work"
allow = ["read_*", "list_*"]
deny = ["*_secret"]
max_concurrent = 4
timeout = "10s"
description = "Files."

[mcp_servers.here]
command = "./bin/server"

[mcp_servers.legacy]
url = "https://mcp.example.com/sse"
transport = "sse"
headers = { X-Api-Key = "${KEY}", Accept = "application/json", Authorization = "Bearer abcdef-123" }
stateless = true
disabled = true

[mcp_servers.remote]
url = "https://user:pass-word@mcp.example.com/mcp?api_key=in-query&page=a-page"
[mcp_servers.remote.auth]
type = "oauth"
client_id = "me"
client_secret = "client-secret-1"
scopes = ["read", "write"]
redirect_port = 7777

[mcp_servers.plain]
url = "http://127.0.0.1:9000/mcp"
auth = { type = "bearer", token = "bearer-token-1" }
allow = []

[apis.petstore]
spec = "specs/petstore.yaml"
base_url = "https://pets.example.com/v3"
headers = { X-Team = "a" }
variables = { region = "eu" }
include = { tags = ["pet"], paths = ["/pets/*"] }
exclude = { operations = ["delete*"] }
description = "Pets."
max_concurrent = 2
timeout = 5
[apis.petstore.auth.api_key]
type = "api_key"
key = "key-of-pets"
name = "X-Pet-Key"
in = "header"
[apis.petstore.auth.login]
type = "basic"
user = "me"
password = "hunter22"

[apis.billing]
spec = "https://billing.example.com/openapi.json"
auth = { type = "oauth2", client_id = "c", client_secret = "billing-secret", token_url = "https://billing.example.com/token", scopes = ["all"] }

[apis.open]
spec = "/opt/open.json"
auth.type = "bearer"
auth.token = "open-token"
`

func TestSources(t *testing.T) {
	c := parse(t, sources)
	assert.Equal(t, map[string]MCPServer{
		"filesystem": {
			Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/tmp"}, Env: map[string]string{"HOME": "/tmp", "GITHUB_PAT": "ghp-plain"},
			Cwd: "/srv/tools/work", Transport: Stdio, Allow: []Pattern{"read_*", "list_*"}, Deny: []Pattern{"*_secret"},
			MaxConcurrent: 4, Timeout: 10 * time.Second, Description: "Files.",
		},
		"here": {Command: "/srv/tools/bin/server", Cwd: "/srv/tools", Transport: Stdio},
		"legacy": {
			URL: "https://mcp.example.com/sse", Transport: SSE, Stateless: true, Disabled: true,
			Headers: map[string]string{"X-Api-Key": "sk-12345", "Accept": "application/json", "Authorization": "Bearer abcdef-123"},
		},
		"remote": {
			URL: "https://user:pass-word@mcp.example.com/mcp?api_key=in-query&page=a-page", Transport: StreamableHTTP,
			Auth: ServerAuth{Type: OAuth, ClientID: "me", ClientSecret: "client-secret-1", Scopes: []string{"read", "write"}, RedirectPort: 7777},
		},
		"plain": {URL: "http://127.0.0.1:9000/mcp", Transport: StreamableHTTP, Auth: ServerAuth{Type: BearerAuth, Token: "bearer-token-1"}, Allow: []Pattern{}},
	}, c.MCPServers)
	assert.Equal(t, map[string]API{
		"petstore": {
			Spec: "/srv/tools/specs/petstore.yaml", BaseURL: "https://pets.example.com/v3", Headers: map[string]string{"X-Team": "a"},
			Variables: map[string]string{"region": "eu"}, Include: Filter{Tags: []Pattern{"pet"}, Paths: []Pattern{"/pets/*"}},
			Exclude: Filter{Operations: []Pattern{"delete*"}}, Description: "Pets.", MaxConcurrent: 2, Timeout: 5 * time.Second,
			Schemes: map[string]APIAuth{
				"api_key": {Type: KeyAuth, Key: "key-of-pets", Name: "X-Pet-Key", In: "header"},
				"login":   {Type: BasicAuth, User: "me", Password: "hunter22"},
			},
		},
		"billing": {
			Spec: "https://billing.example.com/openapi.json",
			Auth: APIAuth{Type: OAuth2, ClientID: "c", ClientSecret: "billing-secret", TokenURL: "https://billing.example.com/token", Scopes: []string{"all"}},
		},
		"open": {Spec: "/opt/open.json", Auth: APIAuth{Type: BearerAuth, Token: "open-token"}},
	}, c.APIs)
	assert.Equal(t, 7, c.Enabled())
	assert.Equal(t, []string{
		"Bearer abcdef-123", "abcdef-123", "bearer-token-1", "billing-secret", "client-secret-1", "ghp-plain", "hunter22", "in-query",
		"key-of-pets", "open-token", "pass-word", "sk-12345",
	}, c.Secrets())
}

func TestSourceErrors(t *testing.T) {
	api := "[apis.x]\nspec = 'x.yaml'\n"
	for text, want := range map[string]string{
		"[mcp_servers.x]": `hukilau.toml:1:14: mcp_servers.x needs command or url: what starts the server, as "npx", or where it runs`,
		"[mcp_servers.x]\ncommand='a'\nurl='http://b'":                                             "hukilau.toml:1:14: mcp_servers.x has command and url",
		"[mcp_servers.x]\ncommand='a'\ntransport='sse'":                                            "hukilau.toml:3:1: mcp_servers.x.transport is for a server with url, and this one has none",
		"[mcp_servers.x]\ncommand='a'\nheaders={}":                                                 "hukilau.toml:3:1: mcp_servers.x.headers is for a server with url",
		"[mcp_servers.x]\ncommand='a'\nauth={type='none'}":                                         "hukilau.toml:3:1: mcp_servers.x.auth is for a server with url",
		"[mcp_servers.x]\ncommand=''":                                                              "hukilau.toml:2:1: mcp_servers.x.command must not be empty: what starts the server",
		"[mcp_servers.x]\nurl='http://b'\nargs=[]":                                                 "hukilau.toml:3:1: mcp_servers.x.args is for a server with command, and this one has none",
		"[mcp_servers.x]\nurl='http://b'\nenv={}":                                                  "hukilau.toml:3:1: mcp_servers.x.env is for a server with command",
		"[mcp_servers.x]\nurl='http://b'\ncwd='x'":                                                 "hukilau.toml:3:1: mcp_servers.x.cwd is for a server with command",
		"[mcp_servers.x]\nurl='http://b'\ntransport='sss'":                                         `hukilau.toml:3:1: mcp_servers.x.transport must be one of streamable-http, sse (did you mean "sse"?)`,
		"[mcp_servers.x]\nurl='b.example.com'":                                                     "hukilau.toml:2:1: mcp_servers.x.url must begin with http:// or https://",
		"[mcp_servers.x]\nurl=''":                                                                  "hukilau.toml:2:1: mcp_servers.x.url must not be empty: an address",
		"[mcp_servers.x]\nurl='http://'":                                                           "hukilau.toml:2:1: mcp_servers.x.url names no host",
		"[mcp_servers.x]\nurl='http://[secret-host'":                                               "hukilau.toml:2:1: mcp_servers.x.url is no address: missing ']' in host",
		"[mcp_servers.x]\ncomand='a'":                                                              `hukilau.toml:2:1: mcp_servers.x has no key "comand" (did you mean "command"?)`,
		"[mcp_servers.x]\ncommand='a'\nargs='-y b'":                                                "hukilau.toml:3:1: mcp_servers.x.args must be a list of strings, not a string",
		"[mcp_servers.x]\ncommand='a'\nargs=['a', 1]":                                              "hukilau.toml:3:12: mcp_servers.x.args.1 must be a string, not a number",
		"[mcp_servers.x]\ncommand='a'\nenv={A=1}":                                                  "hukilau.toml:3:6: mcp_servers.x.env.A must be a string, not a number",
		"[mcp_servers.x]\nurl='http://b'\nheaders={'A B'='c'}":                                     "hukilau.toml:3:10: mcp_servers.x.headers.\"A B\" is no name of a header",
		"[mcp_servers.x]\nurl='http://b'\nheaders={A=\"c\\nd\"}":                                   "hukilau.toml:3:10: mcp_servers.x.headers.A has characters that a header cannot have",
		"[mcp_servers.x]\ncommand='a'\nallow=['']":                                                 `hukilau.toml:3:1: mcp_servers.x.allow has an empty pattern`,
		"[mcp_servers.x]\ncommand='a'\nallow='a'":                                                  "hukilau.toml:3:1: mcp_servers.x.allow must be a list of strings, not a string",
		"[mcp_servers.x]\ncommand='a'\nmax_concurrent=0":                                           "hukilau.toml:3:1: mcp_servers.x.max_concurrent must be a whole number of at least 1",
		"[mcp_servers.x]\ncommand='a'\ntimeout='soon'":                                             `hukilau.toml:3:1: mcp_servers.x.timeout "soon" is no duration`,
		"[mcp_servers.x]\ncommand='a'\nstateless='yes'":                                            "hukilau.toml:3:1: mcp_servers.x.stateless must be true or false, not a string",
		"[mcp_servers]\nx='npx'":                                                                   "hukilau.toml:2:1: mcp_servers.x must be a table, not a string",
		"[mcp_servers.'']\ncommand='a'":                                                            `mcp_servers."" needs a name that is not empty`,
		"[mcp_servers.' x']\ncommand='a'":                                                          `mcp_servers." x" has a name that begins or ends with a space`,
		"[mcp_servers.\"a\\u200bb\"]\ncommand='a'":                                                 `has a name with characters that cannot be seen`,
		"[mcp_servers." + strings.Repeat("x", 129) + "]\ncommand='a'":                              `has a name of more than 128 bytes`,
		"[mcp_servers.x]\nurl='http://b'\nauth={}\nfoo=1":                                          `mcp_servers.x has no key "foo"`,
		"[mcp_servers.x]\nurl='http://b'\nauth={token='a'}":                                        "hukilau.toml:3:1: mcp_servers.x.auth needs type: one of bearer, oauth, none",
		"[mcp_servers.x]\nurl='http://b'\nauth={type='basic'}":                                     "mcp_servers.x.auth.type must be one of bearer, oauth, none",
		"[mcp_servers.x]\nurl='http://b'\nauth={type='bearer'}":                                    "hukilau.toml:3:1: mcp_servers.x.auth needs token: what is shown to the server",
		"[mcp_servers.x]\nurl='http://b'\nauth={type='bearer',token=''}":                           "mcp_servers.x.auth.token must not be empty",
		"[mcp_servers.x]\nurl='http://b'\nauth={type='none',token='a'}":                            "hukilau.toml:3:19: mcp_servers.x.auth.token is for the type bearer, and this is none",
		"[mcp_servers.x]\nurl='http://b'\nauth={type='oauth',tokn='a'}":                            `mcp_servers.x.auth has no key "tokn" (did you mean "token"?)`,
		"[mcp_servers.x]\nurl='http://b'\n[mcp_servers.x.auth]\ntype='oauth'\nredirect_port=70000": "hukilau.toml:5:1: mcp_servers.x.auth.redirect_port must be a port, at most 65535",
		"[mcp_servers.x]\nurl='http://b'\n[mcp_servers.x.auth]\ntype='oauth'\nclient_secret='s'":   "hukilau.toml:3:16: mcp_servers.x.auth needs client_id: whose secret it is",
		"[apis.x]":                                        `hukilau.toml:1:7: apis.x needs spec: the OpenAPI document`,
		"[apis.x]\nspec=''":                               "hukilau.toml:2:1: apis.x.spec must not be empty",
		"[apis.x]\nspec='ftp://x/y'":                      "hukilau.toml:2:1: apis.x.spec must be a path, or begin with http:// or https://",
		"[apis.x]\nspec='https://'":                       "hukilau.toml:2:1: apis.x.spec names no host",
		api + "base_url='/v1'":                            "hukilau.toml:3:1: apis.x.base_url must begin with http:// or https://",
		api + "include={tag=['a']}":                       `apis.x.include has no key "tag" (did you mean "tags"?)`,
		api + "exclude=['a']":                             "hukilau.toml:3:1: apis.x.exclude must be a table, not an array",
		api + "variables={a=1}":                           "apis.x.variables.a must be a string, not a number",
		api + "auth={type='bearer'}":                      "apis.x.auth needs token",
		api + "auth={type='basic',password='p'}":          "apis.x.auth needs user: whose password it is",
		api + "auth={type='api_key'}":                     "apis.x.auth needs key",
		api + "auth={type='api_key',key='k',in='header'}": "apis.x.auth needs name: of the header",
		api + "auth={type='api_key',key='k',in='body'}":   "apis.x.auth.in must be one of header, query, cookie",
		api + "auth={type='api_key',key='k',name='A B'}":  "apis.x.auth.name is no name of a header or cookie",
		api + "auth={type='oauth2',client_id='c'}":        "apis.x.auth needs client_secret",
		api + "auth={type='oauth2',client_secret='c'}":    "apis.x.auth needs client_id",
		api + "auth={type='oauth2',client_id='c',client_secret='s',token_url='t'}": "apis.x.auth.token_url must begin with http",
		api + "auth={type='oauth'}":                        `apis.x.auth.type must be one of bearer, basic, api_key, oauth2, none (did you mean "oauth2"?)`,
		api + "auth={type='bearer',token='t',user='u'}":    "apis.x.auth.user is for the type basic, and this is bearer",
		api + "auth={user='u'}":                            "apis.x.auth needs type: one of bearer, basic, api_key, oauth2, none",
		api + "[apis.x.auth.s]\ntype='bearer'":             "hukilau.toml:3:14: apis.x.auth.s needs token",
		api + "[apis.x.auth.s]\n":                          "hukilau.toml:3:14: apis.x.auth.s needs type",
		"[mcp_servers.x]\ncommand='a'\n[apis.x]\nspec='x'": "hukilau.toml:3:7: apis.x has the name of an MCP server",
	} {
		_, err := Parse([]byte(text), options())
		assert.ErrorContains(t, err, want, clipped(text))
		if err != nil {
			assert.NotContains(t, err.Error(), "secret-host")
		}
	}
}

// One mistake is told once.
func TestOneError(t *testing.T) {
	for _, text := range []string{
		"[mcp_servers.x]\ncommand='a'\ntransport='stdio'", "[mcp_servers.x]\nurl='http://a'\ntransport=1", "[mcp_servers.x]\nurl='http://a'\ntransport='stdio'",
		"[mcp_servers.x]\nurl=1", "[mcp_servers.x]\ncommand=1", "[apis.x]\nspec=1", "[apis.x]\nspec='y'\nbase_url=1",
	} {
		_, err := Parse([]byte(text), options())
		require.Error(t, err, text)
		assert.Len(t, err.(Errors), 1, err.Error())
	}
}

func TestClearText(t *testing.T) {
	s := MCPServer{
		Env:     map[string]string{"API_KEY": "abc", "OTHER_KEY": "${KEY}", "DEBUG": "1"},
		Headers: map[string]string{"Authorization": "Bearer abc", "Cookie": "a=${C}", "Accept": "x"},
		Auth:    ServerAuth{Token: "t", ClientSecret: "${S}"}, Args: []string{"--token", "abc"}, URL: "https://x/?key=abc",
	}
	assert.Equal(t, []string{"env.API_KEY", "headers.Authorization", "auth.token", "args", "url"}, s.ClearText())
	a := API{Headers: map[string]string{"X-Api-Key": "abc"}, Auth: APIAuth{Type: BasicAuth, Password: "p"}, Spec: "x"}
	assert.Equal(t, []string{"headers.X-Api-Key", "auth"}, a.ClearText())
	a = API{Schemes: map[string]APIAuth{"one": {Key: "k"}, "two": {Token: "t"}, "three": {Token: "${T}"}}}
	assert.Equal(t, []string{"auth"}, a.ClearText())
	a = API{Auth: APIAuth{Type: BearerAuth, Token: "${T}"}, Spec: "https://x/?a=b"}
	assert.Empty(t, a.ClearText())
	assert.Equal(t, `mcp_servers."a b"`, SectionOf("mcp_servers", "a b"))
}

// A value that is not known yet is not said to be wrong.
func TestSourcesWithUnsetVariables(t *testing.T) {
	o := options()
	o.Placeholder = "[unset]"
	c, err := Parse([]byte("[mcp_servers.x]\nurl = '${GONE}'\nheaders = { A = '${GONE_TOO}' }\n[apis.y]\nspec = '${GONE}'\nbase_url='${GONE}'"), o)
	require.NoError(t, err)
	require.Len(t, c.Unset(), 4)
	assert.Equal(t, "[unset]", c.MCPServers["x"].URL)
	c, err = Parse([]byte("[mcp_servers.x]\nurl = 'https://${GONE}/${GONE_TOO}'"), o)
	require.NoError(t, err)
	require.Len(t, c.Unset(), 2, "two in one value")
	_, err = Parse([]byte("[mcp_servers.x]\nurl = '${GONE}'"), options())
	var list Errors
	require.True(t, errors.As(err, &list))
	assert.Contains(t, list[0].Error(), "mcp_servers.x.url needs the variable GONE, which is not set")
}

// Names of sources and of security schemes make nothing secret.
func TestNamesAreNoSecrets(t *testing.T) {
	c := parse(t, "[mcp_servers.token]\ncommand='server-of-tokens'\n[apis.secret]\nspec='x'\n[apis.secret.auth.api_key]\ntype='api_key'\nkey='the-key'\nname='X-Key'\nin='header'")
	assert.Equal(t, []string{"the-key"}, c.Secrets())
}

// Where files are is known to a server of files, and told by all that it says.
func TestPlainVariables(t *testing.T) {
	o := Options{LookupEnv: func(name string) (string, bool) {
		value := map[string]string{"HOME": "/home/ada", "GH": "ghp_1234", "MY_KEY": "/plain/key", "STAGE": "staging"}[name]
		return value, value != ""
	}}
	c, err := Parse([]byte(`[mcp_servers.x]
command = "server"
args = ["${HOME}/docs", "${GH}", "${MY_KEY}", "${STAGE}"]
env = { DIR = "${HOME}" }
`), o)
	require.NoError(t, err)
	assert.Equal(t, []string{"/plain/key", "ghp_1234"}, c.Secrets())
	c, err = Parse([]byte("[mcp_servers.x]\ncommand = 'server'\nenv = { PASSWORD = '${STAGE}' }\n[tools]\ndirs=['${HOME}']"), o)
	require.NoError(t, err)
	assert.Equal(t, []string{"/home/ada", "staging"}, c.Secrets())
	c, err = Parse([]byte("[mcp_servers.x]\nurl = 'http://y'\nauth = { type = 'bearer', token = '${STAGE}' }"), o)
	require.NoError(t, err)
	assert.Equal(t, []string{"staging"}, c.Secrets())
}

func TestSecretArguments(t *testing.T) {
	for want, args := range map[string][]string{
		"":             {"-y", "@scope/server", "--port", "3000", "--verbose", "key"},
		"abc-1":        {"--api-key", "abc-1"},
		"abc-2":        {"--token=abc-2"},
		"abc-3":        {"run", "-e", "GITHUB_TOKEN=abc-3"},
		"abc-4 xyz":    {"--header", "X-Api-Key: abc-4 xyz"},
		"hunter22":     {"postgres://me:hunter22@db.example.com/main"},
		"abc-5":        {"https://example.com/mcp?token=abc-5&page=2"},
		"Bearer abc-6": {"--header", "Authorization: Bearer abc-6"},
		"-":            {"--token", "--verbose", "-"},
	} {
		s := Sources{MCPServers: map[string]MCPServer{"x": {Command: "c", Args: args}}}
		got := sorted(s.secrets())
		switch want {
		case "", "-":
			assert.Empty(t, got, args)
		default:
			assert.Contains(t, got, want, args)
		}
	}
}

func TestPlainValues(t *testing.T) {
	values := func(name, text string) []string { return secretValues(map[string]string{name: text}) }
	for _, text := range []string{"production", "true", "3000", "/home/me/files", "~/x", "../x", "application/json", "*/*", "http://127.0.0.1:11434", "1.2.3", ""} {
		assert.Empty(t, values("NODE_ENV", text), text)
	}
	for _, text := range []string{"ghp_abcdef", "aGVsbG8gd29ybGQ=", "postgres://a:b@c/d", "https://hooks.example.com/T0/B0", "averylongwordofletters", "a1b2c3d4"} {
		assert.NotEmpty(t, values("X", text), text)
	}
	for _, name := range []string{"DB_PASS", "GH_PAT", "API_KEY", "Cookie", "X-Auth", "Authorization", "SESSION"} {
		assert.NotEmpty(t, values(name, "letters"), name)
	}
}

func TestAllows(t *testing.T) {
	s := MCPServer{}
	assert.True(t, s.Allows("anything"))
	s.Deny = []Pattern{"delete_*"}
	assert.True(t, s.Allows("get"))
	assert.False(t, s.Allows("delete_all"))
	s.Allow = []Pattern{"delete_*", "get"}
	assert.False(t, s.Allows("delete_all"))
	assert.False(t, s.Allows("put"))
	assert.True(t, s.Allows("get"))
	s.Allow = []Pattern{}
	assert.False(t, s.Allows("get"))
}

func TestPattern(t *testing.T) {
	for pattern, names := range map[string]map[string]bool{
		"*":               {"": true, "a": true, "a.b": true},
		"github.delete_*": {"github.delete_repo": true, "github.delete_": true, "github.Delete_x": false, "gitlab.delete_x": false},
		"*.delete*":       {"a.b.delete": true, "delete": false},
		"a?c":             {"abc": true, "aéc": true, "ac": false},
		"*a*b":            {"aab": true, "xaxb": true, "xaxbc": false, "ab": true},
		"exact":           {"exact": true, "exactly": false, "exac": false},
		"":                {"": true, "a": false},
	} {
		for name, want := range names {
			assert.Equal(t, want, Pattern(pattern).Matches(name), "%s with %s", pattern, name)
		}
	}
	// Many stars take no exponential time.
	assert.False(t, Pattern(strings.Repeat("a*", 50)+"b").Matches(strings.Repeat("a", 2000)))
}

func TestOverride(t *testing.T) {
	c := parse(t, sources)
	c.Override(Sources{
		MCPServers: map[string]MCPServer{"plain": {Command: "x"}, "billing": {Command: "y"}},
		APIs:       map[string]API{"legacy": {Spec: "z"}},
	})
	assert.Equal(t, MCPServer{Command: "x"}, c.MCPServers["plain"])
	assert.Contains(t, c.MCPServers, "billing")
	assert.NotContains(t, c.APIs, "billing")
	assert.NotContains(t, c.MCPServers, "legacy")
	assert.Equal(t, API{Spec: "z"}, c.APIs["legacy"])
	var none Sources
	none.Override(Sources{MCPServers: map[string]MCPServer{"a": {}}, APIs: map[string]API{"b": {}}})
	assert.Equal(t, 2, none.Enabled())
}
