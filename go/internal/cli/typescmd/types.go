// Package typescmd is `luau types [DIR]`: it writes what editors need to check scripts.
package typescmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// Command makes the command.
func Command() *cobra.Command {
	return &cobra.Command{
		Use:   "types [DIR]",
		Short: "Write definitions and settings for editors",
		Long: `Writes what luau-lsp needs to complete and check scripts in a folder, by default the working directory:
.luau/native.d.luau declares the globals of the runner, .luau/libs has copies of its libraries,
.luau/require.luau is a plugin that finds them, and .vscode/settings.json and .zed/settings.json name these. Settings that are there keep their values and
comments. .luau/README.md says how Neovim is told.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return run(cmd, ".")
			case 1:
				return run(cmd, args[0])
			}
			return exit.Usagef("luau types takes one folder, got %d", len(args))
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
}

func run(cmd *cobra.Command, dir string) error {
	done, err := app.WriteEditorFiles(dir)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	for _, kept := range done.Kept {
		app.Warn(cmd.ErrOrStderr(), "kept as it is: "+kept)
	}
	switch len(done.Written) {
	case 0:
		_, err = fmt.Fprintln(out, "everything is up to date")
	default:
		_, err = fmt.Fprintf(out, "%d files written, among them %s\n", len(done.Written), visible.Line(done.Written[len(done.Written)-1]))
	}
	return err
}
