package catalog

import (
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
)

// maxNamed is how many names a message lists.
const maxNamed = 8

// UnknownError says that a source or a function does not exist, and what may have been meant.
type UnknownError struct {
	Name    string // as it was asked for
	Nearest string // in full; "" where nothing is near
	text    string
}

func (e *UnknownError) Error() string { return e.text }

// Find finds a function by its full name: "source.function" in either spelling of each, with or without "sdk." in
// front, or the alias of an operation. The error is an *UnknownError.
func (c *Catalog) Find(name string) (*Callable, error) {
	for _, rest := range []string{name, strings.TrimPrefix(name, "sdk.")} {
		if f := c.find(rest); f != nil {
			return f, nil
		}
	}
	rest := strings.TrimPrefix(name, "sdk.")
	if c.Source(rest) != nil {
		return nil, c.unknownName(rest)
	}
	if scope, function := c.split(rest); scope != nil {
		return nil, scope.Unknown(function)
	}
	source, function, dotted := strings.Cut(rest, ".")
	if !dotted {
		return nil, c.unknownName(rest)
	}
	if err := c.absent(source); err != nil {
		return nil, err
	}
	if near := c.Source(c.nearestSource(source)); near != nil {
		if f := near.Function(function); f != nil {
			return nil, &UnknownError{Name: name, Nearest: f.FullName(), text: "there is no source sdk." + clip(source) +
				", did you mean sdk." + f.FullName() + "?"}
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

// unknownName is about a name without a dot, which may mean a source, an operation or a function of any source.
func (c *Catalog) unknownName(name string) error {
	if c.Source(name) != nil {
		return &UnknownError{Name: name, text: clip(name) + " is a source, not a function: name one of its functions, as in " + c.Source(name).example()}
	}
	return c.Unknown(name)
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
			return &UnknownError{Name: name, text: "nothing is known of the source " + path("sdk", c.Ident(e)) + " now: " + c.why(e)}
		}
	}
	return nil
}

// Unknown is the error for a source, or an operation without one, that does not exist.
func (c *Catalog) Unknown(name string) error {
	if err := c.absent(name); err != nil {
		return err
	}
	e := &UnknownError{Name: name, text: "there is no source sdk." + clip(name)}
	if c.inSources(name, e) {
		return e
	}
	if near := c.nearestSource(name); near != "" {
		e.Nearest = near
		e.text += ", did you mean " + path("sdk", near) + "?"
		return e
	}
	if near := spelling.Nearest(name, keysOf(c.aliases)); near != "" {
		e.Nearest = c.aliases[near].FullName()
		e.text += ", did you mean sdk." + e.Nearest + "?"
		return e
	}
	if len(c.scopes) == 0 {
		e.text += ": there are no sources"
		return e
	}
	var names []string
	for _, scope := range c.scopes[:min(len(c.scopes), maxNamed)] {
		names = append(names, scope.Ident)
	}
	e.text += "; the sources are " + strings.Join(names, ", ")
	if more := len(c.scopes) - maxNamed; more > 0 {
		e.text += " and " + count(more, "other")
	}
	return e
}

// inSources says which sources have a function of the name, where any has.
func (c *Catalog) inSources(name string, e *UnknownError) bool {
	var names []string
	for _, scope := range c.scopes {
		if f := scope.byKey[name]; f != nil && len(names) < maxNamed {
			names = append(names, "sdk."+f.FullName())
		}
	}
	if len(names) == 0 {
		return false
	}
	e.Nearest = strings.TrimPrefix(names[0], "sdk.")
	e.text = "there is no sdk." + clip(name) + ", did you mean " + strings.Join(names, " or ") + "?"
	return true
}

// Unknown is the error for a function that the source does not have.
func (s *Scope) Unknown(name string) error {
	e := &UnknownError{Name: s.Ident + "." + name, text: "there is no function sdk." + s.Ident + "." + clip(name)}
	near := spelling.Nearest(name, keysOf(s.byKey))
	switch {
	case near != "":
		e.Nearest = s.byKey[near].FullName()
		e.text += ", did you mean " + s.byKey[near].Ident + "?"
	case len(s.Callables) == 0:
		e.text += ": " + s.Ident + " has no functions now"
	case len(s.Callables) <= maxNamed:
		var names []string
		for _, f := range s.Callables {
			names = append(names, f.Ident)
		}
		e.text += "; " + s.Ident + " has " + strings.Join(names, ", ")
	default:
		e.text += "; " + s.Ident + " has " + count(len(s.Callables), "function") + ", which can be listed and searched"
	}
	return e
}

func (c *Catalog) nearestSource(name string) string {
	return spelling.Nearest(name, keysOf(c.byKey))
}

// keysOf are sorted, so that of two names that are as near the same one is always meant.
func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// path writes the access to a member, with a dot where that is possible.
func path(of, name string) string {
	if IsIdent(name) {
		return of + "." + name
	}
	return of + "[" + Quote(name) + "]"
}

func clip(name string) string { return spelling.Clip(strings.ToValidUTF8(name, "?"), 100) }
