package luautype

import "slices"

// withoutVariants makes one table of a table and of the variants that stand beside it. The checker compares no literal
// with an intersection of a choice; a field that some variants have may be there.
func withoutVariants(parts []*node) []*node {
	base := slices.IndexFunc(parts, func(n *node) bool { return n.kind == table && len(n.fields) > 0 })
	if base < 0 {
		return parts
	}
	var rest []*node
	whole := parts[base]
	for i, part := range parts {
		switch {
		case i == base:
		case part.kind == union && !slices.ContainsFunc(part.items, func(n *node) bool { return n.kind != table }):
			whole = merged(whole, joined(part.items))
		default:
			rest = append(rest, part)
		}
	}
	return append(rest, whole)
}

// joined is a table that takes what any of some tables takes.
func joined(variants []*node) *node {
	n := &node{kind: table}
	types := map[string][]*node{}
	needed := map[string]int{}
	for _, variant := range variants {
		for _, f := range variant.fields {
			if types[f.name] == nil {
				n.fields = append(n.fields, field{name: f.name, doc: f.doc})
			}
			types[f.name] = append(types[f.name], f.of)
			if !f.optional {
				needed[f.name]++
			}
		}
	}
	for i := range n.fields {
		f := &n.fields[i]
		f.of, f.optional = either(types[f.name]), needed[f.name] < len(variants)
	}
	sortFields(n.fields)
	return n
}
