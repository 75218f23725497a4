package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type table = map[string]any

// F01: path values are one encoded segment.
func TestF01PathValuesStayInTheirSegment(t *testing.T) {
	r := record(t)
	a := spec(t, r, head+`
paths:
  /files/{name}/meta:
    get:
      operationId: meta
      parameters: [{name: name, in: path, required: true, schema: {type: string}}]
  /two/{a}{b}:
    get: {operationId: two}
  /label/{name}:
    get:
      operationId: label
      parameters: [{name: name, in: path, required: true, style: label, schema: {type: string}}]
  /list/{names}:
    get:
      operationId: list
      parameters: [{name: names, in: path, required: true, schema: {type: array, items: {type: string}}}]
`)
	for value, want := range map[string]string{
		"../../keys": "..%2F..%2Fkeys", "a/b": "a%2Fb", "a?x=1#z": "a%3Fx%3D1%23z", "%2e%2e": "%252e%252e", "a b": "a%20b",
		"...": "...", ".a": ".a", "á": "%C3%A1", `..\..`: "..%5C..", "a;b=c": "a%3Bb%3Dc", "a:b@c": "a%3Ab%40c", "\x00\xff": "%00%FF",
		"a\r\nHost: b": "a%0D%0AHost%3A%20b",
	} {
		call(t, a, "meta", table{"name": value}, nil)
		target, _, _ := r.last(t)
		require.Equal(t, "/files/"+want+"/meta", target)
	}
	sent := len(r.requests())
	for _, value := range []any{"..", ".", "", nil, []any{}, table{}, []any{table{}}} {
		require.Equal(t, CodeInvalid, fails(t, a, "meta", table{"name": value}, nil).Code, "%v", value)
	}
	for name, params := range map[string]table{"meta": nil, "two": {"a": ".", "b": "."}, "label": {"name": "."}, "list": {"names": []any{".."}}} {
		require.Equal(t, CodeInvalid, fails(t, a, name, params, nil).Code, name)
	}
	require.Equal(t, "shop.meta: name: it is missing, and this call needs it (in path)", fails(t, a, "meta", nil, nil).Error())
	require.Len(t, r.requests(), sent, "nothing is sent")
}

