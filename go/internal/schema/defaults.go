package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	mostFillers = 10_000    // in one schema
	mostFilled  = 1_000_000 // values that one call may add
)

// filler fills in what is missing in the values that it is applied to. It stands for a set of schemas:
// all that apply to one value through $ref and allOf.
type filler struct {
	properties []property
	known      map[string]bool // the names that have schemas; what is additional is not among them
	additional *filler
	prefix     []*filler
	items      *filler
}

type property struct {
	name     string
	has      bool
	fallback any
	inside   *filler // nil where there is nothing to fill in
}

// Defaults gives v with what is missing filled in from `default`. v stays as it is; the result shares the
// parts of it that did not change, and no part with another call. What is filled in is filled in itself,
// but not within a default of the same property again, which might have no end. A call adds a million
// values at most.
func (s *Schema) Defaults(v any) any {
	if s.fill == nil {
		return v
	}
	f := filling{left: mostFilled}
	v, _ = f.fill(s.fill, v)
	return v
}

// filling is one call. within holds the properties whose defaults are being filled in.
type filling struct {
	left   int
	within []*property
}

// fill gives the value to put there, and whether it is another one.
func (f *filling) fill(at *filler, v any) (any, bool) {
	if at == nil {
		return v, false
	}
	switch v := v.(type) {
	case map[string]any:
		return f.object(at, v)
	case []any:
		return f.array(at, v)
	}
	return v, false
}

func (f *filling) object(at *filler, v map[string]any) (any, bool) {
	var out map[string]any // a copy, once something changes
	set := func(name string, item any) {
		if out == nil {
			out = make(map[string]any, len(v)+len(at.properties))
			maps.Copy(out, v)
		}
		out[name] = item
	}
	for i := range at.properties {
		p := &at.properties[i]
		item, there := v[p.name]
		if there {
			if filled, changed := f.fill(p.inside, item); changed {
				set(p.name, filled)
			}
		} else if p.has && f.left > 0 {
			set(p.name, f.fallback(p))
		}
	}
	if at.additional != nil {
		for name, item := range v {
			if at.known[name] {
				continue
			}
			if filled, changed := f.fill(at.additional, item); changed {
				set(name, filled)
			}
		}
	}
	if out == nil {
		return v, false
	}
	return out, true
}

func (f *filling) fallback(p *property) any {
	item := f.copy(p.fallback)
	if p.inside == nil || slices.Contains(f.within, p) {
		return item
	}
	f.within = append(f.within, p)
	item, _ = f.fill(p.inside, item)
	f.within = f.within[:len(f.within)-1]
	return item
}

func (f *filling) array(at *filler, v []any) (any, bool) {
	var out []any
	for i, item := range v {
		inside := at.items
		if i < len(at.prefix) {
			inside = at.prefix[i]
		}
		if filled, changed := f.fill(inside, item); changed {
			if out == nil {
				out = slices.Clone(v)
			}
			out[i] = filled
		}
	}
	if out == nil {
		return v, false
	}
	return out, true
}

// copy makes a value that nobody else has.
func (f *filling) copy(v any) any {
	f.left--
	switch v := v.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			object[name] = f.copy(item)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = f.copy(item)
		}
		return list
	}
	return v
}

// fillers makes the fillers of a graph: each set of schemas once.
type fillers struct {
	graph *graph
	known map[string]*filler
	order []*filler
}

// filler is the one of the root, nil where no default is in reach.
func (g *graph) filler() (*filler, error) {
	if !slices.ContainsFunc(g.all, func(s *jsonschema.Schema) bool { return s.Default != nil }) {
		return nil, nil
	}
	b := fillers{graph: g, known: map[string]*filler{}}
	root, err := b.of(g.root)
	if err != nil {
		return nil, err
	}
	return prune(root, b.order), nil
}

// of gives the filler for what a value is subject to.
func (b *fillers) of(list ...*jsonschema.Schema) (*filler, error) {
	set := together(list)
	if len(set) == 0 {
		return nil, nil
	}
	key := b.key(set)
	if known, is := b.known[key]; is {
		return known, nil
	}
	if len(b.known) >= mostFillers {
		return nil, errComplex
	}
	f := &filler{known: map[string]bool{}}
	b.known[key] = f
	b.order = append(b.order, f)
	if err := b.addProperties(f, set); err != nil {
		return nil, err
	}
	return f, b.addItems(f, set)
}

