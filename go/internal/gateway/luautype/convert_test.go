package luautype

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/pkg/luau"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// returning is a function that gives what a schema says.
func returning(t testing.TB, schema string, defs string) (*catalog.Catalog, *catalog.Callable) {
	f := catalog.Function{Name: "f", Result: tree(t, schema)}
	if defs != "" {
		f.Defs = object(t, defs)
	}
	return one(&catalog.Source{Name: "s", Kind: catalog.MCP, Functions: []catalog.Function{f}})
}

func function(params, body, result any) catalog.Function {
	f := catalog.Function{Name: "f", Body: body, Result: result}
	f.Params, _ = params.(map[string]any)
	return f
}

func sourceOfOne(f catalog.Function) *catalog.Source {
	return &catalog.Source{Name: "s", Kind: catalog.MCP, Functions: []catalog.Function{f}}
}

// typeOf is the type that a schema gives in a signature.
func typeOf(t testing.TB, schema, defs string) string {
	_, f := returning(t, schema, defs)
	text := strings.TrimSuffix(strings.TrimPrefix(Signature(f), "function sdk.s.f(params: { [string]: any }?): "), " end")
	return strings.TrimPrefix(text, "function sdk.s.f(): ")
}

func requireCompiles(t require.TestingT, source string) {
	_, err := luau.Compile("docs", "--!strict\n"+source, luau.CompileOptions{})
	require.NoError(t, err, source)
}

// asScript makes a script of definitions, which the compiler takes.
func asScript(definitions string) string {
	return strings.ReplaceAll("\n"+definitions, "\ndeclare ", "\nlocal ")
}

