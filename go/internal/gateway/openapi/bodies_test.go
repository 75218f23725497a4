package openapi

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func posting(content string) string {
	return head + "paths: {/: {post: {operationId: post, requestBody: {required: true, content: {" + content + "}}}}}"
}

func TestBodies(t *testing.T) {
	r := record(t)
	for _, test := range []struct {
		content           string
		body              any
		contentType, want string
	}{
		{"application/json: {}", table{"b": 1.5, "a": []any{}, "n": nil}, "application/json", `{"a":[],"b":1.5,"n":null}`},
		{"application/json: {}", json.Number("12345678901234567890"), "application/json", "12345678901234567890"},
		{"application/json: {}", "text", "application/json", `"text"`},
		{"application/json: {}", false, "application/json", `false`},
		{"application/vnd.api+json: {}, text/plain: {}", table{}, "application/vnd.api+json", `{}`},
		{"application/xml: {}, application/json: {}, application/a+json: {}", table{}, "application/json", `{}`},
		{"'application/json; charset=utf-8': {}", table{}, "application/json; charset=utf-8", `{}`},
		{"application/octet-stream: {}", "\x00\xff", "application/octet-stream", "\x00\xff"},
		{"application/octet-stream: {}", "", "application/octet-stream", ""},
		{"text/plain: {}", "hi", "text/plain", "hi"},
		{"application/xml: {}", "<a/>", "application/xml", "<a/>"},
		{"'*/*': {}", "\xff", "application/octet-stream", "\xff"},
		{"'image/*': {}", table{"data": "\xff", "content_type": "image/png"}, "image/png", "\xff"},
		{"application/x-www-form-urlencoded: {}", table{"a": "x y&z=á+", "b": []any{1.0, true}, "c": table{"d": 1.0}, "e": nil, "f": "", "g": []any{}}, "application/x-www-form-urlencoded",
			"a=x+y%26z%3D%C3%A1%2B&b=1&b=true&c=%7B%22d%22%3A1%7D&f="},
		{`application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {}, b: {}, c: {}, d: {}}}, encoding: {a: {style: deepObject, explode: true}, b: {style: pipeDelimited}, c: {explode: false}, d: {allowReserved: true}}}`,
			table{"a": table{"x": []any{1.0}}, "b": []any{1.0, 2.0}, "c": []any{1.0, 2.0}, "d": "/?"}, "application/x-www-form-urlencoded", "a%5Bx%5D%5B0%5D=1&b=1%7C2&c=1,2&d=/?"},
		{"application/x-www-form-urlencoded: {}", []any{}, "application/x-www-form-urlencoded", ""},
	} {
		a := spec(t, r, posting(test.content))
		call(t, a, "post", nil, test.body)
		_, header, body := r.last(t)
		require.Equal(t, test.want, body, "%+v", test)
		require.Equal(t, test.contentType, header.Get("Content-Type"), "%+v", test)
	}
}

// A configured content type goes before the document's, but for forms: theirs says where parts end.
func TestAConfiguredContentType(t *testing.T) {
	r := record(t)
	other := func(c *Config, _ *Options) {
		c.Headers = map[string]string{"content-type": "application/vnd.x+json", "cookie": "a=b"}
	}
	call(t, spec(t, r, posting("application/json: {}"), other), "post", nil, table{})
	_, header, _ := r.last(t)
	require.Equal(t, "application/vnd.x+json", header.Get("Content-Type"))
	require.Equal(t, "a=b", header.Get("Cookie"))
	call(t, spec(t, r, posting("multipart/form-data: {}"), other), "post", nil, table{"x": "y"})
	require.Equal(t, []partOf{{"x", "", "", "y"}}, partsOf(t, r))
}

func TestBodiesThatCannotBeSent(t *testing.T) {
	r := record(t)
	for _, test := range []struct {
		content string
		body    any
		want    string
	}{
		{"application/json: {}", nil, "the body is missing, and this call needs one"},
		{"application/json: {}", table{"a": "\xff"}, "UTF-8"},
		{"text/plain: {}", table{}, "it is sent as text/plain: give a string"},
		{"application/x-www-form-urlencoded: {}", "a=b", "it is a form: give a table of its fields"},
		{"'*/*': {}", table{"data": "x", "content_type": "a\r\nb: c"}, "control characters"},
		{"'*/*': {}", table{"data": "x", "name": "y"}, `no "name"`},
		{"multipart/form-data: {schema: {type: object, properties: {f: {type: string, format: binary}}}}", table{"f": 1.0}, "f: it is a file"},
		{"multipart/form-data: {schema: {type: object, properties: {f: {type: string, format: binary}}}}", table{"f": table{"filename": "a"}}, "f: a file needs data"},
		{"multipart/form-data: {}", table{"a\x00": "1"}, "control characters"},
	} {
		require.ErrorContains(t, fails(t, spec(t, r, posting(test.content)), "post", nil, test.body), test.want, "%+v", test)
	}
	require.Empty(t, r.requests())
}

