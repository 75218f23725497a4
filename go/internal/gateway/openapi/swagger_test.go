package openapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const swaggerDocument = `
swagger: '2.0'
info: {title: Old, version: '1'}
host: api.example.com
basePath: /v2/
schemes: [http, https]
consumes: [application/json]
produces: [application/json]
securityDefinitions: {key: {type: apiKey, in: header, name: X-Key}, o: {type: oauth2, flow: application, tokenUrl: 'https://t.example.com', scopes: {a: b}}}
security: [{key: []}]
parameters:
  limit: {name: limit, in: query, type: integer, maximum: 100}
paths:
  /pets:
    parameters: [{$ref: '#/parameters/limit'}]
    get:
      operationId: listPets
      parameters: [{name: tags, in: query, type: array, items: {type: string}, collectionFormat: pipes}, {name: ids, in: query, type: array, items: {type: integer}, collectionFormat: multi}, {name: csv, in: query, type: array, items: {type: string}}]
      responses: {'200': {description: ok, schema: {type: array, items: {$ref: '#/definitions/Pet'}}}}
    post:
      operationId: createPet
      parameters: [{name: pet, in: body, required: true, schema: {type: object, additionalProperties: {type: object, properties: {p: {$ref: '#/definitions/Pet'}}}}}]
      responses: {'201': {description: ok, schema: {$ref: '#/definitions/Pet'}}}
  /pets/{id}/photo:
    post:
      operationId: upload
      consumes: [multipart/form-data]
      parameters: [{name: id, in: path, required: true, type: integer}, {name: file, in: formData, type: file, required: true}, {name: note, in: formData, type: string}, {name: ids, in: formData, type: array, items: {type: integer}}]
      responses: {'204': {description: ok}}
definitions:
  Pet: {type: object, required: [id], properties: {id: {type: integer, format: int64, maximum: 9007199254740993}, parent: {$ref: '#/definitions/Pet'}, nick: {type: string, x-nullable: true}, 'schema': {type: string}}}
  'List«Pet»': {type: array, items: {$ref: '#/definitions/Pet'}}
`

func TestSwagger2(t *testing.T) {
	r := record(t)
	a := spec(t, r, swaggerDocument, with(map[string]Credential{"key": {Key: "k1"}}))
	require.Empty(t, a.Warnings())
	source := a.Source()
	require.Equal(t, []string{"listPets", "createPet", "upload"}, []string{source.Functions[0].Name, source.Functions[1].Name, source.Functions[2].Name})
	require.Equal(t, []string{"List__Pet__", "Pet"}, sortedKeys(source.Defs))
	pet := source.Defs["Pet"].(table)["properties"].(table)
	require.Equal(t, table{"$ref": "#/$defs/Pet"}, pet["parent"])
	require.Equal(t, []any{"string", "null"}, pet["nick"].(table)["type"])
	require.EqualValues(t, "9007199254740993", pet["id"].(table)["maximum"], "every digit is kept")
	require.Equal(t, table{"type": "array", "items": table{"$ref": "#/$defs/Pet"}}, source.Functions[0].Result)
	inner := source.Functions[1].Body.(table)["additionalProperties"].(table)["properties"].(table)
	require.Equal(t, table{"$ref": "#/$defs/Pet"}, inner["p"])
	require.True(t, source.Functions[1].BodyRequired)
	require.Equal(t, 100.0, source.Functions[0].Params["properties"].(table)["limit"].(table)["maximum"])
	require.True(t, source.Functions[2].NoResult)
	requireWhole(t, source)
	requireCompiles(t, source)

	call(t, a, "listPets", table{"tags": []any{"a", "b"}, "ids": []any{1.0, 2.0}, "csv": []any{"x", "y"}, "limit": 5.0}, nil)
	target, header, _ := r.last(t)
	require.Equal(t, "/pets?csv=x,y&ids=1&ids=2&limit=5&tags=a%7Cb", target)
	require.Equal(t, "k1", header.Get("X-Key"))
	call(t, a, "upload", table{"id": 1.0}, table{"file": "\xff", "note": "n", "ids": []any{1.0, 2.0}})
	require.Equal(t, []partOf{{"file", "file", "application/octet-stream", "\xff"}, {"ids", "", "", "1,2"}, {"note", "", "", "n"}}, partsOf(t, r))

	server, err := spec(t, nil, swaggerDocument).serverOf(a.operations["upload"])
	require.NoError(t, err)
	require.Equal(t, "https://api.example.com/v2", server.String(), "https goes before http")
}

func TestSwagger2ThatIsWrong(t *testing.T) {
	for name, text := range map[string]string{
		"paths are no table":   "swagger: '2.0'\npaths: [1]",
		"a number for a text":  "swagger: '2.0'\ninfo: {title: 5}\npaths: {/: {get: {responses: 7}}}",
		"only references":      "swagger: '2.0'\nhost: a.example.com\npaths: {/: {$ref: '#/paths/~1'}}",
		"parameters in a loop": "swagger: '2.0'\nhost: a.example.com\npaths: {/: {get: {parameters: [{$ref: '#/parameters/a'}]}}}\nparameters: {a: {$ref: '#/parameters/b'}, b: {$ref: '#/parameters/a'}}",
		"a file of another":    "swagger: '2.0'\nhost: a.example.com\npaths: {/: {get: {parameters: [{$ref: 'http://127.0.0.1:1/x.json'}]}}}",
		"null everywhere":      "swagger: '2.0'\npaths: {/: {get: null, parameters: [null]}}\ndefinitions: null\nsecurityDefinitions: {a: null}",
	} {
		_, err := load(t, text)
		require.Error(t, err, name)
	}
	a, err := load(t, strings.Replace(swaggerDocument, "paths:\n", "paths:\n  /other: {$ref: other.yaml}\n", 1))
	require.NoError(t, err)
	require.Contains(t, a.Warnings()[0], "the path /other is left out")
}
