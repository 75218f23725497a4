package tooldef

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// Options say where tools come from. Files is needed; the rest may stay zero.
type Options struct {
	// Files reads the folders; mostly a module.Rooted, so that no link leads out of them.
	Files module.FS
	// Root is the folder of the configuration, absolute. Relative paths begin there, and errors and
	// chunk names show paths from there.
	Root string
	// Dirs are directories of tools, and single files, which have to be tools.
	Dirs []string
	// Scripts are Lua tools that the configuration names, by name.
	Scripts map[string]Script
	// Policies change what tools ask for, by the name of the tool.
	Policies map[string]Policy
	// Previous is what was loaded before: what did not change is taken from it, and what is broken now
	// stays as it was there. nil is nothing.
	Previous *Set
	// Modules are what Lua tools find in `__native` while they are read; nothing is granted. nil: the
	// built-in ones.
	Modules []hostmod.Module
	// Resolver gives what finds the modules that the tool of a chunk requires, as when it runs. nil: the SDK only.
	Resolver func(chunk string) (engine.Resolver, error)
	// Libraries are folders of modules beside those in Dirs: when one changes, tools that require modules are others.
	Libraries []string
	// ReadTime is how long the top level of a Lua tool may take. 0 is a second.
	ReadTime time.Duration
	// Workers is how many files are read at once. 0: one for each processor.
	Workers int
}

// Script is a Lua tool of the configuration. Fields that are zero leave the tool as it is.
type Script struct {
	Path    string // of the file
	Timeout time.Duration
	Approve bool
	Rate    Rate
	Config  map[string]any // the script's `context.config`
}

// Policy is what the configuration says of a tool. nil leaves what the tool asks for; a list replaces its
// list, so that an empty one takes everything.
type Policy struct {
	Timeout   *time.Duration
	Memory    *int64
	Isolation *engine.Isolation
	Approve   *bool
	Rate      *Rate

	Permissions
}

// apply is a tool under a policy.
func (p Policy) apply(t *Tool) (*Tool, error) {
	changed := *t
	set(&changed.Timeout, p.Timeout)
	set(&changed.Memory, p.Memory)
	set(&changed.Isolation, p.Isolation)
	set(&changed.Approve, p.Approve)
	set(&changed.Rate, p.Rate)
	changed.Permissions.EachList(&p.Permissions, func(to *[]string, from []string) {
		if from != nil {
			*to = from
		}
	})
	if err := (httpmod.Policy{Net: p.Net, NetPrivate: p.NetPrivate}).Check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	changed.Hash = sum([]byte(t.Hash), text)
	return &changed, nil
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// ConfigOf is the `context.config` of a tool: what its file says, and over that what the configuration does.
func (s Script) ConfigOf(t *Tool) map[string]any {
	all := maps.Clone(t.Config)
	if all == nil {
		return s.Config
	}
	maps.Copy(all, s.Config)
	return all
}

// apply is a Lua tool with what the configuration says of it.
func (s Script) apply(t *Tool) (*Tool, error) {
	changed := *t
	if s.Timeout > 0 {
		changed.Timeout = s.Timeout
	}
	if s.Rate.Calls > 0 {
		changed.Rate = s.Rate
	}
	changed.Approve = changed.Approve || s.Approve
	changed.Config = s.ConfigOf(t)
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	changed.Hash = sum([]byte(t.Hash), text)
	return &changed, nil
}
