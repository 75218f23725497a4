package program

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"
)

// checkedHelp makes help tell when it cannot be written: cobra drops that error.
func checkedHelp(root *cobra.Command) (failed func() error) {
	var failure error
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		var text bytes.Buffer
		cmd.SetOut(&text)
		show(cmd, args)
		cmd.SetOut(out)
		if _, err := text.WriteTo(out); err != nil {
			failure = fmt.Errorf("cannot write the help: %w", err)
		}
	})
	return func() error { return failure }
}
