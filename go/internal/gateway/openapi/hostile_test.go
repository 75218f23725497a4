package openapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHostileDocuments(t *testing.T) {
	nested := func(open, shut string) string { return strings.Repeat(open, 100_000) + strings.Repeat(shut, 100_000) }
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	many := func(n int, item string) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, `"/%d":%s,`, i, item)
		}
		return strings.TrimSuffix(out.String(), ",")
	}
	var parameters strings.Builder
	for i := range 301 {
		fmt.Fprintf(&parameters, `{"name":"p%d","in":"query"},`, i)
	}
	const start = `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"servers":[{"url":"http://127.0.0.1"}],`
	manyTimes := func() string {
		// One path item of many parameters, referred to again and again.
		var out strings.Builder
		out.WriteString(start + `"paths":{"/x":{"get":{},"put":{},"post":{},"parameters":[` + strings.Join(strings.SplitAfter(parameters.String(), "},")[:299], "") + `{"name":"last","in":"query"}` + `]}`)
		for i := range 15_000 {
			fmt.Fprintf(&out, `,"/y%d":{"$ref":"#/paths/~1x"}`, i)
		}
		return out.String() + "}}"
	}
	for name, test := range map[string]struct{ text, want string }{
		"a million paths":            {start + `"paths":{` + many(1_000_000, `{"get":{}}`) + `}}`, "the document takes more than 256 MiB of memory"},
		"many operations":            {start + `"paths":{` + many(11_000, `{"get":{},"put":{}}`) + `}}`, "more than 20000 operations"},
		"many paths":                 {start + `"paths":{` + many(20_001, `{"get":{}}`) + `}}`, "more than 20000 paths"},
		"nested JSON":                {start + `"paths":` + nested(`{"a":`, "}") + "}", "nested too deep"},
		"nested YAML":                {"openapi: 3.0.0\npaths: " + nested("[", "]"), ""},
		"an alias bomb":              {"openapi: 3.0.0\npaths: {}\n" + bomb, "aliases of the text repeat more than"},
		"an alias inside itself":     {"openapi: 3.0.0\npaths: &a {b: *a}\n", "the alias *a is inside of what it repeats"},
		"several documents":          {"openapi: 3.0.0\n---\npaths: {}\n", "several YAML documents"},
		"paths that refer to others": {start + `"paths":{"/a":{"$ref":"#/paths/~1b"},"/b":{"$ref":"#/paths/~1a"}}}`, "references that lead only to each other: #/paths/~1b -> #/paths/~1a -> #/paths/~1b"},
		"a path that is its own":     {start + `"paths":{"/a":{"$ref":"#/paths/~1a"}}}`, "references that lead only to each other"},
		"too many parameters":        {start + `"paths":{"/a":{"get":{"parameters":[` + strings.TrimSuffix(parameters.String(), ",") + `]}}}}`, "it has more than 300 parameters"},
		"paths again and again":      {manyTimes(), "more than 300000 parameters and fields"},
		"nothing":                    {"", "no object"},
		"a list":                     {"[]", "no object"},
		"a page":                     {"<!doctype html><html><body>Sign in</body></html>", ""},
		"another kind of document":   {`{"asyncapi":"3.0.0"}`, "it says neither openapi nor swagger"},
		"another version":            {`{"openapi":"4.0.0","paths":{}}`, "it is of version 4.0.0; 3.0, 3.1 and Swagger 2.0 can be read"},
		"no operations":              {start + `"paths":{}}`, "it has no operations"},
		"broken JSON":                {start + `"paths":{"/a":]}}`, "line 1, column"},
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			_, err := load(t, test.text)
			require.ErrorContains(t, err, test.want)
			require.Less(t, len(err.Error()), 700)
			t.Log(time.Since(begun), err)
		})
	}
}