func TestTypesOfSchemas(t *testing.T) {
	const pet = `{"Pet": {"type": "object", "properties": {"id": {"type": "integer"}}}, "a-b c": {"type": "string"}, "yes": true, "no": false,
		"loop": {"$ref": "#/$defs/pool"}, "pool": {"$ref": "#/$defs/loop"}, "list": {"type": "array"},
		"either": {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]}, "deep": {"properties": {"x": {"type": "boolean"}}}}`
	for schema, want := range map[string]string{
		// The table.
		`{"type": "string"}`:                             "string",
		`{"type": "integer"}`:                            "number",
		`{"type": "number"}`:                             "number",
		`{"type": "boolean"}`:                            "boolean",
		`{"type": "array", "items": {"type": "string"}}`: "{string}",
		`{"type": "array"}`:                              "{any}",
		`{"type": "object", "required": ["b"], "properties": {"a": {"type": "string"}, "b": {"type": "number"}}}`: "{ b: number, a: string? }",
		`{"$ref": "#/$defs/Pet"}`: "Pet",
		`{"type": "object", "additionalProperties": {"type": "number"}}`: "{ [string]: number }",
		`{"enum": ["val1", "val2"]}`:                                     `("val1" | "val2")`,
		`{}`:                                                             "any",
		`{"type": "strange"}`:                                            "any",
		// Names of definitions.
		`{"$ref": "#/definitions/Pet"}`:               "Pet",
		`{"$ref": "#/$defs/a-b c"}`:                   "ABC",
		`{"$ref": "#/$defs/a-b%20c"}`:                 "ABC",
		`{"$ref": "#/$defs/yes"}`:                     "Yes",
		`{"$ref": "#/$defs/no"}`:                      "No",
		`{"$ref": "#/$defs/deep/properties/x"}`:       "X",
		`{"$ref": "#/$defs/missing"}`:                 "any --[[ its definition is missing ]]",
		`{"$ref": "https://example.com/schema.json"}`: "any --[[ its definition is missing ]]",
		`{"$ref": "#/$defs/Pet", "nullable": true}`:   "Pet?",
		`{"$ref": "#/$defs/Pet", "description": "x"}`: "Pet",
		`{"$ref": "#/$defs/Pet", "type": "object", "required": ["n"], "properties": {"n": {"type": "string"}}}`: "Pet & { n: string }",
		`{"type": "array", "items": {"$ref": "#/$defs/Pet"}}`:                                                   "{Pet}",
		// Nothing, anything, one value.
		`true`:                       "any",
		`false`:                      "never",
		`{"const": "a"}`:             `"a"`,
		`{"const": true}`:            "true",
		`{"const": 5}`:               "number",
		`{"const": null}`:            "nil",
		`{"const": {"a": 1}}`:        "{ [string]: any }",
		`{"enum": ["a"]}`:            `"a"`,
		`{"enum": ["a", null]}`:      `"a"?`,
		`{"enum": ["a", "b", null]}`: `("a" | "b")?`,
		`{"type": "string", "enum": ["a", null]}`:     `"a"`,
		`{"enum": [1, 2, "a"]}`:                       `number | "a"`,
		`{"enum": [true, false]}`:                     "boolean",
		`{"enum": ["a\"b\\\n\u0007", "é", "\u202e"]}`: `("a\"b\\\n\x07" | "é" | "\u{202e}")`,
		`{"type": "null"}`:                            "nil",
		`{"enum": []}`:                                "any",
		// Several types, and nil.
		`{"type": ["string", "null"]}`:                                                    "string?",
		`{"type": ["string", "number", "null"]}`:                                          "(string | number)?",
		`{"type": "string", "nullable": true}`:                                            "string?",
		`{"type": ["array", "null"], "items": {"type": "number"}}`:                        "{number}?",
		`{"anyOf": [{"type": "string"}, {"type": "null"}]}`:                               "string?",
		`{"oneOf": [{"$ref": "#/$defs/Pet"}, {"type": "string"}, {"type": "string"}]}`:    "Pet | string",
		`{"anyOf": [{"type": "string"}, {}]}`:                                             "any",
		`{"anyOf": [{"enum": ["a"]}, {"type": "string"}]}`:                                "string",
		`{"anyOf": [false, {"type": "string"}]}`:                                          "string",
		`{"anyOf": []}`:                                                                   "any",
		`{"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}`: "{string | number}",
		`{"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}`: "{ a: string? }",
		// All of them.
		`{"allOf": [{"$ref": "#/$defs/Pet"}]}`:                       "Pet",
		`{"allOf": [{"$ref": "#/$defs/Pet"}, {"description": "x"}]}`: "Pet",
		`{"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "object", "required": ["a", "b"], "properties": {"b": {"type": "number"}}}]}`: "{ a: string, b: number }",
		`{"allOf": [{"$ref": "#/$defs/Pet"}, {"properties": {"x": {"type": "string"}}}]}`:                                                                               "{ id: number?, x: string? }",
		`{"allOf": [{"$ref": "#/$defs/Pet"}, {"$ref": "#/$defs/list"}]}`:                                                                                                "{ id: number? } & List",
		`{"allOf": [{"$ref": "#/$defs/Pet"}, {"$ref": "#/$defs/either"}]}`:                                                                                              "{ id: number? } & Either",
		`{"allOf": [{"type": "string"}, {"enum": ["a", "b"]}]}`:                                                                                                         `("a" | "b")`,
		`{"allOf": [{"type": "string"}, {"type": "number"}]}`:                                                                                                           "never",
		`{"allOf": [{"type": ["string", "null"]}, {"type": ["string", "null"]}]}`:                                                                                       "string?",
		// Tables.
		`{"type": "object"}`:                                "{ [string]: any }",
		`{"type": "object", "properties": {}}`:              "{}",
		`{"type": "object", "additionalProperties": false}`: "{}",
		`{"type": "object", "additionalProperties": true}`:  "{ [string]: any }",
		`{"properties": {"x-y": {"type": "string"}, "end": {}, "2": {"type": "string"}}, "required": ["x-y", "end", "2"]}`: `{ ["x-y"]: string, ["end"]: any, ["2"]: string }`,
		`{"properties": {"a": {}}}`:                                                                                           "{ a: any? }",
		`{"properties": {"a": false}}`:                                                                                        "{ a: nil }",
		`{"type": "object", "required": ["n"]}`:                                                                               "{ n: any }",
		`{"properties": {"a": {"type": ["string", "null"]}}}`:                                                                 "{ a: string? }",
		`{"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "number"}}`:                               "{ a: string?, [string]: number }",
		`{"patternProperties": {"^x": {"type": "string"}, "^y": {"type": "number"}}}`:                                         "{ [string]: string | number }",
		`{"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": false}`:                                    "{ [string]: string }",
		`{"properties": {"a": {"properties": {"b": {"type": "array", "items": {"properties": {"c": {"type": "number"}}}}}}}}`: "{ a: { b: {{ c: number? }}? }? }",
		// Lists of fixed places.
		`{"prefixItems": [{"type": "string"}, {"type": "number"}]}`:                                "{string | number}",
		`{"type": "array", "items": [{"type": "string"}, {"type": "number"}]}`:                     "{string | number}",
		`{"type": "array", "prefixItems": [{"type": "string"}], "items": false}`:                   "{string}",
		`{"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}}`:     "{string | boolean}",
		`{"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "boolean"}}`: "{string | boolean}",
		// Bytes.
		`{"type": "string", "format": "binary"}`: "string",
		`{"format": "binary"}`:                   "string",
		`{"contentEncoding": "base64"}`:          "string",
		// Types that are nothing.
		`{"$ref": "#/$defs/loop"}`: "Loop",
	} {
		assert.Equal(t, want, typeOf(t, schema, pet), schema)
		_, f := returning(t, schema, pet)
		requireCompiles(t, Docs(f))
	}
}

