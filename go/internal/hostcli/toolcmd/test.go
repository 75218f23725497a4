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
		Use: "test FILE", Short: "Test the tools of a file: their examples, or one call with the given arguments", Args: exit.OneArg("the file of a tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := given.object(cmd)
			if err != nil {
				return err
			}
			o := flags.Options(cmd, "error")
			o.Also, o.Offline = args, test.Replay != ""
			project, err := hostapp.Open(cmd.Context(), o)
			if err != nil {
				return err
			}
			defer project.Close()
			test.File, test.Params, test.JSON, test.Told = args[0], given.params, object, cmd.ErrOrStderr()
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
	cmd.Flags().StringVar(&test.Tool, "tool", "", "`name` of the tool, where the file has several")
	cmd.Flags().StringVar(&test.Source, "source", "", "`name` of a [tools.script] whose configuration the tool gets")
	cmd.Flags().StringVar(&test.Record, "record", "", "`file` that gets every answer of servers and models, for --replay")
	cmd.Flags().StringVar(&test.Replay, "replay", "", "`file` of --record: its answers are given back, and nothing is sent")
	return cmd
}

func step(s hostapp.Step, colour bool) string {
	text := visible.Text(s.Text)
	switch {
	case s.Heading:
		return text + "\n"
	case s.Failed:
		return "  " + app.Paint(colour, app.Red, "✗") + " " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
	}
	if s.Note {
		return "  - " + text + "\n"
	}
	line := "  " + app.Paint(colour, app.Green, "✓") + " " + text + "\n"
	if s.Result != "" {
		line += "\nResult:\n  " + strings.ReplaceAll(visible.Text(s.Result), "\n", "\n  ") + "\n"
	}
	return line
}
