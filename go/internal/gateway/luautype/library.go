package luautype

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of all types of one source, and of the search for types that are nothing but each other.
const (
	maxLibrary = 4_000_000 // nodes
	maxChain   = 500
	maxName    = 48
)

// library is a set of types with names that are unique in it.
type library struct {
	prefix string
	named  map[identity]*named
	taken  map[string]bool
	nodes  int
	loose  bool // single values give way where the checker would not see them
}

// identity tells schemas with one name apart.
type identity struct {
	name string
	at   uintptr
}

// named is a type with a name.
type named struct {
	name   string
	schema any
	place  place

	of   *node // nil until it is asked for
	refs []*named
}

func newLibrary(prefix string) *library {
	return &library{prefix: prefix, named: map[identity]*named{}, taken: map[string]bool{}}
}

func identify(name string, schema any) identity {
	if m, ok := schema.(map[string]any); ok {
		return identity{name, reflect.ValueOf(m).Pointer()}
	}
	if schema == false {
		return identity{name, 1}
	}
	return identity{name, 0}
}

// reserve gives all definitions their names, so that these do not depend on which is used first.
func (l *library) reserve(defs map[string]any) {
	names := slices.Sorted(maps.Keys(defs))
	for _, exact := range []bool{true, false} {
		for _, name := range names {
			if (pascal(name) == name) == exact {
				l.name(name, defs[name], place{root: defs[name], label: name, defs: defs})
			}
		}
	}
}

// name finds a type, or takes it in.
func (l *library) name(wanted string, schema any, p place) *named {
	id := identify(wanted, schema)
	if t := l.named[id]; t != nil {
		return t
	}
	t := &named{name: l.free(l.prefix + pascal(wanted)), schema: schema, place: p}
	l.named[id] = t
	return t
}

func (l *library) free(name string) string {
	free := name
	for n := 2; l.taken[free]; n++ {
		free = name + strconv.Itoa(n)
	}
	l.taken[free] = true
	return free
}

// typeOf is the type behind a name.
func (l *library) typeOf(t *named) *node {
	if t.of == nil {
		c := converter{lib: l, place: t.place, self: t}
		t.of = c.convert(t.schema, at{})
		t.refs = c.refs
	}
	return t.of
}

// refer converts a reference.
func (c *converter) refer(ref string, a at) *node {
	t := c.resolve(ref)
	if t == nil {
		return because("its definition is missing")
	}
	if !a.guarded && c.self != nil && c.lib.leads(t, c.self) {
		return because("defined by itself")
	}
	if !slices.Contains(c.refs, t) {
		c.refs = append(c.refs, t)
	}
	return &node{kind: reference, target: t}
}

// resolve finds what a reference means: a definition of the function, else a part of the schema it stands in.
func (c *converter) resolve(ref string) *named { return c.lib.resolve(ref, c.place) }

func (l *library) resolve(ref string, p place) *named {
	steps := strings.Split(strings.TrimPrefix(ref, "#"), "/")
	if !strings.HasPrefix(ref, "#") || steps[0] != "" || len(ref) > 4096 {
		return nil
	}
	for i, step := range steps {
		steps[i] = unescape(step)
	}
	var schema any = p.root
	label := p.label
	if len(steps) > 2 && (steps[1] == "$defs" || steps[1] == "definitions") {
		if def, found := p.defs[steps[2]]; found {
			schema, label, steps = def, steps[2], steps[2:]
			p = place{root: def, label: label, defs: p.defs}
		}
	}
	for _, step := range steps[1:] {
		next, found := member1(schema, step)
		if !found {
			return nil
		}
		schema, label = next, step
	}
	if _, isSchema := schema.(map[string]any); !isSchema {
		if _, isBool := schema.(bool); !isBool {
			return nil
		}
	}
	return l.name(label, schema, p)
}

func unescape(step string) string {
	if strings.ContainsRune(step, '%') {
		step = percent(step)
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
}

// member1 is one step into a tree.
func member1(tree any, step string) (any, bool) {
	switch tree := tree.(type) {
	case map[string]any:
		v, found := tree[step]
		return v, found
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(tree) {
			return tree[i], true
		}
	}
	return nil, false
}

// leads says whether a type is another one but for choices and intersections, which Luau cannot resolve. A chain
// that is too long counts as one.
func (l *library) leads(from, to *named) bool {
	seen := map[*named]bool{}
	budget := maxChain
	var visit func(t *named) bool
	var walk func(schema any, p place, depth int) bool
	visit = func(t *named) bool {
		if t == to {
			return true
		}
		if seen[t] {
			return false
		}
		seen[t] = true
		return walk(t.schema, t.place, 0)
	}
	walk = func(schema any, p place, depth int) bool {
		s, ok := schema.(map[string]any)
		if !ok {
			return false
		}
		if budget--; budget < 0 || depth > maxDepth {
			return true
		}
		if ref, ok := s["$ref"].(string); ok {
			if t := l.resolve(ref, p); t != nil && visit(t) {
				return true
			}
		}
		for _, word := range []string{"anyOf", "oneOf", "allOf"} {
			for _, item := range schemas(s[word]) {
				if walk(item, p, depth+1) {
					return true
				}
			}
		}
		return false
	}
	return visit(from)
}

// pascal makes a name for a type: "simple-user" is SimpleUser.
func pascal(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		if r >= 0x80 || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			up = true
			continue
		}
		if b.Len() == 0 && unicode.IsDigit(r) {
			b.WriteByte('T')
		}
		if up {
			r = unicode.ToUpper(r)
		}
		up = false
		if b.WriteRune(r); b.Len() >= maxName {
			break
		}
	}
	if b.Len() == 0 {
		return "Type"
	}
	return b.String()
}
