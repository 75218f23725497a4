package gatewaycmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/visible"
)

func loginCommand() *cobra.Command {
	var s sources
	var forget bool
	cmd := &cobra.Command{
		Use: "login NAME", Short: "Log in to an MCP server that asks who you are", Args: exit.OneArg("the name of an MCP server"),
		Long: `Prints the address of a page to open in a browser, and waits until you have logged in there. What that gives is kept
in the keyring of the operating system, or in a file that is yours alone, and renewed as it is used.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			project, err := hostapp.Open(cmd.Context(), s.project.Options(cmd, "error"))
			if err != nil {
				return err
			}
			defer project.Close()
			if forget {
				if err := project.Logout(args[0], s.flags); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "forgotten: the login to %s\n", visible.Line(args[0]))
				return err
			}
			err = project.Login(cmd.Context(), args[0], s.flags, func(url string) error {
				_, err := fmt.Fprintf(cmd.ErrOrStderr(), "open this page to log in:\n%s\n", visible.Line(url))
				return err
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "logged in to %s\n", visible.Line(args[0]))
			return err
		},
	}
	s.add(cmd)
	cmd.Flags().BoolVar(&forget, "forget", false, "forget the login that is kept")
	return cmd
}