func TestABodyThatIsNotNeeded(t *testing.T) {
	r := record(t)
	a := spec(t, r, head+"paths: {/: {post: {operationId: post, requestBody: {content: {application/json: {}}}}}}")
	call(t, a, "post", nil, nil)
	_, header, body := r.last(t)
	require.Empty(t, body)
	require.Empty(t, header.Get("Content-Type"))
	require.Equal(t, "0", header.Get("Content-Length"))
}

// partOf is one part of a form as the server reads it.
type partOf struct{ name, filename, contentType, content string }

func partsOf(t *testing.T, r *recorder) []partOf {
	t.Helper()
	_, header, body := r.last(t)
	media, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/form-data", media)
	reader := multipart.NewReader(strings.NewReader(body), parameters["boundary"])
	var list []partOf
	for {
		p, err := reader.NextRawPart()
		if err == io.EOF {
			return list
		}
		require.NoError(t, err)
		content, err := io.ReadAll(p)
		require.NoError(t, err)
		list = append(list, partOf{p.FormName(), p.FileName(), p.Header.Get("Content-Type"), string(content)})
	}
}

const upload = `
multipart/form-data:
            schema: {$ref: '#/components/schemas/Upload'}
            encoding: {picture: {contentType: 'image/png, image/jpeg'}, note: {contentType: text/markdown}, ids: {style: form, explode: false}, deep: {style: deepObject}}
components:
  schemas:
    Upload:
      allOf: [{$ref: '#/components/schemas/Base'}]
      type: object
      required: [file, title]
      properties:
        file: {type: string, format: binary, description: what is kept}
        files: {type: array, items: {type: string, format: binary}}
        picture: {type: string, contentMediaType: image/png}
        note: {type: string}
        meta: {$ref: '#/components/schemas/Meta'}
        list: {type: array, items: {type: object}}
        ids: {type: array, items: {type: integer}}
        deep: {type: object}
    Base: {type: object, required: [title], properties: {title: {type: string}, tags: {type: array, items: {type: string}}}}
    Meta: {type: object, properties: {a: {type: integer}}}
`

func TestMultipart(t *testing.T) {
	r := record(t)
	a := spec(t, r, head+"paths:\n  /:\n    post:\n      operationId: post\n      requestBody:\n        content:\n          "+strings.TrimSpace(upload))
	source := a.Source()
	body := source.Functions[0].Body.(table)
	require.Equal(t, []any{"file", "title"}, body["required"])
	properties := body["properties"].(table)
	require.Equal(t, []string{"deep", "file", "files", "ids", "list", "meta", "note", "picture", "tags", "title"}, sortedKeys(properties))
	require.Equal(t, "what is kept", properties["file"].(table)["description"])
	require.Equal(t, "array", properties["files"].(table)["type"])
	require.Equal(t, table{"$ref": "#/$defs/Meta"}, properties["meta"])
	requireCompiles(t, source)

	call(t, a, "post", nil, table{
		"file": "\x00\xff\r\n--x", "files": []any{"a", table{"data": "b", "filename": `b"ü.txt`, "content_type": "text/plain"}},
		"picture": "\xff\xd8\xff", "note": "# hi", "title": "t", "tags": []any{"x", 2.0}, "meta": table{"a": 1.0},
		"list": []any{table{"i": 1.0}, table{}}, "ids": []any{1.0, 2.0}, "deep": table{"k": []any{"v"}},
	})
	require.Equal(t, []partOf{
		{"deep[k][0]", "", "", "v"},
		{"file", "file", "application/octet-stream", "\x00\xff\r\n--x"},
		{"files", "files", "application/octet-stream", "a"},
		{"files", "b%22ü.txt", "text/plain", "b"},
		{"ids", "", "", "1,2"},
		{"list", "", "application/json", `{"i":1}`},
		{"list", "", "application/json", `{}`},
		{"meta", "", "application/json", `{"a":1}`},
		{"note", "", "text/markdown", "# hi"},
		{"picture", "picture", "image/jpeg", "\xff\xd8\xff"},
		{"tags", "", "", "x"},
		{"tags", "", "", "2"},
		{"title", "", "", "t"},
	}, partsOf(t, r))
	call(t, a, "post", nil, table{"file": table{"data": "x", "filename": "a\r\nb\"; x=\"y"}, "title": "t"})
	require.Equal(t, "a%0D%0Ab%22; x=%22y", partsOf(t, r)[0].filename)
}
