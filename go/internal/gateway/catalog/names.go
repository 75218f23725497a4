package catalog

import "sync"

// maxRemembered bounds the names that are kept of functions which a source no longer has.
const maxRemembered = 20000

// Catalog is a set of sources with the names that scripts use. It is immutable and safe for concurrent use.
type Catalog struct {
	scopes  []*Scope
	byKey   map[string]*Scope    // both spellings
	aliases map[string]*Callable // sdk.<operation>
	idents  map[string]string    // of sources, those that are gone included
	past    map[string]memory    // of functions, by source
	hash    func() string

	expected []Expected
	why      func(Expected) string // an expected one is not there
}

// memory is the identifiers that functions of one source had, by their keys.
type memory map[string]string

// Scope is a source as scripts see it: sdk.<Ident>.
type Scope struct {
	*Source
	Ident string
	// Global says that the source is a global of its identifier, too. Names of Luau's own libraries stay theirs.
	Global    bool
	Callables []*Callable // in the order of Source.Functions

	byKey map[string]*Callable // both spellings
	memo  sync.Map
	hash  func() string
}

// Callable is a function as scripts see it: sdk.<source>.<Ident>.
type Callable struct {
	*Function
	Scope *Scope
	Ident string

	hash func() string
}

// FullName is the source and the function as scripts write them behind `sdk.`.
func (c *Callable) FullName() string { return c.Scope.Ident + "." + c.Ident }

// New makes a Catalog. Sources and functions that the previous one had (nil: there was none) keep their names. The
// first of several sources of one kind and name counts, and the first of several functions that nothing tells apart.
// Functions without a name are left out.
func New(previous *Catalog, sources []*Source) *Catalog {
	if previous == nil {
		previous = &Catalog{}
	}
	sources = distinct(sources)
	members := make([]named, len(sources))
	for i, s := range sources {
		members[i] = named{key: sourceKey(s), original: s.Name, wanted: s.Name}
	}
	idents := assign(members, previous.idents)
	c := &Catalog{
		byKey:  make(map[string]*Scope, 2*len(sources)),
		idents: remember(previous.idents, idents),
		past:   make(map[string]memory, len(sources)),

		expected: previous.expected, why: previous.why,
	}
	for key, names := range previous.past {
		if len(c.past) < maxRemembered {
			c.past[key] = names
		}
	}
	for i, s := range sources {
		key := members[i].key
		scope, names := scopeOf(previous, s, idents[key], c.past[key])
		c.past[key] = names
		c.scopes = append(c.scopes, scope)
		c.byKey[scope.Ident] = scope
	}
	for _, scope := range c.scopes {
		if _, taken := c.byKey[scope.Name]; !taken {
			c.byKey[scope.Name] = scope
		}
	}
	c.aliases = c.findAliases()
	c.hash = sync.OnceValue(c.fingerprint)
	return c
}

// Expected is a source that is configured, whether it is known by now or not.
type Expected struct {
	Name string
	Kind Kind
}

// Expecting is a Catalog without sources in which those that are expected have their names already: these do not depend
// on which one is there first. What the previous one (nil: there was none) has given stays. why, which may be nil, says
// why a source that is expected is not there.
func Expecting(previous *Catalog, list []Expected, why func(Expected) string) *Catalog {
	if previous == nil {
		previous = &Catalog{}
	}
	members := make([]named, len(list))
	for i, e := range list {
		members[i] = named{key: e.key(), original: e.Name, wanted: e.Name}
	}
	c := &Catalog{
		idents: remember(previous.idents, assign(members, previous.idents)), past: previous.past, expected: list, why: why,
	}
	c.hash = sync.OnceValue(c.fingerprint)
	return c
}

func (e Expected) key() string { return e.Name + "\x00" + string(e.Kind) }

// Ident is the identifier that a source has, or will have when it is known.
func (c *Catalog) Ident(e Expected) string {
	if ident := c.idents[e.key()]; ident != "" {
		return ident
	}
	return Sanitise(e.Name)
}

func distinct(sources []*Source) []*Source {
	seen := map[string]bool{}
	var list []*Source
	for _, s := range sources {
		if s != nil && !seen[sourceKey(s)] {
			seen[sourceKey(s)] = true
			list = append(list, s)
		}
	}
	return list
}

