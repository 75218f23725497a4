// Package finder searches the functions of a gateway's catalogue: by words of their names, descriptions, parameters
// and types, ranked with BM25, within a budget of tokens; and it lists them in pages. It calls nothing.
package finder

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// What a word counts for, by where it stands.
const (
	inName       = 4
	inWholeName  = 3
	inTitle      = 2
	inSource     = 1.5
	inTag        = 1.5
	inText       = 1
	inParam      = 1.2
	inParamText  = 0.5
	inTypeName   = 0.8
	inField      = 0.4
	inSourceText = 0.2
)

// Bounds of what is read of one function.
const (
	maxText  = 2_000 // bytes of one description
	maxTerms = 800
	maxNodes = 500
)

// Index finds functions of one catalogue. It is safe for concurrent use. What it knows of a source is made when it is
// first needed and kept as long as the source lives, so that a change of one source is cheap.
type Index struct {
	catalog *catalog.Catalog
	build   func() *whole
	sorted  func() []*catalog.Callable
}

// New makes the index of a catalogue. It costs nothing until the first search.
func New(c *catalog.Catalog) *Index {
	i := &Index{catalog: c}
	i.build = sync.OnceValue(func() *whole { return gather(c) })
	i.sorted = sync.OnceValue(func() []*catalog.Callable { return sortedByName(c) })
	return i
}

// whole is all parts, with what counts over them.
type whole struct {
	parts  []*part
	count  int
	length float32 // the mean of all functions
}

// part is the index of one source.
type part struct {
	scope    *catalog.Scope
	postings map[string][]posting
	lengths  []float32
	total    float32
	letters  []vocable // for words that nobody wrote
}

type posting struct {
	doc    int32
	weight float32
}

// vocable is a word with the set of its letters, which tells quickly how far another one is at least.
type vocable struct {
	word string
	set  uint64
}

type partKey struct{}

func gather(c *catalog.Catalog) *whole {
	w := &whole{}
	var total float32
	for _, s := range c.Sources() {
		p := s.Memo(partKey{}, func() any { return newPart(s) }).(*part)
		w.parts = append(w.parts, p)
		w.count += len(p.lengths)
		total += p.total
	}
	w.length = total / float32(max(1, w.count))
	return w
}

func newPart(s *catalog.Scope) *part {
	p := &part{scope: s, postings: map[string][]posting{}}
	for i, f := range s.Callables {
		r := reader{weights: map[string]float32{}}
		r.function(f)
		var length float32
		for word, weight := range r.weights {
			p.postings[word] = append(p.postings[word], posting{int32(i), weight})
			length += weight
		}
		p.lengths = append(p.lengths, length)
		p.total += length
	}
	p.letters = make([]vocable, 0, len(p.postings))
	for _, word := range slices.Sorted(maps.Keys(p.postings)) {
		p.letters = append(p.letters, vocable{word, letters(word)})
	}
	return p
}

// reader collects the words of one function.
type reader struct {
	weights map[string]float32
	nodes   int
	defs    map[string]any
	seen    map[string]bool
}

func (r *reader) text(text string, weight float32) {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	words(text, func(word string) {
		if _, known := r.weights[word]; known || len(r.weights) < maxTerms {
			r.weights[word] += weight
		}
	})
}

// joined adds a name as one word, for those who write it so.
func (r *reader) joined(name string, weight float32) {
	word := clipWord(strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name)))
	if _, known := r.weights[word]; !known {
		r.weights[word] = weight
	}
}

func (r *reader) function(f *catalog.Callable) {
	r.text(f.Name, inName)
	if f.Suggested == "" && catalog.Sanitise(f.Name) != f.Name {
		r.joined(f.Name, inWholeName)
	}
	r.joined(f.Ident, inWholeName)
	r.text(f.Title, inTitle)
	r.text(f.Scope.Name, inSource)
	r.text(f.Scope.Title, inSourceText)
	for _, tag := range f.Tags {
		r.text(tag, inTag)
	}
	r.text(f.Description, inText)
	r.text(f.Path, inText)
	r.text(f.BodyDoc, inParamText)
	r.defs, r.seen = f.Defs, map[string]bool{}
	r.schema(f.Params, inParam, 0)
	r.schema(f.Body, inParam, 0)
	r.schema(f.Result, inField, 0)
}

// schema adds names of fields and types, and at the top what they are for.
func (r *reader) schema(v any, weight float32, depth int) {
	s, _ := v.(map[string]any)
	if r.nodes++; s == nil || r.nodes > maxNodes || depth > 6 {
		return
	}
	if ref, ok := s["$ref"].(string); ok {
		r.refer(ref, weight, depth)
	}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		r.text(name, weight)
		field, _ := properties[name].(map[string]any)
		if text, _ := field["description"].(string); depth == 0 {
			r.text(text, inParamText*weight/inParam)
		}
		r.schema(field, weight/2, depth+1)
	}
	for _, word := range []string{"items", "additionalProperties"} {
		r.schema(s[word], weight, depth+1)
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		list, _ := s[word].([]any)
		for _, item := range list {
			r.schema(item, weight, depth+1)
		}
	}
	for _, v := range values(s) {
		r.text(v, inField)
	}
}

func (r *reader) refer(ref string, weight float32, depth int) {
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	if r.seen[name] {
		return
	}
	r.seen[name] = true
	r.text(name, inTypeName)
	r.schema(r.defs[name], min(weight, inField), depth+1)
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

// letters is the set of the letters of a word.
func letters(word string) uint64 {
	var set uint64
	for _, r := range word {
		set |= 1 << (r % 64)
	}
	return set
}

// apart is how many letters two words do not share.
func apart(a, b uint64) int { return bits.OnesCount64(a ^ b) }
