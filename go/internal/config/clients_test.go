package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func clientOptions() ClientOptions {
	return ClientOptions{
		Dir: "/srv/project", Home: "/home/ada", LookupEnv: options().LookupEnv,
		ReadFile: func(name string) ([]byte, error) {
			if name != "/srv/project/.env" {
				return nil, errors.New("no such file")
			}
			return []byte("# comment\nexport FROM_FILE='file value' # why\nKEY=\"in file\"\nPLAIN=a b # c\n\nnot a line\n=x\nHASH=a#b"), nil
		},
	}
}

func clients(t *testing.T, text string) *Clients {
	t.Helper()
	c, err := ParseClients([]byte(text), clientOptions())
	require.NoError(t, err)
	return c
}

func warnings(c *Clients) (list []string) {
	for _, w := range c.Warnings {
		list = append(list, w.Error())
	}
	return list
}

// As Claude Desktop, Claude Code, Cursor and others write it.
func TestDesktopClients(t *testing.T) {
	c := clients(t, `{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "${HOME:-/srv}/docs", 5],
      "env": { "DEBUG": true, "LEVEL": 3, "GONE": null, "TOKEN": "${JIRA_TOKEN}" }
    },
    "local": { "type": "stdio", "command": "./server", "cwd": "sub", "alwaysAllow": ["a"] },
    "remote": {
      "type": "http",
      "url": "https://mcp.example.com/mcp",
      "headers": { "Authorization": "Bearer ${env:KEY}" },
      "oauth": { "clientId": "me", "callbackPort": 8080, "scopes": "read write" }
    },
    "cursor": { "url": "https://c.example.com/mcp", "auth": { "CLIENT_ID": "x", "CLIENT_SECRET": "cursor-secret", "scopes": ["a"] } },
    "events": { "url": "https://e.example.com/sse?x=1", "timeout": 60 },
    "said": { "type": "sse", "url": "https://e.example.com/x", "timeout": 30000 },
    "windsurf": { "serverUrl": "https://w.example.com/mcp", "disabledTools": ["drop"] },
    "gemini": { "httpUrl": "https://g.example.com/sse", "includeTools": ["one"], "excludeTools": ["two"], "trust": true },
    "copilot": { "type": "local", "command": "server", "tools": ["*"] },
    "off": { "command": "server", "args": ["${NOT_SET}"], "disabled": true },
    "off too": { "url": "${NOT_SET}", "enabled": false }
  }
}`)
	assert.Equal(t, map[string]MCPServer{
		"filesystem": {
			Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/srv/docs", "5"}, Cwd: "/srv/project", Transport: Stdio,
			Env: map[string]string{"DEBUG": "true", "LEVEL": "3", "TOKEN": "jira-secret-1"},
		},
		"local": {Command: "/srv/project/server", Cwd: "/srv/project/sub", Transport: Stdio},
		"remote": {
			URL: "https://mcp.example.com/mcp", Transport: StreamableHTTP, Headers: map[string]string{"Authorization": "Bearer sk-12345"},
			Auth: ServerAuth{Type: OAuth, ClientID: "me", RedirectPort: 8080, Scopes: []string{"read", "write"}},
		},
		"cursor": {
			URL: "https://c.example.com/mcp", Transport: StreamableHTTP,
			Auth: ServerAuth{Type: OAuth, ClientID: "x", ClientSecret: "cursor-secret", Scopes: []string{"a"}},
		},
		"events":   {URL: "https://e.example.com/sse?x=1", Transport: SSE, Timeout: time.Minute},
		"said":     {URL: "https://e.example.com/x", Transport: SSE, Timeout: 30 * time.Second},
		"windsurf": {URL: "https://w.example.com/mcp", Transport: StreamableHTTP, Deny: []Pattern{"drop"}},
		"gemini":   {URL: "https://g.example.com/sse", Transport: StreamableHTTP, Allow: []Pattern{"one"}, Deny: []Pattern{"two"}},
		"copilot":  {Command: "server", Cwd: "/srv/project", Transport: Stdio, Allow: []Pattern{"*"}},
		"off":      {Command: "server", Args: []string{"${NOT_SET}"}, Cwd: "/srv/project", Transport: Stdio, Disabled: true},
		"off too":  {URL: "${NOT_SET}", Transport: StreamableHTTP, Disabled: true},
	}, c.MCPServers)
	assert.Equal(t, []string{
		".mcp.json:2:3: globalShortcut is not used",
		`.mcp.json:9:70: mcpServers.local.alwaysAllow is not used`,
		".mcp.json:20:107: mcpServers.gemini.trust is not used",
	}, warnings(c))
	assert.Equal(t, []string{"Bearer sk-12345", "cursor-secret", "jira-secret-1", "sk-12345"}, c.Secrets())
	assert.Empty(t, c.Face)
}

