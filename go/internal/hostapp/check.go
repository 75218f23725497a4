package hostapp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// CheckReport is what is to be said about the tools of a project.
type CheckReport struct {
	Tools    int
	Failures int
	Findings []CheckFinding
}

// Rest is how many findings beside the failures no grant has settled.
func (r CheckReport) Rest(granted bool) int {
	rest := -r.Failures
	for _, f := range r.Findings {
		if !granted || !f.grantable() {
			rest++
		}
	}
	return rest
}

// grantable says whether Grant settles what was found.
func (f *CheckFinding) grantable() bool { return f.grant != nil && f.grant.Value != "" && f.tool != "" }

// CheckFinding is one thing to be said.
type CheckFinding struct {
	Severity string // "note", "warning" or "error"
	Place    string // file and line, from the working directory
	Message  string

	tool  string
	grant *tooldef.Grant
}

// Check checks all tools without running them.
func (p *Project) Check(ctx context.Context) (CheckReport, error) {
	report := CheckReport{Tools: len(p.Set().Tools())}
	known, err := p.known(ctx)
	if err != nil {
		return report, err
	}
	types, err := p.checkTypes(ctx, p.warn)
	if err != nil {
		return report, err
	}
	ofTools := append(p.Set().Check(known), types...)
	slices.SortStableFunc(ofTools, func(a, b tooldef.Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	for _, f := range slices.Concat(p.strayPolicies(), p.strayKeys(), ofTools) {
		if f.Severity == tooldef.Failure {
			report.Failures++
		}
		report.Findings = append(report.Findings, CheckFinding{
			Severity: f.Severity.String(), Place: p.placeOf(f), Message: p.redact(f.Message), tool: f.Tool, grant: p.mayBeWritten(f.Grant),
		})
	}
	return report, nil
}

// mayBeWritten is a grant that shows no secret: a configuration is mostly committed.
func (p *Project) mayBeWritten(g *tooldef.Grant) *tooldef.Grant {
	if g != nil && p.redact(g.Value) != g.Value {
		return &tooldef.Grant{Key: g.Key}
	}
	return g
}

// known are the names that tools may use: those of the whole project, where others than its own tools are checked.
func (p *Project) known(ctx context.Context) (tooldef.Known, error) {
	c := p.Config()
	known := tooldef.Known{
		Models: append([]string{}, slices.Sorted(maps.Keys(c.Models))...), Tools: []string{}, Granted: tooldef.Permissions(c.Permissions), Resolver: p.resolverOf,
	}
	if len(p.given) == 0 {
		return known, nil
	}
	o := p.options
	o.Tools, o.Also, o.Stderr = nil, nil, nil
	whole, err := Open(ctx, o)
	if err != nil {
		return known, err
	}
	defer whole.Close()
	for _, t := range whole.Tools() {
		known.Tools = append(known.Tools, t.Name)
	}
	for _, b := range whole.Broken() {
		known.Tools = append(known.Tools, b.Name)
	}
	return known, nil
}

// placeOf is where a finding is, from the working directory.
func (p *Project) placeOf(f tooldef.Finding) string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d", p.Shown(f.File), f.Line)
	}
	return p.Shown(f.File)
}
