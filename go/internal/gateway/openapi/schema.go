package openapi

import (
	"strings"

	"github.com/hukilau/hukilau/go/internal/schema"
)

// translator makes schemas of draft 2020-12. What they refer to becomes definitions, whose names are given when all
// are known, so that names do not depend on the order in which references were met.
type translator struct {
	lib      *library
	targets  map[target]*definition
	queue    []*definition
	patterns map[string]bool // whether package schema takes them
}

// target is what a reference leads to.
type target struct {
	in      *document
	pointer string
}

type definition struct {
	target
	raw    any
	schema any
	name   string
	refs   []map[string]any // the schemas that refer to it
	broken bool
}

func newTranslator(lib *library) *translator {
	return &translator{lib: lib, targets: map[target]*definition{}, patterns: map[string]bool{}}
}

// schema translates a schema of a document. What is none becomes one that takes everything.
func (t *translator) schema(in *document, raw any) any {
	switch v := raw.(type) {
	case bool:
		return v
	case map[string]any:
		return t.object(in, v)
	}
	t.lib.warn("a schema that is neither an object nor a boolean is taken as any value")
	return map[string]any{}
}

func (t *translator) object(in *document, raw map[string]any) map[string]any {
	if reference, ok := referenceOf(raw); ok {
		out := map[string]any{}
		t.refer(in, reference, out)
		if in.old {
			return beside(raw, out)
		}
		t.keywords(in, raw, out)
		return out
	}
	out := make(map[string]any, len(raw))
	t.keywords(in, raw, out)
	if in.old {
		return upgrade(raw, out)
	}
	return out
}

// beside takes from what stands beside a reference what people mean by it. Strictly, it means nothing in OpenAPI 3.0.
func beside(raw, out map[string]any) map[string]any {
	if text, ok := raw["description"].(string); ok {
		out["description"] = text
	}
	if nullable, _ := raw["nullable"].(bool); nullable && out["$ref"] != nil {
		return orNull(out)
	}
	return out
}

func referenceOf(raw map[string]any) (string, bool) {
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if text, ok := raw[key].(string); ok {
			return text, true
		}
	}
	return "", false
}

// refer writes a reference into a schema; one that leads nowhere takes every value.
func (t *translator) refer(in *document, reference string, out map[string]any) {
	if to := t.definition(in, reference); to != nil {
		to.refs = append(to.refs, out)
		out["$ref"] = ""
	}
}

func (t *translator) definition(in *document, reference string) *definition {
	if strings.HasPrefix(reference, "#/") {
		if known, ok := t.targets[target{in, reference[1:]}]; ok {
			return known.orNil()
		}
	}
	n, raw, err := t.lib.find(in, reference)
	if err != nil {
		t.lib.warn("a schema is taken as any value: %s", err)
		t.targets[target{in, strings.TrimPrefix(reference, "#")}] = &definition{broken: true}
		return nil
	}
	to := target{n.in, n.pointer}
	if known, ok := t.targets[to]; ok {
		return known.orNil()
	}
	made := &definition{target: to, raw: raw}
	t.targets[to] = made
	t.queue = append(t.queue, made)
	return made
}

func (d *definition) orNil() *definition {
	if d.broken {
		return nil
	}
	return d
}

// keywords copies what draft 2020-12 knows, in a form that it takes.
func (t *translator) keywords(in *document, raw, out map[string]any) {
	for key, value := range raw {
		switch shapes[key] {
		case oneSchema:
			if list, ok := value.([]any); ok && key == "items" {
				t.list(in, "prefixItems", list, out)
				continue
			}
			out[key] = t.schema(in, value)
			continue
		case listOfSchemas:
			list, _ := value.([]any)
			t.list(in, key, list, out)
			continue
		case tableOfSchemas:
			t.table(in, key, value, out)
			continue
		}
		switch key {
		case "type":
			if types := typesOf(value); types != nil {
				out[key] = types
			}
		case "required":
			if names := distinctTexts(value); len(names) > 0 {
				out[key] = names
			}
		case "pattern":
			if text, ok := value.(string); ok && t.takes(text) {
				out[key] = value
			}
		case "example", "examples":
			exampleOf(key, value, out)
		case "discriminator":
			if d, ok := value.(map[string]any); ok && d["propertyName"] != nil {
				out[key] = map[string]any{"propertyName": d["propertyName"]}
			}
		default:
			if plainKeyword(key, value) {
				out[key] = value
			}
		}
	}
}

func (t *translator) list(in *document, key string, list []any, out map[string]any) {
	if len(list) == 0 {
		return
	}
	made := make([]any, len(list))
	for i, item := range list {
		made[i] = t.schema(in, item)
	}
	out[key] = made
}

func (t *translator) table(in *document, key string, value any, out map[string]any) {
	table, ok := value.(map[string]any)
	if !ok {
		return
	}
	made := make(map[string]any, len(table))
	for name, item := range table {
		if key == "patternProperties" && !t.takes(name) {
			continue
		}
		made[name] = t.schema(in, item)
	}
	out[key] = made
}

// takes says whether a pattern can be checked at all. One that cannot would make the whole schema useless.
func (t *translator) takes(pattern string) bool {
	known, ok := t.patterns[pattern]
	if !ok {
		_, err := schema.Compile(map[string]any{"pattern": pattern}, "pattern")
		known = err == nil
		t.patterns[pattern] = known
		if !known {
			t.lib.warn("the pattern %.100q is not checked: it is not of RE2", pattern)
		}
	}
	return known
}
