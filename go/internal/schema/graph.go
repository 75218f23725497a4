package schema

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// graph is all schemas that can be reached from one.
type graph struct {
	root     *jsonschema.Schema
	all      []*jsonschema.Schema
	index    map[*jsonschema.Schema]int
	at       map[string]*jsonschema.Schema // by location
	anchored map[string][]*jsonschema.Schema
	dynamic  bool // a reference depends on how it is reached
}

func newGraph(root *jsonschema.Schema) (*graph, error) {
	g := &graph{
		root: root, index: map[*jsonschema.Schema]int{}, at: map[string]*jsonschema.Schema{},
		anchored: map[string][]*jsonschema.Schema{},
	}
	return g, g.reach(root)
}

// reach adds schemas with all that they lead to.
func (g *graph) reach(list ...*jsonschema.Schema) error {
	next := len(g.all)
	for _, s := range list {
		g.add(s)
	}
	for ; next < len(g.all); next++ {
		for child := range inPlace(g.all[next]) {
			g.add(child)
		}
		for child := range inner(g.all[next]) {
			g.add(child)
		}
	}
	return g.refuseCycle()
}

// anchors gives the addresses of what dynamic references may find in a document.
func anchors(v any, pointer string) []string {
	var list []string
	switch v := v.(type) {
	case map[string]any:
		if v["$dynamicAnchor"] != nil || v["$recursiveAnchor"] == true {
			list = append(list, pointer)
		}
		for name, item := range v {
			list = append(list, anchors(item, jsonvalue.AppendPointer(pointer, name))...)
		}
	case []any:
		for i, item := range v {
			list = append(list, anchors(item, pointer+"/"+strconv.Itoa(i))...)
		}
	}
	return list
}

func (g *graph) add(s *jsonschema.Schema) {
	if _, known := g.index[s]; known {
		return
	}
	g.index[s] = len(g.all)
	g.all = append(g.all, s)
	g.at[s.Location] = s
	if s.DynamicAnchor != "" {
		g.anchored[s.DynamicAnchor] = append(g.anchored[s.DynamicAnchor], s)
	}
	if s.RecursiveAnchor {
		g.anchored[""] = append(g.anchored[""], s)
	}
	g.dynamic = g.dynamic || s.DynamicRef != nil || s.RecursiveRef != nil
}

// refuseCycle: a schema that applies itself to the same value never ends.
func (g *graph) refuseCycle() error {
	const unseen, open, done = 0, 1, 2
	state := make([]int8, len(g.all))
	var visit func(s *jsonschema.Schema) error
	visit = func(s *jsonschema.Schema) error {
		i := g.index[s]
		switch state[i] {
		case open:
			return fmt.Errorf("%s applies itself to the same value without an end", orRoot(fragment(s.Location)))
		case done:
			return nil
		}
		state[i] = open
		for child := range inPlace(s) {
			if s.RecursiveRef == child || s.DynamicRef != nil && s.DynamicRef.Ref == child {
				continue // where it leads is known only on the way; the library looks then
			}
			if err := visit(child); err != nil {
				return err
			}
		}
		state[i] = done
		return nil
	}
	for _, s := range g.all {
		if err := visit(s); err != nil {
			return err
		}
	}
	return nil
}

func orRoot(fragment string) string {
	if fragment == "" || fragment == "#" {
		return "the schema"
	}
	return fragment
}

var errComplex = errors.New("too many ways through this schema: make it simpler")

// inPlace gives the schemas that s applies to the same value, but for those that a dynamic reference
// finds on its way.
func inPlace(s *jsonschema.Schema) func(yield func(*jsonschema.Schema) bool) {
	return func(yield func(*jsonschema.Schema) bool) {
		for _, child := range []*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else, s.RecursiveRef} {
			if child != nil && !yield(child) {
				return
			}
		}
		if s.DynamicRef != nil && !yield(s.DynamicRef.Ref) {
			return
		}
		for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
			for _, child := range list {
				if !yield(child) {
					return
				}
			}
		}
		for _, child := range s.DependentSchemas {
			if !yield(child) {
				return
			}
		}
		for _, dependency := range s.Dependencies {
			if child, is := dependency.(*jsonschema.Schema); is && !yield(child) {
				return
			}
		}
	}
}

// inner gives the schemas that s applies to parts of the value.
func inner(s *jsonschema.Schema) func(yield func(*jsonschema.Schema) bool) {
	return func(yield func(*jsonschema.Schema) bool) {
		for _, children := range []map[string]*jsonschema.Schema{s.Properties} {
			for _, child := range children {
				if !yield(child) {
					return
				}
			}
		}
		for _, child := range s.PatternProperties {
			if !yield(child) {
				return
			}
		}
		lists := [][]*jsonschema.Schema{s.PrefixItems, {s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems}}
		for _, loose := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
			switch child := loose.(type) {
			case *jsonschema.Schema:
				lists = append(lists, []*jsonschema.Schema{child})
			case []*jsonschema.Schema:
				lists = append(lists, child)
			}
		}
		for _, list := range lists {
			for _, child := range list {
				if child != nil && !yield(child) {
					return
				}
			}
		}
	}
}
