package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseMCPFlag(t *testing.T) {
	for text, want := range map[string]MCPServer{
		"x=npx -y server /tmp":                   {Command: "npx", Args: []string{"-y", "server", "/tmp"}, Transport: Stdio},
		"x=  server  ":                           {Command: "server", Args: []string{}, Transport: Stdio},
		"x=./bin/server 'a b' \"c \\\"d\\\" e\"": {Command: "bin/server", Args: []string{"a b", `c "d" e`}, Transport: Stdio},
		"x=a=b c=d":                              {Command: "a=b", Args: []string{"c=d"}, Transport: Stdio},
		"x=https://example.com/mcp?a=b":          {URL: "https://example.com/mcp?a=b", Transport: StreamableHTTP},
		"x=http://127.0.0.1:9000":                {URL: "http://127.0.0.1:9000", Transport: StreamableHTTP},
	} {
		name, got, err := parseMCPFlag(text)
		require.NoError(t, err, text)
		assert.Equal(t, "x", name)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"":                         "--mcp needs NAME=COMMAND or NAME=URL",
		"npx -y server":            "--mcp needs NAME=COMMAND or NAME=URL",
		"=npx":                     "--mcp needs NAME=COMMAND or NAME=URL",
		"https://example.com/?a=b": "--mcp needs NAME=COMMAND or NAME=URL",
		"x=":                       "--mcp x: needs a command or an address behind the =",
		"x=''":                     "--mcp x: needs a command or an address behind the =",
		"x=https://":               "--mcp x: the address names no host",
		"x=a 'secret-1":            "--mcp x: has a ' without its end",
		`x=a "secret-1`:            `--mcp x: has a " without its end`,
		`x=a secret-1\`:            `--mcp x: ends with a backslash`,
	} {
		_, _, err := parseMCPFlag(text)
		assert.ErrorContains(t, err, want, text)
		assert.NotContains(t, err.Error(), "secret-1")
	}
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                      nil,
		"  ":                    nil,
		"a b\tc\nd":             {"a", "b", "c", "d"},
		`a 'b c' d`:             {"a", "b c", "d"},
		`a'b c'd"e f"`:          {"ab cde f"},
		`'' ""`:                 {"", ""},
		`'a\b' "a\b" a\b`:       {`a\b`, `a\b`, "ab"},
		`"a\"b\\c\$d" 'a"b'`:    {`a"b\c$d`, `a"b`},
		`a\ b $HOME *`:          {"a b", "$HOME", "*"},
		"ä 'ö ü'":               {"ä", "ö ü"},
		"a # b; c && d | e > f": {"a", "#", "b;", "c", "&&", "d", "|", "e", ">", "f"},
	} {
		got, err := splitWords(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseAPIFlag(t *testing.T) {
	for text, want := range map[string][2]string{
		"petstore.yaml":                         {"petstore", "petstore.yaml"},
		"specs/petstore.openapi.json":           {"petstore", "specs/petstore.openapi.json"},
		"/opt/pets.yml":                         {"pets", "/opt/pets.yml"},
		"pets":                                  {"pets", "pets"},
		"pets=spec.json":                        {"pets", "spec.json"},
		"my pets=spec.json":                     {"my pets", "spec.json"},
		"./a=b.yaml":                            {"a=b", "a=b.yaml"},
		"https://example.com/v1/pets.json?a=b":  {"pets", "https://example.com/v1/pets.json?a=b"},
		"pets=https://example.com/openapi.json": {"pets", "https://example.com/openapi.json"},
		"api.v1.yaml":                           {"api.v1", "api.v1.yaml"},
	} {
		name, got, err := parseAPIFlag(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, [2]string{name, got.Spec}, text)
	}
	for text, want := range map[string]string{
		"":                                    "needs a name: write NAME=SPEC",
		".json":                               "needs a name: write NAME=SPEC",
		"..":                                  "needs a name: write NAME=SPEC",
		"https://example.com/?token=secret-1": `the document "https://example.com/" needs a name: write NAME=SPEC`,
		"pets=":                               "--api pets: needs a document behind the =",
		"pets=ftp://x/y":                      "--api pets: the document must be a path",
		"pets=https://":                       "--api pets: the document names no host",
	} {
		_, _, err := parseAPIFlag(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestParseFlags(t *testing.T) {
	s, err := ParseFlags(Flags{MCP: []string{"files=npx server", "remote=https://example.com/mcp"}, APIs: []string{"a=b.json"}, Specs: []string{"pets.yaml"}})
	require.NoError(t, err)
	assert.Len(t, s.MCPServers, 2)
	assert.Equal(t, "pets.yaml", s.APIs["pets"].Spec)
	assert.Equal(t, 4, s.Enabled())
	_, err = ParseFlags(Flags{MCP: []string{"pets=x", "y"}, Specs: []string{"pets.yaml", "a/pets.json"}})
	require.ErrorContains(t, err, `two sources have the name "pets"`)
	require.ErrorContains(t, err, "--mcp needs NAME=COMMAND")

	c := parse(t, "[mcp_servers.files]\ncommand='other'\n[mcp_servers.kept]\ncommand='kept'")
	c.Override(s)
	assert.Equal(t, "npx", c.MCPServers["files"].Command)
	assert.Contains(t, c.MCPServers, "kept")
}

func FuzzSplitWords(f *testing.F) {
	f.Add(`a 'b c' "d\"e" f\ g`)
	f.Fuzz(func(t *testing.T, text string) {
		words, err := splitWords(text)
		if err != nil {
			return
		}
		// Each word in single quotes is read as itself.
		var quoted []string
		for _, word := range words {
			quoted = append(quoted, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
		}
		again, err := splitWords(strings.Join(quoted, " "))
		require.NoError(t, err)
		require.Equal(t, words, again)
	})
}
