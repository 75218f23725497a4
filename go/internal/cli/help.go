package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// checkedHelp makes help tell when it cannot be written: cobra drops that error.
func checkedHelp(root *cobra.Command) (failed func() error) {
	var first error
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := &checkedWriter{w: cmd.OutOrStdout()}
		cmd.SetOut(out)
		show(cmd, args)
		cmd.SetOut(out.w)
		if out.err != nil {
			first = fmt.Errorf("cannot write the help: %w", out.err)
		}
	})
	return func() error { return first }
}

// checkedWriter remembers the first failure, and takes the rest as written.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (w *checkedWriter) Write(text []byte) (int, error) {
	if w.err == nil {
		_, w.err = w.w.Write(text)
	}
	return len(text), nil
}
