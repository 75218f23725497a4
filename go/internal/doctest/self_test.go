package doctest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// problems runs a page that is given as text, with ~~~ in place of the fences.
func problems(t *testing.T, text string) string {
	t.Helper()
	p, faults := parsePage("docs/guide/page.md", []byte(strings.ReplaceAll(text, "~~~", "```")))
	r := newRunner(t, treeRoot(t), p)
	r.run()
	var b strings.Builder
	for _, f := range append(faults, r.faults...) {
		b.WriteString(f.text + "\n")
	}
	return b.String()
}

func TestGoodPage(t *testing.T) {
	require.Empty(t, problems(t, `
# A page

~~~luau greet.luau
local name = ...
print("Hello, " .. name)
~~~

~~~console
$ luau greet.luau Ada
Hello, Ada
$ luau -e 'error("no")'
error: -e:1: no
...
$ echo $?
1
$ luau \
  greet.luau Grace
Hello, ...
$ cd / && pwd
/
$ luau repl
> 1 + 1
2
> local function f()
..   return "f"
.. end
$ luau -e 'print((require("http").get("http://127.0.0.1:8000/user.json").url))'
http://127.0.0.1:8000/user.json
~~~

~~~luau
print(1 + 1) --> 2
print("a\nb")
--> a
--> b
~~~

~~~luau no-run
error("not run")
~~~

~~~luau signature
function list.map<T, U>(
	items: { T },
	f: (T) -> U
): { U }
~~~

~~~sh
make build && go run ./examples/server   # a remark
PATH=x tools/go test ./...
bazel test //tests/luau:all
~~~

~~~text
a --> b
~~~
`))
}

// Each page has a fault, which is told.
func TestBadPages(t *testing.T) {
	for name, c := range map[string]struct{ page, want string }{
		"indented":       {"text\n\n    make build\n", "an indented block of code"},
		"html":           {"<pre>\nluau x\n</pre>\n", "HTML"},
		"no language":    {"~~~\nx\n~~~\n", "without a language"},
		"unknown":        {"~~~python\nprint(1)\n~~~\n", "a block of python"},
		"a third word":   {"~~~luau a.luau twice\nprint(1)\n~~~\n", "what is twice?"},
		"outside":        {"~~~luau ../a.luau\nprint(1)\n~~~\n", "what is ../a.luau?"},
		"unused":         {"~~~luau a.luau\nprint(1)\n~~~\n\n~~~console\n$ luau -e ''\n~~~\n", "uses a.luau"},
		"used before":    {"~~~console\n$ ls a.luau || true\n...\n~~~\n\n~~~luau a.luau\nprint(1)\n~~~\n", "uses a.luau"},
		"not run":        {"~~~console no-run\n$ luau x\n~~~\n", "no-run is for luau"},
		"hidden":         {"~~~text\n$ luau x\n~~~\n", "commands in a text block"},
		"syntax":         {"~~~luau no-run\nlocal = 1\n~~~\n", "does not compile"},
		"signature":      {"~~~luau signature\nfunction f(\n~~~\n", "does not compile"},
		"whole function": {"~~~luau signature\nfunction f() end\n~~~\n", "does not compile"},
		"no signature":   {"~~~luau signature\nprint(1)\n~~~\n", "a signature is"},
		"console heads":  {"~~~console signature\n$ luau x\n~~~\n", "a signature is"},
		"named head":     {"~~~luau a.luau signature\nfunction f()\n~~~\n", "a signature is"},
		"fails":          {"~~~luau\nerror('oops')\n~~~\n", "oops"},
		"prints else":    {"~~~luau\nprint(2) --> 1\n~~~\n", "but it prints\n\t2"},
		"prints more":    {"~~~luau\nprint(1)\n~~~\n", "but it prints\n\t1"},
		"no command":     {"~~~console\nluau x\n~~~\n", "begins with a command"},
		"other output":   {"~~~console\n$ luau -e 'print(1)'\n2\n~~~\n", "but it prints\n\t1"},
		"no output":      {"~~~console\n$ luau -e 'print(1)'\n~~~\n", "(nothing)"},
		"exit code":      {"~~~console\n$ luau -e 'error(1)'\n...\n~~~\n", "exit code 1"},
		"shell":          {"~~~console\n$ if\n~~~\n", "the shell gave up"},
		"typed":          {"~~~console\n$ luau repl\n> 1 + 1\n3\n~~~\n", "but it prints\n\t2"},
		"target":         {"~~~sh\nmake nothing\n~~~\n", "no target nothing"},
		"second":         {"~~~sh\nmake build && tools/nothing\n~~~\n", "no tools/nothing"},
		"luau in sh":     {"~~~sh\nbuild/bin/luau x.luau\n~~~\n", "in a console block"},
		"strange in sh":  {"~~~sh\nwget x\n~~~\n", "does not know wget"},
		"no package":     {"~~~sh\ngo doc github.com/hukilau/hukilau/go/nothing\n~~~\n", "no go/nothing"},
		"no example":     {"~~~sh\ngo run ./examples/nothing\n~~~\n", "nothing"},
		"no bazel":       {"~~~sh\nbazel run //docs/guide\n~~~\n", "BUILD.bazel"},
		"address is not": {"~~~console\n$ luau -e 'print(\"127.0.0.1:8001\")'\n127.0.0.1:8000\n~~~\n", "127.0.0.1:8001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, problems(t, c.page), c.want)
		})
	}
}