// F02: styles of arrays and objects.
func TestF02Styles(t *testing.T) {
	r := record(t)
	parameter := func(in, more string) string {
		return fmt.Sprintf("parameters: [{name: t, in: %s, required: true, %s}]", in, more)
	}
	list, object := []any{"a", "b"}, table{"R": 100.0, "G": "x y", "none": nil}
	for _, test := range []struct {
		in, more string
		value    any
		want     string
	}{
		{"query", "explode: true", list, "t=a&t=b"},
		{"query", "schema: {}", list, "t=a&t=b"},
		{"query", "explode: false", list, "t=a,b"},
		{"query", "explode: false", []any{"a,b", "c"}, "t=a%2Cb,c"},
		{"query", "style: pipeDelimited, explode: false", list, "t=a%7Cb"},
		{"query", "style: pipeDelimited", list, "t=a%7Cb"},
		{"query", "style: spaceDelimited, explode: false", list, "t=a%20b"},
		{"query", "style: spaceDelimited, explode: true", list, "t=a&t=b"},
		{"query", "style: pipeDelimited", object, "t=G%7Cx%20y%7CR%7C100"},
		{"query", "style: spaceDelimited", table{"R": 1.0}, "t=R%201"},
		{"query", "style: form", object, "G=x%20y&R=100"},
		{"query", "explode: false", object, "t=G,x%20y,R,100"},
		{"query", "style: deepObject", table{"min": 3.0}, "t%5Bmin%5D=3"},
		{"query", "style: deepObject", table{"a": table{"b": list}, "c": nil, "d&": true}, "t%5Ba%5D%5Bb%5D%5B0%5D=a&t%5Ba%5D%5Bb%5D%5B1%5D=b&t%5Bd%26%5D=true"},
		{"query", "style: deepObject", list, "t%5B0%5D=a&t%5B1%5D=b"},
		{"query", "schema: {}", "a&b=c+d#e%f/á", "t=a%26b%3Dc%2Bd%23e%25f%2F%C3%A1"},
		{"query", "allowReserved: true", "/a?b=[c]:@!$'()*,;%2F&+#%", "t=/a?b=[c]:@!$'()*,;%2F%26%2B%23%25"},
		{"query", "allowReserved: true, explode: false", []any{"a,b", "/"}, "t=a%2Cb,/"},
		{"query", "content: {application/json: {}}", table{"a": []any{1.0}}, "t=%7B%22a%22%3A%5B1%5D%7D"},
		{"query", "schema: {}", 1e21, "t=1e%2B21"},
		{"query", "schema: {}", 1234567.0, "t=1234567"},
		{"query", "schema: {}", false, "t=false"},
		{"query", "schema: {}", "", "t="},
		{"query", "schema: {}", []any{}, ""},
		{"query", "schema: {}", table{}, ""},
		{"path", "schema: {}", []any{"mon", "tue"}, "/mon,tue"},
		{"path", "explode: true", []any{"mon", "tue"}, "/mon,tue"},
		{"path", "schema: {}", []any{"a,b", "c"}, "/a%2Cb,c"},
		{"path", "schema: {}", object, "/G,x%20y,R,100"},
		{"path", "explode: true", object, "/G=x%20y,R=100"},
		{"path", "style: label", list, "/.a,b"},
		{"path", "style: label, explode: true", list, "/.a.b"},
		{"path", "style: label", object, "/.G,x%20y,R,100"},
		{"path", "style: label, explode: true", object, "/.G=x%20y.R=100"},
		{"path", "style: label", "a", "/.a"},
		{"path", "style: matrix", "a;b", "/;t=a%3Bb"},
		{"path", "style: matrix", list, "/;t=a,b"},
		{"path", "style: matrix, explode: true", list, "/;t=a;t=b"},
		{"path", "style: matrix", object, "/;t=G,x%20y,R,100"},
		{"path", "style: matrix, explode: true", object, "/;G=x%20y;R=100"},
		{"path", "content: {application/json: {}}", table{"a": "/"}, "/%7B%22a%22%3A%22%2F%22%7D"},
		{"header", "schema: {}", list, "a,b"},
		{"header", "schema: {}", object, "G,x y,R,100"},
		{"header", "explode: true", object, "G=x y,R=100"},
		{"header", "schema: {}", "a, b/%20", "a, b/%20"},
		{"header", "content: {application/json: {}}", object, `{"G":"x y","R":100,"none":null}`},
		{"cookie", "schema: {}", "a b;c", "t=a%20b%3Bc"},
		{"cookie", "explode: false", list, "t=a,b"},
		{"cookie", "schema: {}", list, "t=a; t=b"},
		{"cookie", "schema: {}", object, "G=x%20y; R=100"},
	} {
		path := "/"
		if test.in == "path" {
			path = "/{t}"
		}
		a := spec(t, r, head+"paths: {'"+path+"': {get: {operationId: get, "+parameter(test.in, test.more)+"}}}")
		call(t, a, "get", table{"t": test.value}, nil)
		target, header, _ := r.last(t)
		switch test.in {
		case "path":
			require.Equal(t, test.want, target, "%+v", test)
		case "query":
			require.Equal(t, strings.TrimSuffix("/?"+test.want, "?"), target, "%+v", test)
		case "header":
			require.Equal(t, test.want, header.Get("t"), "%+v", test)
		case "cookie":
			require.Equal(t, test.want, header.Get("Cookie"), "%+v", test)
		}
	}
}

// F02: what a style cannot say is an error, never something else on the wire.
func TestF02WhatAStyleCannotSay(t *testing.T) {
	r := record(t)
	for _, test := range []struct {
		more, want string
		value      any
	}{
		{"style: pipeDelimited", `parts are separated by "|"`, []any{"a|b"}},
		{"style: spaceDelimited", `parts are separated by " "`, []any{"a b"}},
		{"style: form", "item 2 is an object", []any{"a", table{}}},
		{"style: form", `field "k" is an array`, table{"k": []any{}}},
		{"content: {text/plain: {}}", "it is written as text/plain: give a text", table{}},
	} {
		a := spec(t, r, head+"paths: {/: {get: {operationId: get, parameters: [{name: t, in: query, "+test.more+"}]}}}")
		require.ErrorContains(t, fails(t, a, "get", table{"t": test.value}, nil), test.want)
	}
	require.Empty(t, r.requests())
}

