package toolcmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
)

// arguments are the flags that give a tool its arguments.
type arguments struct {
	params []string
	json   string
}

func (a *arguments) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&a.params, "param", "p", nil, "an argument, `name=value`, read by the parameter's type; may be repeated")
	cmd.Flags().StringVar(&a.json, "json", "", "arguments as a JSON `object`; - reads them from standard input")
}

// object is the text of --json.
func (a *arguments) object(cmd *cobra.Command) (string, error) {
	if a.json != "-" {
		return a.json, nil
	}
	text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), hostapp.MaxArguments+1))
	if err != nil {
		return "", fmt.Errorf("reading the arguments: %w", err)
	}
	if len(text) > hostapp.MaxArguments {
		return "", exit.Usagef("--json -: more than %d bytes", hostapp.MaxArguments)
	}
	return string(text), nil
}

func callCommand() *cobra.Command {
	var flags hostflags.Flags
	var given arguments
	var session, approval string
	cmd := &cobra.Command{
		Use: "call NAME", Short: "Call a tool and print its result", Args: exit.OneArg("the name of a tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := given.object(cmd)
			if err != nil {
				return err
			}
			project, err := hostapp.Open(cmd.Context(), flags.Lenient(cmd, "warn", hostapp.UnsetLater))
			if err != nil {
				return err
			}
			defer project.Close()
			host, err := project.NewHost(cmd.Context(), hostapp.HostOptions{})
			if err != nil {
				return err
			}
			defer host.Close()
			result, err := host.CallTool(cmd.Context(), hostapp.ToolCall{
				Name: args[0], Params: given.params, JSON: object, Session: session, Approval: approval, Told: cmd.ErrOrStderr(),
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", result.Text)
			return err
		},
	}
	flags.Add(cmd)
	given.add(cmd)
	cmd.Flags().StringVar(&session, "session", "", "`name` of the session whose state the tool has")
	cmd.Flags().StringVar(&approval, "approval", "", "`id` of an approval that was given for this call")
	return cmd
}
