package finder

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// kept is what functions of one source share.
type kept struct {
	words map[string][]string
	types map[uintptr]*typeWords // by the schema
}

// typeWords are the words of a definition, and the definitions that it refers to.
type typeWords struct {
	words []string
	refs  []string
}

// reader collects the words of one function.
type reader struct {
	*kept
	found map[string]*posting
	nodes int
	refs  []string
}

// of gives the words of a text; those of short texts are kept, as names of fields come again and again.
func (k *kept) of(text string) []string {
	if list, known := k.words[text]; known {
		return list
	}
	var list []string
	words(text, func(word string) { list = append(list, word) })
	if len(text) <= maxShort {
		k.words[text] = list
	}
	return list
}

func (r *reader) text(text string, weight float32) {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	for _, word := range r.of(text) {
		r.word(word, weight)
	}
}

func (r *reader) word(word string, weight float32) *posting {
	at := r.found[word]
	if at == nil {
		if len(r.found) >= maxWords {
			return &posting{}
		}
		at = &posting{}
		r.found[word] = at
	}
	at.weight += weight
	return at
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "")

// joined adds a name as one word, for those who write it so.
func (r *reader) joined(name string) {
	word := clipWord(strings.ToLower(separators.Replace(name)))
	if r.found[word] == nil {
		r.word(word, inWholeName)
	}
}

func (r *reader) function(f *catalog.Callable) {
	for _, word := range r.of(f.Name) {
		r.word(word, inName).name = true
	}
	if f.Suggested == "" {
		r.joined(f.Name)
	}
	r.joined(f.Ident)
	for _, word := range r.of(titleOf(f)) {
		r.word(word, inTitle).title = true
	}
	r.text(f.Scope.Name, inSource)
	for _, tag := range f.Tags {
		r.text(tag, inTag)
	}
	r.text(f.Description, inText)
	r.text(f.Path, inText)
	r.text(f.BodyDoc, inParamText)
	r.text(f.Scope.Title, inSourceText)
	r.fields(f.Params, 0)
	r.fields(f.Body, 0)
	r.definitions(f.Defs, inField)
	r.fields(f.Result, 2)
	r.definitions(f.Defs, inField/2)
}

// titleOf is the title of a function, else how its description begins.
func titleOf(f *catalog.Callable) string {
	if f.Title != "" {
		return f.Title
	}
	text := f.Description[:min(len(f.Description), 120)]
	for _, end := range []string{". ", "\n", "。", ".\r"} {
		text, _, _ = strings.Cut(text, end)
	}
	return text
}

// fields adds the names of the fields of a schema, and at the top what they are for.
func (r *reader) fields(v any, depth int) {
	s, _ := v.(map[string]any)
	if r.nodes++; s == nil || r.nodes > maxNodes || depth > 6 {
		return
	}
	if ref, ok := s["$ref"].(string); ok {
		r.refs = append(r.refs, ref)
	}
	weight := float32(inParam)
	if depth > 0 {
		weight = inField
	}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		r.text(name, weight)
		field, _ := properties[name].(map[string]any)
		if text, _ := field["description"].(string); depth == 0 {
			r.text(text, inParamText)
		}
		r.fields(field, depth+1)
	}
	eachPart(s, func(part any) { r.fields(part, depth+1) })
	for _, text := range values(s) {
		r.text(text, inField)
	}
}

// eachPart visits what an object, a list or a choice is made of.
func eachPart(s map[string]any, visit func(any)) {
	for _, word := range []string{"items", "additionalProperties"} {
		if s[word] != nil {
			visit(s[word])
		}
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		list, _ := s[word].([]any)
		for _, item := range list {
			visit(item)
		}
	}
}

// values are the first texts that a schema allows.
func values(s map[string]any) []string {
	list, _ := s["enum"].([]any)
	var texts []string
	for _, v := range list[:min(len(list), 20)] {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// definitions adds the definitions that were referred to, and those that they refer to, the near ones first.
func (r *reader) definitions(defs map[string]any, weight float32) {
	seen := map[string]bool{}
	for todo := r.refs; len(todo) > 0 && len(seen) < maxTypes; todo = todo[1:] {
		name := todo[0][strings.LastIndexByte(todo[0], '/')+1:]
		schema, _ := defs[name].(map[string]any)
		if seen[name] || schema == nil {
			continue
		}
		seen[name] = true
		r.text(name, inTypeName)
		t := r.typeOf(schema)
		for _, word := range t.words {
			r.word(word, weight)
		}
		todo = append(todo[:len(todo):len(todo)], t.refs...)
	}
	r.refs = nil
}

func (k *kept) typeOf(schema map[string]any) *typeWords {
	id := reflect.ValueOf(schema).Pointer()
	if t := k.types[id]; t != nil {
		return t
	}
	r := reader{kept: k, found: map[string]*posting{}}
	r.fields(schema, 1)
	t := &typeWords{words: slices.Sorted(maps.Keys(r.found)), refs: r.refs[:min(len(r.refs), maxTypes)]}
	t.words = t.words[:min(len(t.words), maxTypeWords)]
	k.types[id] = t
	return t
}