// As VS Code writes it, with comments.
func TestEditorClients(t *testing.T) {
	text := `// Servers of this workspace
{
  /* asked for once */
  "inputs": [
    { "type": "promptString", "id": "key", "description": "API key", "password": true },
    { "type": "pickString", "id": "region", "options": ["eu", "us"], "default": "eu", },
    { "type": "promptString", "id": "pass-word", "password": true, "default": "default-pass" },
  ],
  "servers": {
    "one": {
      "type": "stdio", // always
      "command": "${workspaceFolder}/bin/x",
      "args": ["--key", "${input:key}", "--in", "${input:region}", "${userHome}${/}a${pathSeparator}${workspaceFolderBasename}", "$${NAME}", "${not a name}", "${"],
      "env": { "PASS": "${input:pass-word}", "EMPTY": "${env:NOT_SET}", "FROM_ENV": "${env:NAME}", "KEY": "own" },
      "envFile": "${workspaceFolder}/.env",
      "dev": { "watch": "src/**" },
    },
    "two": { "type": "http", "url": "https://example.com//mcp", "headers": {}, },
  },
}`
	for _, dir := range []string{"/srv/project", "/srv/project/.vscode", "/srv/project/.cursor"} {
		o := clientOptions()
		o.Dir, o.Name = dir, "mcp.json"
		c, err := ParseClients([]byte(text), o)
		require.NoError(t, err)
		assert.Equal(t, map[string]MCPServer{
			"one": {
				Command: "/srv/project/bin/x", Cwd: "/srv/project", Transport: Stdio,
				Args: []string{"--key", "sk-12345", "--in", "eu", "/home/ada/a/project", "$bot", "${not a name}", "${"},
				Env: map[string]string{
					"PASS": "default-pass", "EMPTY": "", "FROM_ENV": "bot", "KEY": "own", "FROM_FILE": "file value", "PLAIN": "a b", "HASH": "a#b",
				},
			},
			"two": {URL: "https://example.com//mcp", Headers: map[string]string{}, Transport: StreamableHTTP},
		}, c.MCPServers)
		assert.Equal(t, []string{
			"mcp.json:14:46: servers.one.env.EMPTY takes the variable NOT_SET, which is not set, as empty",
			`mcp.json:16:7: servers.one.dev is not used`,
		}, warnings(c))
		assert.Subset(t, c.Secrets(), []string{"sk-12345", "default-pass", "file value"})
	}
	// The same within the settings of the editor.
	c := clients(t, `{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"x": {"command": "y"}}}}`)
	assert.Equal(t, "y", c.MCPServers["x"].Command)
	o := clientOptions()
	o.ReadFile = nil
	c, err := ParseClients([]byte(`{"servers": {"x": {"command": "y", "envFile": ".env"}}}`), o)
	require.NoError(t, err)
	assert.Equal(t, []string{".mcp.json:1:36: servers.x.envFile is not read"}, warnings(c))
	c = clients(t, `{"servers": {"x": {"command": "y", "envFile": "other"}}}`)
	assert.Equal(t, []string{".mcp.json:1:36: servers.x.envFile cannot be read, and its variables are missing: no such file"}, warnings(c))
}