// What is used again and again is made, kept and stored once.
func TestSharedPartsAreSharedAgain(t *testing.T) {
	var schema, paths strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&schema, `,"p%d":{"type":"string"}`, i)
	}
	large := `{"type":"object","properties":{"x":{}` + schema.String() + `}}`
	for i := range 5_000 {
		more := ""
		if i%2 == 0 {
			more = `,"summary":"s"`
		}
		fmt.Fprintf(&paths, `,"/p%d":{"$ref":"#/paths/~1x"%s}`, i, more)
	}
	text := `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"servers":[{"url":"http://127.0.0.1"}],"paths":{"/x":{"post":{
		"parameters":[{"name":"q","in":"query","schema":` + large + `}],
		"requestBody":{"content":{"application/json":{"schema":` + large + `}}},
		"responses":{"200":{"content":{"application/json":{"schema":` + large + `}}},"201":{"$ref":"#/components/responses/r"}}}}` + paths.String() + `},
		"components":{"responses":{"r":{"content":{"application/json":{"schema":` + large + `}}}}}}`
	cache := memoryCache{}
	a := spec(t, nil, text, func(_ *Config, o *Options) {
		o.CacheRead, o.CacheWrite = cache.options().CacheRead, cache.options().CacheWrite
	})
	require.Len(t, a.Source().Functions, 5_001)
	for _, stored := range cache {
		require.Less(t, len(stored), 2*len(text)+5_000*300)
	}
	require.Less(t, len(a.model.Bodies)+len(a.model.Parameters)+len(a.model.results), 4)
}

// Long chains are walked, not climbed.
func TestLongChains(t *testing.T) {
	var aliases, loops strings.Builder
	const n = 10_000
	for i := range n {
		fmt.Fprintf(&aliases, `"a%d":{"$ref":"#/components/schemas/a%d"},`, i, i+1)
		fmt.Fprintf(&loops, `"l%d":{"allOf":[{"$ref":"#/components/schemas/l%d"}],"required":["r"],"properties":{"r":{"readOnly":true}}},`, i, (i+1)%n)
	}
	text := `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"servers":[{"url":"http://127.0.0.1"}],
		"paths":{"/":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/l7"}}}}}}},
		"components":{"schemas":{` + aliases.String() + loops.String() + fmt.Sprintf(`"a%d":{"type":"string"}}}}`, n)
	source := spec(t, nil, text).Source()
	require.Greater(t, len(source.Defs), 2*n)
	require.NotNil(t, source.Defs["l7Input"])
	requireWhole(t, source)
	require.Zero(t, cut(source.Defs, edgesOfAll(source.Defs), nil), "no loop is left")
}

func edgesOfAll(defs map[string]any) map[string][]inPlace {
	edges := map[string][]inPlace{}
	for name, s := range defs {
		edges[name] = edgesOf(s)
	}
	return edges
}

func TestDocumentsAreBounded(t *testing.T) {
	_, err := load(t, plainGet, func(_ *Config, o *Options) { o.MaxSpec = 10 })
	require.ErrorContains(t, err, "larger than")
	parts := map[string]string{"api/spec.yaml": parted, "api/paths/pets.yaml": strings.Repeat("#", 10_000)}
	a, err := load(t, parted, files(t, parts), func(_ *Config, o *Options) { o.MaxSpec = 2000 })
	require.ErrorContains(t, err, "the documents of this API are larger than")
	require.Nil(t, a)
}

// What is wrong in one operation does not take the others away.
func TestBrokenOperationsAreLeftOut(t *testing.T) {
	a := spec(t, nil, head+`
paths:
  /a: {get: {operationId: good}}
  /b: {get: {operationId: b, parameters: [{$ref: '#/components/parameters/none'}]}}
  /c: {get: {operationId: c, parameters: [{name: x, in: nowhere}]}}
  /d: {get: {operationId: d, parameters: [{name: x, in: query, style: matrix}]}}
  /e: {get: {operationId: e, parameters: [{name: 'x y', in: header}]}}
  /f: {get: {operationId: f, requestBody: {$ref: '#/nowhere'}}}
  /g: {get: {operationId: g, parameters: [{in: query}]}}
  /h: {get: 5, post: {operationId: alsoGood, parameters: [{name: gone, in: path, required: true}], responses: {'200': {$ref: '#/nowhere'}}}}
  /i/{id}: {get: {operationId: undeclared}}
  /j: 7
  x-extension: {get: {}}
`)
	var names []string
	for _, f := range a.Source().Functions {
		names = append(names, f.Name)
	}
	require.Equal(t, []string{"good", "alsoGood", "undeclared"}, names)
	require.Len(t, a.Warnings(), 10)
	require.Contains(t, a.Warnings(), `GET /d is left out: the parameter "x" in query has the style "matrix", which is none of form, spaceDelimited, pipeDelimited, deepObject`)
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(parted))
	f.Add([]byte(secured))
	f.Add([]byte(oauthDocument))
	f.Add([]byte(swaggerDocument))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := Load(t.Context(), Config{Name: "x", Spec: "x", BaseURL: "http://127.0.0.1"}, Options{ReadFile: func(string, string) ([]byte, error) { return text, nil }})
		if err == nil {
			requireWhole(t, a.Source())
		}
	})
}
