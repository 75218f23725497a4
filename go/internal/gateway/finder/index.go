// Package finder searches the functions of a gateway's catalogue: by words of their names, descriptions, parameters
// and types, ranked with BM25, within a budget of tokens; and it lists them in pages. It calls nothing.
package finder

import (
	"maps"
	"math/bits"
	"slices"
	"sync"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// What a word counts for, by where it stands. Names and titles count on their own, too.
const (
	inName       = 2
	inWholeName  = 2
	inTitle      = 1.5
	inSource     = 1.2
	inTag        = 1
	inText       = 1
	inParam      = 1
	inParamText  = 0.4
	inTypeName   = 0.8
	inField      = 0.4
	inSourceText = 0.2
)

// Bounds of what is read of one function.
const (
	maxText      = 2_000 // bytes of one description
	maxWords     = 500   // different ones
	maxNodes     = 300   // of one schema
	maxTypes     = 12    // that are referred to
	maxTypeWords = 60    // of one of them
	maxShort     = 48    // bytes of a text whose words are kept
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
	docs     []doc
	total    float32   // of all lengths
	letters  []vocable // for words that nobody wrote
}

// doc is one function.
type doc struct {
	length      float32
	name, title float32 // how many words they have
}

type posting struct {
	doc    int32
	weight float32
	name   bool // it is in the name
	title  bool
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
		w.count += len(p.docs)
		total += p.total
	}
	w.length = total / float32(max(1, w.count))
	return w
}

func newPart(s *catalog.Scope) *part {
	p := &part{scope: s, postings: map[string][]posting{}}
	shared := &kept{words: map[string][]string{}, types: map[uintptr]*typeWords{}}
	for i, f := range s.Callables {
		r := reader{kept: shared, found: map[string]*posting{}}
		r.function(f)
		d := doc{}
		for word, at := range r.found {
			at.doc = int32(i)
			p.postings[word] = append(p.postings[word], *at)
			d.length += at.weight
			if at.name && !silent[word] {
				d.name++
			}
			if at.title && !silent[word] {
				d.title++
			}
		}
		p.docs = append(p.docs, d)
		p.total += d.length
	}
	p.letters = make([]vocable, 0, len(p.postings))
	for _, word := range slices.Sorted(maps.Keys(p.postings)) {
		p.letters = append(p.letters, vocable{word, letters(word)})
	}
	return p
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
