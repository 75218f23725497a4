package gatewaycmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/visible"
)

func addCommand() *cobra.Command {
	var flags hostflags.Flags
	var source hostapp.NewSource
	cmd := &cobra.Command{
		Use:   "add NAME (--url URL | --api SPEC | -- COMMAND [ARGS...])",
		Short: "Write an MCP server or an OpenAPI document into the configuration",
		Long: `Writes a source into hukilau.toml, in the place of one with its name; all else of the file stays as it is. The
file is made where there is none. Scripts call the functions of the source as sdk.NAME.function().

'${NAME}' in a value, in quotes, is a variable of the environment: the file has its name, never its value.`,
		Example: `  luau gateway add files -- npx -y @modelcontextprotocol/server-filesystem .
  luau gateway add tracker --url https://mcp.tracker.example.com/mcp --token '${TRACKER_TOKEN}'
  luau gateway add petstore --api petstore.yaml`,
		Args: addArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			source.Name, source.Command = args[0], args[1:]
			added, err := hostapp.AddSource(flags.Options(cmd, "error"), source)
			if err != nil {
				return err
			}
			return tellAdded(cmd, added)
		},
		ValidArgsFunction: completeAdd,
	}
	flags.AddConfig(cmd)
	f := cmd.Flags()
	f.StringVar(&source.URL, "url", "", "`URL` of an MCP server that runs already")
	f.StringVar(&source.API, "api", "", "path or URL of an OpenAPI document, the `spec`")
	f.StringArrayVar(&source.Env, "env", nil, "`NAME=VALUE`, a variable for the command; may be repeated")
	f.StringVar(&source.Cwd, "cwd", "", "`folder` in which the command is started; the working directory when left out")
	f.StringArrayVar(&source.Headers, "header", nil, "a `header` for each request, 'Name: value'; may be repeated")
	f.StringVar(&source.Token, "token", "", "a `token` that is shown with each request, as '${NAME}'")
	f.StringVar(&source.Transport, "transport", "", "the `kind` of a URL: streamable-http, or sse for older servers")
	f.StringVar(&source.BaseURL, "base-url", "", "`URL` of the service, in place of the one that the document names")
	f.StringArrayVar(&source.Allow, "allow", nil, "a `pattern` of the functions that there are, as 'read_*'; may be repeated")
	f.StringArrayVar(&source.Deny, "deny", nil, "a `pattern` of functions that there are not; may be repeated")
	f.StringVar(&source.Description, "description", "", "a `text` that says to models what the source is for")
	completeFlags(cmd)
	return cmd
}

// addArgs wants a name, and a command behind "--" alone: flags of the command are its own.
func addArgs(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	switch {
	case len(args) == 0 || dash == 0:
		return exit.Usagef("%s needs the name of the source", cmd.CommandPath())
	case dash < 0 && len(args) > 1, dash > 1:
		return exit.Usagef("%s takes one name, got %q as well; a command stands behind --", cmd.CommandPath(), args[1])
	}
	return nil
}

func tellAdded(cmd *cobra.Command, added hostapp.AddedSource) error {
	done := "added"
	if added.Replaced {
		done = "replaced"
	}
	for _, note := range added.Notes {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", visible.Line(note)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s [%s] in %s\n", done, visible.Line(added.Section), visible.Line(added.File))
	return err
}
