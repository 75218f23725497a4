package typecheck_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// generated is a catalogue with schemas of many shapes.
func generated(t *testing.T) *catalog.Catalog {
	tree := func(text string) map[string]any {
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &v), text)
		return v
	}
	defs := tree(`{
		"Pet": {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "integer"}, "name": {"type": "string"},
			"status": {"enum": ["sold", "free"]}, "mother": {"$ref": "#/$defs/Pet"}, "x-y": {"type": "string"}}},
		"NewPet": {"allOf": [{"$ref": "#/$defs/Base"}, {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}]},
		"Base": {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}},
		"Message": {"type": "object", "required": ["role"], "properties": {"role": {"enum": ["user", "system"]}, "content": {"anyOf": [
			{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/Part"}}]}}},
		"Part": {"oneOf": [
			{"type": "object", "required": ["type", "text"], "properties": {"type": {"const": "text"}, "text": {"type": "string"}}},
			{"type": "object", "required": ["type", "url"], "properties": {"type": {"const": "image"}, "url": {"type": "string"}}}]},
		"JSON": {"anyOf": [{"type": ["string", "number", "boolean", "null"]}, {"type": "array", "items": {"$ref": "#/$defs/JSON"}},
			{"type": "object", "additionalProperties": {"$ref": "#/$defs/JSON"}}]},
		"Loop": {"$ref": "#/$defs/Pool"}, "Pool": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"type": "null"}]}
	}`)
	f := func(name, params, body, result string) catalog.Function {
		f := catalog.Function{Name: name, Defs: defs}
		if params != "" {
			f.Params = tree(params)
		}
		if body != "" {
			f.Body, f.BodyRequired = tree(body), true
		}
		if result != "" {
			f.Result = tree(result)
		}
		return f
	}
	return catalog.New(nil, []*catalog.Source{
		{Name: "my.srv", Kind: catalog.MCP, Functions: []catalog.Function{
			f("get-pet", `{"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}`, "", `{"$ref": "#/$defs/Pet"}`),
			f("send", `{"type": "object", "required": ["messages"], "properties": {"messages": {"type": "array", "items": {"$ref": "#/$defs/Message"}},
				"more": {"type": "array", "items": {"$ref": "#/$defs/Message"}}, "kinds": {"type": "array", "items": {"enum": ["a", "b"]}},
				"mode": {"enum": ["x", "y"]}}}`, "", ""),
			f("clear", `{"type": "object", "properties": {}}`, "", ""),
			f("any", `{"type": "object", "properties": {"value": {"$ref": "#/$defs/JSON"}, "loop": {"$ref": "#/$defs/Loop"}}}`, "", `{"$ref": "#/$defs/JSON"}`),
		}},
		{Name: "pets", Kind: catalog.OpenAPI, Functions: []catalog.Function{
			f("create", "", `{"$ref": "#/$defs/NewPet"}`, `{"$ref": "#/$defs/Pet"}`),
			f("list", `{"type": "object", "properties": {"limit": {"type": "integer"}, "status": {"enum": ["sold", "free"]}}}`, "", `{"type": "array", "items": {"$ref": "#/$defs/Pet"}}`),
		}},
	})
}

