// Package luautype writes types of Luau for the schemas of a gateway's functions: signatures and docs for models,
// definitions for the type checker, stubs for editors, and shapes of values. It does no I/O.
//
// Schemas come from servers that nobody vouches for. Whatever they say, what comes out is valid Luau of a bounded
// size; where a bound is met there is `any` with a comment.
package luautype

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// Bounds of one type with a name, or of one function. Luau itself takes no more than 1,000 members of a union.
const (
	maxDepth        = 16
	maxNodes        = 2_000
	maxFields       = 1_000
	maxUnion        = 100
	maxIntersection = 20
	maxSpread       = 100 // fields of one part of a table
	maxText         = 200 // of a single value, in bytes
)

// place is where a schema stands: what "#" means there, and the definitions it may refer to.
type place struct {
	root  any
	label string // of the root, for names of what is in it
	defs  map[string]any
}

// converter makes one type. It belongs to a library, which knows those with names.
type converter struct {
	lib   *library
	place place
	self  *named // whose type it is; nil is nobody's
	exact bool   // single values never give way
	nodes int
	refs  []*named // in the order they are met
}

// at is where in a type the conversion is.
type at struct {
	depth   int
	guarded bool // inside a table, where a type may refer to itself
	choice  bool // one of several types, as what may be nil is
	wide    bool // single values give way to the types they are of
}

func (a at) inside(choice bool) at { return at{a.depth + 1, true, choice, a.wide} }
func (a at) beside(choice bool) at { return at{a.depth + 1, a.guarded, a.choice || choice, a.wide} }

func (c *converter) convert(schema any, a at) *node {
	c.nodes++
	c.lib.nodes++
	switch s := schema.(type) {
	case bool:
		if !s {
			return plainly("never")
		}
		return anything()
	case map[string]any:
		switch {
		case a.depth > maxDepth:
			return because("nested too deep")
		case c.nodes > maxNodes || c.lib.nodes > maxLibrary:
			return because("too large")
		}
		return c.object(s, a)
	}
	return anything()
}

// object converts a schema that is an object: what each group of its words says holds at once.
func (c *converter) object(s map[string]any, a at) *node {
	var parts []*node
	if ref, ok := s["$ref"].(string); ok {
		parts = append(parts, c.refer(ref, a))
	}
	if n := c.byType(s, a); n != nil {
		parts = append(parts, n)
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if list := schemas(s[word]); len(list) > 0 {
			parts = append(parts, c.choice(list, a))
		}
	}
	if list := schemas(s["allOf"]); len(list) > 0 {
		parts = append(parts, c.every(list, a))
	}
	if c.lib.wide {
		parts = withoutVariants(parts)
	}
	n := anything()
	switch len(parts) {
	case 0:
	case 1:
		n = parts[0]
	default:
		n = both(parts)
	}
	if s["nullable"] == true {
		n = maybe(n)
	}
	return n
}

// schemas are the members of anyOf and its like.
func schemas(v any) []any {
	list, _ := v.([]any)
	return list
}

func (c *converter) choice(list []any, a at) *node {
	members := make([]*node, 0, min(len(list), maxUnion))
	for i, item := range list {
		if i > maxUnion*2 {
			return because("one of too many types")
		}
		members = append(members, c.convert(item, a.beside(len(list) > 1)))
	}
	return either(members)
}

// every converts allOf. Tables become one, those with names, too: what is missing in it is then told by its name.
func (c *converter) every(list []any, a at) *node {
	members := make([]*node, 0, min(len(list), maxIntersection))
	telling := 0
	for _, item := range list {
		if tells(item) {
			telling++
		}
	}
	for i, item := range list {
		if i > maxUnion {
			return because("too many types at once")
		}
		var n *node
		if telling > 1 {
			n = c.spread(item, a)
		}
		if n == nil || n.kind != table {
			n = c.convert(item, a.beside(false))
		}
		members = append(members, n)
	}
	return both(members)
}

// tells says whether a schema has words that are not only for readers.
func tells(schema any) bool {
	s, _ := schema.(map[string]any)
	for word := range s {
		switch word {
		case "title", "description", "default", "example", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "externalDocs", "xml":
		default:
			return true
		}
	}
	return false
}

// spread converts what a reference means, as if it stood there; nil where it is none to a table.
func (c *converter) spread(item any, a at) *node {
	s, _ := item.(map[string]any)
	ref, _ := s["$ref"].(string)
	t := c.resolve(ref)
	if t == nil || c.self != nil && c.lib.leads(t, c.self.schema) || a.depth > maxDepth/2 {
		return nil
	}
	schema, _ := t.schema.(map[string]any)
	if properties, _ := schema["properties"].(map[string]any); len(properties) > maxSpread || schema["type"] != "object" && properties == nil && schema["allOf"] == nil {
		return nil
	}
	before := c.place
	c.place = t.place
	refs := len(c.refs)
	n := c.convert(schema, a.beside(false))
	c.place = before
	if n.kind != table {
		c.refs = c.refs[:refs]
	}
	return n
}

// byType converts what type, enum, const and the words of one type say; nil is nothing.
func (c *converter) byType(s map[string]any, a at) *node {
	types := typesOf(s)
	if value, found := s["const"]; found {
		return c.values([]any{value}, types, a)
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return c.values(list, types, a)
	}
	if len(types) == 0 {
		return nil
	}
	members := make([]*node, 0, len(types))
	a.choice = a.choice || len(types) > 1 || s["nullable"] == true
	for _, name := range types {
		members = append(members, c.typed(name, s, a))
	}
	return either(members)
}