// F03: one name in several places.
func TestF03OneNameInSeveralPlaces(t *testing.T) {
	r := record(t)
	a := spec(t, r, head+`
paths:
  /things/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    put:
      operationId: put
      parameters:
        - {name: id, in: cookie, schema: {type: string}}
        - {name: id, in: header, schema: {type: string}}
        - {name: id, in: query, schema: {type: string}}
        - {name: query_id, in: query, schema: {type: string}}
        - {name: 'page[size]', in: query, schema: {type: integer}}
        - {name: page_size, in: query, schema: {type: integer}}
      requestBody: {content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}
`)
	f := a.Source().Functions[0]
	properties := f.Params["properties"].(table)
	require.Equal(t, []string{"cookie_id", "header_id", "id", "page[size]", "page_size", "query_id", "query_query_id"}, sortedKeys(properties))
	require.Equal(t, []any{"id"}, f.Params["required"])
	require.NotNil(t, f.Body)
	call(t, a, "put", table{
		"id": "p", "query_id": "plain", "query_query_id": "q", "header_id": "h", "cookie_id": "c", "page[size]": 1.0, "page_size": 2.0,
	}, table{"id": "b"})
	target, header, body := r.last(t)
	require.Equal(t, "/things/p?id=q&page%5Bsize%5D=1&page_size=2&query_id=plain", target)
	require.Equal(t, "h", header.Get("Id"))
	require.Equal(t, "id=c", header.Get("Cookie"))
	require.Equal(t, `{"id":"b"}`, body)
	require.ErrorContains(t, fails(t, a, "put", table{"id": "p", "page_sise": 2.0}, nil), `there is no parameter "page_sise", did you mean "page_size"?`)
}

// F04: names are unique and stable.
func TestF04NamesAreUniqueAndStable(t *testing.T) {
	long := strings.Repeat("a", 70)
	operations := []string{
		"/a: {get: {operationId: " + long + "}}", "/b: {get: {operationId: " + long + "}}", "/c/{id}/x-y: {get: {}}",
		"/d: {get: {operationId: dup}}", "/e: {get: {operationId: dup}}", "/f/g: {get: {}}", "/f-g: {get: {}}",
		"/h: {get: {operationId: createPet}}", "/i: {get: {operationId: repos/get-content}}", "/j: {get: {operationId: get_c_id_x_y}}",
		"/k: {get: {operationId: getHTTPUrl2}}",
	}
	names := func(lines []string) map[string]string {
		byPath := map[string]string{}
		for _, f := range spec(t, nil, head+"paths:\n  "+strings.Join(lines, "\n  ")+"\n").Source().Functions {
			byPath[f.Path] = f.Name
		}
		return byPath
	}
	first := names(operations)
	backwards := slices.Clone(operations)
	slices.Reverse(backwards)
	require.Equal(t, first, names(backwards))
	seen := map[string]bool{}
	for path, name := range first {
		require.LessOrEqual(t, len(name), 64, path)
		require.False(t, seen[name], name)
		seen[name] = true
	}
	require.Equal(t, strings.Repeat("a", 55)+"_", first["/a"][:56])
	require.Regexp(t, `^dup_[0-9a-f]{8}$`, first["/d"])
	require.Regexp(t, `^get_f_g_[0-9a-f]{8}$`, first["/f-g"])
	require.Equal(t, "get_c_id_x_y", first["/j"], "a name of the document goes before one that is made")
	require.Regexp(t, `^get_c_id_x_y_[0-9a-f]{8}$`, first["/c/{id}/x-y"])
	without := names(operations[1:])
	delete(without, "/b") // it is alone now
	for path, name := range without {
		require.Equal(t, first[path], name, "names do not depend on other operations")
	}
	suggested := map[string]string{}
	for _, f := range spec(t, nil, head+"paths:\n  "+strings.Join(operations, "\n  ")+"\n").Source().Functions {
		suggested[f.Path] = f.Suggested
	}
	require.Equal(t, "create_pet", suggested["/h"])
	require.Equal(t, "repos_get_content", suggested["/i"])
	require.Equal(t, "get_http_url2", suggested["/k"])
	require.Empty(t, suggested["/j"])
}

