package openapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

const shop = `
openapi: 3.0.3
info: {title: Shop, description: Sells, version: 1.2.3}
servers: [{url: 'http://127.0.0.1'}]
tags: [{name: pets, description: All pets}]
paths:
  /pets:
    get: {operationId: listPets, tags: [pets], summary: List, description: Lists all pets}
    post: {operationId: createPet, tags: [pets, admin], summary: Create one, requestBody: {required: true, description: The pet, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}}
  /pets/{id}:
    delete: {operationId: deletePet, deprecated: true, tags: [admin], parameters: [{name: id, in: path, required: true, deprecated: true, schema: {$ref: '#/components/schemas/Id'}}]}
    put: {}
    head: {operationId: petExists}
    patch: {operationId: patchPet}
components:
  schemas:
    Pet: {type: object, properties: {id: {$ref: '#/components/schemas/Id'}}}
    Id: {type: integer}
    Unused: {type: string}
`

func TestSource(t *testing.T) {
	source := spec(t, nil, shop).Source()
	require.Equal(t, "shop", source.Name)
	require.Equal(t, catalog.OpenAPI, source.Kind)
	require.Equal(t, []string{"Shop", "Sells", "1.2.3"}, []string{source.Title, source.Description, source.Version})
	require.Equal(t, map[string]string{"pets": "All pets"}, source.Tags)
	byName := map[string]catalog.Function{}
	var order []string
	for _, f := range source.Functions {
		byName[f.Name] = f
		order = append(order, f.Method+" "+f.Path)
	}
	require.Equal(t, []string{"GET /pets", "POST /pets", "DELETE /pets/{id}", "HEAD /pets/{id}", "PATCH /pets/{id}", "PUT /pets/{id}"}, order)
	list := byName["listPets"]
	require.Equal(t, []string{"list_pets", "List", "Lists all pets"}, []string{list.Suggested, list.Title, list.Description})
	require.Nil(t, list.Params)
	require.Nil(t, list.Body)
	create := byName["createPet"]
	require.Equal(t, []any{"", "Create one", "The pet", true}, []any{create.Title, create.Description, create.BodyDoc, create.BodyRequired})
	require.Equal(t, []string{"pets", "admin"}, create.Tags)
	remove := byName["deletePet"]
	require.True(t, remove.Deprecated)
	require.Equal(t, table{"$ref": "#/$defs/Id", "deprecated": true}, remove.Params["properties"].(table)["id"])
	require.Equal(t, false, remove.Params["additionalProperties"])
	require.True(t, remove.ParamsRequired())
	for name, want := range map[string][3]bool{ // read only, destructive, idempotent
		"listPets": {true, false, true}, "petExists": {true, false, true}, "createPet": {false, false, false}, "patchPet": {false, false, false},
		"deletePet": {false, true, true}, "put_pets_id": {false, false, true},
	} {
		hints := byName[name].Hints
		require.Equal(t, want, [3]bool{*hints.ReadOnly, *hints.Destructive, *hints.Idempotent}, name)
		require.True(t, *hints.OpenWorld)
	}
	require.Equal(t, []string{"Id", "Pet", "Unused"}, sortedKeys(source.Defs))
}

func TestSelections(t *testing.T) {
	for _, test := range []struct {
		include, exclude Selection
		want             string
		defs             string
	}{
		{Selection{}, Selection{Tags: []string{"admin"}}, "listPets petExists patchPet put_pets_id", ""},
		{Selection{Tags: []string{"pets"}}, Selection{Paths: []string{"POST /*"}}, "listPets", ""},
		{Selection{Operations: []string{"*Pet"}}, Selection{}, "createPet deletePet patchPet", "Id Pet"},
		{Selection{Operations: []string{"create_pet", "put_pets_id"}}, Selection{}, "createPet put_pets_id", "Id Pet"},
		{Selection{Paths: []string{"/pets/*"}}, Selection{Operations: []string{"deletePet", "p*t*"}}, "", ""},
		{Selection{Paths: []string{"/pets"}}, Selection{}, "listPets createPet", "Id Pet"},
		{Selection{Tags: []string{"pets"}, Operations: []string{"petExists"}}, Selection{}, "listPets createPet petExists", "Id Pet"},
		{Selection{Operations: []string{"deletePet"}}, Selection{}, "deletePet", "Id"},
	} {
		a, err := load(t, shop, func(c *Config, _ *Options) { c.Include, c.Exclude = test.include, test.exclude })
		if test.want == "" {
			require.ErrorContains(t, err, "include and exclude leave none of its 6 operations")
			continue
		}
		require.NoError(t, err)
		var names []string
		for _, f := range a.Source().Functions {
			names = append(names, f.Name)
		}
		require.Equal(t, test.want, strings.Join(names, " "))
		require.Equal(t, test.defs, strings.Join(sortedKeys(a.Source().Defs), " "))
		require.Equal(t, CodeNotFound, fails(t, a, "nothing", nil, nil).Code)
	}
	a := spec(t, nil, shop, func(c *Config, _ *Options) { c.Exclude.Operations = []string{"deletePet"} })
	require.Equal(t, CodeNotFound, fails(t, a, "deletePet", table{"id": 1.0}, nil).Code, "what is left out cannot be called")
}

func TestConfigurationsThatAreWrong(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"set spec to the path or the URL":        func(c *Config) { c.Spec = "" },
		"it is a folder":                         func(c *Config) { c.Spec = "api/" },
		"base_url: \"api.example.com\"":          func(c *Config) { c.BaseURL = "api.example.com" },
		"headers: the header Host cannot be set": func(c *Config) { c.Headers = map[string]string{"host": "x"} },
		"has line ends":                          func(c *Config) { c.Headers = map[string]string{"X": "a\r\nb"} },
		"is no name of a header":                 func(c *Config) { c.Headers = map[string]string{"X Y": "a"} },
	} {
		_, err := load(t, shop, func(c *Config, _ *Options) { change(c) })
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "api shop: ")
	}
}
