package openapi

import (
	"maps"
	"slices"
	"strings"
)

// A property that is only read may be required where it is read, and not where it is sent; one that is only written the
// other way round. A definition that says so gets a second form for what is sent, under a name of its own.

// splitDirections gives what is sent its own definitions, and takes what is only written out of what is required of the
// rest.
func splitDirections(m *model) {
	s := splitter{defs: m.defs, own: map[string]bool{}, inputs: map[string]string{}, taken: map[string]bool{}}
	s.findOwn()
	if len(s.own) == 0 && !s.inline(m) {
		return
	}
	for _, p := range m.Parameters {
		p.schema = s.sent(p.schema)
	}
	for _, b := range m.Bodies {
		b.schema = s.sent(b.schema)
	}
	made := s.finish()
	for i, result := range m.results {
		m.results[i] = s.received(result)
	}
	for name := range s.own {
		m.defs[name] = s.received(m.defs[name])
	}
	maps.Copy(m.defs, made)
}

type splitter struct {
	defs   map[string]any
	own    map[string]bool   // definitions that differ by direction, themselves or by what they refer to
	inputs map[string]string // the names of their forms for what is sent
	taken  map[string]bool   // those names
	queue  []string
}

// findOwn marks the definitions that differ, until nothing is added.
func (s *splitter) findOwn() {
	users := map[string][]string{}
	var queue []string
	for name, def := range s.defs {
		differs := false
		eachSchema(def, func(object map[string]any) {
			if to, ok := refName(object); ok {
				users[to] = append(users[to], name)
			}
			differs = differs || s.directed(object, "readOnly") != nil || s.directed(object, "writeOnly") != nil
		})
		if differs {
			queue = append(queue, name)
		}
	}
	for len(queue) > 0 {
		name := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if !s.own[name] {
			s.own[name] = true
			queue = append(queue, users[name]...)
		}
	}
}

// inline says whether a schema outside of the definitions differs by direction.
func (s *splitter) inline(m *model) bool {
	differs := false
	look := func(object map[string]any) {
		differs = differs || s.directed(object, "readOnly") != nil || s.directed(object, "writeOnly") != nil
	}
	for _, b := range m.Bodies {
		eachSchema(b.schema, look)
	}
	for _, result := range m.results {
		eachSchema(result, look)
	}
	return differs
}

// directed are the required properties of an object schema that go one way only.
func (s *splitter) directed(object map[string]any, keyword string) []string {
	required, _ := object["required"].([]any)
	properties, _ := object["properties"].(map[string]any)
	var names []string
	for _, item := range required {
		name, _ := item.(string)
		if s.marked(properties[name], keyword, 4) {
			names = append(names, name)
		}
	}
	return names
}

// marked says whether a property has a mark, by a reference or in allOf as well.
func (s *splitter) marked(property any, keyword string, depth int) bool {
	object, ok := property.(map[string]any)
	if !ok || depth == 0 {
		return false
	}
	if flag, _ := object[keyword].(bool); flag {
		return true
	}
	if to, ok := refName(object); ok {
		return s.marked(s.defs[to], keyword, depth-1)
	}
	parts, _ := object["allOf"].([]any)
	return len(parts) <= 4 && slices.ContainsFunc(parts, func(part any) bool { return s.marked(part, keyword, depth-1) })
}

func refName(object map[string]any) (string, bool) {
	reference, ok := object["$ref"].(string)
	return strings.TrimPrefix(reference, "#/$defs/"), ok && reference != ""
}

// sent is a schema as it is for what is sent.
func (s *splitter) sent(schema any) any {
	return rewrite(schema, func(object map[string]any) map[string]any {
		if to, ok := refName(object); ok && s.own[to] {
			changed := maps.Clone(object)
			changed["$ref"] = "#/$defs/" + s.input(to)
			object = changed
		}
		return without(object, s.directed(object, "readOnly"))
	})
}

// received is a schema as it is for what comes.
func (s *splitter) received(schema any) any {
	return rewrite(schema, func(object map[string]any) map[string]any {
		return without(object, s.directed(object, "writeOnly"))
	})
}

// input is the name of a definition's form for what is sent.
func (s *splitter) input(name string) string {
	if known := s.inputs[name]; known != "" {
		return known
	}
	made := name + "Input"
	for s.defs[made] != nil || s.taken[made] {
		made += "_"
	}
	s.inputs[name], s.taken[made] = made, true
	s.queue = append(s.queue, name)
	return made
}

// finish makes the definitions that were asked for, and those that they ask for.
func (s *splitter) finish() map[string]any {
	made := map[string]any{}
	for len(s.queue) > 0 {
		name := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		made[s.inputs[name]] = s.sent(s.defs[name])
	}
	return made
}

// without is an object schema that does not require some names.
func without(object map[string]any, names []string) map[string]any {
	if len(names) == 0 {
		return object
	}
	required := slices.DeleteFunc(slices.Clone(object["required"].([]any)), func(item any) bool {
		name, _ := item.(string)
		return slices.Contains(names, name)
	})
	changed := maps.Clone(object)
	if changed["required"] = required; len(required) == 0 {
		delete(changed, "required")
	}
	return changed
}