func TestLinks(t *testing.T) {
	p, _ := parsePage("docs/guide/page.md", []byte("# A heading\n\n## `m.is_it(x)`, twice\n\n## `m.is_it(x)`, twice\n\n[g](#mis_itx-twice-1) [a](#a-heading) [b](#another) [c](../../README.md)\n[d](nothing.md) [e](https://luau.org) [f](../../README.md#nothing)\n"))
	var said []string
	for _, f := range brokenLinks(treeRoot(t), p) {
		said = append(said, f.text)
	}
	require.Equal(t, []string{"#another: no such heading", "there is no docs/guide/nothing.md", "../../README.md#nothing: no such heading"}, said)
}

func TestGoSnippets(t *testing.T) {
	if withoutGo() {
		t.Skip("Go programs are left out")
	}
	const page = "~~~go\nresults, err := s.Do(ctx, \"=x\", \"return 1 + 1\")\nif err != nil {\n\treturn err\n}\nfmt.Println(results)\n// Output: [2]\n~~~\n\n" +
		"~~~go\nfmt.Println(strings.ToUpper(\"x\"))\n~~~\n"
	require.Equal(t, "the page shows\n\t(nothing)\nbut it prints\n\tX\n", problems(t, page))
	require.Contains(t, problems(t, "~~~go\nx := 1\n~~~\n"), "declared and not used")
}

const shout = "~~~yaml tools/shout.yaml\nname: shout\ndescription: Shouts\nparams: { type: object, properties: { text: { type: string } } }\n" +
	"examples:\n  - args: { text: hi }\n    result: HI\nlua: |\n  function invoke(ctx, args)\n    return string.upper(args.text)\n  end\n~~~\n"

func TestGoodTools(t *testing.T) {
	require.Empty(t, problems(t, shout+`
~~~toml
[server]
token = "${TOKEN}"
operator_token = "${OPERATOR}"
~~~

~~~toml hukilau.toml
[tools]
dirs = ["tools"]
~~~

~~~json
{"mcpServers": {"x": {"command": "/usr/bin/luau", "args": ["mcp", "--config", "/path/of/the/project/hukilau.toml"]}}}
~~~

~~~console
$ luau tool call shout --param text=hi
"HI"
~~~

~~~console
$ luau serve
serving 1 tool... on http://127.0.0.1:8787 ...
~~~

~~~console
$ curl -s --json '{"text": "hi"}' http://127.0.0.1:8787/tools/shout
{"result":"HI"}
~~~

~~~json
{"servers": {"x": {"url": "http://127.0.0.1:8787/mcp"}}}
~~~

~~~ini
ExecStart=/usr/local/bin/luau serve --config /etc/hukilau.toml
~~~

~~~dockerfile
CMD ["luau", "serve", "--bind", "0.0.0.0:8787"]
~~~
`))
}

func TestFaultsOfTools(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{strings.Replace(shout, "result: HI", "result: hi", 1), `the result must be "hi", got "HI"`},
		{strings.Replace(shout, "examples:", "exampels:", 1), `did you mean "examples"`},
		{"~~~toml\n[servre]\n~~~\n", `did you mean "server"`},
		{"~~~json\n{\n~~~\n", "no JSON"},
		{"~~~json\n{\"mcpServers\": {\"x\": {\"command\": \"luau\", \"args\": [\"mcp\", \"--confg\", \"x\"]}}}\n~~~\n", "no answer to initialize"},
		{"~~~json\n{\"servers\": {\"x\": {\"url\": \"http://127.0.0.1:8000/mcp\"}}}\n~~~\n", "no answer to initialize"},
		{"~~~console\n$ luau serve\nserving 7 tools on ...\n~~~\n", "but it prints"},
		{"~~~console\n$ luau serve --prot 1\n~~~\n", "ended before it was ready"},
		{"~~~ini\nExecStart=/usr/local/bin/luau serve --prot 1\n~~~\n", "has no flag --prot"},
		{"~~~dockerfile\nFROM debian\n~~~\n", "nothing is started here"},
		{"~~~dockerfile\nCMD [\"nginx\", \"x\"]\n~~~\n", "this is not luau"},
	} {
		require.Contains(t, problems(t, c.page), c.want, c.page)
	}
}
