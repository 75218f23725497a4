package hostapp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A policy for no tool is told where somebody looks, at the start of a server, and when it comes later.
func TestStrayPolicies(t *testing.T) {
	folder := inFolder(t, map[string]string{
		"hukilau.toml":     "[tools.policy.double]\napprove = true\n\n[tools.policy.duoble]\napprove = true\n\n[tools.policy.half]\nnet = []\n[tools.policy.other]\nnet = []\n",
		"tools/a.yaml":     yaml("double", "", "return 2"),
		"tools/b.yaml":     yaml("half", "", "return ("),
		"tools/other.yaml": "[",
	})
	const want = `hukilau.toml:4: [tools.policy.duoble] is for a tool that does not exist: what it says holds nowhere; did you mean "double"?`
	require.Equal(t, []string{want}, open(t, Options{}).StrayPolicies())
	require.Empty(t, open(t, Options{Tools: []string{"tools/a.yaml"}}).StrayPolicies(), "the others may have policies")
	report, err := open(t, Options{}).Check(t.Context())
	require.NoError(t, err)
	require.Equal(t, CheckFinding{Severity: "error", Place: "hukilau.toml:4", Message: strings.TrimPrefix(want, "hukilau.toml:4: ")}, report.Findings[0])

	for _, noReload := range []bool{true, false} {
		var log said
		h := hostOf(t, Options{Stderr: &log})
		changed := make(chan struct{}, 100)
		end, err := h.background(t.Context(), noReload, func() { changed <- struct{}{} })
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(log.String(), "level=WARN msg=\"hukilau.toml:4: [tools.policy.duoble]"), log.String())
		if !noReload {
			write(t, folder, map[string]string{"hukilau.toml": "[tools.policy.duoble]\napprove = true\n[tools.policy.late]\nnet = []\n"})
			for !strings.Contains(log.String(), "hukilau.toml:3: [tools.policy.late]") {
				await(t, changed)
			}
		}
		end()
	}
}

func TestStrayKeysOfScripts(t *testing.T) {
	inFolder(t, map[string]string{
		"hukilau.toml": "[tools.script.k]\npath = \"k.lua\"\napprov = true\nmemory = \"lots\"\nrates = 3\nnet = 1\nurl = \"x\"\n",
		"k.lua":        "tool = { name = 'k', description = 'K.' }\nfunction tool.execute(params, context) return context.config.rates + context.config.net end\n",
	})
	report, err := open(t, Options{}).Check(t.Context())
	require.NoError(t, err)
	const own = "is a key of the script's own configuration, and the script does not use it; "
	require.Equal(t, []CheckFinding{
		{Severity: "warning", Place: "hukilau.toml:3", Message: "[tools.script.k] approv " + own + `did you mean "approve"?`},
		{Severity: "warning", Place: "hukilau.toml:4", Message: "[tools.script.k] memory " + own + "for the tool's limits and permissions write it into [tools.policy.k]"},
	}, report.Findings)
}
