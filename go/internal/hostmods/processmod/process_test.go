package processmod_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/processmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

func start(t *testing.T, g hostmod.Grants) *modtest.VM {
	vm := modtest.New(t, &processmod.Module{
		Args: []string{"one", "two words"},
		Cwd:  func() (string, error) { return "/srv/work", nil },
	}, processmod.Stub)
	*vm.Grants() = g
	return vm
}

func TestArgs(t *testing.T) {
	out := start(t, hostmod.Grants{}).Run(t, "return __native.process.args")
	require.Equal(t, []any{[]any{"one", "two words"}}, out)
}

func TestExit(t *testing.T) {
	for source, code := range map[string]int{"exit()": 0, "exit(0)": 0, "exit(255)": 255} {
		vm := start(t, hostmod.Grants{})
		vm.Run(t, "__native.process."+source)
		var exit *processmod.Exit
		require.ErrorAs(t, vm.EndedBy, &exit)
		require.Equal(t, code, exit.Code)
	}
}

func TestExitRefusesOtherCodes(t *testing.T) {
	for source, want := range map[string]string{
		"-1":  "process.exit: argument 1 must be from 0 to 255, got -1",
		"256": "process.exit: argument 1 must be from 0 to 255, got 256",
		"1.5": "process.exit: argument 1 must be a whole number, got 1.5",
		`"1"`: "process.exit: argument 1 must be a whole number, got string",
	} {
		vm := start(t, hostmod.Grants{})
		out := vm.Run(t, "return pcall(__native.process.exit, "+source+")")
		require.Equal(t, want, out[1].(map[string]any)["message"])
		require.NoError(t, vm.EndedBy)
	}
}

func TestCwd(t *testing.T) {
	for name, test := range map[string]struct {
		grants hostmod.Grants
		key    string // of the setting that refuses it
	}{
		"all":        {hostmod.Grants{All: true}, ""},
		"itself":     {hostmod.Grants{Read: []string{"."}}, ""},
		"above":      {hostmod.Grants{Read: []string{"/srv"}}, ""},
		"everything": {hostmod.Grants{Read: []string{"*"}}, ""},
		"below":      {hostmod.Grants{Read: []string{"data"}}, "read"},
		"beside":     {hostmod.Grants{Read: []string{"/srv/wo"}}, "read"},
		"nothing":    {hostmod.Grants{}, "read"},
		"denied":     {hostmod.Grants{All: true, DenyRead: []string{"/srv"}}, "deny_read"},
		"all denied": {hostmod.Grants{All: true, DenyRead: []string{"*"}}, "deny_read"},
	} {
		t.Run(name, func(t *testing.T) {
			out := start(t, test.grants).Run(t, "return pcall(__native.process.cwd)")
			require.Equal(t, test.key == "", out[0])
			if test.key != "" {
				require.Equal(t, "permission", out[1].(map[string]any)["code"])
				require.Equal(t, test.key, out[1].(map[string]any)["key"])
				return
			}
			require.Equal(t, "/srv/work", out[1])
		})
	}
}

// What is denied is denied by every name, as in module fs.
func TestCwdIsDeniedThroughLinks(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "real", "in"), 0o755))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	for cwd, denied := range map[string]string{"link/in": "real", "real/in": "link", "link": "link", "real": "real"} {
		vm := modtest.New(t, &processmod.Module{Cwd: func() (string, error) { return filepath.Join(dir, cwd), nil }}, processmod.Stub)
		*vm.Grants() = hostmod.Grants{All: true, DenyRead: []string{filepath.Join(dir, denied)}}
		require.Equal(t, false, vm.Run(t, "return (pcall(__native.process.cwd))")[0], "%s in %s", cwd, denied)
		vm.Grants().DenyRead = []string{filepath.Join(dir, "other")}
		require.Equal(t, filepath.Join(dir, cwd), vm.Run(t, "return __native.process.cwd()")[0])
	}
}

func TestCwdThatIsGone(t *testing.T) {
	vm := modtest.New(t, &processmod.Module{Cwd: func() (string, error) { return "", errors.New("gone") }}, processmod.Stub)
	out := vm.Run(t, "return pcall(__native.process.cwd)")
	require.Equal(t, map[string]any{"code": "io", "message": "process.cwd: the working directory is not known: gone"}, out[1])
}

func reading(t *testing.T, m *processmod.Module) *modtest.VM {
	return modtest.New(t, m, processmod.Stub)
}

func TestReading(t *testing.T) {
	vm := reading(t, &processmod.Module{Input: strings.NewReader("one\ntwo\nthree, four")})
	out := vm.Run(t, `local p = __native.process return p.read_line(), p.read(2), p.read_line(), p.read(6), p.read_all(), p.read_line(), p.read(), p.read_all()`)
	require.Equal(t, []any{"one", "tw", "o", "three,", " four", nil, nil, ""}, out)
	require.Equal(t, []string{"process.read_line", "process.read_all"}, vm.Awaited, "what is there needs no wait")
}

// Without an input it is at its end.
func TestNoInput(t *testing.T) {
	out := reading(t, &processmod.Module{}).Run(t, `local p = __native.process return p.read_all(), p.read_line(), p.read(5), p.read_all()`)
	require.Equal(t, []any{"", nil, nil, ""}, out)
	vm := reading(t, &processmod.Module{Input: strings.NewReader("x"), NoInput: "it is somebody's"})
	for _, name := range []string{"read_line", "read", "read_all"} {
		out := vm.Run(t, "return pcall(__native.process."+name+")")
		require.Equal(t, map[string]any{"code": "io", "message": "process." + name + ": it is somebody's"}, out[1])
	}
}

func TestReadRefusesOtherSizes(t *testing.T) {
	vm := reading(t, &processmod.Module{Input: strings.NewReader("text")})
	for source, want := range map[string]string{
		"0": "must be a number of bytes above 0, got 0", "-1": "must be a number of bytes above 0, got -1",
		"1.5": "must be a whole number, got 1.5", `"1"`: "must be a whole number, got string", "0/0": "must be a whole number",
	} {
		out := vm.Run(t, "return pcall(__native.process.read, "+source+")")
		require.Contains(t, out[1].(map[string]any)["message"], "process.read: argument 1 "+want)
		require.Equal(t, "invalid_argument", out[1].(map[string]any)["code"])
	}
	require.Equal(t, []any{"text"}, vm.Run(t, "return __native.process.read(2^40)"))
}
