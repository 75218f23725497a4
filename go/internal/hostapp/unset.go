package hostapp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// tellUnset names the variables that are not set, where nothing fails for them.
func (p *Project) tellUnset() {
	if p.options.Unset != UnsetTold || p.options.Stderr == nil {
		return
	}
	var names []string
	for _, u := range p.Config().Unset() {
		if !slices.Contains(names, u.Variable) {
			names = append(names, u.Variable)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(p.options.Stderr, "warning: %s names variables that are not set: %s\n", p.configName(), strings.Join(names, ", "))
	}
}

// unsetIn fails where a part of the configuration needs variables that are not set.
func unsetIn(c *config.Config, part func(path []string) bool) error {
	var list config.Errors
	for _, u := range c.Unset() {
		if part(u.Path) {
			list = append(list, u.Err)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

func isState(path []string) bool { return path[0] == "state" }

// isGeneral says whether a part of the configuration is about every call that is made here.
func isGeneral(path []string) bool {
	switch path[0] {
	case "models", "server", "mcp_servers", "apis", "gateway":
		return false
	case "tools":
		return len(path) > 1 && path[1] == "dirs"
	}
	return true
}

// readyToRun fails where what all calls have needs variables that are not set.
func (p *Project) readyToRun() error {
	if p.options.Offline {
		return nil
	}
	return unsetIn(p.Config(), isGeneral)
}

// readyFor fails where a tool, one that it may call, or a model of theirs needs variables that are not set. source is
// the [tools.script] whose configuration it has; "": its own.
func (p *Project) readyFor(t *tooldef.Tool, source string) error {
	if p.options.Offline || len(p.Config().Unset()) == 0 {
		return nil
	}
	r := reach{served: p.served(), tools: map[string]bool{}, models: map[string]bool{}}
	r.add(t)
	return unsetIn(p.Config(), func(path []string) bool {
		switch {
		case path[0] == "models" && len(path) > 1:
			return r.models[path[1]] || r.models["*"]
		case path[0] == "tools" && len(path) > 2:
			return r.tools[path[2]] || path[1] == "script" && path[2] == source
		}
		return false
	})
}

// reach is what a tool may come to.
type reach struct {
	served        *granted
	tools, models map[string]bool
}

func (r *reach) add(t *tooldef.Tool) {
	if r.tools[t.Name] {
		return
	}
	r.tools[t.Name] = true
	if with, served := r.served.Find(t.Name); served {
		t = with
	}
	for _, name := range t.Permissions.Models {
		r.models[name] = true
	}
	for _, name := range t.Permissions.Tools {
		for _, other := range r.served.Tools() {
			if name == "*" || name == other.Name {
				r.add(other)
			}
		}
	}
}
