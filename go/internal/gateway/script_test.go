package gateway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
)

func TestScriptsCallFunctions(t *testing.T) {
	maths := server(t, "maths", "add", "get-sum")
	f := newFixture(t, gateway.Options{}, maths)
	for script, want := range map[string]string{
		`return 1`:                                 `1`,
		`return sdk.maths.add{ n = 2 }.n`:          `2`,
		`return sdk["maths"]["get-sum"]{ n = 3 }`:  `{"n":3}`,
		`return sdk.maths.get_sum{ n = 3 }`:        `{"n":3}`,
		`return sdk.maths.add()`:                   `{}`,
		`return sdk.maths.add{ list = {} }`:        `{"list":[]}`,
		`result(maths.add{ n = 4 }:await().n)`:     `4`,
		`return call_tool("maths.add", { n = 5 })`: `{"content":[],"structuredContent":{"n":5}}`,
		`local a, b = maths.add{ n = 1 }, maths.add{ n = 2 } return a:await().n + b:await().n`: `3`,
		`return async.map({ 1, 2, 3 }, function(n) return sdk.maths.add{ n = n }.n end)`:       `[1,2,3]`,
		`return`:           `null`,
		`return 1, nil, 2`: `[1,null,2]`,
		`return {}`:        `{}`,
		`local names = {} for name in pairs(sdk) do table.insert(names, name) end for name, f in pairs(sdk.maths) do table.insert(names, name .. type(f)) end return names`:              `["maths","addfunction","get_sumfunction"]`,
		`local n = 0 for k, v in pairs({ a = 1, b = 2 }) do n += v end for k, v in pairs({ 5, 6 }) do n += k * v end local f, t, i = pairs({}) return { n, type(f), type(t), i == nil }`: `[20,"function","table",true]`,
		`return (pcall(pairs, nil))`: `false`,
		`local names = {} for name in sdk do table.insert(names, name) end for name in sdk.maths do table.insert(names, name) end return names`: `["maths","add","get_sum"]`,
	} {
		require.Equal(t, want, f.run(script), script)
	}
}

func TestOneRunAfterTheOther(t *testing.T) {
	f := newFixture(t, gateway.Options{}, server(t, "maths", "add"))
	for range 20 {
		require.Equal(t, "3", f.run(`x = (x or 0) + 1 return sdk.maths.add{ n = 2 }.n + x`))
		require.Equal(t, "2", f.run(`result(maths.add{ n = 2 }:await().n)`))
	}
}

func TestScriptsThatFail(t *testing.T) {
	f := newFixture(t, gateway.Options{}, server(t, "maths", "add"))
	for script, want := range map[string]string{
		"local x = nil\nreturn x.y":                         "script:2: attempt to index nil with 'y'",
		"return sdk.maths.ad{}":                             "script:1: there is no function sdk.maths.ad, did you mean add?",
		"return sdk.math.add{}":                             "script:1: there is no source sdk.math, did you mean sdk.maths?",
		"\nreturn sdk.maths.add{ n = \"x\" }":               "script:2: maths.add: n must be an integer, not a string",
		"return sdk.maths.add(1)":                           "script:1: sdk.maths.add: its argument must be a table, got number",
		"return sdk.maths:add{ n = 1 }":                     "script:1: sdk.maths.add is called with a dot, not with a colon",
		"return sdk.maths:add()":                            "script:1: sdk.maths.add is called with a dot, not with a colon",
		"return sdk.maths.add(maths.add{ n = 1 })":          "script:1: sdk.maths.add: its argument is a promise of sdk.maths.add",
		"return sdk.maths.add({}, {})":                      "script:1: sdk.maths.add takes one table, got 2 arguments",
		"result(1) result(2)":                               "script:1: result() was called already, in line 1: a script has one result",
		"result(1) return 2":                                "the script called result(), in line 1 and returned a value, too: it has one result",
		"local result = maths.add{}:await() result(result)": "A local variable named result hides the function result()",
		"return maths.add{}.n":                              "script:1: sdk.maths.add gives a promise, which has no n: call :await() on it first",
		"return function() end":                             "JSON",
		"print('hello') error('oh')":                        "script:1: oh\nlogs:\nhello",
		"return (":                                          "script:1",
	} {
		failed := f.fails(script)
		require.Contains(t, failed.Message, want, script)
		require.LessOrEqual(t, strings.Count(failed.Message, "script:"), 1, failed.Message)
	}
}
