package luautype

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func server(t testing.TB) *catalog.Source {
	return &catalog.Source{Name: "my.srv", Kind: catalog.MCP, Functions: []catalog.Function{
		{Name: "get-user", Params: object(t, `{"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}`)},
		{Name: "clear", Params: object(t, `{"type": "object", "properties": {}}`), NoResult: true},
		{Name: "send", Params: object(t, `{"type": "object", "required": ["list"], "properties": {"list": {"type": "array", "items": {"$ref": "#/$defs/M"}},
			"more": {"type": "array", "items": {"$ref": "#/$defs/M"}}, "labels": {"type": "array", "items": {"enum": ["a", "b"]}}}}`),
			Defs: object(t, `{"M": {"type": "object", "properties": {"role": {"enum": ["user", "system"]}}}}`)},
		{Name: "other", Result: object(t, `{"$ref": "#/$defs/M"}`), Defs: object(t, `{"M": {"type": "string"}}`)},
	}}
}

func TestDefinitions(t *testing.T) {
	c := catalog.New(nil, []*catalog.Source{petstore(t), server(t), {Name: "string", Kind: catalog.MCP, Functions: []catalog.Function{{Name: "x"}}},
		{Name: "mine", Kind: catalog.MCP}})
	o := DefinitionOptions{Prelude: "declare function print_all(...: any): ()", Globals: []Member{{"result", "(value: any?) -> ()"}, {"mine", "number"}},
		Members: []Member{{"files", "{ read: (path: string) -> string }"}}}
	text := Definitions(c, o)
	for _, want := range []string{
		"declare function print_all(...: any): ()\n",
		"declare result: (value: any?) -> ()\n",
		"export type petstore_NewPet = { name: string, tag: petstore_Tag? }\n",
		"\tcreate_pet: (body: petstore_NewPet) -> petstore_Pet,\n\tcreatePet: (body: petstore_NewPet) -> petstore_Pet,\n",
		"\tget_user: (params: { id: string }) -> Promise<any>,\n",
		"declare my_srv: my_srv_promises\n",
		"\tget_user: (params: { id: string }) -> any,\n\t[\"get-user\"]: (params: { id: string }) -> any,\n",
		"\tclear: (params: {}?) -> nil,\n",
		"\tfiles: { read: (path: string) -> string },\n\tpetstore: petstore_functions,\n\tmy_srv: my_srv_functions,\n\t[\"my.srv\"]: my_srv_functions,\n",
		"\tlist_pets: (params: { limit: number?,",
		// What the checker does not see in literals it does not ask for.
		"list: {my_srv_M}, labels: {string}?, more: {my_srv_MWide}? }",
		"export type my_srv_M2 = string\n",
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "declare string:")
	assert.NotContains(t, text, "declare petstore:", "only servers are globals")
	assert.NotContains(t, text, "declare mine: mine_promises", "a global of another is not a source's")
	requireCompiles(t, strings.ReplaceAll(asScript(text), "local function print_all(...: any): ()", ""))
	assert.Equal(t, text, Definitions(catalog.New(c, []*catalog.Source{petstore(t), server(t), c.Source("string").Source, c.Source("mine").Source}), o), "the same every time")
}

// Each function is there by its own name, whatever is in it.
func TestDefinitionsOfSimilarNames(t *testing.T) {
	c, _ := one(&catalog.Source{Name: "s", Kind: catalog.MCP, Functions: []catalog.Function{{Name: "get: a"}, {Name: "get: b"}}})
	text := Definitions(c, DefinitionOptions{})
	assert.Contains(t, text, `["get: a"]: (params: {}?) -> any`)
	assert.Contains(t, text, `["get: b"]: (params: {}?) -> any`)
}

func TestDefinitionsForAScript(t *testing.T) {
	c := catalog.New(nil, []*catalog.Source{petstore(t), server(t)})
	used := Mentioned("local p = sdk.petstore.create_pet({ name = 'x' })\nsdk[\"my.srv\"]['get-user']({ id = `1` }) list_pets{}")
	text := DefinitionsFor(c, DefinitionOptions{}, used)
	for _, want := range []string{"create_pet: ", "petstore_Tag", "[\"get-user\"]: ", "\tlist_pets: "} {
		assert.Contains(t, text, want)
	}
	for _, other := range []string{"clear", "send", "my_srv_M"} {
		assert.NotContains(t, text, other)
	}
	requireCompiles(t, asScript(text))
	only := DefinitionsFor(c, DefinitionOptions{}, []string{"list_pets"})
	assert.Contains(t, only, "\tlist_pets: ", "an alias needs no source")
	assert.Contains(t, only, "export type petstore_Pet")
	requireCompiles(t, asScript(only))
	none := DefinitionsFor(c, DefinitionOptions{}, nil)
	assert.Equal(t, promise+"declare sdk: {\n}\n", none)
	empty := DefinitionsFor(c, DefinitionOptions{}, []string{"petstore", "nothing"})
	assert.Contains(t, empty, "export type petstore_functions = {\n}\n", "a source that is mentioned is there")
}

