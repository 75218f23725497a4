package openapi

import (
	"fmt"
	"strings"
)

// bodyOf finds the request body of an operation in the media type that suits scripts best.
func (b *builder) bodyOf(made *operation, op node) error {
	n := op.child("requestBody")
	if n.value == nil {
		return nil
	}
	n, err := b.resolve(n)
	if err != nil {
		return fmt.Errorf("its request body: %w", err)
	}
	types := mediaTypes(n.child("content").value)
	if len(types) == 0 {
		return nil
	}
	index, known := b.bodies[n.identity()]
	if !known {
		index = len(b.model.Bodies)
		b.bodies[n.identity()] = index
		b.model.Bodies = append(b.model.Bodies, b.body(n, types[0]))
	}
	made.Body = index
	return nil
}

func (b *builder) body(n node, mediaType string) *body {
	media := n.child("content").child(mediaType)
	made := &body{Type: mediaType, Required: n.flag("required"), Doc: n.text("description"), schema: map[string]any{}}
	raw, said := media.value["schema"]
	switch kindOf(mediaType) {
	case kindJSON:
		if said {
			made.schema = b.schemas.schema(media.in, raw)
		}
	case kindForm, kindMultipart:
		b.formOf(made, media)
	case kindText:
		made.schema = map[string]any{"type": "string", "description": mediaType}
	case kindBinary:
		made.schema = binarySchema(mediaType)
	}
	return made
}

func binarySchema(mediaType string) map[string]any {
	bytes := map[string]any{"type": "string", "format": "binary", "description": "the bytes, sent as " + mediaType}
	if !strings.Contains(mediaType, "*") {
		return bytes
	}
	bytes["description"] = "the bytes, sent as application/octet-stream"
	return map[string]any{"anyOf": []any{bytes, map[string]any{
		"type": "object", "required": []any{"data"}, "additionalProperties": false,
		"properties": map[string]any{
			"data":         map[string]any{"type": "string", "format": "binary", "description": "the bytes"},
			"content_type": map[string]any{"type": "string", "description": "their media type"},
		},
	}}}
}

// formOf reads the fields of a form.
func (b *builder) formOf(made *body, media node) {
	raw, said := media.value["schema"]
	if !said {
		made.schema = map[string]any{"type": "object"}
		return
	}
	multipart := kindOf(made.Type) == kindMultipart
	found := formFields{properties: map[string]node{}, required: map[string]bool{}}
	b.fields(node{media.in, media.pointer + "/schema", asObject(raw)}, &found, 0)
	encoding := media.child("encoding")
	files := map[string]any{}
	for _, name := range sortedKeys(found.properties) {
		if b.entries++; b.entries > mostEntries {
			return
		}
		property, err := b.resolve(found.properties[name])
		if err != nil {
			continue
		}
		f, many := b.fieldOf(encoding.child(name), property, multipart)
		if f == (field{}) {
			continue
		}
		if made.Fields == nil {
			made.Fields = map[string]field{}
		}
		made.Fields[name] = f
		if f.Binary {
			files[name] = fileSchema(property.text("description"), many)
		}
	}
	made.schema = b.formSchema(media.in, raw, found, files)
}

// formSchema is the schema of a form. One with files is written anew: a script gives more for a file than its bytes.
func (b *builder) formSchema(in *document, raw any, found formFields, files map[string]any) any {
	if len(files) == 0 {
		return b.schemas.schema(in, raw)
	}
	properties := map[string]any{}
	for name, n := range found.properties {
		if properties[name] = files[name]; properties[name] == nil {
			properties[name] = b.schemas.schema(n.in, n.value)
		}
	}
	out := map[string]any{"type": "object", "properties": properties}
	required := []any{}
	for _, name := range sortedKeys(found.required) {
		required = append(required, name)
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func asObject(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
}

// formFields are the properties of an object schema, by name, not resolved.
type formFields struct {
	properties map[string]node
	required   map[string]bool
}

// fields collects the properties of a schema, through references and allOf.
func (b *builder) fields(n node, into *formFields, depth int) {
	n, err := b.resolve(n)
	if err != nil || depth > 20 {
		return
	}
	for _, part := range n.items("allOf") {
		if b.entries++; b.entries > mostEntries {
			return
		}
		b.fields(part, into, depth+1)
	}
	table := n.child("properties")
	for name := range table.value {
		if property := table.child(name); property.value != nil {
			into.properties[name] = property
		}
	}
	for _, name := range n.texts("required") {
		into.required[name] = true
	}
}

// fieldOf is how a property is written in a form, and whether it is a list of such.
func (b *builder) fieldOf(encoding, property node, multipart bool) (f field, many bool) {
	f.ContentType = encoding.text("contentType")
	_, explodes := encoding.value["explode"].(bool)
	_, reserved := encoding.value["allowReserved"].(bool)
	if style := encoding.text("style"); style != "" || explodes || reserved {
		if style == "" {
			style = "form"
		}
		f.Style, f.AllowReserved = style, encoding.flag("allowReserved")
		f.Explode = encoding.flag("explode") || !explodes && (style == "form" || style == "deepObject")
		f.ContentType = "" // a style goes before a content type
	}
	if !multipart {
		return f, false
	}
	item := property
	if items, err := b.resolve(property.child("items")); err == nil && items.value != nil {
		item, many = items, true
	}
	if f.Binary = f.Style == "" && isFile(item, f.ContentType); f.Binary && f.ContentType == "" {
		f.ContentType = item.text("contentMediaType")
	}
	return f, many
}

// isFile says whether the texts of a schema are files: 3.0 says so by a format, 3.1 by a media type.
func isFile(n node, contentType string) bool {
	if n.text("format") == "binary" {
		return true
	}
	media := n.text("contentMediaType")
	if media == "" {
		media, _, _ = strings.Cut(contentType, ",")
	}
	text := n.value["type"] == "string" || n.value["type"] == nil
	return text && len(n.child("properties").value) == 0 && media != "" && kindOf(media) == kindBinary
}

func fileSchema(description string, many bool) any {
	one := map[string]any{"anyOf": []any{
		map[string]any{"type": "string", "format": "binary", "description": "the bytes of the file"},
		map[string]any{
			"type": "object", "required": []any{"data"}, "additionalProperties": false,
			"properties": map[string]any{
				"data":         map[string]any{"type": "string", "format": "binary", "description": "the bytes of the file"},
				"filename":     map[string]any{"type": "string"},
				"content_type": map[string]any{"type": "string", "description": "the media type of the file"},
			},
		},
	}}
	out := one
	if many {
		out = map[string]any{"type": "array", "items": one}
	}
	if description != "" {
		out["description"] = description
	}
	return out
}
