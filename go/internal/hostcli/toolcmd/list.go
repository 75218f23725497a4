package toolcmd

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostprint"
	"github.com/hukilau/hukilau/go/internal/visible"
)

func listCommand() *cobra.Command {
	var flags hostflags.Flags
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List all tools, and the files that are broken", Args: exit.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			project, err := hostapp.Open(cmd.Context(), flags.Lenient(cmd, "warn", hostapp.UnsetTold))
			if err != nil {
				return err
			}
			defer project.Close()
			for _, line := range project.StrayPolicies() {
				if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", visible.Message(line)); err != nil {
					return err
				}
			}
			if asJSON {
				text, err := project.ListJSON()
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", visible.JSON(text)); err != nil {
					return err
				}
				return reported(project)
			}
			return list(cmd, project)
		},
	}
	flags.AddTools(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "list as JSON, as GET /tools/list does")
	return cmd
}

// mostParameters is how much of the parameters stands in a line.
const mostParameters = 48

func list(cmd *cobra.Command, project *hostapp.Project) error {
	tools, broken := project.Tools(), project.Broken()
	if len(tools)+len(broken) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "no tools: `luau tool init NAME` writes one, and [tools] dirs in hukilau.toml says where they are")
		return err
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
	for _, t := range tools {
		parameters := hostprint.Cut(visible.Line(hostapp.Parameters(t)), mostParameters)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", t.Name, visible.Line(t.File), parameters, visible.Line(hostapp.FirstSentence(t.Description)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, b := range broken {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "broken: %s\n", visible.Message(b.Err.Error())); err != nil {
			return err
		}
	}
	return reported(project)
}

// reported is an error where a file is broken, as the list has said.
func reported(project *hostapp.Project) error {
	if len(project.Broken()) > 0 {
		return exit.ErrReported
	}
	return nil
}
