package openapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// translated is a schema of a document of some version as a function has it.
func translated(t *testing.T, version, schema string) any {
	t.Helper()
	a := spec(t, nil, "openapi: "+version+"\ninfo: {title: t, version: '1'}\nservers: [{url: 'http://127.0.0.1'}]\npaths: {/: {get: {operationId: get, parameters: [{name: a, in: query, schema: "+schema+"}]}}}\ncomponents: {schemas: {X: {type: string}}}")
	source := a.Source()
	requireCompiles(t, source)
	return source.Functions[0].Params["properties"].(table)["a"]
}

func TestSchemasAreUpgraded(t *testing.T) {
	for _, test := range []struct{ schema, want string }{
		{"{type: string, nullable: true}", `{"type":["string","null"]}`},
		{"{type: string, nullable: true, enum: [a]}", `{"type":["string","null"],"enum":["a",null]}`},
		{"{nullable: true, enum: [a]}", `{"enum":["a",null]}`},
		{"{nullable: true}", `{}`},
		{"{nullable: true, description: d, allOf: [{$ref: '#/components/schemas/X'}]}", `{"description":"d","anyOf":[{"allOf":[{"$ref":"#/$defs/X"}]},{"type":"null"}]}`},
		{"{nullable: true, type: object, allOf: [{$ref: '#/components/schemas/X'}]}", `{"anyOf":[{"type":["object","null"],"allOf":[{"$ref":"#/$defs/X"}]},{"type":"null"}]}`},
		{"{nullable: true, anyOf: [{$ref: '#/components/schemas/X'}]}", `{"anyOf":[{"$ref":"#/$defs/X"},{"type":"null"}]}`},
		{"{nullable: true, $ref: '#/components/schemas/X'}", `{"anyOf":[{"$ref":"#/$defs/X"},{"type":"null"}]}`},
		{"{type: integer, $ref: '#/components/schemas/X', description: d}", `{"$ref":"#/$defs/X","description":"d"}`},
		{"{type: integer, minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false}", `{"type":"integer","exclusiveMinimum":1,"maximum":9}`},
		{"{type: string, example: hi, xml: {name: x}, externalDocs: {url: u}, x-other: 1, format: byte}", `{"type":"string","examples":["hi"],"format":"byte"}`},
		{"{type: string, discriminator: {propertyName: k, mapping: {a: b}}}", `{"type":"string","discriminator":{"propertyName":"k"}}`},
		{"{type: array, items: {type: string, nullable: true}}", `{"type":"array","items":{"type":["string","null"]}}`},
		{"{properties: {enum: {nullable: true, type: string}, properties: {}}}", `{"properties":{"enum":{"type":["string","null"]},"properties":{}}}`},
		// What is no schema is not passed on: it would make the whole of it useless.
		{"{type: any, minLength: -1, maxLength: 1.5, enum: [], required: true, allOf: [], multipleOf: 0, pattern: '(?=x)', title: 5}", `{}`},
		{"{type: string, minimum: x, required: [a, a, 1]}", `{"type":"string","required":["a"]}`},
		{"5", `{}`},
		{"{properties: [1], items: [{type: string}], additionalProperties: false}", `{"prefixItems":[{"type":"string"}],"additionalProperties":false}`},
	} {
		text, err := jsonvalue.Encode(translated(t, "3.0.3", test.schema))
		require.NoError(t, err)
		require.JSONEq(t, test.want, string(text), test.schema)
	}
}

func TestSchemasOf31(t *testing.T) {
	for _, test := range []struct{ schema, want string }{
		{"{type: [string, 'null'], const: a, examples: [x, y]}", `{"type":["string","null"],"const":"a","examples":["x"]}`},
		{"{$ref: '#/components/schemas/X', minLength: 2, description: d}", `{"$ref":"#/$defs/X","minLength":2,"description":"d"}`},
		{"{nullable: true, type: string}", `{"type":"string"}`},
		{"true", `true`},
		{"{if: {type: string}, then: {minLength: 1}, else: false, prefixItems: [true], dependentSchemas: {a: {}}, dependentRequired: {a: [b]}, $comment: c, $id: 'https://x', patternProperties: {'^a': {}, '(?=b)': {}}}",
			`{"if":{"type":"string"},"then":{"minLength":1},"else":false,"prefixItems":[true],"dependentSchemas":{"a":{}},"dependentRequired":{"a":["b"]},"patternProperties":{"^a":{}}}`},
	} {
		text, err := jsonvalue.Encode(translated(t, "3.1.0", test.schema))
		require.NoError(t, err)
		require.JSONEq(t, test.want, string(text), test.schema)
	}
}

