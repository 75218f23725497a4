package hostapp

import (
	"fmt"

	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// CheckReport is what is to be said about the tools of a project.
type CheckReport struct {
	Tools    int
	Failures int
	Findings []CheckFinding
}

// CheckFinding is one thing to be said.
type CheckFinding struct {
	Severity string // "note", "warning" or "error"
	Place    string // file and line, from the working directory
	Message  string

	tool  string
	grant *tooldef.Grant
}

// Check checks all tools without running them.
func (p *Project) Check() CheckReport {
	report := CheckReport{Tools: len(p.Set().Tools())}
	for _, f := range p.Set().Check() {
		if f.Severity == tooldef.Failure {
			report.Failures++
		}
		report.Findings = append(report.Findings, CheckFinding{Severity: f.Severity.String(), Place: p.placeOf(f), Message: f.Message, tool: f.Tool, grant: f.Grant})
	}
	return report
}

// placeOf is where a finding is, from the working directory.
func (p *Project) placeOf(f tooldef.Finding) string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d", p.Shown(f.File), f.Line)
	}
	return p.Shown(f.File)
}