// typesOf are the types of a schema. Where none is said, words tell that only one type has.
func typesOf(s map[string]any) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var list []string
		for _, item := range t {
			if name, ok := item.(string); ok && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
		return list
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { _, found := s[word]; return found })
	}
	switch {
	case has("properties", "patternProperties"):
		return []string{"object"}
	case s["additionalProperties"] != nil && s["additionalProperties"] != true && !has("$ref", "anyOf", "oneOf", "allOf"):
		return []string{"object"}
	case has("items", "prefixItems"):
		return []string{"array"}
	case has("contentEncoding", "contentMediaType") || s["format"] == "binary":
		return []string{"string"}
	}
	return nil
}

func (c *converter) typed(name string, s map[string]any, a at) *node {
	switch name {
	case "string":
		if s["format"] == "binary" && !c.exact && c.self == nil {
			return either([]*node{plainly(name), plainly("buffer")}) // what is sent may be either
		}
		return plainly(name)
	case "boolean":
		return plainly(name)
	case "integer", "number":
		return plainly("number")
	case "null":
		return plainly("nil")
	case "file": // of Swagger 2
		return plainly("string")
	case "array":
		return c.array(s, a)
	case "object":
		return c.table(s, a)
	}
	return anything()
}

// values converts enum and const. Those that the types rule out are none.
func (c *converter) values(list []any, types []string, a at) *node {
	var members []*node
	for i, v := range list {
		if i >= maxUnion*10 {
			break
		}
		if len(types) == 0 || slices.ContainsFunc(types, func(t string) bool { return isOf(v, t) }) {
			members = append(members, value(v, a))
		}
	}
	if len(members) <= maxUnion {
		return either(members)
	}
	for i, m := range members {
		if m.value {
			members[i] = general(m)
		}
	}
	n := either(members)
	if n.kind == plain {
		n.note = "one of many values"
	}
	return n
}

func isOf(v any, name string) bool {
	switch v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64, json.Number:
		return name == "number" || name == "integer"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

// value is the type of one value: of strings and booleans the value itself.
func value(v any, a at) *node {
	var n *node
	switch v := v.(type) {
	case nil:
		return plainly("nil")
	case bool:
		n = &node{kind: plain, text: "false", value: true}
		if v {
			n.text = "true"
		}
	case string:
		if len(v) > maxText || strings.ContainsRune(v, 0) {
			return plainly("string")
		}
		n = &node{kind: plain, text: catalog.Quote(v), value: true}
	case float64, json.Number:
		return plainly("number")
	case []any:
		return listOf(anything())
	case map[string]any:
		return &node{kind: table, index: anything()}
	default:
		return anything()
	}
	if a.wide {
		return general(n)
	}
	return n
}

// general is the type that a single value is of.
func general(n *node) *node {
	if n.text[0] == '"' {
		return plainly("string")
	}
	return plainly("boolean")
}

// array converts lists. Luau has no tuples: a tuple is a list of whatever its places hold.
func (c *converter) array(s map[string]any, a at) *node {
	var items []*node
	if a.choice && c.lib.wide && !c.exact {
		a.wide = true // the checker does not compare a list in a literal with one of several types
	}
	first, _ := s["prefixItems"].([]any)
	rest := s["items"]
	if list, ok := rest.([]any); ok {
		first, rest = list, s["additionalItems"]
	}
	for i, item := range first {
		if i >= maxUnion {
			rest = true
			break
		}
		items = append(items, c.convert(item, a.inside(false)))
	}
	if rest != nil && rest != false || len(first) == 0 {
		items = append(items, c.convert(rest, a.inside(false)))
	}
	if len(items) == 1 {
		return listOf(items[0])
	}
	return listOf(either(items))
}

// table converts objects.
func (c *converter) table(s map[string]any, a at) *node {
	properties, _ := s["properties"].(map[string]any)
	n := &node{kind: table}
	names, needed := order(properties, s["required"])
	rest := s["additionalProperties"]
	n.index = c.others(s, len(names) > 0, a)
	for i, name := range names {
		if i >= maxFields {
			n.index, n.note = anything(), "more fields were left out"
			break
		}
		if strings.ContainsRune(name, 0) || len(name) > maxText {
			n.index = anything()
			continue
		}
		schema, described := properties[name]
		if !described {
			schema = rest
		}
		if schema == false && needed[name] && !described {
			schema = true
		}
		n.fields = append(n.fields, field{name: name, optional: !needed[name], of: c.convert(schema, a.inside(!needed[name])), doc: docOf(schema)})
	}
	return n
}

// others is the type of members that are not named, nil where there are none.
func (c *converter) others(s map[string]any, fields bool, a at) *node {
	var members []*node
	patterns, _ := s["patternProperties"].(map[string]any)
	for i, pattern := range slices.Sorted(maps.Keys(patterns)) {
		if i >= maxUnion {
			return because("one of too many types")
		}
		members = append(members, c.convert(patterns[pattern], a.inside(false)))
	}
	switch rest := s["additionalProperties"].(type) {
	case nil:
		if !fields && s["properties"] == nil && len(members) == 0 {
			return anything()
		}
	case bool:
		if rest {
			members = append(members, anything())
		}
	default:
		members = append(members, c.convert(rest, a.inside(false)))
	}
	if len(members) == 0 {
		return nil
	}
	return either(members)
}

// order is the names of fields: the needed ones as the schema lists them, then the others by their names.
func order(properties map[string]any, required any) ([]string, map[string]bool) {
	list, _ := required.([]any)
	needed := make(map[string]bool, len(list))
	names := make([]string, 0, len(properties))
	for _, item := range list {
		if name, ok := item.(string); ok && !needed[name] {
			needed[name] = true
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !needed[name] {
			names = append(names, name)
		}
	}
	return names, needed
}

func docOf(schema any) string {
	s, _ := schema.(map[string]any)
	text, _ := s["description"].(string)
	return text
}
