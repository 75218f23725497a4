package approvalscmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostprint"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/visible"
)

func listCommand() *cobra.Command {
	var flags hostflags.Flags
	var every bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the calls that wait, the newest last", Args: exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := inStore(cmd, &flags, func(ctx context.Context, project *hostapp.Project, all *store.Approvals) error {
				filter := store.ApprovalFilter{State: store.Pending, Limit: 1000}
				if every {
					filter.State = ""
				}
				list, err := all.List(ctx, filter)
				if err != nil {
					return err
				}
				slices.Reverse(list)
				if program.WantsJSON(cmd) {
					return lines(cmd.OutOrStdout(), project, list)
				}
				return table(cmd.OutOrStdout(), project, list)
			})
			if !errors.Is(err, hostapp.ErrNothingRan) {
				return err
			}
			if program.WantsJSON(cmd) {
				return nil
			}
			return table(cmd.OutOrStdout(), nil, nil)
		},
	}
	flags.AddState(cmd)
	cmd.Flags().BoolVar(&every, "all", false, "also those that are decided or expired, at most the newest 1000")
	cmd.Flags().Bool(program.JSONFlag, false, "one JSON object a line")
	return cmd
}

func table(out io.Writer, project *hostapp.Project, list []store.Approval) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "no call waits for approval")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tCREATED\tEXPIRES\tCALLER\tTOOL\tARGUMENTS")
	for i := range list {
		a := &list[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", visible.Line(a.ID), a.State, clock(a.Created), clock(a.Expires),
			visible.Line(callerOf(a)), visible.Line(a.Tool), arguments(project, a))
	}
	return w.Flush()
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// mostArguments is how much of the arguments stands in a line.
const mostArguments = 120

// arguments are those of a call in one line, without secrets. A list leaves long ones out.
func arguments(project *hostapp.Project, a *store.Approval) string {
	if a.Arguments == nil {
		return "(long: see show)"
	}
	return hostprint.Cut(visible.Line(project.RedactJSON(a.Arguments)), mostArguments)
}

// line is an approval as JSON.
type line struct {
	ID        string          `json:"id"`
	State     store.CallState `json:"state"`
	Tool      string          `json:"tool"`
	Version   string          `json:"version"`
	Caller    string          `json:"caller"`
	Session   string          `json:"session,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Created   time.Time       `json:"created"`
	Expires   time.Time       `json:"expires"`
	Decided   time.Time       `json:"decided,omitzero"`
	DecidedBy string          `json:"decided_by,omitempty"`
	Started   time.Time       `json:"started,omitzero"`
	Finished  time.Time       `json:"finished,omitzero"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *store.Failure  `json:"error,omitempty"`
}

func lineOf(project *hostapp.Project, a *store.Approval) line {
	l := line{
		ID: a.ID, State: a.State, Tool: a.Tool, Version: a.Version, Caller: a.Caller, Session: a.Session, Reason: a.Reason, Arguments: safe(project, a.Arguments),
		Created: a.Created, Expires: a.Expires, Decided: a.Decided, DecidedBy: a.DecidedBy, Started: a.Started, Finished: a.Finished,
	}
	if a.Outcome == nil {
		return l
	}
	l.Result = safe(project, a.Outcome.Result)
	if f := a.Outcome.Error; f != nil {
		l.Error = &store.Failure{Code: f.Code, Message: project.Redact(f.Message), Detail: project.Redact(f.Detail)}
	}
	return l
}

// safe is JSON without secrets; what would be none then is left out.
func safe(project *hostapp.Project, text json.RawMessage) json.RawMessage {
	redacted := []byte(project.RedactJSON(text))
	if !json.Valid(redacted) {
		return nil
	}
	return redacted
}

func lines(out io.Writer, project *hostapp.Project, list []store.Approval) error {
	for i := range list {
		if err := hostprint.JSONLine(out, lineOf(project, &list[i])); err != nil {
			return err
		}
	}
	return nil
}

// callerOf is who called, for people. Only clients on the standard streams of luau mcp have no name: luau log calls
// them so, too.
func callerOf(a *store.Approval) string {
	if a.Caller == "" {
		return "mcp"
	}
	return a.Caller
}
