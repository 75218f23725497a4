package openapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

const componentSchemas = "/components/schemas/"

// all translates the named schemas of the main document and whatever is referred to.
func (t *translator) all() {
	components, _ := lookUp(t.lib.main.root, strings.TrimSuffix(componentSchemas, "/"))
	table, _ := components.(map[string]any)
	for name := range table {
		t.definition(t.lib.main, "#"+jsonvalue.AppendPointer(strings.TrimSuffix(componentSchemas, "/"), name))
	}
	t.drain()
}

// drain translates what was referred to since.
func (t *translator) drain() {
	for len(t.queue) > 0 {
		next := t.queue[len(t.queue)-1]
		t.queue = t.queue[:len(t.queue)-1]
		next.schema = t.schema(next.in, next.raw)
		next.raw = nil
	}
}

// finish names the definitions and writes the references to them.
func (t *translator) finish() (map[string]any, error) {
	list := make([]*definition, 0, len(t.targets))
	for _, d := range t.targets {
		if !d.broken {
			list = append(list, d)
		}
	}
	main := t.lib.main
	slices.SortFunc(list, func(a, b *definition) int {
		return cmp.Or(
			compareBools(b.isComponent(main), a.isComponent(main)),
			strings.Compare(a.in.place.String(), b.in.place.String()),
			strings.Compare(a.pointer, b.pointer))
	})
	defs := make(map[string]any, len(list))
	for _, d := range list {
		d.name = freeName(defs, d)
		defs[d.name] = d.schema
		for _, reference := range d.refs {
			reference["$ref"] = "#/$defs/" + d.name
		}
		d.refs = nil
	}
	if err := aliasLoop(defs); err != nil {
		return nil, err
	}
	breakLoops(defs)
	return defs, nil
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (d *definition) isComponent(main *document) bool {
	return d.in == main && strings.HasPrefix(d.pointer, componentSchemas) && strings.Count(d.pointer, "/") == 3
}

// freeName is the last name on the way to a schema, with those before it where it is a part of one.
func freeName(taken map[string]any, d *definition) string {
	name := plainName(d.base())
	if _, there := taken[name]; !there {
		return name
	}
	hash := sha256.Sum256([]byte(d.in.place.String() + "#" + d.pointer))
	digits := hex.EncodeToString(hash[:])
	for n := 6; ; n++ {
		longer := name + "_" + digits[:min(n, len(digits))]
		if _, there := taken[longer]; !there {
			return longer
		}
	}
}

// structural are parts of a pointer that say nothing about what it leads to.
var structural = []string{"components", "schemas", "definitions", "$defs", "properties", "paths", "responses", "requestBodies",
	"parameters", "headers", "content", "schema", "application/json", "items", "allOf", "oneOf", "anyOf"}

func (d *definition) base() string {
	var words []string
	for token := range strings.SplitSeq(d.pointer, "/") {
		if token = pointerToken.Replace(token); token != "" && !slices.Contains(structural, token) {
			words = append(words, token)
		}
	}
	if len(words) == 0 {
		name := path.Base(d.in.place.String())
		words = []string{strings.TrimSuffix(name, path.Ext(name))}
	}
	return strings.Join(words, "_")
}

const mostName = 100

// plainName leaves out what a JSON pointer or an address would have to escape.
func plainName(text string) string {
	name := []byte(text[:min(len(text), mostName)])
	for i, c := range name {
		if !isWord(c) && c != '.' && c != '-' {
			name[i] = '_'
		}
	}
	if len(name) == 0 {
		return "schema"
	}
	return string(name)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// aliasLoop finds schemas that are nothing but references to each other.
func aliasLoop(defs map[string]any) error {
	visit := make(map[string]int, len(defs)) // by which walk
	for n, name := range sortedKeys(defs) {
		trail := []string{name}
		for at := name; visit[at] == 0; {
			visit[at] = n + 1
			next, ok := aliasOf(defs[at])
			if !ok {
				break
			}
			trail = append(trail, next)
			if at = next; visit[at] == n+1 {
				trail = trail[slices.Index(trail, at):]
				return fmt.Errorf("schemas that are only references to each other mean nothing: %.500s", strings.Join(trail, " -> "))
			}
		}
	}
	return nil
}

// aliasOf is the name that a schema refers to and says nothing else.
func aliasOf(s any) (string, bool) {
	object, _ := s.(map[string]any)
	reference, ok := object["$ref"].(string)
	for key := range object {
		switch key {
		case "$ref", "title", "description", "deprecated", "default", "examples", "readOnly", "writeOnly":
		default:
			return "", false
		}
	}
	return strings.TrimPrefix(reference, "#/$defs/"), ok
}

func sortedKeys[V any](table map[string]V) []string { return slices.Sorted(maps.Keys(table)) }
