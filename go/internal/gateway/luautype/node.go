package luautype

import "slices"

type kind uint8

const (
	plain        kind = iota // a type of Luau by its name, or one value of a string or boolean
	reference                // a type with a name
	array                    // {items[0]}
	table                    // fields and an indexer
	union                    // of items, none of which is a union or nil
	intersection             // of items
	optional                 // items[0]?
)

// node is one type.
type node struct {
	kind   kind
	text   string // of a plain one
	value  bool   // a plain one is a single value
	note   string // a comment behind it
	target *named
	items  []*node
	fields []field
	index  *node // of a table: the type of members that have no field; nil is none
}

type field struct {
	name     string
	optional bool
	of       *node
	doc      string
}

func plainly(text string) *node { return &node{kind: plain, text: text} }

// Where schemas end for us, and why.
func anything() *node               { return plainly("any") }
func because(reason string) *node   { return &node{kind: plain, text: "any", note: reason} }
func (n *node) is(text string) bool { return n.kind == plain && n.text == text }

func listOf(item *node) *node { return &node{kind: array, items: []*node{item}} }

func maybe(n *node) *node {
	if n.kind == optional || n.is("any") || n.is("nil") {
		return n
	}
	if n.is("never") {
		return plainly("nil")
	}
	return &node{kind: optional, items: []*node{n}}
}

// meaning is the text of a type by which members are told apart: of a plain one without its note.
func meaning(n *node) string {
	if n.kind == plain {
		return n.text
	}
	return inline(n)
}

// either makes a union: flat, without doubles, nil as a question mark, and any if one of its members is.
func either(list []*node) *node {
	var members []*node
	seen := map[string]bool{}
	canBeNil := false
	var add func(*node) *node
	add = func(n *node) *node {
		switch {
		case n.is("any"):
			return n
		case n.is("never"):
		case n.is("nil"):
			canBeNil = true
		case n.kind == optional:
			canBeNil = true
			return add(n.items[0])
		case n.kind == union:
			for _, item := range n.items {
				add(item)
			}
		default:
			if text := meaning(n); !seen[text] {
				seen[text] = true
				members = append(members, n)
			}
		}
		return nil
	}
	for _, n := range list {
		if all := add(n); all != nil {
			return all
		}
	}
	members = withoutCovered(members)
	if len(members) > maxUnion {
		return because("one of too many types")
	}
	var n *node
	switch len(members) {
	case 0:
		if canBeNil {
			return plainly("nil")
		}
		return plainly("never")
	case 1:
		n = members[0]
	default:
		n = &node{kind: union, items: members}
	}
	if canBeNil {
		n = maybe(n)
	}
	return n
}

// withoutCovered drops single values of a type that is a member itself.
func withoutCovered(members []*node) []*node {
	texts, flags := false, false
	for _, m := range members {
		texts = texts || m.is("string")
		flags = flags || m.is("boolean")
	}
	yes := slices.IndexFunc(members, func(m *node) bool { return m.value && m.is("true") })
	no := slices.IndexFunc(members, func(m *node) bool { return m.value && m.is("false") })
	if !flags && yes >= 0 && no >= 0 {
		members[yes], flags = plainly("boolean"), true
	}
	return slices.DeleteFunc(members, func(m *node) bool {
		return m.value && (texts && m.text[0] == '"' || flags && m.text[0] != '"')
	})
}

// both makes an intersection; tables without names become one.
func both(list []*node) *node {
	var members []*node
	seen := map[string]bool{}
	canBeNil := len(list) > 0
	var whole *node
	for _, n := range list {
		if n.is("any") {
			if whole == nil {
				whole = n
			}
			continue
		}
		if n.kind == optional {
			n = n.items[0]
		} else {
			canBeNil = false
		}
		if n.is("never") {
			return n
		}
		if n.kind == table {
			if i := slices.IndexFunc(members, func(m *node) bool { return m.kind == table }); i >= 0 {
				members[i] = merged(members[i], n)
				continue
			}
		}
		if text := meaning(n); !seen[text] {
			seen[text] = true
			members = append(members, n)
		}
	}
	members = withoutEmpty(narrowed(members))
	switch {
	case len(members) == 0 && whole != nil:
		return whole
	case len(members) == 0:
		return anything()
	case len(members) > maxIntersection:
		return because("too many types at once")
	case disjoint(members):
		return plainly("never")
	}
	n := members[0]
	if len(members) > 1 {
		n = &node{kind: intersection, items: members}
	}
	if canBeNil {
		n = maybe(n)
	}
	return n
}

// narrowed drops plain types of which another member is a single value or a choice.
func narrowed(members []*node) []*node {
	return slices.DeleteFunc(slices.Clone(members), func(m *node) bool {
		return m.kind == plain && !m.value && slices.ContainsFunc(members, func(o *node) bool { return o != m && within(o, m.text) })
	})
}

// within says whether all values of a type are of a plain one.
func within(n *node, name string) bool {
	switch {
	case n.kind == plain && n.value:
		return (n.text[0] == '"') == (name == "string") && (name == "string" || name == "boolean")
	case n.kind == union:
		return !slices.ContainsFunc(n.items, func(item *node) bool { return !within(item, name) })
	}
	return n.is(name)
}

// withoutEmpty drops a table that says nothing where something else says more.
func withoutEmpty(members []*node) []*node {
	if len(members) < 2 {
		return members
	}
	return slices.DeleteFunc(members, func(m *node) bool {
		return m.kind == table && len(m.fields) == 0 && (m.index == nil || m.index.is("any"))
	})
}

// disjoint says whether members are certainly of different kinds.
func disjoint(members []*node) bool {
	kinds := map[string]bool{}
	for _, m := range members {
		switch {
		case m.kind == table || m.kind == array:
			kinds["table"] = true
		case m.kind == plain && m.value && m.text[0] == '"':
			kinds["string"] = true
		case m.kind == plain && m.value:
			kinds["boolean"] = true
		case m.kind == plain:
			kinds[m.text] = true
		}
	}
	return len(kinds) > 1
}

// merged makes one table of two.
func merged(a, b *node) *node {
	m := &node{kind: table, fields: slices.Clone(a.fields), index: a.index}
	at := make(map[string]int, len(m.fields))
	for i, f := range m.fields {
		at[f.name] = i
	}
	for _, f := range b.fields {
		i, there := at[f.name]
		if !there {
			m.fields = append(m.fields, f)
			continue
		}
		old := &m.fields[i]
		old.optional = old.optional && f.optional
		old.of = both([]*node{old.of, f.of})
		if old.doc == "" {
			old.doc = f.doc
		}
	}
	if b.index != nil {
		m.index = b.index
		if a.index != nil {
			m.index = both([]*node{a.index, b.index})
		}
	}
	sortFields(m.fields)
	return m
}

// sortFields puts what is needed in front, and leaves the order within each part.
func sortFields(fields []field) {
	slices.SortStableFunc(fields, func(a, b field) int {
		switch {
		case a.optional == b.optional:
			return 0
		case b.optional:
			return -1
		}
		return 1
	})
}
