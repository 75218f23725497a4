package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// encodeBody writes a request body. A type of "" is that there is none.
func encodeBody(b *body, value any) (content []byte, contentType string, err error) {
	switch {
	case b == nil && value == nil:
		return nil, "", nil
	case b == nil:
		return nil, "", invalid("this call has no body")
	case value == nil && b.Required:
		return nil, "", invalid("the body is missing, and this call needs one")
	case value == nil:
		return nil, "", nil
	}
	contentType = b.Type
	switch kindOf(b.Type) {
	case kindJSON:
		content, err = jsonvalue.Encode(value)
	case kindForm:
		content, err = b.form(value)
	case kindMultipart:
		content, contentType, err = b.multipart(value)
	default:
		content, contentType, err = b.plain(value)
	}
	if err != nil {
		return nil, "", invalid("body: " + err.Error())
	}
	return content, contentType, nil
}

// plain is a body that is sent as it is.
func (b *body) plain(value any) ([]byte, string, error) {
	contentType := b.Type
	if strings.Contains(contentType, "*") {
		contentType = "application/octet-stream"
	}
	if text, ok := value.(string); ok {
		return []byte(text), contentType, nil
	}
	if strings.Contains(b.Type, "*") {
		f, ok, err := fileOf(value, "")
		if err != nil {
			return nil, "", err
		}
		if ok {
			if f.contentType != "" {
				contentType = f.contentType
			}
			return []byte(f.data), contentType, nil
		}
	}
	return nil, "", fmt.Errorf("it is sent as %s: give a string", b.Type)
}

func fieldsOf(value any) (map[string]any, error) {
	switch v := value.(type) {
	case map[string]any:
		return v, nil
	case []any:
		if len(v) == 0 {
			return nil, nil
		}
	}
	return nil, errors.New("it is a form: give a table of its fields")
}

