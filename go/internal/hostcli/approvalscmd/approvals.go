// Package approvalscmd is `luau approvals`: an operator sees the calls that wait for approval, and decides.
package approvalscmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// Command makes the command.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "approvals", Short: "List, approve and deny calls that wait for approval", Args: exit.Verb,
		Long: `A call of a tool with "approve: true" waits until an operator approves it. A server that runs begins it then; who
called gets the result at GET /calls/ID, or with the same call again and the id: "luau tool call NAME --approval ID".`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		listCommand(), showCommand(),
		decideCommand("approve", "Approve a call, so that it runs", true), decideCommand("deny", "Deny a call: it never runs", false),
	)
	return cmd
}

// anID is the argument of all that is about one approval.
var anID = exit.OneArg("the id of an approval, or the beginning of one")

// inStore does something with the project's approvals.
func inStore(cmd *cobra.Command, flags *hostflags.Flags, do func(context.Context, *hostapp.Project, *store.Approvals) error) error {
	project, err := hostapp.Locate(flags.Options(cmd, "warn"))
	if err != nil {
		return err
	}
	s, err := project.OpenStore(cmd.Context())
	if err != nil {
		return err
	}
	return errors.Join(do(cmd.Context(), project, s.Approvals), s.Close())
}

func decideCommand(name, short string, approve bool) *cobra.Command {
	var flags hostflags.Flags
	var by string
	cmd := &cobra.Command{
		Use: name + " ID...", Short: short, Args: exit.SomeArgs("the ids of approvals, or their beginnings"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if by == "" {
				by = hostapp.UserName()
			}
			if by == "" {
				by = "the command line"
			}
			return inStore(cmd, &flags, func(ctx context.Context, project *hostapp.Project, all *store.Approvals) error {
				var failed []error
				for _, id := range args {
					failed = append(failed, decide(cmd, project, all, id, approve, by))
				}
				if approve {
					hostapp.TellChanged(ctx, flags.Options(cmd, "error"), all, args, cmd.ErrOrStderr())
				}
				return errors.Join(failed...)
			})
		},
	}
	flags.AddState(cmd)
	cmd.Flags().StringVar(&by, "by", "", "`name` of who decides; the user of the system when left out")
	return cmd
}

func decide(cmd *cobra.Command, project *hostapp.Project, all *store.Approvals, id string, approve bool, by string) error {
	found, err := all.Find(cmd.Context(), id)
	if err != nil {
		return err
	}
	decided, err := all.Decide(cmd.Context(), found.ID, approve, by)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s: %s %s\n", decided.State, decided.ID, visible.Line(decided.Tool), arguments(project, &decided))
	return err
}
