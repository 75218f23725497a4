// Package hostedcmd is what `luau` hands over to `luau-host`, the program with servers, models and stores, and to
// `luau-gateway`, the same without models: users know one command, and what starts is what it takes.
package hostedcmd

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// HandOver becomes `luau-host` with these arguments, and returns only when that is not possible; main sets it.
var HandOver = func(args []string) error { return errors.New("luau-host cannot be started from here") }

type hosted struct{ name, short string }

var verbs = []hosted{
	{"check", "Type-check scripts without running them"},
	{"tool", "Make, test, list, check and call tools"},
	{"gateway", "Let scripts call MCP servers and OpenAPI services"},
	{"serve", "Serve tools over HTTP and MCP"},
	{"mcp", "Serve tools over MCP on standard input and output"},
	{"log", "Show what tools did"},
	{"approvals", "List, approve and deny calls that wait for approval"},
}

// Programs are those that have the verb of these arguments, the best first. Traces are of luau-host alone, and asked
// for by variables of the environment, as package hostapp does it.
func Programs(args []string, env func(string) string) []string {
	verb := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "__complete") })
	traced := env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" || env("OTEL_TRACES_EXPORTER") != ""
	if verb < 0 || args[verb] != "gateway" || traced {
		return []string{"luau-host"}
	}
	return []string{"luau-gateway", "luau-host"}
}

// Has says whether a verb is one of these.
func Has(verb string) bool {
	return slices.ContainsFunc(verbs, func(v hosted) bool { return v.name == verb })
}

// Commands makes the commands.
func Commands() []*cobra.Command {
	var list []*cobra.Command
	for _, v := range verbs {
		list = append(list, &cobra.Command{
			Use: v.name, Short: v.short, DisableFlagParsing: true,
			RunE:              func(_ *cobra.Command, args []string) error { return HandOver(append([]string{v.name}, args...)) },
			ValidArgsFunction: complete,
		})
	}
	return list
}

// complete lets luau-host answer, which knows its flags and names.
func complete(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	asked := cobra.ShellCompRequestCmd
	for _, other := range cmd.Root().Commands() {
		if called := other.CalledAs(); called == cobra.ShellCompNoDescRequestCmd {
			asked = called // by a shell that shows no descriptions
		}
	}
	if err := HandOver(slices.Concat([]string{asked, cmd.Name()}, args, []string{word})); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
