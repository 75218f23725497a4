package envmod_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/envmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

func environ() []string {
	return []string{"HOME=/home/a", "TOKEN=s3cret", "EMPTY=", "EQUALS=a=b", "TWICE=1", "TWICE=2", "=C:=odd", "noequals"}
}

func start(t *testing.T, g hostmod.Grants) *modtest.VM {
	vm := modtest.New(t, envmod.New(environ), envmod.Stub)
	*vm.Grants() = g
	return vm
}

func TestGet(t *testing.T) {
	vm := start(t, hostmod.Grants{All: true})
	out := vm.Run(t, `local e = __native.env
		return e.get("HOME"), e.get("EMPTY"), e.get("EQUALS"), e.get("TWICE"), e.get("NONE"), e.get("noequals")`)
	require.Equal(t, []any{"/home/a", "", "a=b", "2", nil, nil}, out)
}

func TestGrants(t *testing.T) {
	const names = "return __native.env.list()"
	for name, test := range map[string]struct {
		grants hostmod.Grants
		want   []any
	}{
		"nothing":    {hostmod.Grants{}, []any{}},
		"all":        {hostmod.Grants{All: true}, []any{"EMPTY", "EQUALS", "HOME", "TOKEN", "TWICE"}},
		"some":       {hostmod.Grants{Env: []string{"HOME", "NONE"}}, []any{"HOME"}},
		"everything": {hostmod.Grants{Env: []string{"*"}, DenyEnv: []string{"TOKEN"}}, []any{"EMPTY", "EQUALS", "HOME", "TWICE"}},
		"denied":     {hostmod.Grants{All: true, DenyEnv: []string{"*"}}, []any{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := start(t, test.grants).Run(t, names)[0]
			if list, ok := got.([]any); !ok || len(list) == 0 {
				require.Empty(t, test.want)
				require.Empty(t, got)
				return
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestErrors(t *testing.T) {
	for source, test := range map[string]struct {
		grants             hostmod.Grants
		code, key, message string
	}{
		`get("TOKEN")`: {hostmod.Grants{Env: []string{"HOME"}}, "permission", "env",
			"env.get: the variable TOKEN is not granted; add it to env (on the command line: --allow-env=TOKEN)"},
		`get("HOME")`: {hostmod.Grants{All: true, DenyEnv: []string{"HOME"}}, "permission", "deny_env",
			"env.get: the variable HOME is denied by deny_env (on the command line: --deny-env)"},
		`get("")`: {hostmod.Grants{All: true}, "invalid_argument", "",
			`env.get: argument 1 must be the name of a variable: not empty, without "=" and zero bytes`},
		`get("A\0B")`: {hostmod.Grants{All: true}, "invalid_argument", "",
			`env.get: argument 1 must be the name of a variable: not empty, without "=" and zero bytes`},
		`get({})`: {hostmod.Grants{All: true}, "invalid_argument", "", "env.get: argument 1 must be a string, got table"},
	} {
		out := start(t, test.grants).Run(t, "return pcall(function() return __native.env."+source+" end)")
		require.Equal(t, false, out[0], source)
		e := out[1].(map[string]any)
		require.Equal(t, test.code, e["code"], source)
		require.Equal(t, test.message, e["message"], source)
		if test.key != "" {
			require.Equal(t, test.key, e["key"], source)
		}
	}
}
