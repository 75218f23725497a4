package gateway

import (
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
)

// SourceInfo is a source as people see it in a list.
type SourceInfo struct {
	Name        string   `json:"name"`
	Ident       string   `json:"luau_name"` // as scripts write it
	Kind        string   `json:"kind"`
	State       State    `json:"state"`
	Reason      string   `json:"reason,omitempty"`
	Title       string   `json:"title,omitempty"`
	Version     string   `json:"version,omitempty"`
	Description string   `json:"description,omitempty"`
	Functions   int      `json:"functions"`
	Notes       []string `json:"notes,omitempty"`
}

// Sources are all sources, those that are not known among them.
func (g *Gateway) Sources() []SourceInfo {
	c := g.Catalog()
	list := make([]SourceInfo, 0, len(g.options.Upstreams))
	for _, u := range g.options.Upstreams {
		status := u.Status()
		info := SourceInfo{
			Name: u.Name(), Ident: c.Ident(expectedOf(u)), Kind: string(u.Kind()), State: status.State,
			Reason: g.options.Redact(status.Reason), Notes: g.redacted(status.Notes),
		}
		if s := u.Source(); s != nil {
			info.Title, info.Version, info.Description, info.Functions = s.Title, s.Version, summary(s), len(s.Functions)
		}
		list = append(list, info)
	}
	return list
}

// redacted takes secrets out of what a source says: a server may write its own token to its error output.
func (g *Gateway) redacted(notes []string) (shown []string) {
	for _, note := range notes {
		shown = append(shown, g.options.Redact(note))
	}
	return shown
}

// DefinitionsFile is the one of Stubs that declares all that a script finds.
const DefinitionsFile = luautype.DefinitionsFile

// Stubs are files of types for editors, by name.
func (g *Gateway) Stubs() map[string]string {
	c := g.Catalog()
	return luautype.Stubs(c, definitionsOf(c))
}

// Idle are the rules of the policy that are about no function that there is.
func (g *Gateway) Idle() (lines []int) {
	c := g.Catalog()
	for i := range g.options.Policy {
		rule := &g.options.Policy[i]
		used := false
		for _, s := range c.Sources() {
			for _, f := range s.Callables {
				used = used || isAbout(rule, f)
			}
		}
		if !used {
			lines = append(lines, rule.Line)
		}
	}
	return lines
}
