// Package initcmd is `luau init DIR`: it makes a small project.
package initcmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// Command makes the command.
func Command() *cobra.Command {
	return &cobra.Command{
		Use:   "init DIR",
		Short: "Make a small project: a script, a test, settings",
		Long: `Makes a small project in a folder, which is made when it is not there; "." is the working directory.
No file of the project is overwritten: when one is in the way, nothing is written. The settings of
editors are merged into those that are there, as luau types does.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("luau init takes one folder, got %d; . is the working directory", len(args))
			}
			return run(cmd, args[0])
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
}

func run(cmd *cobra.Command, dir string) error {
	names, err := app.NewProject(dir)
	var inTheWay *app.InTheWayError
	if errors.As(err, &inTheWay) {
		return app.WithHint(err, "name another folder, or move the files away")
	}
	if err != nil {
		return err
	}
	types, err := app.WriteEditorFiles(dir)
	if err != nil {
		return app.WithHint(err, "the project is there; luau types writes the rest")
	}
	for _, kept := range types.Kept {
		app.Warn(cmd.ErrOrStderr(), "kept as it is: "+kept)
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), told(dir, names))
	return err
}

// told is what was made and what comes next.
func told(dir string, names []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "made a project in %s:\n", visible.Line(dir))
	for _, name := range names {
		fmt.Fprintf(&b, "  %s\n", name)
	}
	b.WriteString("  settings for VS Code and Zed; .luau/README.md has those for Neovim\n\nnext:\n")
	if dir != "." && visible.Line(dir) == dir {
		fmt.Fprintf(&b, "  cd %s\n", visible.Word(dir))
	}
	b.WriteString("  luau main.luau\n  luau test\n")
	return b.String()
}
