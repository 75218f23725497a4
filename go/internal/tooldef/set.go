package tooldef

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Set is the tools that were found, and what is no tool and why. It is immutable and may be shared.
type Set struct {
	root   string // the configuration's folder, absolute
	tools  []*Tool
	byName map[string]*Tool
	broken []Broken
	files  map[source]*loaded
	origin map[string]origin // of the tools, by name
}

// origin is a tool without what the configuration says of it.
type origin struct {
	tool *Tool
	from source
}

// loaded is what one file held.
type loaded struct {
	digest  string       // of its text
	module  bool         // a Luau file that defines no tool
	scripts []dependency // that it names as lua_file
	modules string       // digest of the modules that were there
	tools   []*Tool      // without what the configuration says of them
	broken  []Broken
}

// dependency is a file that a definition names.
type dependency struct {
	path   string // absolute
	digest string // "" when it could not be read
}

// Tools are the tools by name.
func (s *Set) Tools() []*Tool { return s.tools }

// Find gives the tool of a name.
func (s *Set) Find(name string) (*Tool, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// Errors are the definitions that are no tools, by file and line.
func (s *Set) Errors() []Broken { return s.broken }

// Load finds and reads tools. What is wrong with one of them is in Set.Errors and stops no other; the error
// of Load itself says that nothing could be looked at, or that ctx ended.
func Load(ctx context.Context, o Options) (*Set, error) {
	if o.Files == nil {
		return nil, errors.New("tooldef: Options.Files is nil: there is nothing to read tools from")
	}
	l, err := newLoader(o)
	if err != nil {
		return nil, err
	}
	sources, broken := l.find()
	files, err := l.readAll(ctx, sources)
	if err != nil {
		return nil, err
	}
	s := &Set{root: l.root, byName: map[string]*Tool{}, broken: broken, files: make(map[source]*loaded, len(sources)), origin: map[string]origin{}}
	for i, source := range sources {
		s.files[source] = files[i]
		s.broken = append(s.broken, files[i].broken...)
		for _, tool := range files[i].tools {
			s.add(l, source, tool)
		}
	}
	s.keepStale(l)
	for _, tool := range s.byName {
		s.tools = append(s.tools, tool)
	}
	slices.SortFunc(s.tools, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(s.broken, func(a, b Broken) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return s, nil
}

// find gives the files that may define tools: those that the configuration names, then those of the
// directories, in order of their paths.
func (l *loader) find() ([]source, []Broken) {
	w := walk{files: l.files, seen: map[string]bool{}}
	for _, name := range sortedKeys(l.o.Scripts) {
		file := w.absolute(l.o.Scripts[name].Path)
		w.again(file)
		w.found = append(w.found, source{path: file, named: true, script: name})
	}
	first := len(w.found)
	for _, dir := range l.o.Dirs {
		w.start(dir)
	}
	slices.SortFunc(w.found[first:], func(a, b source) int { return strings.Compare(a.path, b.path) })
	return w.found, w.broken
}

// add takes a tool with what the configuration says of it, unless its name is taken.
func (s *Set) add(l *loader, from source, tool *Tool) {
	refuse := func(hint, format string, args ...any) {
		s.broken = append(s.broken, broken(tool.File, tool.Name, &Error{
			File: tool.File, Line: tool.Line, Problem: fmt.Sprintf(format, args...), Hint: hint,
		}))
	}
	if from.script != "" && from.script != tool.Name {
		refuse("use one name for both", "the configuration calls this tool %q ([tools.script.%s]), its own name is %q",
			from.script, from.script, tool.Name)
		return
	}
	if first, taken := s.byName[tool.Name]; taken {
		refuse("give one of them another name", "the tool %q is already defined in %s, line %d; this second one in %s is not used",
			tool.Name, first.File, first.Line, tool.File)
		return
	}
	configured, err := l.configure(from, tool)
	if err != nil {
		refuse("", "the configuration of the tool %q: %s", tool.Name, err)
		return
	}
	if l.o.Previous != nil {
		if old, ok := l.o.Previous.Find(tool.Name); ok && old.Hash == configured.Hash && !old.Stale {
			configured = old
		}
	}
	s.byName[tool.Name], s.origin[tool.Name] = configured, origin{tool, from}
}

// configure gives a tool what the configuration says of it.
func (l *loader) configure(from source, tool *Tool) (*Tool, error) {
	var err error
	if from.script != "" {
		if tool, err = l.o.Scripts[from.script].apply(tool); err != nil {
			return nil, err
		}
	}
	if policy, ok := l.o.Policies[tool.Name]; ok {
		return policy.apply(tool)
	}
	return tool, nil
}

// keepStale takes the last good version of tools whose definition is broken now, under the configuration of
// now: what it took from them stays taken.
func (s *Set) keepStale(l *loader) {
	if l.o.Previous == nil {
		return
	}
	for _, old := range l.o.Previous.tools {
		if _, there := s.byName[old.Name]; there || !s.isBroken(old) {
			continue
		}
		before := l.o.Previous.origin[old.Name]
		configured, err := l.configure(before.from, before.tool)
		if err != nil {
			continue // it is among the broken ones as it is
		}
		stale := *configured
		stale.Stale = true
		s.byName[old.Name], s.origin[old.Name] = &stale, before
	}
}

// isBroken says whether a file that defined a tool has an error which may be about it.
func (s *Set) isBroken(tool *Tool) bool {
	return slices.ContainsFunc(s.broken, func(b Broken) bool {
		return b.File == tool.File && (b.Name == tool.Name || b.Name == "") && !errors.Is(b.Err, errGone)
	})
}
