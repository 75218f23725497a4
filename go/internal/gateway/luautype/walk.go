package luautype

// leads says whether a type is made of a schema but for choices and intersections, which Luau cannot resolve. A chain
// that is too long counts as one.
func (l *library) leads(from *named, to any) bool {
	w := walk{lib: l, budget: maxChain, seen: map[*named]bool{}}
	goal := identify("", to)
	w.met = func(t *named) bool { return identify("", t.schema) == goal }
	w.words = []string{"anyOf", "oneOf", "allOf"}
	return w.visit(from)
}

// hasValues says whether a type, or one that it uses, has single values.
func (l *library) hasValues(t *named) bool {
	if t.valued != 0 {
		return t.valued > 0
	}
	w := walk{lib: l, budget: maxLookedAt, seen: map[*named]bool{}}
	w.found = func(s map[string]any) bool { return s["enum"] != nil || s["const"] != nil }
	w.words = []string{"anyOf", "oneOf", "allOf", "items", "prefixItems", "additionalProperties"}
	w.maps = []string{"properties", "patternProperties"}
	t.valued = -1
	if w.visit(t) {
		t.valued = 1
	}
	return t.valued > 0
}

// widened is a type without its single values.
func (l *library) widened(t *named) *named {
	if t.base {
		return t
	}
	if t.wide == nil {
		t.wide = &named{name: l.free(t.name + "Wide"), schema: t.schema, place: t.place, base: true}
	}
	return t.wide
}

// walk goes through a type and those that it refers to, until something is found or the budget is used up, which
// counts as found.
type walk struct {
	lib    *library
	budget int
	seen   map[*named]bool
	met    func(*named) bool
	found  func(map[string]any) bool
	words  []string // of schemas, and of lists of them
	maps   []string // of schemas by names
}

func (w *walk) visit(t *named) bool {
	if w.met != nil && w.met(t) {
		return true
	}
	if w.seen[t] {
		return false
	}
	w.seen[t] = true
	return w.schema(t.schema, t.place, 0)
}

func (w *walk) schema(schema any, p place, depth int) bool {
	if list, ok := schema.([]any); ok {
		for _, item := range list {
			if w.schema(item, p, depth+1) {
				return true
			}
		}
		return false
	}
	s, ok := schema.(map[string]any)
	if !ok {
		return false
	}
	if w.budget--; w.budget < 0 || depth > 4*maxDepth {
		return true
	}
	if w.found != nil && w.found(s) {
		return true
	}
	if ref, ok := s["$ref"].(string); ok {
		if t := w.lib.resolve(ref, p); t != nil && w.visit(t) {
			return true
		}
	}
	for _, word := range w.words {
		if w.schema(s[word], p, depth+1) {
			return true
		}
	}
	for _, word := range w.maps {
		members, _ := s[word].(map[string]any)
		for _, member := range members {
			if w.schema(member, p, depth+1) {
				return true
			}
		}
	}
	return false
}
