package hostedcmd

import (
	"errors"
	"io"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestPrograms(t *testing.T) {
	env := map[string]string{}
	programs := func(args ...string) []string { return Programs(args, func(name string) string { return env[name] }) }
	require.Equal(t, []string{"luau-gateway", "luau-host"}, programs("gateway", "list"))
	require.Equal(t, []string{"luau-gateway", "luau-host"}, programs("__complete", "gateway", ""))
	require.Equal(t, []string{"luau-host"}, programs("serve"))
	require.Equal(t, []string{"luau-host"}, programs("tool", "list", "gateway"))
	require.Equal(t, []string{"luau-host"}, programs("__complete"))
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER"} {
		env = map[string]string{name: "x"}
		require.Equal(t, []string{"luau-host"}, programs("gateway"), name)
	}
}

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