func (b *fillers) key(set []*jsonschema.Schema) string {
	var key strings.Builder
	for _, s := range set {
		i := b.graph.index[s]
		key.Write([]byte{byte(i), byte(i >> 8), byte(i >> 16)})
	}
	return key.String()
}

// together adds what applies to the same value through $ref and allOf, in the order in which defaults win.
func together(list []*jsonschema.Schema) []*jsonschema.Schema {
	var set []*jsonschema.Schema
	seen := map[*jsonschema.Schema]bool{}
	var add func(s *jsonschema.Schema)
	add = func(s *jsonschema.Schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		set = append(set, s)
		add(s.Ref)
		for _, part := range s.AllOf {
			add(part)
		}
	}
	for _, s := range list {
		add(s)
	}
	return set
}

func (b *fillers) addProperties(f *filler, set []*jsonschema.Schema) error {
	var names []string
	for _, s := range set {
		for name := range s.Properties {
			if !f.known[name] {
				f.known[name] = true
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		p, err := b.property(name, set)
		if err != nil {
			return err
		}
		f.properties = append(f.properties, p)
	}
	var err error
	f.additional, err = b.of(additional(set)...)
	return err
}

// additional gives the schemas of properties that a schema does not name. Where names match patterns, what
// is additional depends on them: such a schema is left out.
func additional(set []*jsonschema.Schema) []*jsonschema.Schema {
	var list []*jsonschema.Schema
	for _, s := range set {
		if rest, is := s.AdditionalProperties.(*jsonschema.Schema); is && len(s.PatternProperties) == 0 {
			list = append(list, rest)
		}
	}
	return list
}

func (b *fillers) property(name string, set []*jsonschema.Schema) (property, error) {
	p := property{name: name}
	var own []*jsonschema.Schema
	for _, s := range set {
		if child, named := s.Properties[name]; named {
			own = append(own, child)
		} else {
			own = append(own, additional([]*jsonschema.Schema{s})...)
		}
	}
	for _, s := range together(own) {
		if s.Default != nil && !p.has {
			p.has, p.fallback = true, *s.Default
		}
	}
	var err error
	p.inside, err = b.of(own...)
	return p, err
}

func (b *fillers) addItems(f *filler, set []*jsonschema.Schema) (err error) {
	longest := 0
	for _, s := range set {
		longest = max(longest, len(tuple(s)))
	}
	for i := range longest + 1 {
		var list []*jsonschema.Schema
		for _, s := range set {
			if first := tuple(s); i < len(first) {
				list = append(list, first[i])
			} else if rest := restOf(s); rest != nil {
				list = append(list, rest)
			}
		}
		inside, err := b.of(list...)
		if err != nil {
			return err
		}
		if i == longest {
			f.items = inside
		} else {
			f.prefix = append(f.prefix, inside)
		}
	}
	return nil
}

// tuple and restOf are the schemas of the first items and of all others, in any draft.
func tuple(s *jsonschema.Schema) []*jsonschema.Schema {
	if list, is := s.Items.([]*jsonschema.Schema); is {
		return list
	}
	return s.PrefixItems
}

func restOf(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Items2020 != nil {
		return s.Items2020
	}
	if all, is := s.Items.(*jsonschema.Schema); is {
		return all
	}
	rest, _ := s.AdditionalItems.(*jsonschema.Schema)
	return rest
}

// prune drops fillers that reach no default, so that values without any are not walked.
func prune(root *filler, all []*filler) *filler {
	useful := map[*filler]bool{}
	for changed := true; changed; {
		changed = false
		for _, f := range slices.Backward(all) { // those inside come later
			if !useful[f] && f.reaches(useful) {
				useful[f], changed = true, true
			}
		}
	}
	keep := func(f **filler) {
		if !useful[*f] {
			*f = nil
		}
	}
	for _, f := range all {
		keep(&f.additional)
		keep(&f.items)
		for i := range f.prefix {
			keep(&f.prefix[i])
		}
		for i := range f.properties {
			keep(&f.properties[i].inside)
		}
		f.properties = slices.DeleteFunc(f.properties, func(p property) bool { return !p.has && p.inside == nil })
	}
	keep(&root)
	return root
}

func (f *filler) reaches(useful map[*filler]bool) bool {
	return useful[f.additional] || useful[f.items] ||
		slices.ContainsFunc(f.prefix, func(p *filler) bool { return useful[p] }) ||
		slices.ContainsFunc(f.properties, func(p property) bool { return p.has || useful[p.inside] })
}
