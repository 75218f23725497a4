package luautype

import "strings"

// TypeOf writes a schema as the type of that name, on one line: `type Args = { name: string }`, after those that it
// refers to. References are within the schema.
func TypeOf(name string, schema any) string {
	defs, _ := definitionsIn(schema)
	names := newNames(name + "_")
	names.reserve(defs)
	l := newLibrary(names)
	c := converter{lib: l, place: place{root: schema, label: name, defs: defs}}
	of := c.convert(schema, at{})
	var b strings.Builder
	for _, t := range l.closure(c.refs, maxNodes) {
		text := "any"
		if t.of != nil {
			text = inline(t.of)
		}
		b.WriteString("type " + t.name + " = " + text + " ")
	}
	b.WriteString("type " + name + " = " + inline(of))
	return b.String()
}

func definitionsIn(schema any) (map[string]any, bool) {
	s, _ := schema.(map[string]any)
	for _, word := range []string{"$defs", "definitions"} {
		if defs, ok := s[word].(map[string]any); ok {
			return defs, true
		}
	}
	return nil, false
}
