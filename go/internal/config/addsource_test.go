package config

import (
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddServer(t *testing.T) {
	const block = "[mcp_servers.fs]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\n"
	const inlined = "fs = { command = \"npx\", args = [\"-y\", \"x\"] }"
	for name, c := range map[string]struct{ file, want string }{
		"an empty file":   {"", block},
		"a new section":   {"# top\n[log]\nlevel = \"info\" # l\n\n\n", "# top\n[log]\nlevel = \"info\" # l\n\n" + block},
		"no end of line":  {"[log]", "[log]\n\n" + block},
		"beside another":  {"[mcp_servers.a]\ncommand='b'\n", "[mcp_servers.a]\ncommand='b'\n\n" + block},
		"in its place":    {"# before\n[mcp_servers.fs] # h\nurl = 'http://x' # c\n# of the next\n[log]\n", "# before\n" + block + "# of the next\n[log]\n"},
		"several lines":   {"[mcp_servers.fs]\ncommand = 'x'\n# inside\nargs = [\n  'a', # a\n  'b',\n]\nenv = {}\n\n[log]\n", block + "\n[log]\n"},
		"with tables":     {"[mcp_servers.fs]\nurl='http://x'\n\n[log]\n\n[mcp_servers.fs.headers]\nA = 'b'\n\n[mcp_servers.fs.auth]\ntype='none'\n[state]\n", block + "\n[log]\n[state]\n"},
		"tables alone":    {"[log]\n[mcp_servers.fs.auth]\ntype='none'\n", "[log]\n" + block},
		"quoted":          {"[ mcp_servers . 'fs' ]\ncommand='x'\n", block},
		"a longer name":   {"[mcp_servers.fsx]\ncommand='x'\n", "[mcp_servers.fsx]\ncommand='x'\n\n" + block},
		"a line":          {"[mcp_servers]\na = { command = 'b' }\nfs = { command = 'x' } # c\nz = { command = 'y' }\n", "[mcp_servers]\na = { command = 'b' }\nz = { command = 'y' }\n\n" + block},
		"dotted":          {"mcp_servers.fs.command = 'x'\nmcp_servers.fs.args = [\n]\n[log]\n", "[log]\n\n" + block},
		"dotted, another": {"mcp_servers.a.command = 'x'\n", "mcp_servers.a.command = 'x'\n\n" + block},
		"inline":          {"mcp_servers = { a = { command = 'b' }, fs = { url = 'http://x' } } # c\n", "mcp_servers = { a = { command = 'b' }, " + inlined + " } # c\n"},
		"inline, new":     {"mcp_servers = { a = { command = 'b' } }\n", "mcp_servers = { " + inlined + ", a = { command = 'b' } }\n"},
		"inline, empty":   {"mcp_servers = {}\n", "mcp_servers = { " + inlined + " }\n"},
		"in a text":       {"[music]\nfolder = '''\n[mcp_servers.fs]\n'''\n", "[music]\nfolder = '''\n[mcp_servers.fs]\n'''\n\n" + block},
		"CRLF":            {"[log]\r\n[mcp_servers.fs]\r\ncommand='x'\r\n[state]\r\n", "[log]\r\n" + strings.ReplaceAll(block, "\n", "\r\n") + "[state]\r\n"},
		"a mark":          {"\ufeff[log]\n", "\ufeff[log]\n\n" + block},
		"a broken one":    {"[mcp_servers.fs]\ncomand='x'\n", block},
	} {
		got, err := AddServer([]byte(c.file), "fs", MCPServer{Command: "npx", Args: []string{"-y", "x"}})
		require.NoError(t, err, name)
		require.Equal(t, c.want, string(got), name)
		again, err := AddServer(got, "fs", MCPServer{Command: "npx", Args: []string{"-y", "x"}})
		require.NoError(t, err, name)
		require.Equal(t, c.want, strings.TrimPrefix(string(again), "\n"), "%s: a second time", name)
	}
	for file, want := range map[string]string{
		"[log":                     "",
		"[log]\nlevel = 'x'":       "hukilau.toml:2:1: log.level must be one of",
		"[apis.fs]\nspec = 'x'":    "apis.fs has the name of an MCP server",
		"mcp_servers = 1":          "mcp_servers must be a table",
		"[[mcp_servers]]\na = 'b'": "mcp_servers must be a table",
		"mcp_servers = { fs.command = 'x', fs.args = [] }":    "mcp_servers.fs stands within an inline table with dotted keys: change it there by hand",
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000): "",
	} {
		got, err := AddServer([]byte(file), "fs", MCPServer{Command: "x"})
		require.ErrorContains(t, err, want, file)
		require.Nil(t, got, file)
	}
}

