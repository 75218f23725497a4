package gatewaycmd

import (
	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/hostapp"
)

// completeAdd completes the names of sources, which would be replaced, and files of a command.
func completeAdd(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	file, _ := cmd.Flags().GetString("config")
	return hostapp.SourceNames(hostapp.Options{ConfigFile: file}), cobra.ShellCompDirectiveNoFileComp
}

// completeFlags completes the values of flags.
func completeFlags(cmd *cobra.Command) {
	endings := func(list ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(list, cobra.ShellCompDirectiveFilterFileExt)
	}
	texts := func(list ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
	}
	for flag, complete := range map[string]cobra.CompletionFunc{
		"api": endings("yaml", "yml", "json"), "config": endings("toml"), "transport": texts("streamable-http", "sse"),
		"cwd": cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"url": texts("https://", "http://"), "base-url": texts("https://", "http://"),
		"env": texts(), "header": texts(), "token": texts(), "allow": texts(), "deny": texts(), "description": texts(),
	} {
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic(err) // a flag that is not there
		}
	}
}
