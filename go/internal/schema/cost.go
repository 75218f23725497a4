package schema

import (
	"math"
	"reflect"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// stepUnits is what one look of the library at one value costs.
const stepUnits = 20

// coster adds up what the library will do at most. The library tries each branch of each choice, so a
// schema of ten lines and a value of a hundred levels may keep it busy for ever; the sum is found in
// polynomial time, because each schema is met once for each value.
type coster struct {
	graph *graph
	limit int
	steps int
	known map[meeting]int
}

// meeting is a schema and a value that it is applied to. Scalars have no parts and are not remembered.
type meeting struct {
	schema *jsonschema.Schema
	value  uintptr
	length int
}

const underway = -1

// cost is in units; more than limit where it is more.
func (g *graph) cost(s *jsonschema.Schema, v any, limit int) int {
	c := coster{graph: g, limit: limit}
	return c.of(s, v)
}

// plus adds up to a little more than the limit.
func (c *coster) plus(a, b int) int { return min(a+min(b, math.MaxInt/4), c.limit+1) }

func (c *coster) of(s *jsonschema.Schema, v any) int {
	const fewSteps = 256 // up to here, remembering costs more than it saves
	if c.steps++; c.steps*stepUnits > c.limit {
		return c.limit + 1
	}
	key, part := meet(s, v)
	if !part || c.steps < fewSteps {
		return c.count(s, v)
	}
	if c.known == nil {
		c.known = map[meeting]int{}
	}
	switch sum, met := c.known[key]; {
	case sum == underway:
		return 0 // a cycle through a dynamic reference, which the library finds
	case met:
		return sum
	}
	c.known[key] = underway
	sum := c.count(s, v)
	c.known[key] = sum
	return sum
}

func meet(s *jsonschema.Schema, v any) (meeting, bool) {
	switch v := v.(type) {
	case map[string]any:
		return meeting{s, reflect.ValueOf(v).Pointer(), len(v)}, true
	case []any:
		return meeting{s, reflect.ValueOf(v).Pointer(), -1 - len(v)}, true
	}
	return meeting{s, 0, 0}, true
}

func (c *coster) count(s *jsonschema.Schema, v any) int {
	sum := stepUnits + len(s.Required)
	if s.Enum != nil {
		sum += len(s.Enum.Values)
	}
	for child := range inPlace(s) {
		if child != s.RecursiveRef && (s.DynamicRef == nil || child != s.DynamicRef.Ref) {
			sum = c.plus(sum, c.of(child, v))
		}
	}
	sum = c.plus(sum, c.ofDynamic(s, v))
	switch v := v.(type) {
	case string:
		sum = c.plus(sum, len(v)/64)
		if p, ours := s.Pattern.(*pattern); ours {
			sum = c.plus(sum, p.cost(v))
		}
	case map[string]any:
		sum = c.plus(sum, c.ofMembers(s, v))
	case []any:
		sum = c.plus(sum, c.ofItems(s, v))
	}
	return sum
}

// ofDynamic takes the dearest of the schemas that a dynamic reference may find.
func (c *coster) ofDynamic(s *jsonschema.Schema, v any) int {
	if s.DynamicRef == nil && s.RecursiveRef == nil {
		return 0
	}
	most := 0
	try := func(list ...*jsonschema.Schema) {
		for _, target := range list {
			most = max(most, c.of(target, v))
		}
	}
	if s.DynamicRef != nil {
		try(s.DynamicRef.Ref)
		try(c.graph.anchored[s.DynamicRef.Anchor]...)
	}
	if s.RecursiveRef != nil {
		try(s.RecursiveRef)
		try(c.graph.anchored[""]...)
	}
	return most
}

func (c *coster) ofMembers(s *jsonschema.Schema, object map[string]any) int {
	sum := 0
	additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
	for name, item := range object {
		if sum > c.limit {
			return sum
		}
		child, known := s.Properties[name]
		if known {
			sum = c.plus(sum, c.of(child, item))
		}
		for re, child := range s.PatternProperties {
			if p, ours := re.(*pattern); ours {
				sum = c.plus(sum, 1+p.cost(name))
			}
			if sum <= c.limit && re.MatchString(name) {
				sum = c.plus(sum, c.of(child, item))
			}
		}
		if additional != nil && !known {
			sum = c.plus(sum, c.of(additional, item))
		}
		if s.PropertyNames != nil {
			sum = c.plus(sum, c.of(s.PropertyNames, name))
		}
		if s.UnevaluatedProperties != nil {
			sum = c.plus(sum, c.of(s.UnevaluatedProperties, item))
		}
	}
	return sum
}

func (c *coster) ofItems(s *jsonschema.Schema, list []any) int {
	sum := 0
	if s.UniqueItems {
		sum = c.size(list)
	}
	loose := []*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems}
	tuple := s.PrefixItems
	if items, is := s.Items.(*jsonschema.Schema); is {
		loose = append(loose, items)
	}
	if items, is := s.Items.([]*jsonschema.Schema); is {
		tuple = items
	}
	if rest, is := s.AdditionalItems.(*jsonschema.Schema); is {
		loose = append(loose, rest)
	}
	for i, item := range list {
		if sum > c.limit {
			return sum
		}
		if i < len(tuple) {
			sum = c.plus(sum, c.of(tuple[i], item))
		}
		for _, child := range loose {
			if child != nil {
				sum = c.plus(sum, c.of(child, item))
			}
		}
	}
	return sum
}

// size is what comparing a value with others costs: each number in it becomes a fraction.
func (c *coster) size(v any) int {
	sum := stepUnits
	switch v := v.(type) {
	case string:
		sum += len(v) / 64
	case map[string]any:
		for _, item := range v {
			if sum = c.plus(sum, c.size(item)); sum > c.limit {
				break
			}
		}
	case []any:
		for _, item := range v {
			if sum = c.plus(sum, c.size(item)); sum > c.limit {
				break
			}
		}
	}
	return sum
}