// What is written is read as it was.
func TestAddWhole(t *testing.T) {
	servers := map[string]MCPServer{
		"a b.c": {
			Command: "npx", Args: []string{"-y", "a \"b\" \\ \x01\x7fü", "${NAME}"}, Env: map[string]string{"A": "1", "B.C": "${KEY}"}, Cwd: "/x", Transport: Stdio,
			Allow: []Pattern{}, Deny: []Pattern{"a*"}, MaxConcurrent: 3, Timeout: 1500 * time.Millisecond, Disabled: true, Description: "Of\ntwo lines.",
		},
		"url": {
			URL: "https://x/mcp", Transport: SSE, Headers: map[string]string{"X-A": "b"}, Stateless: true,
			Auth: ServerAuth{Type: OAuth, ClientID: "c", ClientSecret: "s", Scopes: []string{"r"}, RedirectPort: 8080},
		},
		"token": {URL: "https://x/mcp", Transport: StreamableHTTP, Auth: ServerAuth{Type: BearerAuth, Token: "t"}},
	}
	apis := map[string]API{
		"one": {
			Spec: "/x.yaml", BaseURL: "https://x", Auth: APIAuth{Type: KeyAuth, Key: "k", In: "query", Name: "q"}, Headers: map[string]string{"A": "b"},
			Variables: map[string]string{"v": "1"}, Include: Filter{Tags: []Pattern{"t"}, Paths: []Pattern{"/p"}, Operations: []Pattern{"o"}},
			Exclude: Filter{Tags: []Pattern{"u"}}, Description: "d", MaxConcurrent: 1, Timeout: time.Second, Disabled: true,
		},
		"two": {Spec: "https://x/y.json", Schemes: map[string]APIAuth{
			"basic one": {Type: BasicAuth, User: "u", Password: "p"},
			"oauth":     {Type: OAuth2, ClientID: "c", ClientSecret: "s", TokenURL: "https://x/t", Scopes: []string{"r"}},
		}},
		"three": {Spec: "/z", Auth: APIAuth{Type: BearerAuth, Token: "t"}},
	}
	file := []byte("[log]\nlevel = 'info'\n")
	var err error
	for _, name := range sortedNames(servers) {
		file, err = AddServer(file, name, servers[name])
		require.NoError(t, err)
	}
	for _, name := range sortedNames(apis) {
		file, err = AddAPI(file, name, apis[name])
		require.NoError(t, err)
	}
	assert.Contains(t, string(file), `"${NAME}"`)
	c := parse(t, string(file))
	one := servers["a b.c"]
	one.Args[2], one.Env["B.C"] = "bot", "sk-12345" // the variables
	assert.Equal(t, servers, c.MCPServers)
	assert.Equal(t, apis, c.APIs)

	_, err = AddServer(nil, "x", MCPServer{})
	require.ErrorContains(t, err, "mcp_servers.x needs command or url")
	_, err = AddServer(nil, "x", MCPServer{Command: "${"})
	require.ErrorContains(t, err, `mcp_servers.x.command has a "${" without "}"`)
	_, err = AddServer(nil, "x", MCPServer{Command: "\xff"})
	require.Error(t, err)
	_, err = AddAPI(nil, "", API{Spec: "x"})
	require.ErrorContains(t, err, "needs a name")
}

func FuzzAddServer(f *testing.F) {
	for _, text := range []string{
		"[mcp_servers.x]\ncommand = 'a'\n[mcp_servers.x.env]\nA='b'\n[log]\n", "mcp_servers = {x = {url = 'http://y'}, z = {command='a'}}\n",
		"mcp_servers.x.command = 'a'\n[mcp_servers.y]\nurl='http://z'", "# c\r\n[log] # d\r\n\r\n[apis.y]\r\nspec='z'",
	} {
		f.Add(text)
	}
	without := func(t *testing.T, text []byte) map[string]any {
		tree := map[string]any{}
		require.NoError(t, toml.Unmarshal(text, &tree))
		servers, _ := tree["mcp_servers"].(map[string]any)
		delete(servers, "x")
		if len(servers) == 0 {
			delete(tree, "mcp_servers")
		}
		return tree
	}
	f.Fuzz(func(t *testing.T, file string) {
		if _, err := Parse([]byte(file), Options{Placeholder: "-"}); err != nil {
			t.Skip()
		}
		got, err := AddServer([]byte(file), "x", MCPServer{Command: "new", Env: map[string]string{"A": "${B}"}})
		if err != nil {
			return
		}
		c, err := Parse(got, Options{Placeholder: "-"})
		require.NoError(t, err)
		require.Equal(t, MCPServer{Command: "new", Env: map[string]string{"A": "-"}, Transport: Stdio}, c.MCPServers["x"])
		require.Equal(t, without(t, []byte(strings.TrimPrefix(file, "\ufeff"))), without(t, []byte(strings.TrimPrefix(string(got), "\ufeff"))))
	})
}
