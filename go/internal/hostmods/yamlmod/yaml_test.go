package yamlmod_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/yamlmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

func run(t *testing.T, text, source string) []any {
	t.Helper()
	vm := modtest.New(t, yamlmod.Module{}, yamlmod.Stub)
	require.NoError(t, vm.State.SetGlobal("text", text))
	require.NoError(t, vm.State.SetGlobal("json_encode", luau.Native("json_encode")))
	return vm.Run(t, "local yaml = __native.yaml\n"+source)
}

func TestDecode(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		// Scalars of the core schema (YAML 1.2, section 10.3).
		"booleans": {"[true, True, FALSE, yes, NO, on, y, n, Off]", `[true,true,false,"yes","NO","on","y","n","Off"]`},
		"nulls":    {"{a: , b: ~, c: null, d: NULL, e: nULL}", `{"a":null,"b":null,"c":null,"d":null,"e":"nULL"}`},
		"integers": {"[0, -19, +12, 007, 0o7, 0x3A, 0o8, 1_000, 0b1]", `[0,-19,12,7,7,58,"0o8","1_000","0b1"]`},
		"floats":   {"[1., -0.5, .5, +12e03, -2E+05, 1e3, 1e, .e1, 6.8523015e+5]", `[1,-0.5,0.5,12000,-200000,1000,"1e",".e1",685230.15]`},
		"big":      {"[9007199254740993, 9223372036854775808, -0x10, 0xFFFFFFFFFFFFFFFFFF]", `[9007199254740993,9223372036854775808,"-0x10",4722366482869645213695]`},
		"dates":    {"{d: 2001-12-14, t: 2001-12-14t21:59:43.10-05:00, m: 1:30}", `{"d":"2001-12-14","m":"1:30","t":"2001-12-14t21:59:43.10-05:00"}`},
		"quoted":   {`['1', "true", "", '', "\x41\u00e4\n"]`, `["1","true","","","Aä\n"]`},
		"tags":     {"[!!str 12, !!int \"3\", !!float 1, !!bool 'true', !!null '', !!seq [], !!map {}]", `["12",3,1,true,null,[],{}]`},
		"empties":  {"{a: [], b: {}, c: ''}", `{"a":[],"b":{},"c":""}`},
		"holes":    {"- \n- 1\n- ~\n", `[null,1,null]`},
		"keys":     {"1: a\ntrue: b\n~: c\n1.5: d\n? e\n: f\n", `{"1":"a","1.5":"d","e":"f","null":"c","true":"b"}`},
		// Kinds of collections and texts (chapters 2, 6, 7 and 8).
		"block":     {"team:\n- name: A\n  n: 1\n- - x\n  - y\nlast: z # comment\n", `{"last":"z","team":[{"n":1,"name":"A"},["x","y"]]}`},
		"flow":      {"{a: [1, {b: c}], 'd': e, \"f\":g, h, i: }", `{"a":[1,{"b":"c"}],"d":"e","f":"g","h":null,"i":null}`},
		"literal":   {"a: |\n  one\n   two\n\n  three\nb: |-\n  x\nc: |+\n  y\n\nd: >\n  fold\n  ed\n\n  para\n", `{"a":"one\n two\n\nthree\n","b":"x","c":"y\n\n","d":"fold ed\npara\n"}`},
		"multiline": {"a: one\n  two\n\n  three\nb: \"x\n  y \\\n  z\"\n", `{"a":"one two\nthree","b":"x y z"}`},
		"indicator": {"- |2\n   x\n- '- a'\n- a:b\n- http://x/#y\n- -1 x\n- '#'\n", `[" x\n","- a","a:b","http://x/#y","-1 x","#"]`},
		"anchors":   {"a: &x [1]\nb: *x\nc: &y {k: *x}\nd: *y\n", `{"a":[1],"b":[1],"c":{"k":[1]},"d":{"k":[1]}}`},
		"merge":     {"base: &b {x: 1, y: 2}\nother: &o {y: 3, z: 4}\nm:\n  x: 0\n  <<: [*b, *o]\nn:\n  <<: *b\nq: {'<<': 5}\n", `{"base":{"x":1,"y":2},"m":{"x":0,"y":2,"z":4},"n":{"x":1,"y":2},"other":{"y":3,"z":4},"q":{"<<":5}}`},
		"directive": {"%YAML 1.2\n---\na\n...\n", `"a"`},
		"not one":   {"--- |\n %YAML 1.2\n", `"%YAML 1.2\n"`},
		"BOM":       {"\xef\xbb\xbfa: 1\n", `{"a":1}`},
		"scalar":    {"just text", `"just text"`},
		"empty":     {"# nothing\n", `null`},
		"CRLF":      {"a: 1\r\nb:\r\n- x\r\n", `{"a":1,"b":["x"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, []any{test.want, true}, run(t, test.text, `
				local got = json_encode(yaml.decode(text))
				return got, json_encode(yaml.decode(buffer.fromstring(text))) == got`))
			// What was read can be written and read again.
			require.Equal(t, []any{test.want}, run(t, test.text, "return json_encode(yaml.decode(yaml.encode(yaml.decode(text))))"))
		})
	}
}

func TestInfinities(t *testing.T) {
	require.Equal(t, []any{true, true, true}, run(t, "[.inf, -.INF, .nan]", `
		local list = yaml.decode(yaml.encode(yaml.decode(text)))
		return list[1] == math.huge, list[2] == -math.huge, list[3] ~= list[3]`))
}

func TestDocuments(t *testing.T) {
	require.Equal(t, []any{`[{"a":1},null,"x",[]]`, "[]"}, run(t, "a: 1\n---\n---\nx\n...\n%YAML 1.2\n---\n[]\n", `
		return json_encode(yaml.decode_all(text)), json_encode(yaml.decode_all(""))`))
	out := run(t, "a: 1\n---\nb: 2\n", "return pcall(yaml.decode, text)")
	require.Contains(t, out[1].(map[string]any)["message"], "a second document begins (yaml.decode_all reads them all)")
}

func TestErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]struct {
		line, column float64
		message      string
	}{
		"a: 1\nb: [1, 2\n":      {0, 0, ""},
		"a: b: c\n":             {1, 0, ""},
		"x: 1\n\ty: 2\n":        {0, 0, ""},
		"a: 1\nb:\n  c: !x 2\n": {3, 6, `the tag "!x" is not of the core schema`},
		"a: 1\n  \nb: *no\n":    {3, 0, ""},
		"k: 1\nl: 2\nk: 3\n":    {3, 1, `the key "k" is there twice`},
		"a: !!int x\n":          {1, 4, `"x" is not of its tag !!int`},
		"a: &x [1, *x]\n":       {1, 11, "the alias *x is inside of what it repeats"},
		"[a]: 1\n":              {1, 1, "a key must be a text, a number or a boolean, not a collection"},
		"<<: 5\n":               {1, 5, "<< takes a mapping or a list of mappings"},
		"a: \"\\q\"":            {1, 0, ""},
		"a: 1\nb: \xff\n":       {2, 4, "the text is no UTF-8"},
	} {
		out := run(t, text, "return pcall(yaml.decode, text)")
		require.Equal(t, false, out[0], "%q: %v", text, out[1])
		e := out[1].(map[string]any)
		require.Equal(t, "yaml", e["code"], text)
		require.Contains(t, e["message"], "yaml.decode: line ", text)
		if want.line > 0 {
			require.Equal(t, want.line, e["line"], "%q: %s", text, e["message"])
		}
		if want.column > 0 {
			require.Equal(t, want.column, e["column"], "%q: %s", text, e["message"])
		}
		require.Contains(t, e["message"], want.message, text)
	}
}

// Texts made to hurt: each is read or refused soon, in bounded memory, and none ends the process.
func TestHostileTexts(t *testing.T) {
	var laughs, wide strings.Builder
	laughs.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for n := range 12 {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s*a%d]\n", n+1, n+1, strings.Repeat(fmt.Sprintf("*a%d, ", n), 8), n)
	}
	wide.WriteString("a: &a '" + strings.Repeat("x", 1<<20) + "'\nb: [" + strings.Repeat("*a, ", 1000) + "]\n")
	for name, text := range map[string]string{
		"laughs": laughs.String(), "long alias": wide.String(),
		"flow":      strings.Repeat("[", 1<<20),
		"maps":      strings.Repeat("{a: ", 1<<18),
		"sequences": strings.Repeat("- ", 1<<19),
		"keys":      strings.Repeat("? ", 1<<19),
		"comments":  strings.Repeat("#\n", 1<<20) + "a: [",
		"quotes":    "'" + strings.Repeat("''", 1<<20),
		"anchors":   strings.Repeat("- &a x\n", 1<<17) + "- *b\n",
		"too long":  strings.Repeat("#", 4<<20+1),
		"deep":      strings.Repeat("[", 300) + strings.Repeat("]", 300),
	} {
		t.Run(name, func(t *testing.T) {
			started := time.Now()
			out := run(t, text, "return pcall(yaml.decode, text)")
			require.Equal(t, false, out[0])
			require.Contains(t, []any{"yaml", "limit", "memory"}, out[1].(map[string]any)["code"])
			require.Less(t, time.Since(started), 10*time.Second)
			t.Log(time.Since(started), out[1].(map[string]any)["message"])
		})
	}
}

func TestEncode(t *testing.T) {
	require.Equal(t, []any{`a: 1
b: [1, x]
`}, run(t, "", `return (string.gsub(yaml.encode({ b = "[1, x]", a = 1 }), "['\"]", ""))`))
	require.Equal(t, []any{"- \"NO\"\n- \"1\"\n- \"null\"\n- \"2001-01-01\"\n- \"y\"\n- plain\n- \"1:30\"\n- null\n- 1.5\n- {}\n"},
		run(t, "[~]", `return yaml.encode({ "NO", "1", "null", "2001-01-01", "y", "plain", "1:30", yaml.decode(text)[1], 1.5, {} })`))
	for value, want := range map[string]string{
		`{ a = { print } }`:        "yaml.encode: cannot encode a function or userdata at $.a[1]",
		`{ a = buffer.create(1) }`: "yaml.encode: cannot encode a buffer at $.a",
		`{ "\xff" }`:               "yaml.encode: cannot encode a text that is no UTF-8 at $[1]",
		`{ [2.5] = 1 }`:            "yaml.encode: cannot encode a table with keys that are no texts at $",
	} {
		out := run(t, "", "return pcall(yaml.encode, "+value+")")
		require.Equal(t, false, out[0], value)
		require.Equal(t, want, out[1].(map[string]any)["message"], value)
	}
}

// A large value is written beside other tasks, a small one in place.
func TestLargeValuesAreAwaited(t *testing.T) {
	vm := modtest.New(t, yamlmod.Module{}, yamlmod.Stub)
	vm.Run(t, `__native.yaml.encode({ a = 1 })`)
	require.Empty(t, vm.Awaited)
	vm.Run(t, `__native.yaml.encode(table.create(10000, "text"))`)
	require.Equal(t, []string{"yaml.encode"}, vm.Awaited)
}
