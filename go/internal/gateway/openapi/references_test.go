package openapi

import (
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// files are a folder and what is around it.
func files(t *testing.T, texts map[string]string) func(*Config, *Options) {
	return func(c *Config, o *Options) {
		c.Spec = "api/spec.yaml"
		o.ReadFile = func(folder, name string) ([]byte, error) {
			require.Equal(t, "api/", folder)
			require.True(t, fs.ValidPath(name), name)
			text, ok := texts[path.Join(folder, name)]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}
	}
}

const parted = head + `
paths:
  /pets/{id}: {$ref: 'paths/pets.yaml#/item'}
components:
  schemas:
    Owner: {type: object, properties: {pet: {$ref: 'schemas/Pet.yaml'}}}
`

var parts = map[string]string{
	"api/spec.yaml": parted,
	"api/paths/pets.yaml": `
item:
  parameters: [{$ref: '#/parameters/id'}]
  get:
    operationId: getPet
    responses: {'200': {content: {application/json: {schema: {$ref: '../schemas/Pet.yaml'}}}}}
  put:
    operationId: putPet
    requestBody: {$ref: '../bodies.json#/pet'}
parameters:
  id: {name: id, in: path, required: true, schema: {$ref: '../schemas/ids.yaml#/Id'}}
`,
	"api/schemas/Pet.yaml": "type: object\nproperties: {id: {$ref: 'ids.yaml#/Id'}, owner: {$ref: '../spec.yaml#/components/schemas/Owner'}, mother: {$ref: '#'}, nick: {$ref: '#/properties/mother'}, maybe: {type: string, nullable: true}}\n",
	"api/schemas/ids.yaml": "Id: {type: integer}\n",
	"api/bodies.json":      `{"pet": {"content": {"application/json": {"schema": {"$ref": "schemas/Pet.yaml"}}}}}`,
	"secret.yaml":          "Secret: {type: string}\n",
}

func TestReferencesToFiles(t *testing.T) {
	a := spec(t, record(t), parted, files(t, parts))
	require.Empty(t, a.Warnings())
	source := a.Source()
	require.Len(t, source.Functions, 2)
	require.Equal(t, []string{"Id", "Owner", "Pet", "mother"}, sortedKeys(source.Defs))
	pet := source.Defs["Pet"].(table)["properties"].(table)
	require.Equal(t, table{"$ref": "#/$defs/Id"}, pet["id"])
	require.Equal(t, table{"$ref": "#/$defs/Owner"}, pet["owner"])
	require.Equal(t, table{"$ref": "#/$defs/Pet"}, pet["mother"])
	require.Equal(t, []any{"string", "null"}, pet["maybe"].(table)["type"], "the parts are of the main document's version")
	require.Equal(t, table{"$ref": "#/$defs/Id"}, source.Functions[0].Params["properties"].(table)["id"])
	require.Equal(t, table{"$ref": "#/$defs/Pet"}, source.Functions[1].Body)
	requireWhole(t, source)
	call(t, a, "getPet", table{"id": 3.0}, nil)
}

// A document leads nowhere but into its own folder.
func TestReferencesThatAreRefused(t *testing.T) {
	asked := false
	network := func(_ *Config, o *Options) {
		o.HTTP = roundTrip(func(*http.Request) (*http.Response, error) {
			asked = true
			return nil, errors.New("no network")
		})
	}
	for reference, want := range map[string]string{
		"../secret.yaml#/Secret":           "outside of the document's folder",
		"a/../../secret.yaml#/Secret":      "outside of the document's folder",
		"%2e%2e/secret.yaml#/Secret":       "outside of the document's folder",
		"..%2fsecret.yaml#/Secret":         "outside of the document's folder",
		"/etc/passwd":                      "outside of the document's folder",
		`..\\secret.yaml`:                  "outside of the document's folder",
		"file:///etc/passwd":               "loads nothing from the network",
		"https://evil.example.com/x.yaml":  "loads nothing from the network",
		"//evil.example.com/x.yaml":        "loads nothing from the network",
		"missing.yaml#/X":                  "file does not exist",
		"#/components/schemas/None":        "leads nowhere",
		"#nowhere":                         "there is no such $anchor",
		"#/components/schemas/Ok/type/0/x": "leads nowhere",
	} {
		text := strings.ReplaceAll(head+"paths: {/: {get: {operationId: get, parameters: [{name: a, in: query, schema: {$ref: \"REF\"}}]}}}\ncomponents: {schemas: {Ok: {type: string}}}", "REF", reference)
		texts := map[string]string{"api/spec.yaml": text, "secret.yaml": parts["secret.yaml"]}
		a := spec(t, nil, text, files(t, texts), network)
		require.Len(t, a.Warnings(), 1, reference)
		require.Contains(t, a.Warnings()[0], want, reference)
		require.Equal(t, table{}, a.Source().Functions[0].Params["properties"].(table)["a"], reference)
	}
	require.False(t, asked, "no request is made")
}

// Where the document comes from a server, so do its parts, and from no other one.
func TestReferencesToURLs(t *testing.T) {
	text := head + `
paths: {/: {get: {operationId: get, parameters: [{name: a, in: query, schema: {$ref: 'part.yaml#/A'}}, {name: b, in: query, schema: {$ref: 'https://evil.example.com/part.yaml#/A'}}, {name: c, in: query, schema: {$ref: 'moved.yaml#/A'}}]}}}`
	var seen []string
	serve := func(body string) func(r *http.Request) (int, http.Header, string) {
		return func(r *http.Request) (int, http.Header, string) {
			seen = append(seen, r.URL.String()+" "+r.Header.Get("X-Token"))
			switch path.Base(r.URL.Path) {
			case "moved.yaml":
				return 302, http.Header{"Location": {"https://evil.example.com/part.yaml"}}, ""
			case "part.yaml":
				return 200, http.Header{}, "A: {type: integer}"
			}
			return 200, http.Header{}, body
		}
	}
	a := spec(t, nil, text, func(c *Config, o *Options) {
		c.Spec, c.BaseURL = "https://docs.example.com/v1/spec.yaml", "https://docs.example.com/api"
		c.Headers = map[string]string{"X-Token": "t1"}
		o.HTTP = hosts{"https://docs.example.com": serve(text), "https://evil.example.com": serve("")}
	})
	properties := a.Source().Functions[0].Params["properties"].(table)
	require.Equal(t, table{"$ref": "#/$defs/A"}, properties["a"])
	require.Equal(t, table{}, properties["b"])
	require.Equal(t, table{}, properties["c"])
	require.Equal(t, []string{"https://docs.example.com/v1/spec.yaml t1", "https://docs.example.com/v1/part.yaml t1", "https://docs.example.com/v1/moved.yaml t1"}, seen)

	seen = nil
	spec(t, nil, text, func(c *Config, o *Options) {
		c.Spec, c.BaseURL = "https://docs.example.com/v1/spec.yaml", "https://api.example.com"
		c.Headers = map[string]string{"X-Token": "t1"}
		o.HTTP = hosts{"https://docs.example.com": serve(text)}
	})
	require.Equal(t, "https://docs.example.com/v1/spec.yaml ", seen[0], "what is for the API is not sent to another server")
}

func TestAnchorsAndPointers(t *testing.T) {
	source := spec(t, nil, `
openapi: 3.1.0
info: {title: t, version: '1'}
servers: [{url: 'http://127.0.0.1'}]
paths:
  /a~b/{x}:
    get:
      operationId: get
      parameters: [{name: x, in: path, required: true, schema: {$ref: '#/components/schemas/A~1B%20C/properties/x'}}]
      responses: {'200': {content: {application/json: {schema: {$ref: '#tree'}}}}}
    post:
      operationId: post
      requestBody: {content: {application/json: {schema: {$ref: '#/paths/~1a~0b~1%7Bx%7D/get/responses/200/content/application~1json/schema'}}}}
components:
  schemas:
    A/B C: {type: object, properties: {x: {type: string}}}
    Tree: {$dynamicAnchor: tree, type: object, properties: {next: {$dynamicRef: '#tree'}, own: {$ref: '#/components/schemas/Tree/$defs/Own'}}, $defs: {Own: {type: boolean}}}
`).Source()
	requireWhole(t, source)
	requireCompiles(t, source)
	require.Equal(t, []string{"A_B_C", "A_B_C_x", "Tree", "Tree_Own", "_a_b__x__get_200"}, sortedKeys(source.Defs))
	require.Equal(t, table{"$ref": "#/$defs/Tree"}, source.Functions[0].Result)
	require.Equal(t, table{"$ref": "#/$defs/Tree"}, source.Defs["Tree"].(table)["properties"].(table)["next"])
}
