// Package hostcli is the command line of luau-host: the verbs of `luau` that need servers, models or stores. Each
// verb is a package of its own below it.
package hostcli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/cli/versions"
	"github.com/hukilau/hukilau/go/internal/hostcli/approvalscmd"
	"github.com/hukilau/hukilau/go/internal/hostcli/checkcmd"
	"github.com/hukilau/hukilau/go/internal/hostcli/gatewaycmd"
	"github.com/hukilau/hukilau/go/internal/hostcli/logcmd"
	"github.com/hukilau/hukilau/go/internal/hostcli/mcpcmd"
	"github.com/hukilau/hukilau/go/internal/hostcli/servecmd"
	"github.com/hukilau/hukilau/go/internal/hostcli/toolcmd"
)

// Root is the command with all verbs. Users see it as `luau`.
func Root() *cobra.Command {
	root := &cobra.Command{
		Use: "luau", Args: exit.Verb, SilenceErrors: true, SilenceUsage: true,
		Short: "Host tools for agents",
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(exit.FlagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		checkcmd.Command(),
		toolcmd.Command(), gatewaycmd.Command(), servecmd.Command(), mcpcmd.Command(), logcmd.Command(), approvalscmd.Command(),
	)
	return root
}

// Main runs the command line and gives the exit code.
func Main(ctx context.Context, args []string, s program.Streams) int {
	return program.Main(ctx, Root(), versions.Line(), args, s)
}
