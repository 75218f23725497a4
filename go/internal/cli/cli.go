// Package cli is the `luau` command line: the root command. Each verb is a package of its own below it.
package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/doccmd"
	"github.com/hukilau/hukilau/go/internal/cli/hostedcmd"
	"github.com/hukilau/hukilau/go/internal/cli/initcmd"
	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/cli/replcmd"
	"github.com/hukilau/hukilau/go/internal/cli/runcmd"
	"github.com/hukilau/hukilau/go/internal/cli/testcmd"
	"github.com/hukilau/hukilau/go/internal/cli/typescmd"
	"github.com/hukilau/hukilau/go/internal/cli/versioncmd"
	"github.com/hukilau/hukilau/go/internal/cli/versions"
)

// Streams are where a command reads and writes.
type Streams = program.Streams

// Root is the command with all verbs.
func Root() *cobra.Command {
	root := runcmd.Command("luau")
	run := runcmd.Command("run")
	run.Short = "Run a script, as luau alone does"
	root.AddCommand(
		run, replcmd.Command(), testcmd.Command(), doccmd.Command(), initcmd.Command(), typescmd.Command(), versioncmd.Command(),
	)
	root.AddCommand(hostedcmd.Commands()...)
	return root
}

// Main runs the command line and gives the exit code.
func Main(ctx context.Context, args []string, s Streams) int {
	return program.Main(ctx, Root(), versions.Line(), args, s)
}
