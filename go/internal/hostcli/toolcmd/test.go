package toolcmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hukilau/hukilau/go/internal/app"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli/hostflags"
	"github.com/hukilau/hukilau/go/internal/visible"
)

func testCommand() *cobra.Command {
	var flags hostflags.Flags
	var given arguments
	var test hostapp.ToolTest
	cmd := &cobra.Command{
		Use: "test [FILE | FOLDER | NAME]", Short: "Test tools: their examples, or one call with the given arguments",
		Long: `Tests the tools of a file or of a folder, the tool with a name, or all tools of the project: it runs their examples.
With --param or --json one tool is called with these arguments in place of its examples.`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := given.object(cmd)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				test.Target = args[0]
			}
			test.Params, test.JSON, test.Told = given.params, object, cmd.ErrOrStderr()
			project, err := hostapp.OpenTest(cmd.Context(), flags.Lenient(cmd, "error", hostapp.UnsetLater), &test)
			if err != nil {
				return err
			}
			defer project.Close()
			colour := app.Coloured(cmd.OutOrStdout())
			var written error
			test.Check = func(s hostapp.Step) {
				if written == nil {
					_, written = fmt.Fprint(cmd.OutOrStdout(), step(s, colour))
				}
			}
			ok, err := project.TestTools(cmd.Context(), test)
			switch {
			case err != nil:
				return err
			case written != nil:
				return written
			case !ok:
				return exit.ErrReported
			}
			return nil
		},
	}
	flags.Add(cmd)
	given.add(cmd)
	cmd.Flags().StringVar(&test.Tool, "tool", "", "`name` of the tool, where there are several")
	cmd.Flags().StringVar(&test.Source, "source", "", "`name` of a [tools.script] whose configuration the tool gets")
	cmd.Flags().BoolVarP(&test.Verbose, "verbose", "v", false, "show what tools print and log in examples that pass, too")
	cmd.Flags().StringVar(&test.Record, "record", "", "`file` that gets every answer of servers and models, for --replay")
	cmd.Flags().StringVar(&test.Replay, "replay", "", "`file` of --record: its answers are given back, and nothing is sent")
	return cmd
}

func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return exit.Usagef("%s takes one file, folder or name; got %q as well", cmd.CommandPath(), args[1])
	}
	return nil
}

func step(s hostapp.Step, colour bool) string {
	text, said := visible.Text(s.Text), ""
	if s.Said != "" {
		said = "    | " + strings.ReplaceAll(visible.Text(s.Said), "\n", "\n    | ") + "\n"
	}
	switch {
	case s.Heading:
		return text + "\n"
	case s.Failed:
		return "  " + app.Paint(colour, app.Red, "✗") + " " + strings.ReplaceAll(text, "\n", "\n    ") + "\n" + said
	}
	if s.Note {
		return "  - " + text + "\n"
	}
	line := "  " + app.Paint(colour, app.Green, "✓") + " " + text + "\n" + said
	if s.Result != "" {
		line += "\nResult:\n  " + strings.ReplaceAll(visible.Text(s.Result), "\n", "\n  ") + "\n"
	}
	return line
}
