package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// swagger turns a document of Swagger 2 into one of OpenAPI 3.0. The library converts operations; schemas go around it:
// it would lose what it does not know, and it follows their references, which we do within bounds.
type swagger struct {
	root  map[string]any
	saved map[string]any // schemas by the reference that stands for them
}

const savedPrefix = "x-saved-"

// convert replaces the content of a document.
func (l *library) convert(d *document) (err error) {
	// The library gives up on some malformed documents by a panic.
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("it is no Swagger 2.0: %v", cause)
		}
	}()
	s := &swagger{root: d.root, saved: map[string]any{}}
	definitions := asObject(d.root["definitions"])
	if len(asObject(d.root["paths"])) > mostOperations {
		return fmt.Errorf("the document has more than %d paths", mostOperations)
	}
	s.prepare(l)
	made, err := s.throughLibrary(l)
	if err != nil {
		return err
	}
	s.restore(made["paths"])
	components := asObject(made["components"])
	for _, part := range []string{"responses", "requestBodies"} {
		s.restore(components[part])
	}
	if components == nil {
		components = map[string]any{}
		made["components"] = components
	}
	schemas := asObject(components["schemas"])
	if schemas == nil {
		schemas = map[string]any{}
	}
	for name := range s.saved {
		delete(schemas, name)
	}
	maps.Copy(schemas, definitions)
	components["schemas"] = schemas
	formArrays(made["paths"])
	d.root, d.swagger = made, true
	return nil
}

// prepare takes the schemas out and writes down what the library would overlook.
func (s *swagger) prepare(l *library) {
	stubs := map[string]any{}
	for name := range asObject(s.root["definitions"]) {
		stubs[name] = map[string]any{}
	}
	s.root["definitions"] = stubs
	if list, ok := s.root["schemes"].([]any); ok && slices.Contains(list, any("https")) {
		s.root["schemes"] = []any{"https"}
	}
	paths := asObject(s.root["paths"])
	for _, path := range sortedKeys(paths) {
		item := asObject(paths[path])
		if reference, ok := item["$ref"].(string); ok || item == nil {
			l.warn("the path %.200s is left out: Swagger 2 is read without references of paths (%.200q)", path, reference)
			delete(paths, path)
			continue
		}
		for _, method := range methods {
			if op := asObject(item[method]); op != nil && op["produces"] == nil && s.root["produces"] != nil {
				op["produces"] = s.root["produces"]
			}
		}
	}
	for _, part := range []string{"paths", "parameters", "responses"} {
		s.save(s.root[part], stubs)
		s.arrays(s.root[part])
	}
}

// arrays writes down the default form of arrays in queries, which the library takes for that of OpenAPI 3, and keeps
// that of arrays in forms, which it drops.
func (s *swagger) arrays(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "array" && (v["in"] == "query" || v["in"] == "formData") {
			if format, _ := v["collectionFormat"].(string); !slices.Contains([]string{"ssv", "pipes", "multi"}, format) {
				v["collectionFormat"] = "csv"
			}
			if v["in"] == "formData" {
				v["x-form-array"] = v["collectionFormat"]
			}
		}
		for _, item := range v {
			s.arrays(item)
		}
	case []any:
		for _, item := range v {
			s.arrays(item)
		}
	}
}

// formArrays says in the way of OpenAPI 3 how arrays in forms are written.
func formArrays(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, media := range asObject(v["content"]) {
			if kindOf(name) != kindForm && kindOf(name) != kindMultipart {
				continue
			}
			encoding := map[string]any{}
			for field, property := range asObject(asObject(asObject(media)["schema"])["properties"]) {
				switch asObject(property)["x-form-array"] {
				case "csv":
					encoding[field] = map[string]any{"style": "form", "explode": false}
				case "ssv":
					encoding[field] = map[string]any{"style": "spaceDelimited", "explode": false}
				case "pipes":
					encoding[field] = map[string]any{"style": "pipeDelimited", "explode": false}
				}
			}
			asObject(media)["encoding"] = encoding
		}
		for _, item := range v {
			formArrays(item)
		}
	case []any:
		for _, item := range v {
			formArrays(item)
		}
	}
}

// save puts a reference in the place of each schema of a body or a response.
func (s *swagger) save(v any, stubs map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if raw, ok := item.(map[string]any); ok && key == "schema" {
				name := savedPrefix + strconv.Itoa(len(s.saved))
				s.saved[name] = raw
				stubs[name] = map[string]any{}
				v[key] = map[string]any{"$ref": "#/definitions/" + name}
				continue
			}
			if !strings.HasPrefix(key, "x-") && key != "example" && key != "examples" && key != "default" && key != "enum" {
				s.save(item, stubs)
			}
		}
	case []any:
		for _, item := range v {
			s.save(item, stubs)
		}
	}
}

func (s *swagger) throughLibrary(l *library) (map[string]any, error) {
	text, err := jsonvalue.Encode(s.root)
	if err != nil {
		return nil, err
	}
	var old openapi2.T
	if err := json.Unmarshal(text, &old); err != nil {
		return nil, fmt.Errorf("it cannot be read as Swagger 2.0: %w", err)
	}
	loader := openapi3.NewLoader()
	loader.Context = l.ctx
	made, err := openapi2conv.ToV3WithLoader(&old, loader, nil)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read as Swagger 2.0: %w", err)
	}
	if text, err = made.MarshalJSON(); err != nil {
		return nil, err
	}
	tree, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	root, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("it is no Swagger 2.0")
	}
	return root, nil
}

// restore puts the schemas back.
func (s *swagger) restore(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if raw, ok := s.savedSchema(item); ok {
				v[key] = raw
				continue
			}
			s.restore(item)
		}
	case []any:
		for i, item := range v {
			if raw, ok := s.savedSchema(item); ok {
				v[i] = raw
				continue
			}
			s.restore(item)
		}
	}
}

func (s *swagger) savedSchema(v any) (any, bool) {
	object, _ := v.(map[string]any)
	reference, _ := object["$ref"].(string)
	raw, ok := s.saved[strings.TrimPrefix(reference, "#"+componentSchemas)]
	return raw, ok
}
