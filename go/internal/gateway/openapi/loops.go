package openapi

import (
	"maps"
	"strings"
)

// inPlace is a reference that applies a definition to the same value: it does not lead into the value. A loop of such
// references never ends for whoever follows them.
type inPlace struct {
	to    string
	ref   map[string]any
	allOf bool
}

// breakLoops takes apart loops of definitions that apply each other to the same value. Documents are full of one kind:
// a base that is one of its variants, each of which is all of the base and more.
func breakLoops(defs map[string]any) {
	edges := make(map[string][]inPlace, len(defs))
	for name, s := range defs {
		edges[name] = edgesOf(s)
	}
	if cut(defs, edges, nil) == 0 {
		return
	}
	baseOfVariants := func(from string, e inPlace) bool {
		base, _ := defs[e.to].(map[string]any)
		return e.allOf && from != e.to && (base["oneOf"] != nil || base["anyOf"] != nil)
	}
	groups := componentsOf(edges)
	for _, name := range sortedKeys(edges) {
		for _, e := range edges[name] {
			if groups[name] == groups[e.to] && baseOfVariants(name, e) {
				withoutVariants(e.ref, defs[e.to].(map[string]any))
			}
		}
	}
	for name, s := range defs {
		edges[name] = edgesOf(s)
	}
	cut(defs, edges, func(e inPlace) { delete(e.ref, "$ref") })
}

// withoutVariants puts into a schema what a base says by itself.
func withoutVariants(into, base map[string]any) {
	own := maps.Clone(base)
	for _, key := range []string{"oneOf", "anyOf", "discriminator"} {
		delete(own, key)
	}
	delete(into, "$ref")
	for key, value := range own {
		if _, there := into[key]; !there {
			into[key] = value
		}
	}
}

func edgesOf(s any) []inPlace {
	var list []inPlace
	var walk func(s any, allOf bool)
	walk = func(s any, allOf bool) {
		object, ok := s.(map[string]any)
		if !ok {
			return
		}
		if reference, ok := object["$ref"].(string); ok {
			list = append(list, inPlace{strings.TrimPrefix(reference, "#/$defs/"), object, allOf})
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			items, _ := object[key].([]any)
			for _, item := range items {
				walk(item, key == "allOf")
			}
		}
		for _, key := range []string{"not", "if", "then", "else"} {
			walk(object[key], false)
		}
		table, _ := object["dependentSchemas"].(map[string]any)
		for _, name := range sortedKeys(table) {
			walk(table[name], false)
		}
	}
	walk(s, false)
	return list
}

// cut finds the edges that close a loop, in the order of names, and does something to each. It gives their number.
func cut(defs map[string]any, edges map[string][]inPlace, do func(inPlace)) int {
	const open, done = 1, 2
	state := make(map[string]int, len(edges))
	found := 0
	type frame struct {
		name string
		next int
	}
	for _, start := range sortedKeys(defs) {
		if state[start] != 0 {
			continue
		}
		state[start] = open
		stack := []frame{{name: start}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(edges[top.name]) {
				state[top.name] = done
				stack = stack[:len(stack)-1]
				continue
			}
			e := edges[top.name][top.next]
			top.next++
			switch state[e.to] {
			case 0:
				state[e.to] = open
				stack = append(stack, frame{name: e.to})
			case open:
				if found++; do != nil {
					do(e)
				}
			}
		}
	}
	return found
}

// componentsOf gives definitions that lead to each other the same number (Tarjan's algorithm, without recursion).
func componentsOf(edges map[string][]inPlace) map[string]int {
	type frame struct {
		name string
		next int
	}
	index, low, group := map[string]int{}, map[string]int{}, map[string]int{}
	var path []string
	for _, start := range sortedKeys(edges) {
		if index[start] != 0 {
			continue
		}
		stack := []frame{{name: start}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == 0 && index[top.name] == 0 {
				index[top.name] = len(index) + 1
				low[top.name] = index[top.name]
				path = append(path, top.name)
			}
			if top.next < len(edges[top.name]) {
				to := edges[top.name][top.next].to
				top.next++
				switch {
				case index[to] == 0:
					stack = append(stack, frame{name: to})
				case group[to] == 0:
					low[top.name] = min(low[top.name], index[to])
				}
				continue
			}
			name := top.name
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				parent := stack[len(stack)-1].name
				low[parent] = min(low[parent], low[name])
			}
			for low[name] == index[name] {
				last := path[len(path)-1]
				path = path[:len(path)-1]
				group[last] = index[name]
				if last == name {
					break
				}
			}
		}
	}
	return group
}