func TestMentioned(t *testing.T) {
	names := Mentioned("a.b_c['d-e'][\"f g\"](`h`, [[i j]]) -- don't\n'k-l' it's \"m n\"\n日本.x" + strings.Repeat("y", 1_000))
	for _, name := range []string{"a", "b_c", "d-e", "f g", "h", "i j", "k-l", "m n", "x" + strings.Repeat("y", 1_000)} {
		if len(name) <= maxText {
			assert.Contains(t, names, name)
		} else {
			assert.NotContains(t, names, name)
		}
	}
	assert.Empty(t, Mentioned(""))
}

func TestStubs(t *testing.T) {
	c := catalog.New(nil, []*catalog.Source{petstore(t), server(t), {Name: "sdk", Kind: catalog.MCP, Functions: []catalog.Function{{Name: "source"}}}})
	files := Stubs(c, DefinitionOptions{})
	require.Len(t, files, 4)
	for _, name := range []string{"sdk.d.luau", "petstore.luau", "my_srv.luau", "sdk_source.luau"} {
		require.Contains(t, files, name)
		requireCompiles(t, asScript(files[name]))
	}
	assert.Contains(t, files["petstore.luau"], `-- Create a new pet
-- @param body - The pet to create
function source.create_pet(body: NewPet): Pet
	return functions.create_pet(body)
end
`)
	assert.Contains(t, files["my_srv.luau"], "return functions.send(params)")
}

// What stands beside variants is one table with them: the checker compares no literal with more.
func TestVariantsInDefinitions(t *testing.T) {
	body := object(t, `{"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "status": {"type": "string"}}, "oneOf": [
		{"properties": {"status": {"enum": ["done"]}, "by": {"type": "string"}}, "required": ["status", "by"], "additionalProperties": true},
		{"properties": {"status": {"enum": ["open"]}}, "additionalProperties": true}]}`)
	c, f := one(sourceOfOne(function(nil, body, nil)))
	assert.Contains(t, Definitions(c, DefinitionOptions{}), `f: (body: { name: string, status: ("done" | "open")?, by: string? }?) -> any`)
	assert.Contains(t, Signature(f), `{ name: string, status: string? } & ({ status: "done", by: string, [string]: any } | { status: "open"?, [string]: any })`)
}

// A reader does not wait for what others read.
func TestDefinitionsAtOnce(t *testing.T) {
	c := catalog.New(nil, []*catalog.Source{petstore(t), server(t)})
	want := Definitions(catalog.New(nil, []*catalog.Source{petstore(t), server(t)}), DefinitionOptions{})
	done := make(chan string)
	for i := range 8 {
		go func() {
			DefinitionsFor(c, DefinitionOptions{}, []string{"petstore", fmt.Sprint(i), "update", "send"})
			done <- Definitions(c, DefinitionOptions{})
		}()
	}
	for range 8 {
		assert.Equal(t, want, <-done)
	}
}

func many(t testing.TB) *catalog.Catalog {
	var sources []*catalog.Source
	for i := range 50 {
		s := &catalog.Source{Name: fmt.Sprintf("server-%d", i), Kind: catalog.MCP}
		for k := range 100 {
			s.Functions = append(s.Functions, catalog.Function{
				Name: fmt.Sprintf("get-thing-%d", k), Description: "Gets a thing of a workspace",
				Params: object(t, `{"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "description": "Which one"},
					"state": {"enum": ["open", "closed"]}, "filter": {"$ref": "#/$defs/Filter"}}}`),
				Result: object(t, `{"type": "array", "items": {"$ref": "#/$defs/Thing"}}`),
				Defs: object(t, `{"Filter": {"type": "object", "properties": {"text": {"type": "string"}}},
					"Thing": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/Thing"}}}}}`),
			})
		}
		sources = append(sources, s)
	}
	return catalog.New(nil, sources)
}

func BenchmarkDefinitions(b *testing.B) {
	c := many(b)
	b.Run("one source changed", func(b *testing.B) {
		var sources []*catalog.Source
		for _, s := range c.Sources() {
			sources = append(sources, s.Source)
		}
		Definitions(c, DefinitionOptions{})
		for b.Loop() {
			changed := *sources[0]
			sources[0] = &changed
			Definitions(catalog.New(c, sources), DefinitionOptions{})
		}
	})
	b.Run("for a script", func(b *testing.B) {
		for b.Loop() {
			DefinitionsFor(c, DefinitionOptions{}, Mentioned("local x = sdk.server_7.get_thing_5({ id = 'a' })"))
		}
	})
	b.Run("docs", func(b *testing.B) {
		f := c.Sources()[0].Callables[0]
		for b.Loop() {
			Docs(f)
		}
	})
}

func BenchmarkAllDefinitions(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c := many(b)
		b.StartTimer()
		Definitions(c, DefinitionOptions{})
	}
}
