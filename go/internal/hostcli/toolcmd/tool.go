// Package toolcmd is `luau tool`: it makes, tests, lists, checks and calls tools.
package toolcmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// Command makes the command.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tool", Short: "Make, test, list, check and call tools", Args: exit.Verb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(initCommand(), testCommand(), listCommand(), callCommand(), checkCommand())
	return cmd
}

func initCommand() *cobra.Command {
	var flags hostflags.Flags
	var lua bool
	cmd := &cobra.Command{
		Use: "init NAME", Short: "Write a working tool to begin with", Args: exit.OneArg("the name of the tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, next, err := hostapp.NewTool(cmd.Context(), flags.Lenient(cmd, "error", hostapp.UnsetTold), args[0], lua)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n\nTry it:\n  %s\n", visible.Line(path), visible.Text(strings.Join(next, "\n  ")))
			return err
		},
	}
	flags.AddTools(cmd)
	cmd.Flags().BoolVar(&lua, "lua", false, "write the tool in Lua (tool.execute) in place of YAML")
	return cmd
}
