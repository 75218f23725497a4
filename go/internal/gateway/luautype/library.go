package luautype

import (
	"maps"
	"net/url"
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
	// maxLookedAt bounds the search for single values.
	maxLookedAt = 2_000
	maxName     = 48
)

// library is a set of types with names that are unique in it.
type library struct {
	names *names // of definitions
	named map[identity]*named
	taken map[string]bool // by what is no definition
	next  map[string]int
	nodes int
	wide  bool // single values give way where the checker would not see them
}

// names are those of definitions, given in advance so that they do not depend on which is used first.
type names struct {
	prefix string
	of     map[identity]string
	taken  map[string]bool
	next   map[string]int // the number that a name may be free with
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

	wide *named // the same without single values; nil until it is asked for
	base bool   // it is such a one itself
	// valued is positive where the type has single values, negative where not, 0 until it is asked for.
	valued int
	of     *node // nil until it is asked for
	refs   []*named
}

func newLibrary(n *names) *library {
	return &library{names: n, named: map[identity]*named{}, taken: map[string]bool{}, next: map[string]int{}}
}

func newNames(prefix string) *names {
	return &names{prefix: prefix, of: map[identity]string{}, taken: map[string]bool{}, next: map[string]int{}}
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

// reserve names all definitions. Those that have their final form already keep it.
func (n *names) reserve(defs map[string]any) {
	list := slices.Sorted(maps.Keys(defs))
	for _, exact := range []bool{true, false} {
		for _, name := range list {
			short := pascal(name)
			id := identify(name, defs[name])
			if _, known := n.of[id]; !known && (short == name) == exact {
				base := n.prefix + short
				name, number := free(base, max(1, n.next[base]), n.taken, nil)
				n.of[id], n.taken[name], n.next[base] = name, true, number
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
	name, reserved := l.names.of[id]
	if !reserved {
		name = l.free(l.names.prefix + pascal(wanted))
	}
	t := &named{name: name, schema: schema, place: p}
	l.named[id] = t
	return t
}

// free takes a name that no other type of the library has.
func (l *library) free(base string) string {
	name, number := free(base, max(1, l.next[base]), l.names.taken, l.taken)
	l.taken[name], l.next[base] = true, number
	return name
}

// free is a name that nobody has, and its number.
func free(base string, number int, taken, too map[string]bool) (string, int) {
	for ; ; number++ {
		name := base
		if number > 1 {
			name += strconv.Itoa(number)
		}
		if !taken[name] && !too[name] {
			return name, number
		}
	}
}

// typeOf is the type behind a name.
func (l *library) typeOf(t *named) *node {
	if t.of == nil {
		c := converter{lib: l, place: t.place, self: t}
		t.of = c.convert(t.schema, at{wide: t.base})
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
	if !a.guarded && c.self != nil && c.lib.leads(t, c.self.schema) {
		return because("defined by itself")
	}
	if a.wide && c.lib.hasValues(t) {
		t = c.lib.widened(t)
	}
	if !slices.Contains(c.refs, t) {
		c.refs = append(c.refs, t)
	}
	return &node{kind: reference, target: t}
}

// resolve finds what a reference means: a definition of the function, else a part of the schema it stands in.
func (c *converter) resolve(ref string) *named { return c.lib.resolve(ref, c.place) }

func (l *library) resolve(ref string, p place) *named {
	schema, label, at, found := lookUp(ref, p)
	if !found {
		return nil
	}
	return l.name(label, schema, at)
}

// lookUp gives the schema that a reference leads to, with its name and what "#" means there.
func lookUp(ref string, p place) (schema any, label string, at place, found bool) {
	steps := strings.Split(strings.TrimPrefix(ref, "#"), "/")
	if !strings.HasPrefix(ref, "#") || steps[0] != "" || len(ref) > 4096 {
		return nil, "", p, false
	}
	for i, step := range steps {
		steps[i] = unescape(step)
	}
	schema, label = p.root, p.label
	if len(steps) > 2 && (steps[1] == "$defs" || steps[1] == "definitions") {
		if def, found := p.defs[steps[2]]; found {
			schema, label, steps = def, steps[2], steps[2:]
			p = place{root: def, label: label, defs: p.defs}
		}
	}
	for _, step := range steps[1:] {
		if schema, found = inside(schema, step); !found {
			return nil, "", p, false
		}
		label = step
	}
	switch schema.(type) {
	case map[string]any, bool:
		return schema, label, p, true
	}
	return nil, "", p, false
}

// unescape undoes the escapes of a URL, which a reference is, and of a JSON pointer, which it ends with.
func unescape(step string) string {
	if plain, err := url.PathUnescape(step); err == nil {
		step = plain
	}
	return pointerEscapes.Replace(step)
}

var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// inside is one step into a tree.
func inside(tree any, step string) (any, bool) {
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
