package runcmd

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A script with sources is run by another program, which gets what it has a flag for; the rest is refused.
func TestScriptsWithSources(t *testing.T) {
	before := WithSources
	defer func() { WithSources = before }()
	var got []string
	WithSources = func(args []string) error {
		got = args
		return errors.New("handed over")
	}
	for _, c := range []struct{ given, want, fails string }{
		{given: "--config c.toml a.luau", want: "exec --print --config c.toml -- a.luau"},
		{given: "--config c.toml -", want: "exec --print --config c.toml -"},
		{given: "--config c.toml --timeout 2s -e x", want: "exec --print --config c.toml --timeout 2s --code x"},
		{given: "--config c.toml --log-level info --log-format json -- -a.luau", want: "exec --print --config c.toml --log-format json --log-level info -- -a.luau"},
		{given: "--config c.toml a.luau more", fails: `takes no arguments, got "more"`},
		{given: "--config c.toml --memory 8MiB a.luau", fails: "--memory does not go with --config"},
		{given: "--config c.toml --sandbox a.luau", fails: "--sandbox does not go with --config"},
		{given: "--config c.toml --stats a.luau", fails: "--stats does not go with --config"},
	} {
		got = nil
		cmd := Command("luau")
		cmd.SetArgs(strings.Fields(c.given))
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		err := cmd.Execute()
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails)
			require.Nil(t, got)
			continue
		}
		require.ErrorContains(t, err, "handed over", c.given)
		require.Equal(t, strings.Fields(c.want), got)
	}
}
