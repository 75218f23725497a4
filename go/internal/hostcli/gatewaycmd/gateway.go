// Package gatewaycmd is `luau gateway`: MCP servers and OpenAPI services for scripts, served to a client or used from
// the command line.
package gatewaycmd

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/versions"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
)

// Command makes the command.
func Command() *cobra.Command {
	s := sources{client: true}
	serving := hostapp.Serving{Version: versions.Build.Version}
	cmd := &cobra.Command{
		Use: "gateway [SPEC...]", Short: "Let scripts of models call MCP servers and OpenAPI services",
		Long: `Serves one MCP client on standard input and output. It finds five tools: with them a model searches the functions
of all sources, reads their types, and runs a script that calls them. Sources stand in hukilau.toml, where
'luau gateway add' writes them, or are named here.`,
		Example: `  luau gateway add files -- npx -y @modelcontextprotocol/server-filesystem .
  luau gateway
  luau gateway petstore.yaml --mcp 'memory=npx -y @modelcontextprotocol/server-memory'`,
		Args: specs,
		RunE: func(cmd *cobra.Command, args []string) error {
			exit.AskPatience(cmd.Context())
			return s.with(cmd, args, "warn", func(h *hostapp.Host) error {
				err := h.ServeStdio(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), serving)
				if errors.Is(context.Cause(cmd.Context()), exit.ErrInterrupted) {
					return nil // that is how it ends
				}
				return err
			})
		},
	}
	s.add(cmd)
	cmd.Flags().StringVar(&s.flags.Face, "face", "", "which `tools` the client finds: sdk, proxy or both; as [gateway] face says when left out")
	cmd.Flags().BoolVar(&serving.NoReload, "no-reload", false, "do not look at files that change")
	cmd.AddCommand(
		addCommand(), listCommand(), checkCommand(), searchCommand(), docsCommand(), callCommand(), execCommand(), generateCommand(), loginCommand(),
	)
	return cmd
}

// specs takes documents. A plain word is none, and meant as a command: ./word is a document.
func specs(cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		if isName(arg) {
			return exit.Verb(cmd, []string{arg})
		}
	}
	return nil
}

// documents takes documents for a command that looks at sources: a plain word is none, and may be the name of a source.
func documents(_ *cobra.Command, args []string) error {
	for _, arg := range args {
		if isName(arg) {
			return exit.Usagef("%s is no path of a document, which would be ./%s; luau gateway list %s lists the functions of a source", arg, arg, arg)
		}
	}
	return nil
}

func isName(arg string) bool { return !strings.ContainsAny(arg, "./=:") }

// sources are the flags that say what scripts can call.
type sources struct {
	project hostflags.Flags
	flags   hostapp.SourceFlags
	client  bool // waits for its first answers
}

func (s *sources) add(cmd *cobra.Command) {
	s.project.AddConfig(cmd)
	s.project.AddLog(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&s.flags.MCP, "mcp", nil, "an MCP server, `name=command` or name=URL; may be repeated")
	f.StringArrayVar(&s.flags.APIs, "api", nil, "an OpenAPI document, `name=spec`; may be repeated")
	f.StringArrayVar(&s.flags.Files, "from", nil, "a `file` with the servers of another program, as .mcp.json; may be repeated")
}

// with makes the gateway's host for a command.
func (s *sources) with(cmd *cobra.Command, specs []string, quiet string, do func(*hostapp.Host) error) error {
	s.flags.Specs = specs
	if err := hostapp.CheckFace(s.flags.Face); err != nil {
		return err
	}
	project, err := hostapp.Open(cmd.Context(), s.project.Options(cmd, quiet))
	if err != nil {
		return err
	}
	defer project.Close()
	host, err := project.NewHost(cmd.Context(), hostapp.HostOptions{Sources: s.flags, Gateway: true, Client: s.client})
	if err != nil {
		return err
	}
	defer host.Close()
	return do(host)
}
