package openapi

import (
	"fmt"
	"slices"
	"strings"
)

// builder makes a model of a document.
type builder struct {
	*library
	schemas    *translator
	model      *model
	parameters map[uintptr]int // index in the model by identity
	bodies     map[uintptr]int
	responses  map[uintptr]*response
	either     map[string]int // index of results by the responses that they are of
	entries    int
}

// methods are the operations of a path, in the order of their names.
var methods = []string{"delete", "get", "head", "options", "patch", "post", "put", "trace"}

func build(l *library) (*model, error) {
	root := node{l.main, "", l.main.root}
	info := root.child("info")
	b := &builder{library: l, schemas: newTranslator(l), parameters: map[uintptr]int{}, bodies: map[uintptr]int{}, responses: map[uintptr]*response{}, either: map[string]int{}, model: &model{
		Title: info.text("title"), Description: info.text("description"), Version: info.text("version"),
		Servers: serversOf(root, ""), Security: requirementsOf(root), Base: baseOf(l.main), results: []any{},
	}}
	b.model.SecuritySaid = b.model.Security != nil
	b.tags(root)
	b.schemes(root.child("components").child("securitySchemes"))
	b.schemas.all()
	if err := b.paths(root.child("paths")); err != nil {
		return nil, err
	}
	b.schemas.drain()
	defs, err := b.schemas.finish()
	if err != nil {
		return nil, err
	}
	b.model.defs = defs
	for i, list := range b.model.results {
		b.model.results[i] = eitherOf(list.([]any))
	}
	splitDirections(b.model)
	nameOperations(b.model.Operations)
	b.model.Warnings = l.warnings
	return b.model, nil
}

func baseOf(d *document) string {
	if d.place.url == nil {
		return ""
	}
	return d.place.url.String()
}

func (b *builder) tags(root node) {
	for _, tag := range root.items("tags") {
		if name := tag.text("name"); name != "" {
			if b.model.Tags == nil {
				b.model.Tags = map[string]string{}
			}
			b.model.Tags[name] = tag.text("description")
		}
	}
}

func (b *builder) paths(paths node) error {
	if len(paths.value) > mostOperations {
		return fmt.Errorf("the document has more than %d paths", mostOperations)
	}
	for _, path := range sortedKeys(paths.value) {
		if !strings.HasPrefix(path, "/") {
			continue // x-...
		}
		item, err := b.pathItem(paths.child(path))
		if err != nil {
			b.warn("the path %.200s is left out: %s", path, err)
			continue
		}
		if err := b.pathOperations(path, item); err != nil {
			return err
		}
	}
	return nil
}

// pathItem follows the reference of a path. What stands beside it is the path's, too.
func (b *builder) pathItem(n node) (node, error) {
	if n.value == nil {
		return n, fmt.Errorf("it is no object")
	}
	if n.value["$ref"] == nil {
		return n, nil
	}
	target, err := b.resolve(n)
	if err != nil {
		return n, err
	}
	if len(n.value) == 1 || target.in != n.in {
		return target, nil
	}
	merged := map[string]any{}
	for _, from := range []map[string]any{target.value, n.value} {
		for key, value := range from {
			if key != "$ref" {
				merged[key] = value
			}
		}
	}
	return node{n.in, n.pointer, merged}, nil
}

func (b *builder) pathOperations(path string, item node) error {
	for _, method := range methods {
		op := item.child(method)
		if op.value == nil {
			continue
		}
		if len(b.model.Operations) >= mostOperations {
			return fmt.Errorf("the document has more than %d operations", mostOperations)
		}
		made, err := b.operation(method, path, item, op)
		if b.entries > mostEntries {
			return fmt.Errorf("the operations of the document have more than %d parameters and fields", mostEntries)
		}
		if err != nil {
			b.warn("%s %.200s is left out: %s", strings.ToUpper(method), path, err)
			continue
		}
		b.model.Operations = append(b.model.Operations, made)
	}
	return nil
}

func (b *builder) operation(method, path string, item, op node) (*operation, error) {
	made := &operation{
		Body: -1, Result: -1,
		ID: op.text("operationId"), Method: strings.ToUpper(method), Path: path,
		Summary: op.text("summary"), Description: op.text("description"),
		Tags: op.texts("tags"), Deprecated: op.flag("deprecated"), Security: requirementsOf(op),
	}
	if made.Description == "" {
		made.Description = item.text("description")
	}
	b.model.SecuritySaid = b.model.SecuritySaid || made.Security != nil
	other := ""
	if op.in != b.main {
		other = baseOf(op.in)
	}
	if made.Servers = serversOf(op, other); made.Servers == nil {
		made.Servers = serversOf(item, other)
	}
	if err := b.parametersOf(made, item, op); err != nil {
		return nil, err
	}
	if err := b.bodyOf(made, op); err != nil {
		return nil, err
	}
	b.responsesOf(made, op)
	return made, nil
}

// serversOf are the servers that an object of the document names; nil is none.
func serversOf(n node, base string) []server {
	var list []server
	for _, item := range n.items("servers") {
		s := server{URL: item.text("url"), Description: item.text("description"), Base: base}
		variables := item.child("variables")
		for name := range variables.value {
			v := variables.child(name)
			if s.Variables == nil {
				s.Variables = map[string]serverVariable{}
			}
			s.Variables[name] = serverVariable{Default: scalarText(v.value["default"]), Enum: scalarTexts(v.value["enum"])}
		}
		list = append(list, s)
	}
	return list
}

// scalarText is a value that ought to be a text: YAML reads a port as a number.
func scalarText(v any) string {
	text, _ := primitive(v)
	return text
}

func scalarTexts(v any) []string {
	list, _ := v.([]any)
	var texts []string
	for _, item := range list {
		texts = append(texts, scalarText(item))
	}
	return texts
}

func requirementsOf(n node) []requirement {
	if _, said := n.value["security"].([]any); !said {
		return nil
	}
	list := []requirement{}
	for _, item := range n.items("security") {
		r := requirement{}
		for name := range item.value {
			r[name] = item.texts(name) // nil: no scopes
		}
		list = append(list, r)
	}
	return list
}

func (b *builder) schemes(table node) {
	for _, name := range sortedKeys(table.value) {
		n, err := b.resolve(table.child(name))
		if err != nil {
			b.warn("the security scheme %.100s is left out: %s", name, err)
			continue
		}
		s := scheme{Type: n.text("type"), In: n.text("in"), Name: n.text("name"), HTTP: strings.ToLower(n.text("scheme"))}
		s.TokenURL = n.child("flows").child("clientCredentials").text("tokenUrl")
		if n.in != b.main {
			s.Base = baseOf(n.in)
		}
		if s.Type == "apiKey" && (s.Name == "" || !slices.Contains([]string{"header", "query", "cookie"}, s.In)) {
			b.warn("the security scheme %.100s is left out: an apiKey needs a name, and a place that is header, query or cookie", name)
			continue
		}
		if s.Type == "apiKey" && s.In == "header" && checkHeader(s.Name, "") != nil {
			b.warn("the security scheme %.100s is left out: %.100q is no header that can be set", name, s.Name)
			continue
		}
		if b.model.Schemes == nil {
			b.model.Schemes = map[string]scheme{}
		}
		b.model.Schemes[name] = s
	}
}
