package luautype

import (
	"slices"
	"strings"
	"sync"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// Member is a name with a type of Luau.
type Member struct{ Name, Type string }

// DefinitionOptions is what a script finds beside its sources. The zero value is: nothing.
type DefinitionOptions struct {
	// Prelude is declarations in the syntax of definition files, put in front.
	Prelude string
	// Members are further members of sdk, as `files`.
	Members []Member
	// Globals are further globals, as `result`. A server of such a name is none.
	Globals []Member
}

const promise = "export type Promise<T> = { await: (self: Promise<T>) -> T }\n"

// Definitions declares sdk with all sources and functions for the type checker, and each server as a global whose
// functions give promises. What is written for a source is kept as long as the source lives.
func Definitions(c *catalog.Catalog, o DefinitionOptions) string {
	return define(c, o, func(*catalog.Scope) []*catalog.Callable { return nil }, nil)
}

// DefinitionsFor is Definitions with those sources and functions alone that are among the names in used, in one of
// their spellings. Mentioned finds the names of a script.
func DefinitionsFor(c *catalog.Catalog, o DefinitionOptions, used []string) string {
	names := make(map[string]bool, len(used))
	for _, name := range used {
		names[name] = true
	}
	pick := func(s *catalog.Scope) []*catalog.Callable {
		list := []*catalog.Callable{}
		sourceMeant := names[s.Ident] || names[s.Name]
		for name := range names {
			if f := s.Function(name); f != nil && (sourceMeant || c.Alias(name) == f) {
				list = append(list, f)
			}
		}
		slices.SortFunc(list, func(a, b *catalog.Callable) int { return strings.Compare(a.Ident, b.Ident) })
		return slices.Compact(list)
	}
	return define(c, o, pick, names)
}

// define writes definitions: of the functions that pick gives of a source, of all where it gives nil.
func define(c *catalog.Catalog, o DefinitionOptions, pick func(*catalog.Scope) []*catalog.Callable, names map[string]bool) string {
	var b strings.Builder
	b.WriteString(o.Prelude)
	if o.Prelude != "" && !strings.HasSuffix(o.Prelude, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(promise)
	sdk := slices.Clone(o.Members)
	taken := map[string]bool{}
	for _, m := range o.Globals {
		taken[m.Name] = true
		b.WriteString("declare " + m.Name + ": " + m.Type + "\n")
	}
	for _, s := range c.Sources() {
		functions := pick(s)
		if names != nil && len(functions) == 0 && !names[s.Ident] && !names[s.Name] {
			continue
		}
		global := s.Global && s.Kind == catalog.MCP && !taken[s.Ident] && (names == nil || names[s.Ident])
		writeSource(&b, s, functions, global)
		if global {
			b.WriteString("declare " + s.Ident + ": " + s.Ident + "_promises\n")
		}
		sdk = append(sdk, spellings(s.Ident, s.Name, s.Ident+"_functions")...)
	}
	sdk = append(sdk, aliases(c, names)...)
	b.WriteString("declare sdk: ")
	writeMembers(&b, sdk)
	return b.String()
}

// spellings are the members that one thing has: its identifier and, where that is another one, its name.
func spellings(ident, name, of string) []Member {
	list := []Member{{ident, of}}
	if name != ident && writable(name) {
		list = append(list, Member{name, of})
	}
	return list
}

// writable says whether a name can be a member in definitions.
func writable(name string) bool { return !strings.ContainsRune(name, 0) && len(name) <= maxText }

// aliases are the operations that sdk has without their sources.
func aliases(c *catalog.Catalog, names map[string]bool) []Member {
	var list []Member
	for name, f := range c.Aliases() {
		if (names == nil || names[name]) && writable(name) {
			list = append(list, Member{name, sourceOf(f.Scope).piece(f).direct()})
		}
	}
	slices.SortFunc(list, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// source is what was written of one source.
type source struct {
	scope *catalog.Scope

	mu     sync.Mutex
	lib    *library
	pieces map[*catalog.Callable]piece
	texts  map[*named]string
}

// piece is the types of one function.
type piece struct {
	arguments, result string
	refs              []*named
}

func (p piece) direct() string  { return p.arguments + " -> " + p.result }
func (p piece) awaited() string { return p.arguments + " -> Promise<" + p.result + ">" }

type sourceKey struct{}

func sourceOf(s *catalog.Scope) *source {
	return s.Memo(sourceKey{}, func() any {
		made := &source{scope: s, lib: newLibrary(namesOf(s, s.Ident+"_")), pieces: map[*catalog.Callable]piece{}, texts: map[*named]string{}}
		made.lib.wide = true
		return made
	}).(*source)
}

// namesOf are the names of the definitions of all functions of a source.
func namesOf(s *catalog.Scope, prefix string) *names {
	n := newNames(prefix)
	seen := map[identity]bool{}
	for _, f := range s.Callables {
		if id := identify("", f.Defs); f.Defs != nil && !seen[id] {
			seen[id] = true
			n.reserve(f.Defs)
		}
	}
	return n
}

func (s *source) piece(f *catalog.Callable) piece {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, made := s.pieces[f]
	if !made {
		t := s.lib.types(f)
		if t.params == nil && t.body == nil {
			t.params = &node{kind: table} // an empty one does no harm
		}
		p = piece{arguments: t.arguments(), result: inline(t.result), refs: t.refs}
		s.pieces[f] = p
	}
	return p
}

// types are the declarations of all types that some refer to, by their names.
func (s *source) types(refs []*named) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[*named]bool{}
	var list []string
	for todo := slices.Clone(refs); len(todo) > 0; {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[t] {
			continue
		}
		seen[t] = true
		text, made := s.texts[t]
		if !made {
			text = "export type " + t.name + " = " + inline(s.lib.typeOf(t)) + "\n"
			s.texts[t] = text
		}
		list = append(list, text)
		todo = append(todo, t.refs...)
	}
	slices.Sort(list)
	return list
}

type wholeKey struct{ global bool }

// writeSource declares the types of a source; nil functions are all.
func writeSource(b *strings.Builder, s *catalog.Scope, functions []*catalog.Callable, global bool) {
	if functions == nil {
		b.WriteString(s.Memo(wholeKey{global}, func() any { return sourceOf(s).text(s.Callables, global) }).(string))
		return
	}
	b.WriteString(sourceOf(s).text(functions, global))
}

func (s *source) text(functions []*catalog.Callable, global bool) string {
	var refs []*named
	var direct, awaited []Member
	for _, f := range functions {
		p := s.piece(f)
		refs = append(refs, p.refs...)
		direct = append(direct, spellings(f.Ident, f.Name, p.direct())...)
		awaited = append(awaited, spellings(f.Ident, f.Name, p.awaited())...)
	}
	var b strings.Builder
	for _, text := range s.types(refs) {
		b.WriteString(text)
	}
	b.WriteString("export type " + s.scope.Ident + "_functions = ")
	writeMembers(&b, direct)
	if global {
		b.WriteString("export type " + s.scope.Ident + "_promises = ")
		writeMembers(&b, awaited)
	}
	return b.String()
}

// writeMembers writes a table type. Of several members of one name the first counts.
func writeMembers(b *strings.Builder, members []Member) {
	seen := make(map[string]bool, len(members))
	b.WriteString("{\n")
	for _, m := range members {
		if !seen[m.Name] {
			seen[m.Name] = true
			b.WriteString("\t" + member(m.Name) + ": " + m.Type + ",\n")
		}
	}
	b.WriteString("}\n")
}