// form writes application/x-www-form-urlencoded.
func (b *body) form(value any) ([]byte, error) {
	fields, err := fieldsOf(value)
	if err != nil {
		return nil, err
	}
	var pairs []string
	for _, name := range sortedKeys(fields) {
		if fields[name] == nil {
			continue
		}
		p := b.Fields[name].asParameter(name, fields[name])
		more, err := p.queryPairs(fields[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		pairs = append(pairs, more...)
	}
	return []byte(strings.ReplaceAll(strings.Join(pairs, "&"), "%20", "+")), nil
}

// asParameter is a field as a query has it. Where nothing is said, arrays of texts repeat the name, and what is nested
// is JSON.
func (f field) asParameter(name string, value any) *parameter {
	p := &parameter{Name: name, In: "query", Style: f.Style, Explode: f.Explode, AllowReserved: f.AllowReserved}
	if f.Style != "" {
		return p
	}
	p.Style, p.Explode = "form", true
	if _, err := flatten(value); err == nil {
		if _, object := value.(map[string]any); !object {
			return p
		}
	}
	p.Content = "application/json"
	return p
}

// file is a part of a form that has a name of its own.
type file struct{ name, contentType, data string }

// fileOf reads {filename, content_type, data}. It says whether the value is one.
func fileOf(value any, name string) (file, bool, error) {
	table, ok := value.(map[string]any)
	if !ok {
		return file{}, false, nil
	}
	f := file{name: name}
	for _, key := range sortedKeys(table) {
		text, isText := table[key].(string)
		if !isText && table[key] != nil {
			return f, true, fmt.Errorf("%s of a file is a string", key)
		}
		switch key {
		case "filename":
			f.name = text
		case "content_type":
			f.contentType = text
		case "data":
			f.data = text
		default:
			return f, true, fmt.Errorf("a file has filename, content_type and data, and no %q", key)
		}
	}
	if table["data"] == nil {
		return f, true, errors.New("a file needs data")
	}
	if !validHeaderValue(f.contentType) {
		return f, true, errors.New("content_type of a file has line ends or control characters")
	}
	return f, true, nil
}

// multipart writes multipart/form-data, or what the document has in its place.
func (b *body) multipart(value any) ([]byte, string, error) {
	fields, err := fieldsOf(value)
	if err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, name := range sortedKeys(fields) {
		if fields[name] == nil {
			continue
		}
		if err := b.parts(w, name, fields[name]); err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return out.Bytes(), mediaName(b.Type) + "; boundary=" + w.Boundary(), nil
}

// parts writes a field: an array is several parts of one name, unless the document says that it is one.
func (b *body) parts(w *multipart.Writer, name string, value any) error {
	f := b.Fields[name]
	if f.Style != "" {
		return styledParts(w, f, name, value)
	}
	list, isList := value.([]any)
	if !isList || !f.Binary && f.ContentType != "" && kindOf(f.ContentType) == kindJSON {
		return part(w, f, name, value)
	}
	for i, item := range list {
		if err := part(w, f, name, item); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

// styledParts writes a field as a query would name its parts.
func styledParts(w *multipart.Writer, f field, name string, value any) error {
	write := func(name, text string) error { return writePart(w, name, nil, "", []byte(text)) }
	if f.Style == "deepObject" {
		var failed error
		err := deep(name, value, 0, func(name, text string) {
			if failed == nil {
				failed = write(name, text)
			}
		})
		return errors.Join(err, failed)
	}
	flat, err := flatten(value)
	if err != nil {
		return err
	}
	if !f.Explode || !flat.list && !flat.object {
		delimiter := map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}[f.Style]
		if delimiter == "" {
			delimiter = ","
		}
		return write(name, flat.join(delimiter, delimiter, func(s string) string { return s }))
	}
	for _, p := range flat.parts {
		key := name
		if flat.object {
			key = p.key
		}
		if err := write(key, p.value); err != nil {
			return err
		}
	}
	return nil
}

func part(w *multipart.Writer, f field, name string, value any) error {
	if f.Binary {
		data := file{name: name}
		text, ok := value.(string)
		data.data = text
		if !ok {
			var err error
			if data, ok, err = fileOf(value, name); err != nil {
				return err
			}
		}
		if !ok {
			return errors.New("it is a file: give its bytes as a string, or {filename, content_type, data}")
		}
		if data.contentType == "" {
			data.contentType = f.fileType(data.data)
		}
		return writePart(w, name, &data.name, data.contentType, []byte(data.data))
	}
	text, ok := primitive(value)
	if ok && kindOf(f.single("text/plain")) != kindJSON {
		return writePart(w, name, nil, f.single(""), []byte(text))
	}
	if !ok && kindOf(f.single("application/json")) != kindJSON {
		return fmt.Errorf("it is sent as %s: give a string", f.ContentType)
	}
	encoded, err := jsonvalue.Encode(value)
	if err != nil {
		return err
	}
	return writePart(w, name, nil, f.single("application/json"), encoded)
}

// fileType is the media type of a file that a script does not name one for: one that the document lists, best the one
// that the bytes look like.
func (f field) fileType(data string) string {
	looks := mediaName(http.DetectContentType([]byte(data[:min(len(data), 512)])))
	chosen := ""
	for name := range strings.SplitSeq(f.ContentType, ",") {
		name = strings.TrimSpace(name)
		if name == "" || strings.Contains(name, "*") || !validHeaderValue(name) {
			continue
		}
		if chosen == "" || mediaName(name) == looks {
			chosen = name
		}
	}
	if chosen == "" {
		return "application/octet-stream"
	}
	return chosen
}

// single is the media type of a field where the document names exactly one.
func (f field) single(otherwise string) string {
	if f.ContentType == "" || strings.ContainsAny(f.ContentType, ",*") || !validHeaderValue(f.ContentType) {
		return otherwise
	}
	return f.ContentType
}

// writePart writes one part; a name of a file makes it a file.
func writePart(w *multipart.Writer, name string, filename *string, contentType string, content []byte) error {
	disposition := `form-data; name="` + quoted.Replace(name) + `"`
	if filename != nil {
		disposition += `; filename="` + quoted.Replace(*filename) + `"`
	}
	if !validHeaderValue(disposition) {
		return errors.New("the name of a field or a file has control characters")
	}
	header := textproto.MIMEHeader{"Content-Disposition": {disposition}}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	p, err := w.CreatePart(header)
	if err != nil {
		return err
	}
	_, err = p.Write(content)
	return err
}

// quoted escapes names as browsers do.
var quoted = strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")
