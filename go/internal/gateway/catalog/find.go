package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/units"
)

// maxNamed is how many names a message lists.
const maxNamed = 8

// Find finds a function by its full name: "source.function" in either spelling of each, with or without "sdk." in
// front, or the alias of an operation. The error says what may have been meant.
func (c *Catalog) Find(name string) (*Callable, error) {
	for _, rest := range []string{name, strings.TrimPrefix(name, "sdk.")} {
		if f := c.find(rest); f != nil {
			return f, nil
		}
	}
	rest := strings.TrimPrefix(name, "sdk.")
	if source := c.Source(rest); source != nil {
		return nil, errors.New(clip(rest) + " is a source, not a function: name one of its functions, as in " + source.example())
	}
	if scope, function := c.split(rest); scope != nil {
		return nil, scope.Unknown(function)
	}
	source, function, dotted := strings.Cut(rest, ".")
	if !dotted {
		return nil, c.Unknown(rest)
	}
	for i := range len(rest) { // names may have dots
		if rest[i] == '.' {
			if err := c.absent(rest[:i]); err != nil {
				return nil, err
			}
		}
	}
	if near := c.Source(c.nearestSource(source)); near != nil {
		if f := near.Function(function); f != nil {
			return nil, fmt.Errorf("there is no source sdk.%s, did you mean sdk.%s?", clip(source), f.FullName())
		}
	}
	return nil, c.Unknown(source)
}

func (c *Catalog) find(name string) *Callable {
	if f := c.aliases[name]; f != nil {
		return f
	}
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		if scope := c.byKey[name[:i]]; scope != nil {
			if f := scope.byKey[name[i+1:]]; f != nil {
				return f
			}
		}
	}
	return nil
}

// split finds the longest source that a name begins with; both may have dots.
func (c *Catalog) split(name string) (*Scope, string) {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '.' {
			if scope := c.byKey[name[:i]]; scope != nil {
				return scope, name[i+1:]
			}
		}
	}
	return nil, ""
}

func (s *Scope) example() string {
	if len(s.Callables) == 0 {
		return "sdk." + s.Ident + ".<function> (it has none now)"
	}
	return "sdk." + s.Callables[0].FullName()
}

// absent is the error for a source that is configured and not there; nil where it is none.
func (c *Catalog) absent(name string) error {
	if c.why == nil || c.byKey[name] != nil {
		return nil
	}
	for _, e := range c.expected {
		if e.Name == name || c.Ident(e) == name {
			return fmt.Errorf("nothing is known of the source %s now: %s", path("sdk", c.Ident(e)), c.why(e))
		}
	}
	return nil
}

// Unknown is the error for a source, or an operation without one, that does not exist.
func (c *Catalog) Unknown(name string) error {
	if err := c.absent(name); err != nil {
		return err
	}
	if functions := c.inSources(name); len(functions) > 0 {
		return fmt.Errorf("there is no sdk.%s, did you mean %s?", clip(name), strings.Join(functions, " or "))
	}
	text := "there is no source sdk." + clip(name)
	if near := c.nearestSource(name); near != "" {
		return errors.New(text + ", did you mean " + path("sdk", near) + "?")
	}
	if near := nearest(name, c.aliases); near != "" {
		return errors.New(text + ", did you mean sdk." + c.aliases[near].FullName() + "?")
	}
	if len(c.scopes) == 0 {
		return errors.New(text + ": there are no sources")
	}
	var names []string
	for _, scope := range c.scopes[:min(len(c.scopes), maxNamed)] {
		names = append(names, scope.Ident)
	}
	text += "; the sources are " + strings.Join(names, ", ")
	if more := len(c.scopes) - maxNamed; more > 0 {
		text += " and " + units.Counted(more, "other")
	}
	return errors.New(text)
}

// inSources are the functions of that name, of the first sources that have one.
func (c *Catalog) inSources(name string) (functions []string) {
	for _, scope := range c.scopes {
		if f := scope.byKey[name]; f != nil && len(functions) < maxNamed {
			functions = append(functions, "sdk."+f.FullName())
		}
	}
	return functions
}

// Unknown is the error for a function that the source does not have.
func (s *Scope) Unknown(name string) error {
	text := "there is no function sdk." + s.Ident + "." + clip(name)
	near := nearest(name, s.byKey)
	switch {
	case near != "":
		text += ", did you mean " + s.byKey[near].Ident + "?"
	case len(s.Callables) == 0:
		text += ": " + s.Ident + " has no functions now"
	case len(s.Callables) <= maxNamed:
		var names []string
		for _, f := range s.Callables {
			names = append(names, f.Ident)
		}
		text += "; " + s.Ident + " has " + strings.Join(names, ", ")
	default:
		text += "; " + s.Ident + " has " + units.Counted(len(s.Callables), "function") + ", which can be listed and searched"
	}
	return errors.New(text)
}

func (c *Catalog) nearestSource(name string) string { return nearest(name, c.byKey) }

// nearest compares in the order of names, so that of two that are as near the same one is always meant.
func nearest[V any](name string, among map[string]V) string {
	return spelling.Nearest(name, slices.Sorted(maps.Keys(among)))
}

// path writes the access to a member, with a dot where that is possible.
func path(of, name string) string {
	if IsIdent(name) {
		return of + "." + name
	}
	return of + "[" + Quote(name) + "]"
}

func clip(name string) string { return spelling.Clip(strings.ToValidUTF8(name, "?"), 100) }
