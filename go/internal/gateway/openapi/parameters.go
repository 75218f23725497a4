package openapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// places are where parameters stand, in the order in which they get their names.
var places = []string{"path", "query", "header", "cookie"}

// parametersOf collects the parameters of an operation: its own before those of its path.
func (b *builder) parametersOf(made *operation, item, op node) error {
	byPlace := map[string]int{}
	for _, n := range slices.Concat(item.items("parameters"), op.items("parameters")) {
		if b.entries++; b.entries > mostEntries {
			return nil
		}
		index, err := b.parameter(n)
		if err != nil {
			return err
		}
		if index < 0 {
			continue
		}
		p := b.model.Parameters[index]
		byPlace[p.In+" "+p.Name] = index
	}
	b.templateParameters(made, byPlace)
	if len(byPlace) > mostParameters {
		return fmt.Errorf("it has more than %d parameters", mostParameters)
	}
	indices := make([]int, 0, len(byPlace))
	for _, index := range byPlace {
		indices = append(indices, index)
	}
	slices.SortFunc(indices, func(x, y int) int {
		p, q := b.model.Parameters[x], b.model.Parameters[y]
		if order := slices.Index(places, p.In) - slices.Index(places, q.In); order != 0 {
			return order
		}
		return strings.Compare(p.Name, q.Name)
	})
	made.Parameters = indices
	made.Keys = b.keys(indices)
	return nil
}

// keys are the names of parameters in the table that a script gives: a later place puts itself before a name that is
// taken.
func (b *builder) keys(indices []int) []string {
	taken := map[string]bool{}
	keys := make([]string, len(indices))
	for i, index := range indices {
		if name := b.model.Parameters[index].Name; !taken[name] {
			keys[i] = name
			taken[name] = true
		}
	}
	for i, index := range indices {
		p := b.model.Parameters[index]
		for key := p.In + "_" + p.Name; keys[i] == ""; key = p.In + "_" + key {
			if !taken[key] {
				keys[i] = key
				taken[key] = true
			}
		}
	}
	return keys
}

// templateParameters adds those that only the path names, and leaves out those that it does not.
func (b *builder) templateParameters(made *operation, byPlace map[string]int) {
	names := templateNames(made.Path)
	for place, index := range byPlace {
		if p := b.model.Parameters[index]; p.In == "path" && !slices.Contains(names, p.Name) {
			b.warn("%s %.200s: the path has no {%.100s}: that parameter is left out", made.Method, made.Path, p.Name)
			delete(byPlace, place)
		}
	}
	for _, name := range names {
		if _, there := byPlace["path "+name]; !there {
			b.warn("%s %.200s: nothing describes {%.100s}: it takes a string", made.Method, made.Path, name)
			byPlace["path "+name] = len(b.model.Parameters)
			b.model.Parameters = append(b.model.Parameters, &parameter{
				Name: name, In: "path", Required: true, Style: "simple", schema: map[string]any{"type": "string"},
			})
		}
	}
}

// ignored are headers that are no parameters by the specification: content negotiation and security write them.
var ignored = []string{"Accept", "Content-Type", "Authorization"}

// parameter is the index of a parameter in the model; -1 is one that does not count.
func (b *builder) parameter(n node) (int, error) {
	n, err := b.resolve(n)
	if err != nil {
		return 0, fmt.Errorf("a parameter: %w", err)
	}
	key := n.identity()
	if known, ok := b.parameters[key]; ok {
		return known, nil
	}
	p := &parameter{
		Name: n.text("name"), In: n.text("in"), Description: n.text("description"), Deprecated: n.flag("deprecated"),
		Required: n.flag("required"), AllowReserved: n.flag("allowReserved"),
	}
	switch {
	case p.Name == "":
		return 0, fmt.Errorf("a parameter has no name")
	case !slices.Contains(places, p.In):
		return 0, fmt.Errorf("the parameter %.100q is in %.100q, which is not path, query, header or cookie", p.Name, p.In)
	case p.In == "header" && slices.Contains(ignored, http.CanonicalHeaderKey(p.Name)):
		b.parameters[key] = -1
		return -1, nil
	case p.In == "header":
		if err := checkHeader(p.Name, ""); err != nil {
			return 0, err
		}
	case p.In == "cookie" && strings.ContainsAny(p.Name, "=;, \t\r\n\x00\""):
		return 0, fmt.Errorf("%.100q is no name of a cookie", p.Name)
	case p.In == "path":
		p.Required = true
	}
	if err := b.serialization(p, n); err != nil {
		return 0, err
	}
	index := len(b.model.Parameters)
	b.model.Parameters = append(b.model.Parameters, p)
	b.parameters[key] = index
	return index, nil
}

// serialization is how a value becomes text, and of which schema it is.
func (b *builder) serialization(p *parameter, n node) error {
	p.schema = map[string]any{}
	if types := mediaTypes(n.child("content").value); len(types) > 0 {
		media := n.child("content").child(types[0])
		p.Content, p.Style = types[0], ""
		if raw, ok := media.value["schema"]; ok {
			p.schema = b.schemas.schema(media.in, raw)
		}
		return nil
	}
	p.Style = n.text("style")
	if p.Style == "" {
		p.Style = defaultStyle(p.In)
	}
	explode, said := n.value["explode"].(bool)
	p.Explode = explode || !said && (p.Style == "form" || p.Style == "deepObject")
	if !slices.Contains(stylesOf[p.In], p.Style) {
		return fmt.Errorf("the parameter %.100q in %s has the style %.100q, which is none of %s", p.Name, p.In, p.Style, strings.Join(stylesOf[p.In], ", "))
	}
	if raw, ok := n.value["schema"]; ok {
		p.schema = b.schemas.schema(n.in, raw)
	}
	return nil
}

var stylesOf = map[string][]string{
	"path":   {"simple", "label", "matrix"},
	"query":  {"form", "spaceDelimited", "pipeDelimited", "deepObject"},
	"header": {"simple"},
	"cookie": {"form", "cookie"},
}

func defaultStyle(in string) string {
	if in == "path" || in == "header" {
		return "simple"
	}
	return "form"
}

// templateNames are the names in braces of a path, in order.
func templateNames(path string) []string {
	var names []string
	for {
		_, rest, ok := strings.Cut(path, "{")
		if !ok {
			return names
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			return names
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		path = after
	}
}
