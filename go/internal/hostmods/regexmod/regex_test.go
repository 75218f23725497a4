package regexmod_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/regexmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

func run(t *testing.T, source string) []any {
	t.Helper()
	return modtest.New(t, &regexmod.Module{}, regexmod.Stub).Run(t, "local r = __native.regex\n"+source)
}

func TestFind(t *testing.T) {
	for call, want := range map[string][]any{
		`"b+", "abbc"`:                    {2.0, 3.0},
		`"b+", buffer.fromstring("abbc")`: {2.0, 3.0},
		`"b+", "abbc", 3`:                 {3.0, 3.0},
		`"b+", "abbc", -1`:                {nil},
		`"b", "abbc", -2`:                 {3.0, 3.0},
		`"x", "abc"`:                      {nil},
		`"", "abc", 4`:                    {4.0, 3.0},
		`"", "abc", 5`:                    {nil},
		`"^b", "abc", 2`:                  {nil},
		`"\\bc", "bcc", 2`:                {nil},
		`"(?i)STRASSE|ä", "xÄ"`:           {2.0, 3.0},
		`"\\p{Greek}+", "abc αβγ"`:        {5.0, 10.0},
		`".", "\xff"`:                     {1.0, 1.0},
	} {
		require.Equal(t, want, run(t, "return r.find("+call+")"), call)
	}
}

func TestMatch(t *testing.T) {
	require.Equal(t, []any{map[string]any{
		"start": 3.0, "finish": 12.0, "text": "2026-11-28", "captures": []any{"2026", "11", "28", false, ""},
		"named": map[string]any{"year": "2026", "e": ""},
	}, nil}, run(t, `return r.match("(?P<year>\\d{4})-(\\d\\d)-(\\d\\d)(?<x>z)?(?<e>)", "d 2026-11-28"), r.match("x", "y")`))
	require.Equal(t, []any{[]any{"year", "", "x"}, []any{}}, run(t, `return r.groups("(?P<year>a)(b)(?<x>c)"), r.groups("a")`))
}

func TestFindAll(t *testing.T) {
	out := run(t, `
		local list = {}
		for _, m in r.find_all("a(b)?", "ab a ab", 2) do table.insert(list, m.start .. "-" .. m.finish .. tostring(m.captures[1])) end
		return table.concat(list, " "), #r.find_all("a", "aaa"), #r.find_all("", "aaa"), #r.find_all("a", "aaa", 0), #r.find_all("x", "")`)
	require.Equal(t, []any{"1-2b 4-4false", 3.0, 4.0, 0.0, 0.0}, out)
}

func TestReplace(t *testing.T) {
	for call, want := range map[string][]any{
		`"a(.)", "abac", "[$1]"`:                                 {"[b][c]", 2.0},
		`"a(.)", "abac", "[${1}x$1x$$]", 1`:                      {"[bxbx$]ac", 1.0},
		`"(?P<first>\\w+) (\\w+)", "hello world", "$2 ${first}"`: {"world hello", 1.0},
		`"(a)|b", "ab", "<$1>"`:                                  {"<a><>", 2.0},
		`"", "abc", "-"`:                                         {"-a-b-c-", 4.0},
		`"x*", "abxc", "-"`:                                      {"-a-b-c-", 4.0},
		`"x", "", "y"`:                                           {"", 0.0},
		`"b", buffer.fromstring("abc"), ""`:                      {"ac", 1.0},
		`"$0", "a", "$0"`:                                        {"a", 0.0},
		`".", "ab", "$0$0"`:                                      {"aabb", 2.0},
	} {
		require.Equal(t, want, run(t, "return r.replace("+call+")"), call)
	}
}

func TestSplit(t *testing.T) {
	for call, want := range map[string][]any{
		`",\\s*", "a, b,c"`: {"a", "b", "c"},
		`",", ",a,,b,"`:     {"", "a", "", "b", ""},
		`"", "aäb"`:         {"a", "ä", "b"},
		`",", ""`:           {""},
		`",", "a,b,c", 1`:   {"a", "b,c"},
		`",", "abc"`:        {"abc"},
		`"x*", "axbc"`:      {"a", "b", "c"},
	} {
		require.Equal(t, []any{want}, run(t, "return r.split("+call+")"), call)
	}
}

func TestEscape(t *testing.T) {
	require.Equal(t, []any{`a\.b\*\[\$`, true}, run(t, `
		local text = "a.b*[$"
		return r.escape(text), (r.find(r.escape(text), text)) == 1`))
}

func TestErrors(t *testing.T) {
	for call, want := range map[string][2]string{
		`r.find, "(a", ""`:     {"regex", "regex.find: missing closing ): \"(a\""},
		`r.find, "(?=a)", ""`:  {"regex", "regex.find: invalid or unsupported Perl syntax: \"(?=\" (look-around is not part of RE2, whose time is linear in the text)"},
		`r.find, "(a)\\1", ""`: {"regex", "regex.find: invalid escape sequence: \"\\\\1\" (back-references"},
		`r.groups, "a{900}a{900}a{900}a{900}a{900}a{900}a{900}a{900}a{900}a{900}a{900}a{900}"`: {"limit", "regex.compile: the pattern needs about 10801 steps"},
		`r.replace, "a", "a", "$x"`:      {"regex", "regex.replace: a $ in the replacement must be $1"},
		`r.replace, "a", "a", "$"`:       {"regex", "regex.replace: a $ in the replacement must be $1"},
		`r.replace, "a", "a", "${}"`:     {"regex", "regex.replace: a $ in the replacement must be $1"},
		`r.replace, "a", "a", "$1"`:      {"regex", `regex.replace: the replacement names the group "1", which the pattern has not`},
		`r.replace, "(a)", "a", "${b}"`:  {"regex", `regex.replace: the replacement names the group "b", which the pattern has not`},
		`r.replace, "(a)", "a", "${-1}"`: {"regex", `regex.replace: the replacement names the group "-1", which the pattern has not`},
		`r.find, 1, ""`:                  {"invalid_argument", "regex.find: argument 1 must be a string, got number"},
		`r.find, "a"`:                    {"invalid_argument", "regex.find: argument 2 must be a string or a buffer, got no value"},
		`r.split, "a", "a", -1`:          {"invalid_argument", "regex.split: argument 3 must be 0 or more"},
	} {
		out := run(t, "return pcall("+call+")")
		require.Equal(t, false, out[0], call)
		e := out[1].(map[string]any)
		require.Equal(t, want[0], e["code"], call)
		require.True(t, strings.HasPrefix(e["message"].(string), want[1]), "%s: %s", call, e["message"])
	}
}
