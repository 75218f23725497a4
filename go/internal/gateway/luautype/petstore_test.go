package luautype

import (
	"encoding/json"
	"testing"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func tree(t testing.TB, text string) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

func object(t testing.TB, text string) map[string]any { return tree(t, text).(map[string]any) }

// one is a catalogue of one function.
func one(s *catalog.Source) (*catalog.Catalog, *catalog.Callable) {
	c := catalog.New(nil, []*catalog.Source{s})
	return c, c.Sources()[0].Callables[0]
}

func petstore(t testing.TB) *catalog.Source {
	defs := object(t, `{
		"NewPet": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "tag": {"$ref": "#/$defs/Tag"}}},
		"Pet": {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "integer"}, "name": {"type": "string"},
			"owner": {"$ref": "#/$defs/User"}, "tag": {"$ref": "#/$defs/Tag"}}},
		"User": {"type": "object", "required": ["id", "name", "email"],
			"properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "email": {"type": "string", "format": "email"}}},
		"Tag": {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "number"}, "name": {"type": "string"}}}
	}`)
	return &catalog.Source{Name: "petstore", Kind: catalog.OpenAPI, Defs: defs, Functions: []catalog.Function{
		{Name: "createPet", Suggested: "create_pet", Description: "Create a new pet", Method: "POST", Path: "/pets", Defs: defs,
			Body: object(t, `{"$ref": "#/$defs/NewPet"}`), BodyRequired: true, BodyDoc: "The pet to create",
			Result: object(t, `{"$ref": "#/$defs/Pet"}`)},
		{Name: "listPets", Suggested: "list_pets", Description: "List pets", Method: "GET", Path: "/pets", Defs: defs,
			Params: object(t, `{"type": "object", "properties": {"limit": {"type": "integer", "description": "How many", "default": 20},
				"status": {"enum": ["sold", "free"]}, "x-trace": {"type": "string"}}}`),
			Result: object(t, `{"type": "array", "items": {"$ref": "#/$defs/Pet"}}`)},
		{Name: "update", Method: "PUT", Path: "/pets/{id}", Deprecated: true, Defs: defs,
			Params: object(t, `{"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}`),
			Body:   object(t, `{"$ref": "#/$defs/NewPet"}`), NoResult: true},
	}}
}

func TestDocsAsTheyWereAskedFor(t *testing.T) {
	_, f := one(petstore(t))
	assert.Equal(t, `-- Create a new pet
-- @param body - The pet to create
function sdk.petstore.create_pet(body: NewPet): Pet end

export type NewPet = {
    name: string,
    tag: Tag?,
}

export type Pet = {
    id: number,
    name: string,
    owner: User?,
    tag: Tag?,
}

export type User = {
    id: number,
    name: string,
    email: string,
}

export type Tag = {
    id: number,
    name: string,
}
`, Docs(f))
	assert.Equal(t, "function sdk.petstore.create_pet(body: NewPet): Pet end", Signature(f))
}