func TestTypesThatReferToThemselves(t *testing.T) {
	for _, test := range []struct{ schema, defs, want string }{
		{`{"$ref": "#/$defs/Node"}`, `{"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}}`,
			"export type Node = {\n    next: Node?,\n}\n"},
		{`{"$ref": "#/$defs/A"}`, `{"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}`,
			"export type A = any --[[ defined by itself ]]\n"},
		{`{"$ref": "#/$defs/J"}`, `{"J": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/J"}, {"type": "array", "items": {"$ref": "#/$defs/J"}}]}}`,
			"export type J = any --[[ defined by itself ]]\n"},
		{`{"$ref": "#/$defs/J"}`, `{"J": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/J"}}]}}`,
			"export type J = string | {J}\n"},
		{`{"type": "object", "properties": {"child": {"$ref": "#"}}}`, ``, "export type FResult = {\n    child: FResult?,\n}\n"},
		{`{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "array", "items": {"$ref": "#/properties/a"}}}}}}`, ``,
			"export type A = {\n    b: {A}?,\n}\n"},
		{`{"$defs": {"X": {"properties": {"y": {"$ref": "#/definitions/Y"}}}}, "definitions": {"Y": {"type": "string"}}, "$ref": "#/$defs/X"}`, ``,
			"export type X = {\n    y: Y?,\n}\n\nexport type Y = string\n"},
	} {
		_, f := returning(t, test.schema, test.defs)
		docs := Docs(f)
		assert.Contains(t, docs, test.want, test.schema)
		requireCompiles(t, docs)
	}
}

func TestNamesOfTypes(t *testing.T) {
	defs := map[string]any{}
	for _, name := range []string{"pet", "Pet", "p-e-t", "simple-user", "123", "", "日本", "end", "HTTPError", "components.schemas.X", strings.Repeat("long", 100), "any", "Pet2"} {
		defs[name] = map[string]any{"type": "string"}
	}
	n := newNames("")
	n.reserve(defs)
	names := map[string]string{}
	for id, name := range n.of {
		names[id.name] = name
	}
	assert.Equal(t, "Pet", names["Pet"], "its own")
	assert.Equal(t, "Pet3", names["pet"])
	assert.Equal(t, "Pet2", names["Pet2"])
	assert.Equal(t, "PET", names["p-e-t"])
	assert.Equal(t, "SimpleUser", names["simple-user"])
	assert.Equal(t, "T123", names["123"])
	assert.Equal(t, "HTTPError", names["HTTPError"])
	assert.Equal(t, "ComponentsSchemasX", names["components.schemas.X"])
	assert.Len(t, names[strings.Repeat("long", 100)], maxName)
	seen := map[string]bool{}
	for _, name := range names {
		assert.True(t, catalog.IsIdent(name), name)
		assert.False(t, seen[name], name)
		seen[name] = true
	}
}

