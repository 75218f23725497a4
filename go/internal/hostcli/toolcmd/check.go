package toolcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/units"
	"github.com/hukilau/hukilau/go/internal/visible"
)

func checkCommand() *cobra.Command {
	var flags hostflags.Flags
	var grant bool
	cmd := &cobra.Command{
		Use:   "check [PATHS]",
		Short: "Check tools without running them: schemas, scripts, and permissions that are missing or not used",
		RunE: func(cmd *cobra.Command, args []string) error {
			o := flags.Lenient(cmd, "error", hostapp.UnsetTold)
			if len(args) > 0 {
				o.Tools = args
			}
			project, err := hostapp.Open(cmd.Context(), o)
			if err != nil {
				return err
			}
			defer project.Close()
			return check(cmd, project, grant)
		},
	}
	flags.AddTools(cmd)
	cmd.Flags().BoolVar(&grant, "grant", false, "write what scripts need and are not granted into [tools.policy] of the configuration")
	return cmd
}

var marks = map[string]string{"note": app.Dim, "warning": app.Yellow, "error": app.Red}

func check(cmd *cobra.Command, project *hostapp.Project, grant bool) error {
	report, err := project.Check(cmd.Context())
	if err != nil {
		return err
	}
	colour := app.Coloured(cmd.OutOrStdout())
	for _, f := range report.Findings {
		mark := app.Paint(colour, marks[f.Severity], f.Severity)
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s: %s\n", visible.Line(f.Place), mark, visible.Message(f.Message)); err != nil {
			return err
		}
	}
	if grant {
		written, err := project.Grant(report)
		if err != nil {
			return err
		}
		for _, line := range written {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", visible.Line(line)); err != nil {
				return err
			}
		}
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s, %s, %s\n", units.Counted(report.Tools, "tool"),
		units.Counted(report.Failures, "error"), units.Counted(report.Rest(grant), "other finding")); err != nil {
		return err
	}
	if report.Failures > 0 {
		return exit.ErrReported
	}
	return nil
}
