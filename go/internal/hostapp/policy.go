package hostapp

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/units"
)

func rateOf(r units.Rate) tooldef.Rate { return tooldef.Rate{Calls: r.Count, Per: r.Per} }

// policyOf is what the configuration says of a tool; what it does not say stays nil.
func policyOf(c config.Policy) tooldef.Policy {
	p := tooldef.Policy{Permissions: tooldef.Permissions(c.Permissions), Approve: c.Approve}
	if c.Memory > 0 {
		p.Memory = &c.Memory
	}
	if c.Timeout > 0 {
		p.Timeout = &c.Timeout
	}
	if c.Rate.Count > 0 {
		rate := rateOf(c.Rate)
		p.Rate = &rate
	}
	if isolation, said := tooldef.ParseIsolation(string(c.Isolation)); said {
		p.Isolation = &isolation
	}
	return p
}

// granted are the tools of a set with what the configuration grants to every one.
type granted struct {
	tools  []*tooldef.Tool
	byName map[string]*tooldef.Tool
}

// Tools implements toolhost.Tools.
func (g *granted) Tools() []*tooldef.Tool { return g.tools }

// Find implements toolhost.Tools.
func (g *granted) Find(name string) (*tooldef.Tool, bool) {
	t, ok := g.byName[name]
	return t, ok
}

func grant(tools, replaced []*tooldef.Tool, all config.Permissions) *granted {
	g := &granted{byName: map[string]*tooldef.Tool{}}
	for _, t := range tools {
		for _, other := range replaced {
			if other.Name == t.Name {
				t = other
			}
		}
		t = withGrants(t, all)
		g.tools = append(g.tools, t)
		g.byName[t.Name] = t
	}
	return g
}

func withGrants(t *tooldef.Tool, all config.Permissions) *tooldef.Tool {
	changed := *t
	p := &changed.Permissions
	text, more := t.Hash, false
	granting := tooldef.Permissions(all)
	p.EachList(&granting, func(to *[]string, grants []string) {
		*to = union(*to, grants)
		text += "\x00" + strings.Join(grants, "\x01")
		more = more || len(grants) > 0
	})
	if !more {
		return t
	}
	sum := sha256.Sum256([]byte(text))
	changed.Hash = hex.EncodeToString(sum[:])
	return &changed
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
