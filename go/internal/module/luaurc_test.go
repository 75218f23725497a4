package module

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseConfig(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]string
	}{
		{`{}`, nil},
		{"\ufeff{ }\r\n", nil},
		{`// first
		{ // second
			"aliases": { "A": "./a", 'b': 'it"s', "@c": "/c" , }, // "x": 1
			"lint": {"*": true, "LocalShadow": false}, "lintErrors": true, "typeErrors": false,
			"languageMode": "nonstrict",
			"globals": ["x", "y",],
			"later": {}, "empty": [],
		} // end`, map[string]string{"a": "./a", "b": `it"s`, "@c": "/c"}},
		{`{"aliases": {"e": "\u00e9\ud83e\uddea \" \\ \/ \t"}}`, map[string]string{"e": "é🧪 \" \\ / \t"}},
		{`{"aliases": {"e": "\u00e9\ud83e\uddea\"\\\/"}}`, map[string]string{"e": `é🧪"\/`}},
		{`{"aliases": {"tab": "a	b"}}`, map[string]string{"tab": "a\tb"}},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, err := parseConfig([]byte(c.text))
			require.NoError(t, err)
			assert.Len(t, got.aliases, len(c.want))
			assert.Len(t, got.names, len(c.want))
			for name, value := range c.want {
				assert.Equal(t, value, got.aliases[name].value)
			}
		})
	}
}

func TestParseConfigFails(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 100)
	for _, c := range []struct {
		text, at, message string
	}{
		{"", "1:1", `expected "{", got end of file`},
		{"// only\n", "2:1", `expected "{", got end of file`},
		{"[]", "1:1", `expected "{", got "["`},
		{`{"aliases": {"x": "./y"`, "1:24", `expected "," or "}", got end of file`},
		{"{}\n{}", "2:1", `expected end of file, got "{"`},
		{`{,}`, "1:2", `expected a key in quotes or "}", got ","`},
		{`{aliases: {}}`, "1:2", `expected a key in quotes or "}", got "aliases"`},
		{`{"globals" ["x"]}`, "1:12", `expected ":", got "["`},
		{`{"lintErrors": null}`, "1:16", `expected a string, true, false, an object or an array, got "null"`},
		{`{"globals": [["x"]]}`, "1:14", `expected a string or "]", got "["`},
		{`{"globals": ["x" "y"]}`, "1:18", `expected "," or "]", got "y"`},
		{"{\n  \"é\": \"x\" \"y\"}", "2:3", `unknown key "é"`},
		{`{"lintErrors": true "y"}`, "1:21", `expected "," or "}", got "y"`},
		{`{"alias": {"x": "y"}}`, "1:12", `unknown key "alias/x"`},
		{`{"Aliases": {"x": "y"}}`, "1:14", `unknown key "Aliases/x"; did you mean "aliases"?`},
		{`{"aliases": {"x": {"y": "z"}}}`, "1:20", `unknown key "aliases/x/y"`},
		{`{"aliases": {"a b": "z"}}`, "1:14", `"a b" cannot be an alias; use letters, digits, "-", "_" and "."`},
		{`{"aliases": {"..": "z"}}`, "1:14", `".." cannot be an alias`},
		{`{"aliases": {"": "z"}}`, "1:14", `"" cannot be an alias`},
		{`{"aliases": {"a": ""}}`, "1:19", "the value of an alias is a path in quotes"},
		{`{"aliases": {"a": true}}`, "1:19", "the value of an alias is a path in quotes"},
		{"{\"aliases\": {\"a\": \"x\",\n\"A\": \"y\"}}", "2:1", `alias "A" is already given in line 1`},
		{`{"languageMode": "strct"}`, "1:18", `"strct" is not one of nocheck, nonstrict, strict`},
		{`{"lint": {"*": "fatal"}}`, "1:16", `"fatal" is not one of true, false`},
		{"/* x */ {}", "1:1", "a comment starts with //"},
		{"{} -- x", "1:4", "a comment starts with //"},
		{`{"a`, "1:2", "the string does not end in its line"},
		{"{\"a\n\"}", "1:2", "the string does not end in its line"},
		{`{"a\`, "1:4", `unknown escape; a backslash itself is written \\`},
		{`{"C:\dir": 1}`, "1:5", "unknown escape"},
		{`{"\u12": 1}`, "1:3", "unknown escape"},
		{`{"\ud800x": 1}`, "1:3", "unknown escape"},
		{`{"a\u0000": 1}`, "1:4", "control character 0x00"},
		{"{\"a\x00\": 1}", "1:4", "control character 0x00"},
		{"{\"a\": \xff}", "1:7", "unexpected byte 0xff"},
		{`{"a": ;}`, "1:7", `unexpected ';'`},
		{deep, "1:81", "objects are nested too deeply"},
	} {
		t.Run(c.text, func(t *testing.T) {
			_, err := parseConfig([]byte(c.text))
			require.Error(t, err)
			var at *configError
			require.True(t, errors.As(err, &at))
			assert.Equal(t, c.at, fmt.Sprintf("%d:%d", at.line, at.column))
			assert.Contains(t, at.message, c.message)
		})
	}
}
