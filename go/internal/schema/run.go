package schema

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// mostUnits is what one validation may cost: a look at a value of a plain schema is one unit, about 20 ns.
const mostUnits = 10_000_000

// run is one validation.
type run struct {
	graph *graph
	units int    // what is left
	found *found // nil where only yes or no is asked
}

// path is where a value is, from the inside out.
type path struct {
	up    *path
	name  string
	index int // -1 for a name
}

func (p *path) tokens() []string {
	if p == nil {
		return nil
	}
	if p.index >= 0 {
		return append(p.up.tokens(), strconv.Itoa(p.index))
	}
	return append(p.up.tokens(), p.name)
}

// fail notes what is wrong; the result is false for the caller to give on.
func (r *run) fail(p *path, n *node, what jsonschema.ErrorKind) bool {
	if r.found != nil {
		r.found.add(p.tokens(), n.schema, what)
	}
	return false
}

// spend tells whether there are units left.
func (r *run) spend(p *path, n *node, units int) bool {
	if r.units -= units; r.units >= 0 {
		return true
	}
	return r.fail(p, n, tooCostly{})
}

// full tells that nothing more needs to be found.
func (r *run) full(valid bool) bool {
	return !valid && (r.found == nil || r.found.full() || r.units < 0)
}

// check tells whether a value is valid under a node.
func (r *run) check(n *node, v any, p *path) bool {
	if n.opaque {
		return r.library(n, v, p)
	}
	if !r.spend(p, n, 1+len(n.required)) {
		return false
	}
	if n.never {
		return r.fail(p, n, &kind.FalseSchema{})
	}
	k := kindOf(v)
	switch {
	case k == 0: // a number with all its digits, or no JSON value
		return r.library(n, v, p)
	case n.kinds&k == 0:
		return r.fail(p, n, &kind.Type{Got: nameOf(v), Want: n.schema.Types.ToStrings()})
	}
	if n.enum != nil && !r.listed(n, v, p) {
		return false
	}
	if n.schema.Format != nil {
		if err := n.schema.Format.Validate(v); err != nil {
			return r.fail(p, n, &kind.Format{Got: v, Want: n.schema.Format.Name, Err: err})
		}
	}
	switch v := v.(type) {
	case string:
		return r.text(n, v, p)
	case float64:
		return r.number(n, v, p)
	case map[string]any:
		return r.object(n, v, p)
	case []any:
		return r.array(n, v, p)
	}
	return true
}

// kindOf gives the kinds that a value is of; none for what only the library compares.
func kindOf(v any) kinds {
	switch v := v.(type) {
	case nil:
		return kindNull
	case bool:
		return kindBool
	case string:
		return kindString
	case float64:
		switch {
		case math.IsNaN(v), math.IsInf(v, 0):
			return 0
		case v == math.Trunc(v):
			return kindNumber | kindInteger
		}
		return kindNumber
	case []any:
		return kindArray
	case map[string]any:
		return kindObject
	}
	return 0
}

func (r *run) listed(n *node, v any, p *path) bool {
	switch v.(type) {
	case map[string]any, []any:
	default:
		if _, is := n.enum[v]; is {
			return true
		}
	}
	if n.schema.Const != nil {
		return r.fail(p, n, &kind.Const{Got: v, Want: *n.schema.Const})
	}
	return r.fail(p, n, &kind.Enum{Got: v, Want: n.schema.Enum.Values})
}

func (r *run) text(n *node, v string, p *path) bool {
	s, valid := n.schema, true
	if s.MinLength != nil || s.MaxLength != nil {
		length := utf8.RuneCountInString(v)
		if s.MinLength != nil && length < *s.MinLength {
			valid = r.fail(p, n, &kind.MinLength{Got: length, Want: *s.MinLength})
		}
		if s.MaxLength != nil && length > *s.MaxLength {
			valid = r.fail(p, n, &kind.MaxLength{Got: length, Want: *s.MaxLength})
		}
	}
	if n.pattern == nil || r.full(valid) {
		return valid
	}
	if !r.spend(p, n, n.pattern.cost(v)) {
		return false
	}
	if !n.pattern.MatchString(v) {
		return r.fail(p, n, &kind.Pattern{Got: v, Want: n.pattern.text})
	}
	return valid
}

func (r *run) number(n *node, v float64, p *path) bool {
	valid := true
	for _, b := range n.bounds {
		if !b.holds(v) {
			valid = r.fail(p, n, outOfBounds{b})
		}
	}
	return valid
}

func (r *run) object(n *node, v map[string]any, p *path) bool {
	s, valid := n.schema, true
	if s.MinProperties != nil && len(v) < *s.MinProperties {
		valid = r.fail(p, n, &kind.MinProperties{Got: len(v), Want: *s.MinProperties})
	}
	if s.MaxProperties != nil && len(v) > *s.MaxProperties {
		valid = r.fail(p, n, &kind.MaxProperties{Got: len(v), Want: *s.MaxProperties})
	}
	for _, name := range n.required {
		if _, there := v[name]; !there {
			valid = r.fail(p, n, &kind.Required{Missing: []string{name}})
		}
	}
	if n.properties == nil && n.additional == nil && !n.closed {
		return valid
	}
	for name, item := range v {
		if r.full(valid) {
			return false
		}
		valid = r.member(n, name, item, p) && valid
	}
	return valid
}

func (r *run) member(n *node, name string, item any, p *path) bool {
	inside := path{p, name, -1}
	if child, known := n.properties[name]; known {
		return r.check(child, item, &inside)
	}
	if n.closed {
		return r.fail(p, n, &kind.AdditionalProperties{Properties: []string{name}})
	}
	return n.additional == nil || r.check(n.additional, item, &inside)
}

func (r *run) array(n *node, v []any, p *path) bool {
	s, valid := n.schema, true
	if s.MinItems != nil && len(v) < *s.MinItems {
		valid = r.fail(p, n, &kind.MinItems{Got: len(v), Want: *s.MinItems})
	}
	if s.MaxItems != nil && len(v) > *s.MaxItems {
		valid = r.fail(p, n, &kind.MaxItems{Got: len(v), Want: *s.MaxItems})
	}
	if n.items == nil {
		return valid
	}
	for i, item := range v {
		if r.full(valid) {
			return false
		}
		inside := path{p, "", i}
		valid = r.check(n.items, item, &inside) && valid
	}
	return valid
}

// library asks the library, if that has an end.
func (r *run) library(n *node, v any, p *path) bool {
	if what := r.strange(v, mostValueDepth); what != nil {
		return r.fail(p, n, what)
	}
	if !r.spend(p, n, r.graph.cost(n.schema, v, r.units)) {
		return false
	}
	err := n.schema.Validate(v)
	if err == nil {
		return true
	}
	var result *jsonschema.ValidationError
	if r.found != nil && errors.As(err, &result) {
		r.found.addResult(p.tokens(), result, r.graph)
	}
	return false
}

// mostValueDepth is more than package jsonvalue reads.
const mostValueDepth = 1000

// strange finds what the library cannot bear: numbers with enormous exponents, endless depth.
func (r *run) strange(v any, depth int) jsonschema.ErrorKind {
	if r.units--; depth == 0 || r.units < 0 {
		return tooCostly{}
	}
	switch v := v.(type) {
	case json.Number:
		if !reasonable(v) {
			return hugeNumber{}
		}
	case map[string]any:
		for _, item := range v {
			if what := r.strange(item, depth-1); what != nil {
				return what
			}
		}
	case []any:
		for _, item := range v {
			if what := r.strange(item, depth-1); what != nil {
				return what
			}
		}
	}
	return nil
}
