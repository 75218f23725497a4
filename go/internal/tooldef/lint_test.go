package tooldef

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// warnings are those about the schemas of a definition, without their file.
func warnings(tool *Tool) string {
	var list []string
	for _, f := range checked(tool) {
		if f.Severity == Warning && !strings.Contains(f.Message, "has no description") {
			list = append(list, fmt.Sprintf("%d %s", f.Line, f.Message))
		}
	}
	return strings.Join(list, "|")
}

func TestSchemaMistakes(t *testing.T) {
	const no = " is no keyword of JSON Schema and has no effect; "
	const under = no + "parameters go under properties"
	for name, test := range map[string]struct{ keys, want string }{
		"misspelt":         {"params: {properties: {n: {type: integer, minimun: 1}}}", "2 params.properties.n.minimun" + no + `did you mean "minimum"?`},
		"other case":       {"params: {properties: {n: {type: string, minlength: 1}}}", "2 params.properties.n.minlength" + no + `did you mean "minLength"?`},
		"unheard of":       {"params: {properties: {n: {type: string, colour: red}}}", "2 params.properties.n.colour" + no + "names of one's own begin with x-"},
		"its own line":     {"params:\n  properties:\n    n:\n      type: string\n      patern: x", "6 params.properties.n.patern" + no + `did you mean "pattern"?`},
		"items":            {"params: {properties: {l: {type: array, items: {type: string, maxlen: 3}}}}", "2 params.properties.l.items.maxlen" + no + "names of one's own begin with x-"},
		"item":             {"params: {properties: {l: {type: array, item: {type: string}}}}", "2 params.properties.l.item" + no + `did you mean "items"?`},
		"defs":             {"params: {$defs: {d: {enums: [1]}}, properties: {a: {$ref: '#/$defs/d'}}}", "2 params.$defs.d.enums" + no + `did you mean "enum"?`},
		"anyOf":            {"params: {properties: {a: {anyOf: [{type: string}, {typ: integer}]}}}", "2 params.properties.a.anyOf.1.typ" + no + `did you mean "type"?`},
		"if":               {"params: {properties: {a: {if: {typ: string}, then: {minlenght: 1}}}}", "2 params.properties.a.then.minlenght" + no + `did you mean "minLength"?|2 params.properties.a.if.typ` + no + `did you mean "type"?`},
		"without under":    {"params: {a: {type: string}, id: {type: integer}}", "2 params.a" + under + "|2 params.id" + under},
		"a type alone":     {"params: {a: string}", "2 params.a" + under},
		"described alone":  {"params: {a: {description: what}}", "2 params.a" + under},
		"beside":           {"params: {type: object, properties: {a: {}}, b: {type: string}}", "2 params.b" + under},
		"propertes":        {"params: {propertes: {a: {type: string}}}", "2 params.propertes" + no + `did you mean "properties"?`},
		"in an object":     {"params: {properties: {o: {type: object, a: {enum: [1]}}}}", "2 params.properties.o.a" + no + "what an object has goes under properties"},
		"result":           {"result: {words: {type: integer}}", "2 result.words" + no + "what an object has goes under properties"},
		"result misspelt":  {"result: {type: object, propertys: {}}", "2 result.propertys" + no + `did you mean "properties"?`},
		"required":         {"params: {properties: {text: {}}, required: [txet]}", `2 params.required names "txet", which is none of the properties; did you mean "text"?`},
		"required, closed": {"params: {additionalProperties: false, required: [a]}", `2 params.required names "a", which is none of the properties; describe it under properties`},
		"required, nested": {"params: {properties: {o: {type: object, properties: {a: {}}, required: [a, b]}}}", `2 params.properties.o.required names "b", which is none of the properties; describe it under properties`},
		"required, in anyOf": {"params: {properties: {a: {}}, anyOf: [{required: [a]}, {required: [bcde]}]}",
			`2 params.anyOf.1.required names "bcde", which is none of the properties; describe it under properties`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, warnings(readOne(t, "name: a\n"+test.keys+"\nlua: function invoke() end\n")))
		})
	}
}