// As a proxy for Lua scripts has it.
func TestProxyConfig(t *testing.T) {
	c := clients(t, `{
  "port": 3000, "host": "0.0.0.0", "transport": "http", "useOAuth": false, "skills": {},
  "mcpClients": {
    "docs": { "type": "http", "url": "https://modelcontextprotocol.io/mcp", "allowedTools": [] },
    "my.srv": { "type": "stdio", "command": "node", "args": ["path/to/server.js"], "env": { "NODE_ENV": "production" }, "dangerouslyEnableSampling": true }
  },
  "allowedTools": ["read"]
}`)
	assert.Equal(t, map[string]MCPServer{
		"docs": {URL: "https://modelcontextprotocol.io/mcp", Transport: StreamableHTTP, Allow: []Pattern{}},
		"my.srv": {
			Command: "node", Args: []string{"path/to/server.js"}, Env: map[string]string{"NODE_ENV": "production"}, Cwd: "/srv/project", Transport: Stdio,
			Allow: []Pattern{"read"},
		},
	}, c.MCPServers)
	assert.Equal(t, ProxyFace, c.Face)
	assert.Equal(t, "0.0.0.0:3000", c.Bind)
	assert.False(t, c.Stdio)
	assert.Equal(t, []string{
		".mcp.json:2:76: skills is not used; nor are useOAuth",
		`.mcp.json:5:121: mcpClients."my.srv".dangerouslyEnableSampling is not used`,
	}, warnings(c))
	c = clients(t, `{"transport": "stdio", "mcpClients": {}}`)
	assert.True(t, c.Stdio)
	assert.Empty(t, c.Bind)
	assert.Equal(t, "localhost:1", clients(t, `{"port": 1, "mcpClients": {}}`).Bind)
	assert.Equal(t, "[::1]:1", clients(t, `{"host": "::1", "port": 1, "mcpClients": {}}`).Bind)
}

func TestClientErrors(t *testing.T) {
	server := func(text string) string { return `{"mcpServers": {"x": ` + text + `}}` }
	for text, want := range map[string]string{
		``:                                       ".mcp.json:1:1: unexpected end of text, expected a value",
		`[]`:                                     ".mcp.json:1:1: must be an object, not an array",
		`{"mcpServers": {`:                       ".mcp.json:1:17: unexpected end of text",
		"{\n  \"a\": 1,\n  x\n}":                 `.mcp.json:3:3: unexpected 'x'`,
		`{"a": 1, "a": 2}`:                       ".mcp.json:1:10: ",
		"{\n  /* no end":                         ".mcp.json:2:3: unexpected '/'",
		`{,}`:                                    ".mcp.json:1:2: unexpected ','",
		`{"a": [1,,2]}`:                          ".mcp.json:1:10: unexpected ','",
		strings.Repeat("[", 1000):                "nested",
		`{"mcpServer": {}}`:                      "the file has no servers: it needs mcpServers, servers or mcpClients",
		`{"mcpServers": []}`:                     `.mcp.json:1:2: mcpServers must be an object, not an array`,
		`{"mcpServers": {"x": "npx"}}`:           ".mcp.json:1:17: mcpServers.x must be an object, not a string",
		`{"mcpServers": {"": {"command": "a"}}}`: "needs a name that is not empty",
		`{"mcpServers": {"x": {"command":"a"}}, "servers": {"x": {"command":"a"}}}`: "servers.x is there a second time",
		server(`{}`):                ".mcp.json:1:17: mcpServers.x needs command or url",
		server(`{"comand": "npx"}`): "mcpServers.x needs command or url",
		server(`{"command": "a", "url": "http://b"}`):                                "mcpServers.x has command and url",
		server(`{"type": "http", "command": "a"}`):                                   "mcpServers.x needs url, as its type is http",
		server(`{"type": "stdio", "url": "http://b"}`):                               "mcpServers.x needs command, as its type is stdio",
		server(`{"type": "websocket", "url": "http://b"}`):                           ".mcp.json:1:23: mcpServers.x.type must be one of stdio, http, sse",
		server(`{"url": "b"}`):                                                       "mcpServers.x.url must begin with http:// or https://",
		server(`{"serverUrl": "b"}`):                                                 "mcpServers.x.serverUrl must begin with http:// or https://",
		server(`{"command": 5}`):                                                     "mcpServers.x.command must be a string, not a number",
		server(`{"command": "a", "args": "b"}`):                                      "mcpServers.x.args must be a list of strings, not a string",
		server(`{"command": "a", "args": [{}]}`):                                     ".mcp.json:1:48: mcpServers.x.args.0 must be a string, not an object",
		server(`{"command": "a", "env": []}`):                                        "mcpServers.x.env must be an object of strings, not an array",
		server(`{"command": "a", "env": {"A": []}}`):                                 "mcpServers.x.env.A must be a string, not an array",
		server(`{"url": "http://b", "headers": {"A B": ""}}`):                        `mcpServers.x.headers."A B" is no name of a header`,
		server(`{"command": "a", "disabled": "no"}`):                                 "mcpServers.x.disabled must be true or false, not a string",
		server(`{"command": "a", "timeout": "soon"}`):                                `mcpServers.x.timeout "soon" is no duration`,
		server(`{"command": "${GONE}"}`):                                             "mcpServers.x.command needs the variable GONE, which is not set",
		server(`{"command": "${input:key}"}`):                                        `mcpServers.x.command names the input "key", which inputs does not have`,
		server(`{"command": "${command:pick}"}`):                                     `mcpServers.x.command has "${command:pick}", which only an editor knows: write ${env:NAME}`,
		server(`{"url": "http://b", "oauth": {"callbackPort": 70000}}`):              "mcpServers.x.oauth.callbackPort must be a port",
		`{"inputs": {}, "servers": {}}`:                                              "inputs must be a list of objects",
		`{"inputs": [{"id": "kee"}], "servers": {"x": {"command": "${input:key}"}}}`: `(did you mean "kee"?)`,
		`{"inputs": [{"id": "my-in", "description": "what it is"}], "servers": {"x": {"command": "${input:my-in}"}}}`: `servers.x.command needs the input "my-in", what it is: set the variable MY_IN`,
		`{"mcpClients": {}, "port": 70000}`:      ".mcp.json:1:20: port must be a port, at most 65535",
		`{"mcpClients": {}, "port": "x"}`:        "port must be a whole number, not a string",
		`{"mcpClients": {}, "transport": "sse"}`: "transport must be one of http, stdio",
		`{"mcpClients": {}, "allowedTools": {}}`: "allowedTools must be a list of strings, not an object",
	} {
		_, err := ParseClients([]byte(text), clientOptions())
		assert.ErrorContains(t, err, want, clipped(text))
		var list Errors
		assert.True(t, errors.As(err, &list))
	}
	_, err := ParseClients(make([]byte, mostText+1), clientOptions())
	assert.ErrorContains(t, err, "the file has more than 1048576 bytes")
}

