package hostapp

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/tooldef"
)

// StrayPolicies are the policies that hold nowhere, because no tool has their name, a line each. Where only some of
// the tools are looked at nothing is known of that.
func (p *Project) StrayPolicies() (lines []string) {
	for _, f := range p.strayPolicies() {
		lines = append(lines, fmt.Sprintf("%s: %s", p.placeOf(f), f.Message))
	}
	return lines
}

func (p *Project) strayPolicies() (list []tooldef.Finding) {
	if len(p.given) > 0 {
		return nil
	}
	var names []string
	for _, t := range p.Tools() {
		names = append(names, t.Name)
	}
	for _, b := range p.Broken() {
		names = append(names, b.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Config().Tools.Policies)) {
		if slices.Contains(names, name) || len(p.brokenNamed(name)) > 0 {
			continue
		}
		hint := "; luau tool list shows the names"
		if near := spelling.Nearest(name, names); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		list = append(list, p.configFinding(tooldef.Failure, []string{"tools", "policy", name},
			fmt.Sprintf("[tools.policy.%s] is for a tool that does not exist: what it says holds nowhere%s", name, hint)))
	}
	return list
}

// configFinding is one about a key of the configuration.
func (p *Project) configFinding(severity tooldef.Severity, path []string, message string) tooldef.Finding {
	return tooldef.Finding{Severity: severity, File: p.configName(), Line: p.Config().Line(path...), Message: message}
}

// The keys of [tools.script.<name>] that are not the script's own, and some that stand in [tools.policy.<name>].
var (
	scriptKeys = []string{"path", "timeout", "approve", "rate"}
	policyKeys = []string{"memory", "isolation", "net", "net_private", "permissions"}
)

// strayKeys are keys of scripts that are the script's own, and were perhaps not meant to be: it does not use them.
func (p *Project) strayKeys() (list []tooldef.Finding) {
	for _, name := range slices.Sorted(maps.Keys(p.Config().Tools.Scripts)) {
		tool, there := p.Set().Find(name)
		if !there {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(p.Config().Tools.Scripts[name].Config)) {
			near := spelling.Nearest(key, scriptKeys)
			inPolicy := slices.Contains(policyKeys, key)
			if near == "" && !inPolicy || isMentioned(tool.Source, key) {
				continue
			}
			message := fmt.Sprintf("[tools.script.%s] %s is a key of the script's own configuration, and the script does not use it; ", name, key)
			if near != "" {
				message += fmt.Sprintf("did you mean %q?", near)
			} else {
				message += fmt.Sprintf("for the tool's limits and permissions write it into [tools.policy.%s]", name)
			}
			list = append(list, p.configFinding(tooldef.Warning, []string{"tools", "script", name, key}, message))
		}
	}
	return list
}

func isMentioned(source, word string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(source)
}

// tellStray logs the policies that hold nowhere, but for those that were told.
func (h *Host) tellStray(told map[string]bool) map[string]bool {
	now := map[string]bool{}
	for _, line := range h.Project.StrayPolicies() {
		if now[line] = true; !told[line] {
			h.Logger.Warn(line)
		}
	}
	return now
}
