package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddToList(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"an empty file":     {"", "[tools.policy.a]\nnet = [\"x\", \"y\"]\n"},
		"a new table":       {"[log]\nlevel = \"info\"\n", "[log]\nlevel = \"info\"\n\n[tools.policy.a]\nnet = [\"x\", \"y\"]\n"},
		"no end of line":    {"[log]", "[log]\n\n[tools.policy.a]\nnet = [\"x\", \"y\"]\n"},
		"a table":           {"[tools.policy.a] # why\ntimeout = 1\n[log]\n", "[tools.policy.a] # why\nnet = [\"x\", \"y\"]\ntimeout = 1\n[log]\n"},
		"a table at last":   {"[tools.policy.a]", "[tools.policy.a]\nnet = [\"x\", \"y\"]\n"},
		"quoted keys":       {"[tools.\"policy\" . 'a']\n\"net\" = ['x'] # c\n", "[tools.\"policy\" . 'a']\n\"net\" = ['x', \"y\"] # c\n"},
		"several lines":     {"[tools.policy.a]\nnet = [\n  \"x\", # [first]\n  # last\n]\n", "[tools.policy.a]\nnet = [\n  \"x\", \"y\", # [first]\n  # last\n]\n"},
		"an empty list":     {"[tools.policy.a]\nnet=[ # none\n]\n", "[tools.policy.a]\nnet=[\"x\", \"y\" # none\n]\n"},
		"all there":         {"[tools.policy.a]\nnet = [\"y\", \"x\"]\n", "[tools.policy.a]\nnet = [\"y\", \"x\"]\n"},
		"brackets in texts": {"[tools.policy.a]\nnet = [\"]\", 'x']\n", "[tools.policy.a]\nnet = [\"]\", 'x', \"y\"]\n"},
		"a key of another":  {"[tools.policy.b]\nnet = []\n[tools.policy.a]\n", "[tools.policy.b]\nnet = []\n[tools.policy.a]\nnet = [\"x\", \"y\"]\n"},
		"dotted":            {"tools.policy.a.net = [\"x\"]\n", "tools.policy.a.net = [\"x\", \"y\"]\n"},
		"beside dotted":     {"[tools]\npolicy.a.timeout = 1\n", "[tools]\npolicy.a.net = [\"x\", \"y\"]\npolicy.a.timeout = 1\n"},
		"an inline table":   {"[tools.policy]\na = { timeout = 1 }\n", "[tools.policy]\na = { net = [\"x\", \"y\"], timeout = 1 }\n"},
		"inline, empty":     {"[tools]\npolicy = {}\n", "[tools]\npolicy = { a.net = [\"x\", \"y\"]}\n"},
		"inline, with list": {"[tools]\npolicy = { a = { net = [\"x\"] } }\n", "[tools]\npolicy = { a = { net = [\"x\", \"y\"] } }\n"},
		"in a text":         {"[log]\nx = '''\n[tools.policy.a]\nnet = []\n'''\n", "[log]\nx = '''\n[tools.policy.a]\nnet = []\n'''\n\n[tools.policy.a]\nnet = [\"x\", \"y\"]\n"},
		"CRLF":              {"[tools.policy.a]\r\ntimeout = 1\r\n", "[tools.policy.a]\r\nnet = [\"x\", \"y\"]\r\ntimeout = 1\r\n"},
	} {
		got, err := AddToList([]byte(c.file), []string{"tools", "policy", "a"}, "net", []string{"x", "y"})
		require.NoError(t, err, name)
		require.Equal(t, c.want, string(got), name)
		if !strings.Contains(c.file, "x =") { // a key of this test alone
			config, err := Parse(got, Options{})
			require.NoError(t, err, name)
			require.Contains(t, config.Tools.Policies["a"].Permissions.Net, "x", name)
			require.Contains(t, config.Tools.Policies["a"].Permissions.Net, "y", name)
		}
	}
	for file, says := range map[string]string{
		"[tools.policy.a]\nnet = 1":                           "tools.policy.a.net is no list",
		"[tools.policy.a]\nnet = [1]":                         "an item that is no text",
		"[tools.policy.a\n":                                   "",
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000): "",
	} {
		_, err := AddToList([]byte(file), []string{"tools", "policy", "a"}, "net", []string{"x"})
		require.ErrorContains(t, err, says)
	}
	got, err := AddToList(nil, []string{"tools", "policy", "a.b"}, "read", []string{"a \"b\"\x01ü"})
	require.NoError(t, err)
	require.Equal(t, "[tools.policy.\"a.b\"]\nread = [\"a \\\"b\\\"\\u0001ü\"]\n", string(got))
}

func FuzzAddToList(f *testing.F) {
	f.Add("[tools.policy.a]\nnet = [\n 'x', # c\n]\n")
	f.Add("tools = {policy = {}}\n")
	f.Fuzz(func(t *testing.T, file string) {
		if _, err := Parse([]byte(file), Options{}); err != nil {
			t.Skip()
		}
		got, err := AddToList([]byte(file), []string{"tools", "policy", "a"}, "net", []string{"x.example.com"})
		if err != nil {
			return
		}
		config, err := Parse(got, Options{})
		if err != nil {
			return // the caller looks, and leaves the file as it is
		}
		require.Contains(t, config.Tools.Policies["a"].Permissions.Net, "x.example.com")
	})
}
