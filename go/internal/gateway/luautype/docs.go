package luautype

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// Bounds of the docs of one function.
const (
	maxDocTypes = 200
	maxDocBytes = 100_000
	maxDotted   = 3 // how deep fields of fields are explained
)

// Docs is all that a script needs to know of a function: what it does, its parameters, its signature, and every
// type that this refers to, each before those that it uses itself.
func Docs(f *catalog.Callable) string {
	l := docLibrary(f)
	t := l.types(f)
	var b strings.Builder
	b.WriteString(comment(describe(f.Function)))
	if f.Deprecated {
		b.WriteString("-- Deprecated: use another function where there is one.\n")
	}
	explain(&b, "", t.params, f.Params, 0)
	if t.body != nil {
		explainBody(&b, t, f.Function)
	}
	if doc := sentence(docOf(f.Result)); doc != "" {
		b.WriteString("-- @return " + doc + "\n")
	}
	if call := exampleCall(f, t); call != "" {
		b.WriteString("-- Example: " + call + "\n")
	}
	b.WriteString(head(f, t) + "\n")
	for _, ref := range l.closure(t.refs, maxDocTypes) {
		b.WriteString("\n" + comment(sentence(docOf(ref.schema))) + "export type " + ref.name + " = ")
		if ref.of == nil || b.Len() > maxDocBytes {
			b.WriteString("any -- left out: too many types\n")
			continue
		}
		b.WriteString(block(ref.of) + "\n")
	}
	return b.String()
}

func describe(f *catalog.Function) string {
	return firstOf(f.Description, f.Title, f.Method+" "+f.Path)
}

// firstOf is the first text that says something.
func firstOf(texts ...string) string {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// explain writes a line for each field that says something about itself, and for fields of fields without a name.
func explain(b *strings.Builder, prefix string, n *node, schema any, depth int) {
	if n != nil && n.kind == optional {
		n = n.items[0]
	}
	if n == nil || n.kind != table || depth >= maxDotted {
		return
	}
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	for _, f := range n.fields {
		if b.Len() > maxDocBytes {
			return
		}
		name := prefix + f.name
		if doc := about(properties[f.name]); doc != "" {
			b.WriteString("-- @param " + line(name) + " - " + doc + "\n")
		}
		explain(b, name+".", f.of, properties[f.name], depth+1)
	}
}

func explainBody(b *strings.Builder, t callable, f *catalog.Function) {
	doc := sentence(f.BodyDoc)
	if doc == "" {
		doc = about(f.Body)
	}
	if doc != "" {
		b.WriteString("-- @param body - " + doc + "\n")
	}
	explain(b, "body.", t.body, f.Body, 0)
}

// about is the description of a schema, and what its type does not say.
func about(schema any) string {
	s, _ := schema.(map[string]any)
	doc := sentence(docOf(schema))
	var more []string
	if v, found := s["default"]; found && v != nil {
		if text := literal(v, 0); len(text) <= 60 {
			more = append(more, "default "+text)
		}
	}
	for _, bound := range []struct{ word, text string }{
		{"minimum", "at least"}, {"maximum", "at most"}, {"exclusiveMinimum", "more than"}, {"exclusiveMaximum", "less than"},
		{"maxLength", "length at most"}, {"maxItems", "items at most"},
	} {
		if v := number(s[bound.word]); v != "" {
			more = append(more, bound.text+" "+v)
		}
	}
	switch format, _ := s["format"].(string); format {
	case "", "int32", "int64", "float", "double":
	case "binary":
		more = append(more, "bytes")
	default:
		more = append(more, line(cut(format, 40)))
	}
	if s["deprecated"] == true {
		more = append(more, "deprecated")
	}
	if len(more) > 0 {
		doc = strings.TrimSpace(doc + " (" + strings.Join(more, ", ") + ")")
	}
	return doc
}

func number(v any) string {
	switch v.(type) {
	case float64, fmt.Stringer: // json.Number
		return literal(v, 0)
	}
	return ""
}

// closure is the types that some refer to, in an order in which a type stands before what it uses. Of those behind
// the bound only the names are given: nothing is known of them.
func (l *library) closure(roots []*named, most int) []*named {
	seen := map[*named]bool{}
	var list []*named
	var visit func(t *named, depth int)
	visit = func(t *named, depth int) {
		if seen[t] {
			return
		}
		seen[t] = true
		if len(seen) <= most && depth < maxChain {
			l.typeOf(t)
			for _, ref := range slices.Backward(t.refs) {
				visit(ref, depth+1)
			}
		}
		list = append(list, t)
	}
	for _, t := range slices.Backward(roots) {
		visit(t, 0)
	}
	slices.Reverse(list)
	return list
}
