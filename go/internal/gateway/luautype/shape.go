package luautype

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a shape.
const (
	maxShapeDepth  = 6
	maxShapeFields = 40
	maxShapeItems  = 50
	maxShapeBytes  = 2_000
)

// Shape sums a JSON value up as a type, with how long its lists are:
// `{ items: {{ id: number, title: string }} (1,204 items), total: number }`. It is for people and models to read.
func Shape(value any) string {
	for depth := maxShapeDepth; depth > 0; depth-- {
		var b strings.Builder
		writeShape(&b, shapeOf([]any{value}, depth), true)
		if b.Len() <= maxShapeBytes {
			return b.String()
		}
	}
	return "any"
}

// shape is what some values have in common.
type shape struct {
	kinds  []string // of those that are neither list nor object
	list   *shape   // of the items of all lists
	least  int      // items of the shortest and the longest list
	most   int
	fields []shapeField
	more   int // fields that are not listed
	object bool
	deep   bool
}

type shapeField struct {
	name  string
	needs bool
	of    *shape
}

func shapeOf(values []any, depth int) *shape {
	s := &shape{least: -1}
	if depth == 0 {
		s.deep = true
		return s
	}
	var items []any
	var objects []map[string]any
	for _, v := range values {
		switch v := v.(type) {
		case []any:
			if s.least < 0 || len(v) < s.least {
				s.least = len(v)
			}
			s.most = max(s.most, len(v))
			items = append(items, spread(v, maxShapeItems)...)
		case map[string]any:
			objects = append(objects, v)
		default:
			if name := scalar(v); !slices.Contains(s.kinds, name) {
				s.kinds = append(s.kinds, name)
			}
		}
	}
	slices.Sort(s.kinds)
	if s.least >= 0 {
		s.list = shapeOf(spread(items, maxShapeItems), depth-1)
	}
	if len(objects) > 0 {
		s.object = true
		s.addFields(objects, depth)
	}
	return s
}

// spread takes some of a list from all over it.
func spread(list []any, most int) []any {
	if len(list) <= most {
		return list
	}
	some := make([]any, most)
	for i := range some {
		some[i] = list[i*len(list)/most]
	}
	return some
}

func (s *shape) addFields(objects []map[string]any, depth int) {
	counts := map[string]int{}
	for _, o := range objects {
		for name := range o {
			counts[name]++
		}
	}
	names := slices.Sorted(maps.Keys(counts))
	if len(names) > maxShapeFields {
		s.more = len(names) - maxShapeFields
		names = names[:maxShapeFields]
	}
	for _, name := range names {
		var values []any
		for _, o := range objects {
			if v, there := o[name]; there {
				values = append(values, v)
			}
		}
		s.fields = append(s.fields, shapeField{name, counts[name] == len(objects), shapeOf(values, depth-1)})
	}
}

func scalar(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64, json.Number:
		return "number"
	}
	return "any"
}

func writeShape(b *strings.Builder, s *shape, counts bool) {
	var parts []string
	none := false
	for _, name := range s.kinds {
		if name == "nil" {
			none = true
		} else {
			parts = append(parts, name)
		}
	}
	if s.deep {
		parts = append(parts, "any")
	}
	if s.list != nil {
		parts = append(parts, listShape(s, counts))
	}
	if s.object {
		parts = append(parts, objectShape(s, counts))
	}
	switch {
	case len(parts) == 0:
		if none {
			b.WriteString("nil")
		} else {
			b.WriteString("any")
		}
	case len(parts) > 1 && none:
		b.WriteString("(" + strings.Join(parts, " | ") + ")?")
	default:
		b.WriteString(strings.Join(parts, " | "))
		if none && parts[0] != "any" {
			b.WriteByte('?')
		}
	}
}

func listShape(s *shape, counts bool) string {
	var b strings.Builder
	b.WriteByte('{')
	if s.most > 0 {
		writeShape(&b, s.list, false)
	} else {
		b.WriteString("any")
	}
	b.WriteByte('}')
	if counts {
		b.WriteString(" (" + thousands(s.most) + " item")
		if s.most != 1 {
			b.WriteByte('s')
		}
		b.WriteByte(')')
	}
	return b.String()
}

func objectShape(s *shape, counts bool) string {
	if len(s.fields) == 0 {
		return "{}"
	}
	var b strings.Builder
	b.WriteString("{ ")
	for i, f := range s.fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(member(cut(f.name, 80)) + ": ")
		var of strings.Builder
		writeShape(&of, f.of, counts)
		b.WriteString(of.String())
		if !f.needs && !strings.HasSuffix(of.String(), "?") {
			b.WriteByte('?')
		}
	}
	if s.more > 0 {
		b.WriteString(", ... " + thousands(s.more) + " more")
	}
	b.WriteString(" }")
	return b.String()
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
