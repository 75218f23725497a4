// Package gatewaycmd is `luau gateway`: it says which MCP servers and OpenAPI services scripts may call.
package gatewaycmd

import (
	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
)

// Command makes the command.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "gateway", Short: "Let scripts call MCP servers and OpenAPI services", Args: exit.Verb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(addCommand())
	return cmd
}
