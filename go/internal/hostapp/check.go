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
		place := p.Shown(f.File)
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d", place, f.Line)
		}
		if f.Severity == tooldef.Failure {
			report.Failures++
		}
		report.Findings = append(report.Findings, CheckFinding{Severity: f.Severity.String(), Place: place, Message: f.Message, tool: f.Tool, grant: f.Grant})
	}
	return report
}