// Types that are made of schemas let pass what is right and find what is wrong.
func TestGeneratedDefinitions(t *testing.T) {
	c, _ := checker(t, typecheck.Options{})
	made := generated(t)
	options := luautype.DefinitionOptions{Globals: []luautype.Member{{Name: "result", Type: "(value: any) -> ()"}}}
	errors := func(source string, definitions string) (list []string) {
		found, err := c.Check(context.Background(), typecheck.Request{Source: source, Definitions: typecheck.NewDefinitions(definitions)})
		require.NoError(t, err, source)
		for _, f := range found {
			if f.Severity == typecheck.Error {
				list = append(list, f.Text())
			}
		}
		return list
	}
	whole := luautype.Definitions(made, options)
	for _, source := range []string{
		`local p = sdk.pets.create({ name = "x", tags = { "a" } }) print(p.id, p.mother and p.mother.name, p["x-y"])`,
		`for _, p in sdk.pets.list() do print(p.status == "sold") end sdk.list({ limit = 1, status = "free" })`,
		`print(sdk["my.srv"]["get-pet"]({ id = 1 }).name) local p = my_srv.get_pet({ id = 1 }) result(p:await().name)`,
		`sdk.my_srv.clear() sdk.my_srv.clear({}) local none = my_srv.clear():await() print(none)`,
		`sdk.my_srv.send({ messages = { { role = "user", content = "a" }, { role = "system" } }, kinds = { "a", "b" }, mode = "x" })`,
		`sdk.my_srv.send({ messages = {}, more = { { role = "user" }, { role = "system", content = "b" } } })`,
		`sdk.my_srv.send({ messages = {}, more = { { role = "user", content = "b" }, { role = "system" } } })`,
		`sdk.my_srv.send({ messages = { { role = "user", content = { { type = "text", text = "t" }, { type = "image", url = "u" } } } } })`,
		`local list = {} for i = 1, 3 do table.insert(list, { role = "user", content = tostring(i) }) end sdk.my_srv.send({ messages = list })`,
		`sdk.my_srv.any({ value = { 1, "a", { b = { true } } }, loop = 5 }) sdk.my_srv.any()`,
		`local calls = { my_srv.get_pet({ id = 1 }), my_srv.get_pet({ id = 2 }) } for _, call in calls do print(call:await().id) end`,
	} {
		assert.Empty(t, errors(source, whole), source)
		assert.Empty(t, errors(source, luautype.DefinitionsFor(made, options, luautype.Mentioned(source))), "with what it mentions: %s", source)
	}
	for name, text := range luautype.Stubs(made, options) {
		if !strings.HasSuffix(name, ".d.luau") {
			found, err := c.Check(context.Background(), typecheck.Request{Source: text, Definitions: typecheck.NewDefinitions(whole)})
			require.NoError(t, err)
			assert.Empty(t, found, name)
		}
	}
	for source, want := range map[string]string{
		`print(sdk.pets.create({ name = "x" }).nme)`:              "nme",
		`sdk.pets.create({ nam = "x" })`:                          "name",
		`sdk.pets.crate({ name = "x" })`:                          "crate",
		`sdk.my_srv.send({ messages = {}, mod = "x" })`:           "mod",
		`sdk.my_srv.get_pet({})`:                                  "id",
		`for _, p in sdk.pets.list() do print(p.nam) end`:         "nam",
		`local p = my_srv.get_pet({ id = 1 }):await() print(p.i)`: "i",
	} {
		for _, definitions := range []string{whole, luautype.DefinitionsFor(made, options, luautype.Mentioned(source))} {
			list := errors(source, definitions)
			if assert.NotEmpty(t, list, source) {
				assert.Contains(t, fmt.Sprint(list), want, source)
			}
		}
	}
}

// Names of sources and functions that mean something in definitions do no harm there.
func TestGeneratedDefinitionsOfOddNames(t *testing.T) {
	c, _ := checker(t, typecheck.Options{})
	names := []string{"class", "extern", "declare", "type", "export", "continue", "read", "write", "self", "string", "end", "Promise", "sdk", "with", "a b", "é", "\"", "x_Y"}
	var sources []*catalog.Source
	var script strings.Builder
	for _, name := range names {
		s := &catalog.Source{Name: name, Kind: catalog.MCP}
		for _, tool := range names {
			s.Functions = append(s.Functions, catalog.Function{Name: tool, Result: map[string]any{"$ref": "#/$defs/" + name}, Defs: map[string]any{name: true}})
			fmt.Fprintf(&script, "sdk[%s][%s]()\n", catalog.Quote(name), catalog.Quote(tool))
		}
		sources = append(sources, s)
	}
	definitions := luautype.Definitions(catalog.New(nil, sources), luautype.DefinitionOptions{})
	found, err := c.Check(context.Background(), typecheck.Request{Source: script.String(), Definitions: typecheck.NewDefinitions(definitions)})
	require.NoError(t, err)
	require.Empty(t, found)
}