// F05: schemas of 3.1, and those that refer to themselves.
func TestF05Schemas(t *testing.T) {
	const document = `
openapi: 3.1.0
info: {title: t, version: '1'}
servers: [{url: 'http://127.0.0.1'}]
paths:
  /: {post: {operationId: post, requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Node'}}}}}}
components:
  schemas:
    Node:
      type: [object, 'null']
      required: [kind]
      properties:
        kind: {const: node}
        size: {type: integer, exclusiveMinimum: 0}
        next: {$ref: '#/components/schemas/Node'}
        either: {$ref: '#/components/schemas/A'}
    A: {anyOf: [{type: string}, {type: array, items: {$ref: '#/components/schemas/B'}}]}
    B: {$ref: '#/components/schemas/A', description: the same}
`
	source := spec(t, nil, document).Source()
	node := source.Defs["Node"].(table)
	require.Equal(t, []any{"object", "null"}, node["type"])
	properties := node["properties"].(table)
	require.Equal(t, table{"const": "node"}, properties["kind"])
	require.Equal(t, 0.0, properties["size"].(table)["exclusiveMinimum"])
	require.Equal(t, "#/$defs/Node", properties["next"].(table)["$ref"])
	require.Equal(t, table{"$ref": "#/$defs/A", "description": "the same"}, source.Defs["B"])
	require.Equal(t, table{"$ref": "#/$defs/Node"}, source.Functions[0].Body)
	requireWhole(t, source)
	requireCompiles(t, source)

	for name, schemas := range map[string]string{
		"A -> B -> A":      "A: {$ref: '#/components/schemas/B'}\n    B: {$ref: '#/components/schemas/A'}",
		"A -> A":           "A: {$ref: '#/components/schemas/A', description: me}",
		"A -> B -> C -> A": "A: {$ref: '#/components/schemas/B'}\n    B: {$ref: '#/components/schemas/C'}\n    C: {$ref: '#/components/schemas/A'}",
	} {
		_, err := load(t, document[:strings.Index(document, "    Node:")]+"    "+schemas+"\n    Node: {}\n")
		require.ErrorContains(t, err, "schemas that are only references to each other mean nothing: "+name)
	}
}

// F05: A base that is one of its variants, each of which is all of the base: common in documents, and without end for
// whoever checks a value.
func TestF05BasesOfVariants(t *testing.T) {
	for _, more := range []string{"", "\n    Zebra: {allOf: [{$ref: '#/components/schemas/Pet'}]}", "\n    Loop: {allOf: [{$ref: '#/components/schemas/Pool'}]}\n    Pool: {allOf: [{$ref: '#/components/schemas/Loop'}, {type: object}]}"} {
		source := spec(t, nil, head+`
paths: {/: {get: {operationId: get, responses: {'200': {content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}}}}}
components:
  schemas:
    Pet:
      type: object
      required: [kind]
      properties: {kind: {type: string}}
      oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]
      discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat'}}
    Cat: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {lives: {type: integer}}}]}
    Dog: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {tricks: {type: integer}}}]}`+more).Source()
		requireCompiles(t, source)
		base := source.Defs["Cat"].(table)["allOf"].([]any)[0].(table)
		require.Equal(t, []any{"kind"}, base["required"], "a variant keeps what the base says")
		require.NotContains(t, base, "oneOf")
		require.Len(t, source.Defs["Pet"].(table)["oneOf"], 2)
	}
}

// F06: addresses of servers.
func TestF06Servers(t *testing.T) {
	document := func(servers string) string {
		return "openapi: 3.0.0\ninfo: {title: t, version: '1'}\n" + servers + "\npaths: {/pets: {get: {operationId: get}}}"
	}
	address := func(text string, change func(*Config)) (string, error) {
		a, err := load(t, text, func(c *Config, o *Options) {
			o.HTTP = roundTrip(serveText(text))
			c.Spec = "https://docs.example.com/specs/v1/spec.yaml?x=1"
			if change != nil {
				change(c)
			}
		})
		if err != nil {
			return "", err
		}
		request, err := a.request(t.Context(), a.operations["get"], nil, nil)
		if err != nil {
			return "", err
		}
		return request.URL.String(), nil
	}
	region := "servers: [{url: 'https://{region}.example.com:{port}/v1', variables: {region: {default: eu, enum: [eu, us]}, port: {default: 8443}}}]"
	for _, test := range []struct {
		name, servers, want string
		change              func(*Config)
	}{
		{"a trailing slash", "servers: [{url: 'https://a.example.com/v1/'}]", "https://a.example.com/v1/pets", nil},
		{"a base_url with one", "servers: [{url: 'https://a.example.com/v1'}]", "https://b.example.com/pets", func(c *Config) { c.BaseURL = "https://b.example.com/" }},
		{"relative", "servers: [{url: /v3}]", "https://docs.example.com/v3/pets", nil},
		{"relative to the folder", "servers: [{url: v3/}]", "https://docs.example.com/specs/v1/v3/pets", nil},
		{"none", "", "https://docs.example.com/pets", nil},
		{"defaults", region, "https://eu.example.com:8443/v1/pets", nil},
		{"values", region, "https://us.example.com:8443/v1/pets", func(c *Config) { c.ServerVariables = map[string]string{"region": "us"} }},
		{"escapes stay", "servers: [{url: 'https://a.example.com/a%2Fb/'}]", "https://a.example.com/a%2Fb/pets", nil},
	} {
		got, err := address(document(test.servers), test.change)
		require.NoError(t, err, test.name)
		require.Equal(t, test.want, got, test.name)
	}
	for _, test := range []struct {
		servers, want string
		change        func(*Config)
	}{
		{region, `server_variables.region: "mars" is none of eu, us`, func(c *Config) { c.ServerVariables = map[string]string{"region": "mars"} }},
		{region, `cannot stand in an address`, func(c *Config) { c.ServerVariables = map[string]string{"port": "1@evil.example.com"} }},
		{region, "server_variables.zone: no server of the document has such a variable", func(c *Config) { c.ServerVariables = map[string]string{"zone": "eu"} }},
		{"servers: [{url: 'https://{x}.example.com'}]", "set server_variables.x, or base_url", nil},
		{"servers: [{url: 'ftp://a.example.com'}]", "begins with http:// or https://", nil},
		{"servers: [{url: 'https://user:pw@a.example.com'}]", "no user name and password", nil},
	} {
		_, err := address(document(test.servers), test.change)
		require.ErrorContains(t, err, test.want)
	}
	_, err := load(t, document("servers: [{url: /v3}]"))
	require.ErrorContains(t, err, `the document names no full address of a server (only "/v3"): set base_url`)
}

