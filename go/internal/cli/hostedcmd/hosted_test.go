package hostedcmd

import (
	"errors"
	"io"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// What a shell asks about a verb of luau-host is asked there, with flags and what stands behind "--".
func TestHandsOver(t *testing.T) {
	before := HandOver
	defer func() { HandOver = before }()
	var got []string
	HandOver = func(args []string) error {
		got = args
		return errors.New("not here")
	}
	for _, c := range []struct{ args, want []string }{
		{[]string{"gateway", "add", "x", "--", "npx", "-y"}, []string{"gateway", "add", "x", "--", "npx", "-y"}},
		{[]string{"__complete", "gateway", "add", "--tr"}, []string{"__complete", "gateway", "add", "--tr"}},
		{[]string{"__complete", "tool", "list", "--config", ""}, []string{"__complete", "tool", "list", "--config", ""}},
		{[]string{"__completeNoDesc", "log", ""}, []string{"__completeNoDesc", "log", ""}},
	} {
		got = nil
		root := &cobra.Command{Use: "luau", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(Commands()...)
		root.SetArgs(c.args)
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		_ = root.Execute()
		require.Equal(t, c.want, got)
	}
}
