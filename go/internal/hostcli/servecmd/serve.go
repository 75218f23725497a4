// Package servecmd is `luau serve`: tools over HTTP and MCP on one port.
package servecmd

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/versions"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/units"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// Command makes the command.
func Command() *cobra.Command {
	var flags hostflags.Flags
	var sources hostapp.SourceFlags
	serving := hostapp.Serving{Version: versions.Build.Version}
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve tools over HTTP and MCP", Args: exit.NoArgs,
		Long: `Serves the tools of the project over HTTP (POST /tools/NAME, GET /tools/list) and MCP (/mcp) on one port, until
it is interrupted; calls that run may finish then. Changed files are loaded as they change.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			exit.AskPatience(cmd.Context())
			project, err := hostapp.Open(cmd.Context(), flags.Options(cmd, "info"))
			if err != nil {
				return err
			}
			defer project.Close()
			host, err := project.NewHost(cmd.Context(), hostapp.HostOptions{Sources: sources})
			if err != nil {
				return err
			}
			defer host.Close()
			serving.Ready = func(addr net.Addr) { ready(cmd, host, project, addr) }
			err = host.Serve(cmd.Context(), serving)
			if errors.Is(context.Cause(cmd.Context()), exit.ErrInterrupted) && (err == nil || errors.Is(err, context.Canceled)) {
				return nil // that is how it ends
			}
			return err
		},
	}
	flags.Add(cmd)
	cmd.Flags().StringArrayVar(&sources.Files, "from", nil, "a `file` with the servers of another program, as .mcp.json, whose tools scripts call; may be repeated")
	cmd.Flags().StringVar(&serving.Bind, "bind", "", "`address` to listen on, as 127.0.0.1:8787; another than loopback needs a token in the configuration")
	cmd.Flags().BoolVar(&serving.NoReload, "no-reload", false, "do not look at files that change")
	return cmd
}

// ready tells a person where the tools are.
func ready(cmd *cobra.Command, host *hostapp.Host, project *hostapp.Project, addr net.Addr) {
	fmt.Fprintf(cmd.ErrOrStderr(), "serving %s on http://%s (MCP at /mcp)\n", units.Counted(len(host.Tools()), "tool"), addr)
	for _, b := range project.Broken() {
		fmt.Fprintf(cmd.ErrOrStderr(), "broken: %s\n", visible.Message(b.Err.Error()))
	}
}
