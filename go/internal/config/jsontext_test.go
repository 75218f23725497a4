package config

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"
)

func TestPlainJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": "// no comment", "b": "/* none */"}`: `{"a": "// no comment", "b": "/* none */"}`,
		"{ // a\n\"b\": 1, /* c\n */ }":             "{     \n\"b\": 1      \n    }",
		`["a\"]", 1, ]`:                             `["a\"]", 1  ]`,
		`[1,,]`:                                     `[1,,]`,
		`[,]`:                                       `[,]`,
		"\ufeff{}":                                  "   {}",
		`{"a": 1 / 2}`:                              `{"a": 1 / 2}`,
		`["`:                                        `["`,
		`["\`:                                       `["\`,
	} {
		assert.Equal(t, want, string(plainJSON([]byte(text))), text)
	}
}

// A file of brackets is refused, and the stack holds.
func TestDeepJSON(t *testing.T) {
	for _, brackets := range []string{"[", "/**/[", `{"a":`} {
		_, err := ParseClients([]byte(strings.Repeat(brackets, mostText/len(brackets))), ClientOptions{})
		require.ErrorContains(t, err, "nested", brackets)
	}
}

func TestJSONPlaces(t *testing.T) {
	p := findJSONPlaces([]byte("{\n  \"a\": [1,\n   {\"b\\u0063\": 2}],\n \"ü\": 1, \"d\" : {}}"))
	for _, want := range []struct {
		path         []string
		line, column int
	}{
		{[]string{"a"}, 2, 3}, {[]string{"a", "0"}, 2, 9}, {[]string{"a", "1"}, 3, 4}, {[]string{"a", "1", "bc"}, 3, 5},
		{[]string{"d"}, 4, 10}, {[]string{"d", "e"}, 4, 10}, {nil, 0, 0},
	} {
		line, column := p.find(want.path)
		assert.Equal(t, [2]int{want.line, want.column}, [2]int{line, column}, want.path)
	}
}

// What JSON with comments is, a library says that editors use as well.
func FuzzPlainJSON(f *testing.F) {
	for _, text := range []string{`{"a": [1, 2,], /* b */ "c": "d", // e` + "\n}", `[,]`, `"\"//"`, `[1,/**/]`, `{"a":1,}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > 1000 {
			t.Skip()
		}
		before := bytes.Clone(text)
		plain := plainJSON(text)
		require.Equal(t, before, text)
		require.Len(t, plain, len(text))
		want, err := hujson.Standardize(bytes.Clone(text))
		if err != nil {
			return
		}
		var a, b any
		if json.Unmarshal(want, &b) == nil {
			require.NoError(t, json.Unmarshal(plain, &a))
			require.Equal(t, b, a)
		}
	})
}

func FuzzParseClients(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "x", "args": ["${NAME}", 1], "env": {"A": null}}}}`))
	f.Add([]byte(`{"inputs": [{"id": "a", "default": "b"}], "servers": {"a": {"type": "http", "url": "https://x/${input:a}", "headers": {"A": "${env:KEY}"}},}}`))
	f.Add([]byte(`{"port": 1, "host": "x", "mcpClients": {"a": {"type": "stdio", "command": "c", "allowedTools": ["b"]}}, "allowedTools": []}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseClients(data, clientOptions())
		if err == nil {
			for name, s := range c.MCPServers {
				if s.Transport == "" || (s.Command == "") == (s.URL == "") || sourceNameProblem(name) != "" {
					t.Fatalf("%q: %+v", name, s)
				}
			}
			c.Secrets()
			return
		}
		for _, one := range err.(Errors) {
			if one.Problem == "" || one.Line < 0 {
				t.Fatalf("%+v", one)
			}
			if bytes.Contains([]byte(one.Error()), []byte(env["JIRA_TOKEN"])) && !bytes.Contains(data, []byte(env["JIRA_TOKEN"])) {
				t.Fatalf("a secret is shown: %v", one)
			}
		}
	})
}

// Long keys around many values: each place would hold them all.
func TestPlacesAreBounded(t *testing.T) {
	key, items := strings.Repeat("k", 400<<10), strings.Repeat("1,", 100<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := ParseClients([]byte(`{"`+key+`": [`+items+`1], "mcpServers": {"x": {"command": 1}}}`), ClientOptions{})
	require.ErrorContains(t, err, ".mcp.json:1:")
	_, err = Parse([]byte("[server]\nbind = 1\n["+key+"]\na = ["+items+"]"), Options{})
	require.ErrorContains(t, err, "hukilau.toml:2:1: server.bind must be a string")
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(400<<20))
}