func sourceKey(s *Source) string { return Expected{s.Name, s.Kind}.key() }

// remember adds names to those of before, which count again when their owners come back, unless another one has got
// them meanwhile.
func remember(before, now map[string]string) map[string]string {
	all := make(map[string]string, len(now))
	used := make(map[string]bool, len(now))
	for key, ident := range now {
		all[key], used[ident] = ident, true
	}
	for key, ident := range before {
		if _, there := all[key]; !there && !used[ident] && len(all) < maxRemembered {
			all[key] = ident
		}
	}
	return all
}

// scopeOf takes the scope of before where nothing changed, with all that is kept at it.
func scopeOf(previous *Catalog, s *Source, ident string, names memory) (*Scope, memory) {
	if old := previous.byKey[ident]; old != nil && old.Source == s && old.Ident == ident {
		return old, names
	}
	scope := &Scope{Source: s, Ident: ident, Global: !builtins[ident]}
	scope.hash = sync.OnceValue(scope.fingerprint)
	members, functions := functionMembers(s)
	idents := assign(members, names)
	scope.byKey = make(map[string]*Callable, 2*len(members))
	store := make([]Callable, len(members))
	for i, m := range members {
		c := &store[i]
		c.Function, c.Scope, c.Ident = functions[i], scope, idents[m.key]
		c.hash = sync.OnceValue(c.fingerprint)
		scope.Callables = append(scope.Callables, c)
		scope.byKey[c.Ident] = c
	}
	for _, c := range scope.Callables {
		if _, taken := scope.byKey[c.Name]; !taken {
			scope.byKey[c.Name] = c
		}
	}
	return scope, remember(names, idents)
}

// functionMembers are the functions of a source, without those that are the same as an earlier one or have no name.
// Operations may share a name, as long as their methods or paths differ.
func functionMembers(s *Source) ([]named, []*Function) {
	members := make([]named, 0, len(s.Functions))
	functions := make([]*Function, 0, len(s.Functions))
	seen := make(map[string]bool, len(s.Functions))
	for i := range s.Functions {
		f := &s.Functions[i]
		key := f.Name
		if f.Method != "" {
			key += "\x00" + f.Method + " " + f.Path
		}
		wanted := f.Name
		if f.Suggested != "" {
			wanted = f.Suggested
		}
		if f.Name != "" && !seen[key] {
			seen[key] = true
			members = append(members, named{key: key, original: f.Name, wanted: wanted})
			functions = append(functions, f)
		}
	}
	return members, functions
}

// findAliases are the operations of documents whose names are unique over all of them and no source has.
func (c *Catalog) findAliases() map[string]*Callable {
	found := map[string]*Callable{}
	for _, scope := range c.scopes {
		if scope.Kind != OpenAPI {
			continue
		}
		for key, f := range scope.byKey {
			if other, there := found[key]; there && other != f {
				f = nil
			}
			found[key] = f
		}
	}
	for key, f := range found {
		if f == nil || c.byKey[key] != nil {
			delete(found, key)
		}
	}
	return found
}

// Sources are the sources in the order they were given. The caller must not change the list.
func (c *Catalog) Sources() []*Scope { return c.scopes }

// Source finds a source by its identifier or its name; nil where there is none.
func (c *Catalog) Source(name string) *Scope { return c.byKey[name] }

// Function finds a function of the source by its identifier or its name; nil where there is none.
func (s *Scope) Function(name string) *Callable { return s.byKey[name] }

// Alias finds the operation that scripts may call as sdk.<name>, without its source; nil where there is none.
func (c *Catalog) Alias(name string) *Callable { return c.aliases[name] }

// Aliases are all names for Alias. The caller must not change the map.
func (c *Catalog) Aliases() map[string]*Callable { return c.aliases }

// Len is how many functions there are.
func (c *Catalog) Len() int {
	n := 0
	for _, scope := range c.scopes {
		n += len(scope.Callables)
	}
	return n
}

// Memo keeps a value that is made of the source alone, once, as long as the source lives.
func (s *Scope) Memo(key any, make func() any) any {
	once, found := s.memo.Load(key)
	if !found {
		once, _ = s.memo.LoadOrStore(key, sync.OnceValue(make))
	}
	return once.(func() any)()
}
