package schema

import (
	"fmt"
	"math/big"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// kinds is a set of JSON types.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBool
	kindNumber
	kindInteger
	kindString
	kindArray
	kindObject
)

var kindsByName = map[string]kinds{
	"null": kindNull, "boolean": kindBool, "number": kindNumber, "integer": kindInteger,
	"string": kindString, "array": kindArray, "object": kindObject,
}

// node is a schema that one pass over a value decides: no choices, no references but plain ones, nothing
// that looks at a value twice. What else a schema may be is left to the library, from there on down.
type node struct {
	schema *jsonschema.Schema
	opaque bool // the library's

	never      bool // false
	kinds      kinds
	enum       map[any]struct{}
	bounds     []bound
	pattern    *pattern
	required   []string
	properties map[string]*node
	additional *node // nil allows anything
	closed     bool  // additionalProperties: false
	items      *node
}

// bound is a limit of numbers that a float64 holds as its text says it.
type bound struct {
	limit  float64
	sign   float64 // 1 for a maximum, -1 for a minimum
	strict bool
}

func (b bound) holds(n float64) bool {
	d := (n - b.limit) * b.sign
	return d < 0 || d == 0 && !b.strict
}

// plain makes the nodes of all schemas.
func (g *graph) plain() *node {
	nodes := make([]node, len(g.all))
	for i, s := range g.all {
		g.describe(&nodes[i], s, nodes)
	}
	if g.dynamic { // the way to a schema counts
		return &nodes[g.index[g.root]]
	}
	return &nodes[g.index[target(g.root)]]
}

// target follows references that have nothing beside them. There is no cycle of them.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for s.Ref != nil && onlyRef(s) {
		s = s.Ref
	}
	return s
}

func onlyRef(s *jsonschema.Schema) bool {
	return s.Bool == nil && s.Types == nil && s.Enum == nil && s.Const == nil && s.Format == nil && s.Pattern == nil &&
		s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil &&
		s.MinLength == nil && s.MaxLength == nil && s.MinItems == nil && s.MaxItems == nil &&
		s.MinProperties == nil && s.MaxProperties == nil && len(s.Required) == 0 && s.Properties == nil &&
		s.AdditionalProperties == nil && s.Items == nil && s.Items2020 == nil && !beyondPlain(s)
}

// beyondPlain tells whether a schema has a keyword that is left to the library. A $ref is looked at
// elsewhere.
func beyondPlain(s *jsonschema.Schema) bool {
	return s.RecursiveRef != nil || s.DynamicRef != nil || s.Not != nil || s.If != nil ||
		len(s.AllOf)+len(s.AnyOf)+len(s.OneOf)+len(s.PrefixItems)+len(s.PatternProperties)+len(s.Extensions) > 0 ||
		len(s.Dependencies)+len(s.DependentRequired)+len(s.DependentSchemas) > 0 ||
		s.PropertyNames != nil || s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil || s.Contains != nil ||
		s.UniqueItems || s.MultipleOf != nil || s.AdditionalItems != nil ||
		s.ContentEncoding != nil || s.ContentMediaType != nil || s.ContentSchema != nil
}

func (g *graph) describe(n *node, s *jsonschema.Schema, nodes []node) {
	n.schema = s
	if g.dynamic || s.Ref != nil || beyondPlain(s) || !n.describeScalars(s) {
		n.opaque = true
		return
	}
	at := func(child *jsonschema.Schema) *node { return &nodes[g.index[target(child)]] }
	n.required = s.Required
	if s.Properties != nil {
		n.properties = make(map[string]*node, len(s.Properties))
		for name, child := range s.Properties {
			n.properties[name] = at(child)
		}
	}
	switch additional := s.AdditionalProperties.(type) {
	case bool:
		n.closed = !additional
	case *jsonschema.Schema:
		n.additional = at(additional)
		n.closed = additional.Bool != nil && !*additional.Bool
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		n.items = at(items)
	case []*jsonschema.Schema:
		n.opaque = true
	}
	if s.Items2020 != nil {
		n.items = at(s.Items2020)
	}
}

func (n *node) describeScalars(s *jsonschema.Schema) bool {
	n.never = s.Bool != nil && !*s.Bool
	n.kinds = ^kinds(0)
	if s.Types != nil && !s.Types.IsEmpty() {
		n.kinds = 0
		for _, name := range s.Types.ToStrings() {
			n.kinds |= kindsByName[name]
		}
	}
	if s.Pattern != nil {
		n.pattern, _ = s.Pattern.(*pattern)
	}
	return n.describeEnum(s) && n.addBound(s.Maximum, 1, false) && n.addBound(s.Minimum, -1, false) &&
		n.addBound(s.ExclusiveMaximum, 1, true) && n.addBound(s.ExclusiveMinimum, -1, true)
}

// describeEnum takes lists of scalars; a const is a list of one.
func (n *node) describeEnum(s *jsonschema.Schema) bool {
	var values []any
	switch {
	case s.Enum != nil && s.Const != nil:
		return false
	case s.Enum != nil:
		values = s.Enum.Values
	case s.Const != nil:
		values = []any{*s.Const}
	default:
		return true
	}
	n.enum = make(map[any]struct{}, len(values))
	for _, v := range values {
		switch v.(type) {
		case nil, bool, string, float64:
			n.enum[v] = struct{}{}
		default:
			return false
		}
	}
	return true
}

// addBound takes limits that are the text of a float64, so that comparing float64s compares the texts.
func (n *node) addBound(limit *big.Rat, sign float64, strict bool) bool {
	if limit == nil {
		return true
	}
	f, _ := limit.Float64()
	text, ok := new(big.Rat).SetString(fmt.Sprint(f))
	if !ok || text.Cmp(limit) != 0 {
		return false
	}
	n.bounds = append(n.bounds, bound{f, sign, strict})
	return true
}
