package approvalscmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostprint"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/visible"
)

func showCommand() *cobra.Command {
	var flags hostflags.Flags
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a call that waits, with its arguments", Args: anID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return inStore(cmd, &flags, func(ctx context.Context, project *hostapp.Project, all *store.Approvals) error {
				a, err := all.Find(ctx, args[0])
				if err != nil {
					return err
				}
				if program.WantsJSON(cmd) {
					return hostprint.JSONLine(cmd.OutOrStdout(), lineOf(project, &a))
				}
				_, err = fmt.Fprint(cmd.OutOrStdout(), facts(&a)+"\narguments\n"+pretty(project, a.Arguments)+outcome(project, &a))
				return err
			})
		},
	}
	flags.AddState(cmd)
	cmd.Flags().Bool(program.JSONFlag, false, "as one JSON object")
	return cmd
}

func facts(a *store.Approval) string {
	var b strings.Builder
	fact := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-9s %s\n", name, visible.Line(text))
		}
	}
	fact("id", a.ID)
	fact("tool", a.Tool)
	fact("state", string(a.State))
	fact("caller", callerOf(a))
	fact("session", a.Session)
	fact("reason", a.Reason)
	fact("created", clock(a.Created))
	fact("expires", clock(a.Expires))
	if !a.Decided.IsZero() {
		fact("decided", clock(a.Decided)+" by "+a.DecidedBy)
	}
	if !a.Finished.IsZero() {
		fact("finished", clock(a.Finished))
	}
	fact("version", a.Version)
	return b.String()
}

// pretty is JSON as people read it, without secrets.
func pretty(project *hostapp.Project, text []byte) string {
	return hostprint.Indented(hostprint.Pretty(project.RedactJSON(text)))
}

func outcome(project *hostapp.Project, a *store.Approval) string {
	switch {
	case a.Outcome == nil:
		return ""
	case a.Outcome.Error != nil:
		f := a.Outcome.Error
		return "\nerror\n" + pretty(project, []byte(f.Code+": "+f.Message))
	}
	return "\nresult\n" + pretty(project, a.Outcome.Result)
}