// F06: the servers of an operation go before those of its path, and those before the document's.
func TestF06ServersOfOperations(t *testing.T) {
	a := spec(t, nil, head+`
paths:
  /a:
    servers: [{url: 'https://path.example.com'}]
    get: {operationId: a}
    put: {operationId: b, servers: [{url: 'https://op.example.com'}]}
  /b: {get: {operationId: c}}
`)
	for name, want := range map[string]string{"a": "https://path.example.com/a", "b": "https://op.example.com/a", "c": "http://127.0.0.1:1/b"} {
		request, err := a.request(t.Context(), a.operations[name], nil, nil)
		require.NoError(t, err)
		require.Equal(t, want, request.URL.String())
	}
}

// F09: headers and cookies.
func TestF09HeadersAndCookies(t *testing.T) {
	r := record(t)
	a := spec(t, r, head+`
paths:
  /:
    get:
      operationId: get
      parameters:
        - {name: X-Trace, in: header, required: true, description: for logs, schema: {type: string}}
        - {name: session, in: cookie, schema: {type: string}}
        - {name: Accept, in: header, required: true, schema: {type: string}}
        - {name: authorization, in: header, schema: {type: string}}
        - {name: Content-Type, in: header, schema: {type: string}}
      responses: {'200': {content: {text/html: {}, application/json: {schema: {}}}}}
`)
	params := a.Source().Functions[0].Params
	require.Equal(t, []string{"X-Trace", "session"}, sortedKeys(params["properties"].(table)))
	require.Equal(t, "for logs", params["properties"].(table)["X-Trace"].(table)["description"])
	call(t, a, "get", table{"X-Trace": "t1", "session": "s1"}, nil)
	_, header, _ := r.last(t)
	require.Equal(t, "t1", header.Get("X-Trace"))
	require.Equal(t, "session=s1", header.Get("Cookie"))
	require.Equal(t, "application/json, text/html, */*;q=0.1", header.Get("Accept"))
	require.Empty(t, header.Get("Authorization"))
	for _, name := range []string{"Accept", "Authorization", "authorization", "Content-Type"} {
		require.ErrorContains(t, fails(t, a, "get", table{"X-Trace": "t", name: "x"}, nil), "there is no parameter")
	}
	for _, value := range []string{"a\r\nX-Evil: 1", "a\nb", "a\x00b"} {
		require.ErrorContains(t, fails(t, a, "get", table{"X-Trace": value}, nil), "X-Trace: a header has no line ends")
	}
	call(t, a, "get", table{"X-Trace": "t", "session": "a\r\nX-Evil: 1; b=c"}, nil)
	_, header, _ = r.last(t)
	require.Equal(t, "session=a%0D%0AX-Evil:%201%3B%20b=c", header.Get("Cookie"))
	require.Len(t, slices.Collect(maps.Keys(header)), 5)
}
