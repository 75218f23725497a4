// Package versioncmd is `luau version`.
package versioncmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/versions"
)

// Command makes the command.
func Command() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of hukilau, Luau and Go, and whether native code can be made",
		Args:  exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versions.Line())
			return err
		},
	}
}
