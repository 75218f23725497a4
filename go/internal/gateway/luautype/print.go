package luautype

import (
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// inline writes a type on one line.
func inline(n *node) string {
	var b strings.Builder
	write(&b, n, false)
	return b.String()
}

// write adds a type; tight where an operator stands beside it.
func write(b *strings.Builder, n *node, tight bool) {
	switch n.kind {
	case plain:
		b.WriteString(n.text)
		if n.note != "" {
			b.WriteString(" --[[ " + n.note + " ]]")
		}
	case reference:
		b.WriteString(n.target.name)
	case array:
		b.WriteByte('{')
		write(b, n.items[0], false)
		b.WriteByte('}')
	case optional:
		write(b, n.items[0], true)
		b.WriteByte('?')
	case union, intersection:
		operator := " | "
		if n.kind == intersection {
			operator = " & "
		}
		parens := tight || n.kind == union && allValues(n)
		if parens {
			b.WriteByte('(')
		}
		for i, item := range n.items {
			if i > 0 {
				b.WriteString(operator)
			}
			write(b, item, true)
		}
		if parens {
			b.WriteByte(')')
		}
	case table:
		writeTable(b, n)
	}
}

func allValues(n *node) bool {
	for _, item := range n.items {
		if !item.value {
			return false
		}
	}
	return true
}

func writeTable(b *strings.Builder, n *node) {
	if len(n.fields) == 0 && n.index == nil {
		b.WriteString("{}")
		return
	}
	b.WriteString("{ ")
	for i, f := range n.fields {
		if i > 0 {
			b.WriteString(", ")
		}
		writeField(b, f)
	}
	if n.index != nil {
		if len(n.fields) > 0 {
			b.WriteString(", ")
		}
		b.WriteString("[string]: ")
		write(b, n.index, false)
	}
	if n.note != "" {
		b.WriteString(" --[[ " + n.note + " ]]")
	}
	b.WriteString(" }")
}

func writeField(b *strings.Builder, f field) {
	b.WriteString(member(f.name))
	b.WriteString(": ")
	switch {
	case !f.optional:
		write(b, f.of, false)
	case f.of.is("any") && f.of.note == "":
		b.WriteString("any?")
	default:
		write(b, maybe(f.of), false)
	}
}

// member is the key of a table, as types and tables write it.
func member(name string) string {
	if catalog.IsIdent(name) {
		return name
	}
	return "[" + catalog.Quote(name) + "]"
}

// block writes what stands behind `export type X = `: a table on lines of its own, with what its fields are for.
func block(n *node) string {
	if n.kind == optional && n.items[0].kind == table {
		return block(n.items[0]) + "?"
	}
	if n.kind != table || len(n.fields) == 0 {
		return inline(n)
	}
	var b strings.Builder
	b.WriteString("{\n")
	if n.note != "" {
		b.WriteString("    -- " + n.note + "\n")
	}
	for _, f := range n.fields {
		if doc := sentence(f.doc); doc != "" {
			b.WriteString("    -- " + doc + "\n")
		}
		b.WriteString("    ")
		writeField(&b, f)
		b.WriteString(",\n")
	}
	if n.index != nil {
		b.WriteString("    [string]: ")
		write(&b, n.index, false)
		b.WriteString(",\n")
	}
	b.WriteString("}")
	return b.String()
}