func TestClientsWithUnsetVariables(t *testing.T) {
	o := clientOptions()
	o.Placeholder = "[unset]"
	c, err := ParseClients([]byte(`{"inputs": [{"id": "a"}], "servers": {"x": {"url": "${GONE}"}, "y": {"command": "z", "args": ["${input:a}"]}}}`), o)
	require.NoError(t, err)
	require.Len(t, c.Unset(), 2)
	assert.Equal(t, "[unset]", c.MCPServers["x"].URL)
	assert.Equal(t, []string{"[unset]"}, c.MCPServers["y"].Args)
}

// What has no meaning for a command is left out, with a warning.
func TestCommandWithKeysOfURLs(t *testing.T) {
	c := clients(t, `{"servers": {"x": {"type": "stdio", "command": "a", "url": "http://b", "headers": {"A": "b"}, "oauth": {"clientId": "c", "more": 1}, "args": [9007199254740993]}}}`)
	assert.Equal(t, MCPServer{Command: "a", Args: []string{"9007199254740993"}, Cwd: "/srv/project", Transport: Stdio}, c.MCPServers["x"])
	assert.Equal(t, []string{
		".mcp.json:1:53: servers.x.url is not used: the server is a command",
		".mcp.json:1:72: servers.x.headers is not used: the server is a command",
		".mcp.json:1:95: servers.x.oauth is not used: the server is a command",
		".mcp.json:1:122: servers.x.oauth.more is not used",
	}, warnings(c))
}

func TestManyUnusedKeys(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, `"key%02d": 1, `, i)
	}
	c := clients(t, "{"+text.String()+`"mcpServers": {"x": {"command": "a", "comandd": 1}}}`)
	require.Len(t, c.Warnings, 2)
	assert.Contains(t, c.Warnings[1].Error(), `mcpServers.x.comandd is not used (did you mean "command"?)`)
	assert.Contains(t, c.Warnings[0].Error(), "key00 is not used; nor are key01, key02, key03, key04, key05 and 14 more")
}