func TestSchemasThatAreRight(t *testing.T) {
	for name, keys := range map[string]string{
		"2020-12": `params: {$schema: "https://json-schema.org/draft/2020-12/schema", $id: "https://x.example/a", $comment: c, $defs: {d: {$anchor: d, type: string}},
  properties: {a: {$ref: "#/$defs/d"}, b: {type: array, prefixItems: [{type: string}], items: {type: integer}, contains: {type: integer}, minContains: 1, maxContains: 2, uniqueItems: true},
  c: {type: string, contentEncoding: base64, contentMediaType: application/json, contentSchema: {type: object}, readOnly: true, writeOnly: false, deprecated: true, examples: [1]}},
  patternProperties: {"^x": {}}, propertyNames: {maxLength: 9}, dependentRequired: {a: [b]}, dependentSchemas: {a: {minProperties: 2}}, unevaluatedProperties: false, required: [xa]}`,
		"draft-07": `params: {$schema: "http://json-schema.org/draft-07/schema#", definitions: {d: {$id: "#d", type: string}}, properties: {a: {type: array, items: [{type: string}], additionalItems: false}},
  dependencies: {a: [b], b: {required: [a]}}, if: {required: [a]}, then: {required: [a]}, else: {}}`,
		"OpenAPI": `params: {properties: {a: {type: string, nullable: true, example: {anything: {type: goes}}, xml: {name: n, wrapped: true}, externalDocs: {url: u}, x-order: 1},
  b: {oneOf: [{type: object, properties: {kind: {type: string}}}], discriminator: {propertyName: kind, mapping: {a: b}}}}}`,
		"names":            "params: {properties: {minimun: {type: string}, properties: {type: object, properties: {required: {}}}, patern: {}}, required: [minimun]}",
		"values":           "params: {properties: {a: {default: {minimun: {type: string}}, enum: [{minimun: {type: string}}], const: {minimun: {type: string}}}}}",
		"vendor":           "params: {x-a: {type: string}, properties: {a: {x-minimun: 1}}}",
		"draft 4":          "params: {id: 'urn:x', properties: {a: {}}}",
		"open":             "params: {properties: {a: {}}, additionalProperties: true, required: [b]}",
		"open, of a kind":  "params: {properties: {a: {}}, additionalProperties: {type: string}, required: [b]}",
		"said nothing":     "params: {required: [b]}",
		"in allOf":         "params: {allOf: [{properties: {a: {}}}, {properties: {b: {}}, required: [a]}], required: [a, b]}",
		"by reference":     "params: {$defs: {d: {properties: {a: {}}}}, $ref: '#/$defs/d', properties: {b: {}}, required: [a, b]}",
		"in then":          "params: {properties: {a: {}}, if: {properties: {a: {const: 1}}}, then: {properties: {b: {}}, required: [b]}}",
		"either":           "params: {properties: {a: {default: 1}, b: {}, c: {}}, anyOf: [{required: [b]}, {required: [c]}], minProperties: 2}",
		"excluded":         "params: {properties: {a: {}}, not: {required: [b]}}",
		"boolean schemas":  "params: {properties: {a: true, b: false}, required: [a]}",
		"anything comes":   "result: true",
		"of another tree":  "params: {properties: {o: {properties: {a: {}}, required: [a]}}, required: [o]}",
		"within an object": "params: {properties: {o: {type: object, additionalProperties: {type: object, properties: {a: {}}, required: [a]}}}}",
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, warnings(readOne(t, "name: a\n"+keys+"\nlua: function invoke() end\n")))
		})
	}
}

func TestSchemaMistakesInLua(t *testing.T) {
	const source = `tool = { name = "a", description = "d",
	parameters = {
		{ name = "n", type = "integer", description = "d", nullable = true },
		{ name = "o", type = "object", description = "d",
			properties = { x = { type = "string", minlenght = 1 } }, required = true },
	},
	result = { type = "object", propertys = {} },
}
function tool.execute() end`
	tool, broken := readLua(t.Context(), newVM(t), "a.lua", source)
	require.Empty(t, broken)
	require.Equal(t, `4 tool.parameters.o.properties.x.minlenght is no keyword of JSON Schema and has no effect; did you mean "minLength"?|`+
		`7 tool.result.propertys is no keyword of JSON Schema and has no effect; did you mean "properties"?`, warnings(tool))
	tool, broken = readLua(t.Context(), newVM(t), "a.lua", "tool = { name = 'a', description = 'd', schema = { x = { type = 'string' } } } function tool.execute() end")
	require.Empty(t, broken)
	require.Equal(t, "1 tool.schema.x is no keyword of JSON Schema and has no effect; parameters go under properties", warnings(tool))
}

// Of a schema that is all mistakes the first few are told, and the rest takes no time.
func TestSchemaMistakesAreBounded(t *testing.T) {
	var keys, names, nested strings.Builder
	for i := range 9_000 {
		fmt.Fprintf(&keys, "key%d: 1, ", i)
		fmt.Fprintf(&names, "name%d, ", i)
	}
	for range 50 {
		nested.WriteString("not: {enmu: [1], anyOf: [{requird: [a]}], ")
	}
	for _, params := range []string{
		keys.String(), "properties: {" + strings.ReplaceAll(keys.String(), ": 1", ": {}") + "}, required: [" + names.String() + "]",
		nested.String() + "title: t" + strings.Repeat("}", 50),
	} {
		tool := readOne(t, "name: a\ndescription: d\nparams: {"+params+"}\nlua: function invoke() end\n")
		require.Len(t, tool.findings, maxErrors)
	}
}
