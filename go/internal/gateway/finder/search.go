package finder

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/spelling"
)

// SearchOptions is what a search may give. The zero value is the default.
type SearchOptions struct {
	MaxTokens int    // of all hits together; 0 is DefaultTokens
	Limit     int    // hits; 0 is DefaultHits
	Source    string // only of this one, in either spelling; "" is of all
	Tag       string // only with this one; "" is with any or none
}

// Defaults and bounds of a search.
const (
	DefaultTokens = 1_500
	DefaultHits   = 10
	maxHits       = 100
	maxQuery      = 400 // bytes
	maxQueryWords = 24
)

// Hit is a function that was found.
type Hit struct {
	Source    *catalog.Scope
	Function  *catalog.Callable
	Score     float64
	Snippet   string // of the description, around what was looked for; "" where there was no room
	Signature string // whole, or "" where there was no room
}

// BM25's own numbers, and what words of names and titles count beside it: the more, the less else is in them.
const (
	saturation = 1.2
	byLength   = 0.5
	forName    = 1.4
	forTitle   = 1.4
	whatever   = 0.3 // the share that does not depend on what else is there
)

// What an exact name adds to a score, so that it comes first.
const (
	sameName  = 1_000
	sameWords = 100
)

// Search finds functions by words, the best ones first. Words that nothing has are taken for mistyped ones.
func (i *Index) Search(query string, o SearchOptions) []Hit {
	query = strings.ToValidUTF8(query[:min(len(query), maxQuery)], "")
	s := i.scores(query)
	want := among(i.catalog, o.Source, o.Tag)
	limit := o.Limit
	if limit <= 0 {
		limit = DefaultHits
	}
	best := s.best(query, want, min(limit, maxHits))
	return i.within(best, s.words(), o.MaxTokens)
}

// term is a word of a query with the words of the index that it stands for.
type term struct {
	word   string
	stands []stand
	extra  bool // it need not be met
}

type stand struct {
	word  string
	share float32
}

// scoring is the scores of all functions for one query.
type scoring struct {
	whole  *whole
	terms  []term
	wanted int      // terms that are not extra
	marks  [][]mark // by part and function
}

// mark is what one function got.
type mark struct {
	text, name, title           float32
	met                         uint32 // the terms that it has
	nameMet, titleMet, nameHits uint32
}

func (i *Index) scores(query string) *scoring {
	w := i.build()
	s := &scoring{whole: w, terms: w.terms(query)}
	for _, p := range w.parts {
		s.marks = append(s.marks, make([]mark, len(p.docs)))
	}
	for k, t := range s.terms {
		if !t.extra {
			s.wanted++
		}
		for _, other := range t.stands {
			s.add(k, other)
		}
	}
	return s
}

// add counts one word. What stands for another word counts less, and a term counts once in a name.
func (s *scoring) add(k int, word stand) {
	frequency := 0
	for _, p := range s.whole.parts {
		frequency += len(p.postings[word.word])
	}
	if frequency == 0 {
		return
	}
	n, bit := float64(s.whole.count), uint32(1)<<k
	rarity := float32(math.Log(1+(n-float64(frequency)+0.5)/(float64(frequency)+0.5))) * word.share
	for i, p := range s.whole.parts {
		marks := s.marks[i]
		for _, hit := range p.postings[word.word] {
			m := &marks[hit.doc]
			length := p.docs[hit.doc].length / s.whole.length
			m.text += rarity * hit.weight * (saturation + 1) / (hit.weight + saturation*(1-byLength+byLength*length))
			if hit.name && m.nameMet&bit == 0 {
				m.name += rarity
				m.nameMet |= bit
			}
			if hit.title && m.titleMet&bit == 0 {
				m.title += rarity
				m.titleMet |= bit
			}
			if word.share == 1 && hit.name {
				m.nameHits |= bit
			}
			m.met |= bit
		}
	}
}

// score is what all marks of a function come to.
func (s *scoring) score(m *mark, d *doc) float64 {
	share := func(met uint32, all float32) float32 {
		return whatever + (1-whatever)*min(1, float32(bits.OnesCount32(met))/max(1, all))
	}
	total := m.text + forName*m.name*share(m.nameMet, d.name) + forTitle*m.title*share(m.titleMet, d.title)
	return float64(total) * (0.4 + 0.6*min(1, float64(bits.OnesCount32(m.met))/float64(max(1, s.wanted))))
}

// terms are the words of a query, with what they may mean. Words that say nothing count only where there are no
// others.
func (w *whole) terms(query string) []term {
	var all, telling, extra []string
	words(query, func(word string) {
		if len(all) < maxQueryWords && !slices.Contains(all, word) {
			all = append(all, word)
			if !silent[word] {
				telling = append(telling, word)
			} else if slices.ContainsFunc(synonyms[word], w.has) {
				extra = append(extra, word)
			}
		}
	})
	if len(telling) > 0 {
		all = telling
	}
	terms := make([]term, 0, len(all)+len(extra)+1)
	for _, word := range all {
		t := term{word: word, stands: []stand{{word, 1}}}
		if !w.has(word) {
			t.stands = w.similar(word)
		}
		for _, same := range synonyms[word] {
			t.stands = append(t.stands, stand{same, 0.5})
		}
		terms = append(terms, t)
	}
	for _, word := range extra {
		t := term{word: word, extra: true}
		for _, same := range synonyms[word] {
			t.stands = append(t.stands, stand{same, 0.8})
		}
		terms = append(terms, t)
	}
	if joined := strings.ToLower(strings.Join(strings.FieldsFunc(query, func(r rune) bool { return classOf(r) == other }), "")); len(all) > 1 && w.has(joined) {
		terms = append(terms, term{word: joined, stands: []stand{{joined, 1}}, extra: true})
	}
	return terms
}