// Whatever a server sends, the types stay bounded and valid.
func TestHostileSchemas(t *testing.T) {
	nested := `{"type": "string"}`
	for range 500 {
		nested = `{"properties": {"a": ` + nested + `}, "items": {"type": "string"}}`
	}
	cycle := map[string]any{"type": "object"}
	cycle["properties"] = map[string]any{"me": cycle, "list": map[string]any{"type": "array", "items": cycle}}
	var shared any = map[string]any{"type": "string"}
	for range 60 {
		shared = map[string]any{"properties": map[string]any{"a": shared, "b": shared}}
	}
	members := func(n int, of func(i int) any) []any {
		list := make([]any, n)
		for i := range list {
			list[i] = of(i)
		}
		return list
	}
	properties := map[string]any{}
	for i := range 10_000 {
		properties[fmt.Sprint("p", i)] = map[string]any{"type": "string"}
	}
	chain, tangle := map[string]any{}, map[string]any{}
	for i := range 10_000 {
		chain[fmt.Sprint("c", i)] = map[string]any{"$ref": fmt.Sprint("#/$defs/c", i+1)}
	}
	for i := range 300 {
		tangle[fmt.Sprint("t", i)] = map[string]any{"anyOf": members(40, func(k int) any {
			return map[string]any{"$ref": fmt.Sprint("#/$defs/t", (i*7+k*13)%300)}
		})}
	}
	for name, f := range map[string]catalog.Function{
		"nested":      {Result: tree(t, nested)},
		"cycle":       {Params: cycle, Result: cycle, Body: cycle},
		"shared":      {Result: shared},
		"union":       {Result: map[string]any{"anyOf": members(10_000, func(i int) any { return map[string]any{"const": fmt.Sprint(i)} })}},
		"intersected": {Result: map[string]any{"allOf": members(10_000, func(i int) any { return map[string]any{"$ref": fmt.Sprint("#/$defs/c", i)} })}, Defs: chain},
		"enum":        {Result: map[string]any{"enum": members(10_000, func(i int) any { return fmt.Sprint(i) })}},
		"tuple":       {Result: map[string]any{"prefixItems": members(10_000, func(i int) any { return map[string]any{"const": fmt.Sprint(i)} })}},
		"wide":        {Params: map[string]any{"type": "object", "properties": properties}},
		"required":    {Params: map[string]any{"type": "object", "required": members(10_000, func(i int) any { return fmt.Sprint("r", i) })}},
		"chain":       {Result: map[string]any{"$ref": "#/$defs/c0"}, Defs: chain},
		"tangle":      {Result: map[string]any{"$ref": "#/$defs/t0"}, Defs: tangle},
		"nonsense":    {Params: map[string]any{"type": 5.0, "properties": []any{1.0}, "required": "x", "anyOf": "y", "$ref": 7.0, "enum": true}, Result: []any{1.0}, Body: "x"},
		"long": {Params: object(t, `{"properties": {"`+strings.Repeat("k", 5_000)+`": {"const": "`+strings.Repeat("v", 5_000)+`"}}}`),
			Description: strings.Repeat("long ", 100_000)},
		"unseen": {Description: "a\x00b\x1b[2J\r\n]]--[[\u2028c\xff", Params: map[string]any{"properties": map[string]any{
			"a\x00b": true, "\xff": true, "]]": map[string]any{"description": "]] --\nerror()"}, "\n": map[string]any{"const": "\xff\n]]"}}}},
	} {
		f.Name = "f"
		s := &catalog.Source{Name: "s", Kind: catalog.MCP, Functions: []catalog.Function{f}}
		c, callable := one(s)
		docs := Docs(callable)
		require.Less(t, len(docs), 3*maxDocBytes, name)
		requireCompiles(t, docs)
		definitions := Definitions(c, DefinitionOptions{})
		require.Less(t, len(definitions), 4_000_000, name)
		requireCompiles(t, asScript(definitions))
		for _, file := range Stubs(c, DefinitionOptions{}) {
			requireCompiles(t, asScript(file))
		}
		require.NotEmpty(t, c.Hash(), name)
	}
}

func TestATypeAndManyOfItsValues(t *testing.T) {
	values := make([]string, maxUnion+1)
	for i := range values {
		values[i] = fmt.Sprintf(`"v%d"`, i)
	}
	many := `{"enum": [` + strings.Join(values, ", ") + `]}`
	require.Equal(t, "string", typeOf(t, `{"allOf": [{"type": "string"}, `+many+`]}`, ""))
	require.Equal(t, "string", typeOf(t, `{"anyOf": [{"type": "string"}, `+many+`]}`, ""))
	require.Equal(t, "string --[[ one of many values ]]", typeOf(t, many, ""))
}

// FuzzSchema: any JSON gives types that compile.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		`{"type": "object", "properties": {"a": {"$ref": "#/$defs/X"}}, "$defs": {"X": {"enum": ["a", null, 1]}}}`,
		`{"$ref": "#"}`, `{"anyOf": [{"$ref": "#/anyOf/0"}]}`, `{"allOf": [{"properties": {"end": false}}, {"$ref": "#/allOf/0"}]}`,
		`{"items": [true, false], "nullable": true}`, `{"const": "\u0000\u202e]]"}`, `{"description": "--[[\n]]", "default": {"x-y": [1]}}`,
	} {
		f.Add(seed, "name", "text")
	}
	f.Fuzz(func(t *testing.T, text, name, description string) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil || name == "" {
			t.Skip()
		}
		function := catalog.Function{Name: name, Description: description, Result: v, Body: v}
		function.Params, _ = v.(map[string]any)
		function.Defs, _ = function.Params["$defs"].(map[string]any)
		c, callable := one(&catalog.Source{Name: name, Description: description, Kind: catalog.MCP, Functions: []catalog.Function{function}})
		requireCompiles(t, Docs(callable))
		requireCompiles(t, asScript(Definitions(c, DefinitionOptions{})))
		for _, file := range Stubs(c, DefinitionOptions{}) {
			requireCompiles(t, asScript(file))
		}
	})
}
