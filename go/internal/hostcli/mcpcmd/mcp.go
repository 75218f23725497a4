// Package mcpcmd is `luau mcp`: tools over MCP on standard input and output.
package mcpcmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/versions"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
)

// Command makes the command.
func Command() *cobra.Command {
	var flags hostflags.Flags
	serving := hostapp.Serving{Version: versions.Build.Version}
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve tools over MCP on standard input and output", Args: exit.NoArgs,
		Long: `Serves the tools of the project to one MCP client, which starts this command and speaks to it over standard input
and output. Logs go to standard error.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			exit.AskPatience(cmd.Context())
			project, err := hostapp.Open(cmd.Context(), flags.Options(cmd, "warn"))
			if err != nil {
				return err
			}
			defer project.Close()
			host, err := project.NewHost(cmd.Context(), hostapp.HostOptions{Client: true})
			if err != nil {
				return err
			}
			defer host.Close()
			err = host.ServeStdio(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), serving)
			if errors.Is(context.Cause(cmd.Context()), exit.ErrInterrupted) {
				return nil // that is how it ends
			}
			return err
		},
	}
	flags.Add(cmd)
	cmd.Flags().BoolVar(&serving.NoReload, "no-reload", false, "do not look at files that change")
	return cmd
}