func TestWhatIsOnlyReadOrWritten(t *testing.T) {
	source := spec(t, nil, head+`
paths:
  /:
    post:
      operationId: post
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/User'}}}}
      responses: {'200': {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/User'}}}}}}
    put:
      operationId: put
      requestBody: {content: {application/json: {schema: {type: object, required: [id, at], properties: {id: {type: string, readOnly: true}, at: {$ref: '#/components/schemas/At'}, plain: {$ref: '#/components/schemas/Plain'}}}}}}
components:
  schemas:
    User:
      type: object
      required: [id, name, password]
      properties:
        id: {type: string, readOnly: true}
        name: {type: string}
        password: {type: string, writeOnly: true}
        friend: {$ref: '#/components/schemas/User'}
        team: {$ref: '#/components/schemas/Team'}
        plain: {$ref: '#/components/schemas/Plain'}
    Team: {type: object, properties: {default: {$ref: '#/components/schemas/User'}}}
    Plain: {type: object, required: [a], properties: {a: {type: string}}}
    At: {type: string, readOnly: true}
    UserInput: {type: integer}
`).Source()
	require.Equal(t, []string{"At", "Plain", "Team", "TeamInput", "User", "UserInput", "UserInput_"}, sortedKeys(source.Defs))
	sent := source.Defs["UserInput_"].(table)
	require.Equal(t, []any{"name", "password"}, sent["required"])
	require.Equal(t, table{"$ref": "#/$defs/UserInput_"}, sent["properties"].(table)["friend"])
	require.Equal(t, table{"$ref": "#/$defs/TeamInput"}, sent["properties"].(table)["team"])
	require.Equal(t, table{"$ref": "#/$defs/Plain"}, sent["properties"].(table)["plain"])
	require.Equal(t, table{"$ref": "#/$defs/UserInput_"}, source.Defs["TeamInput"].(table)["properties"].(table)["default"])
	read := source.Defs["User"].(table)
	require.Equal(t, []any{"id", "name"}, read["required"])
	require.Equal(t, table{"$ref": "#/$defs/User"}, read["properties"].(table)["friend"])

	require.Equal(t, table{"$ref": "#/$defs/UserInput_"}, source.Functions[0].Body)
	require.Equal(t, table{"$ref": "#/$defs/User"}, source.Functions[0].Result.(table)["items"])
	put := source.Functions[1].Body.(table)
	require.NotContains(t, put, "required")
	require.Equal(t, table{"$ref": "#/$defs/Plain"}, put["properties"].(table)["plain"])
	requireWhole(t, source)
	requireCompiles(t, source)
}

func TestResults(t *testing.T) {
	for _, test := range []struct{ responses, want string }{
		{"'200': {content: {application/json: {schema: {type: string}}}}, '404': {content: {application/json: {schema: {type: number}}}}", `{"type":"string"}`},
		{"'200': {content: {application/json: {schema: {type: string}}}}, '202': {content: {application/json: {schema: {type: string}}}}", `{"type":"string"}`},
		{"'200': {content: {application/json: {schema: {type: string}}}}, '201': {content: {application/json: {schema: {type: number}}}}", `{"anyOf":[{"type":"string"},{"type":"number"}]}`},
		{"2XX: {content: {text/csv: {}}}", `{"type":"string","description":"text/csv"}`},
		{"default: {content: {image/png: {}}}", `{"type":"string","format":"binary","description":"image/png"}`},
		{"'200': {content: {application/json: {}}}", `null`},
		{"'404': {}", `null`},
	} {
		source := spec(t, nil, head+"paths: {/: {get: {operationId: get, responses: {"+test.responses+"}}}}").Source()
		text, err := jsonvalue.Encode(source.Functions[0].Result)
		require.NoError(t, err)
		require.JSONEq(t, test.want, string(text), test.responses)
		require.False(t, source.Functions[0].NoResult, test.responses)
	}
	for _, responses := range []string{"'204': {}", "'200': {description: ok}, '500': {content: {application/json: {}}}"} {
		require.True(t, spec(t, nil, head+"paths: {/: {get: {operationId: get, responses: {"+responses+"}}}}").Source().Functions[0].NoResult, responses)
	}
}
