package contextmod

import (
	"maps"

	"github.com/hukilau/hukilau/go/internal/registry"
)

// Options say how much a Registry keeps. Zero means the default.
type Options = registry.Options

// Context is one context of a script: what it was created with and what was set since. It is a copy,
// but the values inside of the maps are shared and must not be changed.
type Context struct {
	ID          string
	Name        string         // may be empty
	Description string         // may be empty
	Options     map[string]any // all that context_create was given
	Values      map[string]any
}

// Registry holds the contexts of all VMs for the embedding program. Those of ended runs stay until
// their room is needed. Any goroutine may use it.
type Registry struct {
	store *registry.Store[string, Context]
}

// NewRegistry makes an empty Registry.
func NewRegistry(o Options) *Registry { return &Registry{registry.New[string, Context](o)} }

// Contexts gives all contexts, oldest first.
func (r *Registry) Contexts() []Context {
	var list []Context
	r.store.Each(func(_ string, c Context) { list = append(list, c.copied()) })
	return list
}

// Context gives one context by its id.
func (r *Registry) Context(id string) (c Context, ok bool) {
	ok = r.store.Read(id, func(kept Context) { c = kept.copied() })
	return c, ok
}

// Remove drops a context; false when there is none. A script that still uses it gets an error.
func (r *Registry) Remove(id string) bool { return r.store.Remove(id) }

func (c Context) copied() Context {
	c.Values = maps.Clone(c.Values)
	return c
}