func (w *whole) has(word string) bool {
	return slices.ContainsFunc(w.parts, func(p *part) bool { return p.postings[word] != nil })
}

// maxSimilar is how many words one that nobody wrote may stand for.
const maxSimilar = 6

// similar finds words that begin with one, or that differ from it by a letter or two.
func (w *whole) similar(word string) []stand {
	if len(word) < 3 {
		return nil
	}
	most := 1
	if len(word) > 6 {
		most = 2
	}
	set := letters(word)
	found := map[string]int{}
	for _, p := range w.parts {
		for _, v := range p.letters {
			longer := len(v.word) - len(word)
			if longer > 0 && strings.HasPrefix(v.word, word) {
				found[v.word] = 0
			} else if longer <= most && longer >= -most && apart(set, v.set) <= 2*most {
				if d := spelling.Distance(word, v.word, most); d <= most {
					found[v.word] = d
				}
			}
		}
	}
	list := make([]stand, 0, len(found))
	for other, distance := range found {
		list = append(list, stand{other, 0.8 / float32(1+distance)})
	}
	slices.SortFunc(list, func(a, b stand) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(len(a.word), len(b.word)), strings.Compare(a.word, b.word))
	})
	return list[:min(len(list), maxSimilar)]
}

// among says which functions are of a source and have a tag; "" is all.
func among(c *catalog.Catalog, source, tag string) func(*catalog.Callable) bool {
	scope := c.Source(source)
	return func(f *catalog.Callable) bool {
		return (source == "" || f.Scope == scope) && (tag == "" || hasTag(f, tag))
	}
}

func hasTag(f *catalog.Callable, tag string) bool {
	return slices.ContainsFunc(f.Tags, func(t string) bool { return strings.EqualFold(t, tag) })
}

// best are the functions with the highest scores.
func (s *scoring) best(query string, want func(*catalog.Callable) bool, limit int) []Hit {
	name := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(query), "sdk."))
	var best []Hit
	for k, p := range s.whole.parts {
		for i := range s.marks[k] {
			f, m := p.scope.Callables[i], &s.marks[k][i]
			bonus := s.bonus(name, f, m, &p.docs[i])
			if m.met == 0 && bonus == 0 || !want(f) {
				continue
			}
			h := Hit{Source: p.scope, Function: f, Score: s.score(m, &p.docs[i])}
			if f.Deprecated {
				h.Score *= 0.8
			}
			h.Score += bonus
			if len(best) == limit && !better(h, best[limit-1]) {
				continue
			}
			at, _ := slices.BinarySearchFunc(best, h, func(a, b Hit) int {
				if better(a, b) {
					return -1
				}
				return 1
			})
			best = slices.Insert(best, at, h)
			best = best[:min(len(best), limit)]
		}
	}
	return best
}

func better(a, b Hit) bool {
	return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Source.Ident, b.Source.Ident), strings.Compare(a.Function.Ident, b.Function.Ident)) < 0
}

// bonus is for names: the same one, or all of its words and no others.
func (s *scoring) bonus(name string, f *catalog.Callable, m *mark, d *doc) float64 {
	full := len(name) == len(f.Scope.Ident)+1+len(f.Ident) && strings.EqualFold(name, f.FullName())
	if full || same(name, f.Ident) || same(name, f.Name) {
		return sameName
	}
	hits := bits.OnesCount32(m.nameHits)
	if hits >= 2 && hits >= s.wanted && float32(hits) >= d.name {
		return sameWords
	}
	return 0
}

func same(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

// words are all words that were looked for.
func (s *scoring) words() map[string]bool {
	all := map[string]bool{}
	for _, t := range s.terms {
		for _, other := range t.stands {
			all[other.word] = true
		}
	}
	return all
}

// within adds signatures and snippets as long as there is room. A signature is whole or missing; a hit without one
// still takes the room of its name.
func (i *Index) within(best []Hit, looked map[string]bool, most int) []Hit {
	if most <= 0 {
		most = DefaultTokens
	}
	for k := range best {
		h := &best[k]
		name := tokensOf(h.Function.FullName()) + 2
		if name > most {
			return best[:k]
		}
		most -= name
		if signature := luautype.Signature(h.Function); tokensOf(signature) <= most {
			h.Signature = signature
			most -= tokensOf(signature)
		}
		if text := snippet(h.Function, looked); tokensOf(text) <= most {
			h.Snippet = text
			most -= tokensOf(text)
		}
	}
	return best
}
