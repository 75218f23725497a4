package hostapp

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
)

func TestOpenWithoutConfiguration(t *testing.T) {
	folder := inFolder(t, map[string]string{"tools/a.yaml": yaml("a", "", "return 1"), "tools/deep/b.yaml": yaml("b", "", "return 2")})
	p := open(t, Options{})
	require.Equal(t, folder, p.Folder)
	require.Equal(t, []string{"a", "b"}, names(p))
	require.Equal(t, filepath.Join(folder, ".hukilau", "state.db"), p.StatePath())
	require.NoDirExists(t, filepath.Join(folder, ".hukilau"), "to open makes nothing")
	_, err := p.OpenStore(t.Context())
	require.ErrorIs(t, err, ErrNothingRan)
}

func TestOpenFindsTheConfigurationAbove(t *testing.T) {
	folder := inFolder(t, map[string]string{
		"hukilau.toml": "[state]\ndir = \"kept\"\n[tools]\ndirs = [\"mine\"]\n", "mine/a.yaml": yaml("a", "", "return 1"),
		"tools/b.yaml": yaml("b", "", "return 2"), "deep/er/file": "",
	})
	t.Chdir(filepath.Join(folder, "deep", "er"))
	p := open(t, Options{})
	require.Equal(t, folder, p.Folder)
	require.Equal(t, []string{"a"}, names(p))
	require.Equal(t, filepath.Join(folder, "kept", "state.db"), p.StatePath())
	require.Equal(t, filepath.Join(folder, "mine", "a.yaml"), p.Shown("mine/a.yaml"), "it is not below the working directory")
	t.Chdir(folder)
	require.Equal(t, "mine/a.yaml", p.Shown("mine/a.yaml"))
}

func TestOpenNamedConfigurationAndTools(t *testing.T) {
	folder := inFolder(t, map[string]string{
		"hukilau.toml": "[tools]\ndirs = [\"mine\"]\n", "mine/a.yaml": yaml("a", "", "return 1"),
		"other/some.toml": "[tools]\ndirs = [\"t\"]\n[tools.script.s]\npath = \"s.lua\"\n", "other/t/b.yaml": yaml("b", "", "return 2"),
		"other/s.lua": `tool = { name = "s", description = "S.", parameters = {} } function tool.execute() return {} end`,
		"c.yaml":      yaml("c", "", "return 3"),
	})
	require.Equal(t, []string{"b", "s"}, names(open(t, Options{ConfigFile: "other/some.toml"})))
	require.Equal(t, []string{"c"}, names(open(t, Options{Tools: []string{"c.yaml"}})))
	require.Equal(t, []string{"b"}, names(open(t, Options{ConfigFile: "other/some.toml", Tools: []string{"other/t"}})), "in place of all")
	require.Equal(t, []string{"b", "s"}, names(open(t, Options{ConfigFile: "other/some.toml", Tools: []string{"other"}})))
	require.Equal(t, []string{"a", "c"}, names(open(t, Options{Also: []string{"c.yaml"}})))

	_, err := Open(t.Context(), Options{Tools: []string{"nowhere"}})
	require.EqualError(t, err, "nowhere: no such file or directory")
	_, err = Open(t.Context(), Options{ConfigFile: "nowhere.toml"})
	require.ErrorContains(t, err, "nowhere.toml")
	_, err = Open(t.Context(), Options{ConfigFile: folder})
	require.ErrorContains(t, err, "is not a regular file")
}

// Clients start servers in any folder: without a configuration the state is beside the tools.
func TestStateBesideTheToolsThatAreNamed(t *testing.T) {
	folder := inFolder(t, map[string]string{
		"project/tools/a.yaml": yaml("a", "", "return 1"), "other/b.yaml": yaml("b", "", "return 2"),
		"configured/hukilau.toml": "[tools]\ndirs = []\n",
	})
	tools := filepath.Join(folder, "project", "tools")
	beside := filepath.Join(folder, "project", ".hukilau", "state.db")
	elsewhere := t.TempDir()
	t.Chdir(elsewhere)
	o := Options{Tools: []string{tools, filepath.Join(folder, "other")}}
	h := hostOf(t, o)
	require.Equal(t, "1", result(t, h, "a", ""))
	require.NoError(t, h.Store.Log.Flush(t.Context()))
	require.FileExists(t, beside)
	require.NoDirExists(t, filepath.Join(elsewhere, ".hukilau"))
	p, err := Locate(o)
	require.NoError(t, err)
	require.Equal(t, beside, p.StatePath(), "who looks at the log finds it")

	for _, test := range []struct {
		in, state string
		o         Options
	}{
		{"project", "project/.hukilau", Options{Tools: []string{"tools"}}},
		{"project/tools", "project/.hukilau", Options{Tools: []string{"."}}},
		{"project", "other/.hukilau", Options{Tools: []string{"../other/b.yaml"}}},
		{"project", "project/.hukilau", Options{}},
		{"project", "project/.hukilau", Options{Also: []string{"../other"}}},
		{"configured", "configured/.hukilau", Options{Tools: []string{tools}}},
		{"project", "configured/.hukilau", Options{Tools: []string{tools}, ConfigFile: "../configured/hukilau.toml"}},
	} {
		t.Chdir(filepath.Join(folder, test.in))
		require.Equal(t, filepath.Join(folder, test.state, "state.db"), open(t, test.o).StatePath(), "%+v", test)
	}
}

func TestStateThatCannotBeMade(t *testing.T) {
	folder := inFolder(t, map[string]string{"tools/a.yaml": yaml("a", "", "return 1"), ".hukilau": "no folder"})
	_, err := open(t, Options{Tools: []string{"tools"}}).NewHost(t.Context(), HostOptions{})
	require.ErrorContains(t, err, filepath.Join(folder, ".hukilau", "state.db")+" cannot be made; let its folder be written, or name another one with [state] dir in hukilau.toml")
}

func TestToolsOutsideOfTheFolder(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, map[string]string{
		"far.yaml": yaml("far", "", `return require("./beside").text`), "beside.luau": `return { text = "beside" }`,
		"s/far.lua": `tool = { name = "script", description = "S.", parameters = {} } function tool.execute(params, context) return { n = context.config.n } end`,
	})
	inFolder(t, map[string]string{
		"hukilau.toml": "[tools]\ndirs = [\"" + outside + "\"]\n[tools.script.script]\npath = \"" + filepath.Join(outside, "s", "far.lua") + "\"\nn = 5\n",
	})
	h := hostOf(t, Options{})
	require.Empty(t, h.Project.Broken())
	require.Equal(t, `"beside"`, result(t, h, "far", ""))
	require.Equal(t, `{"n":5}`, result(t, h, "script", ""))
}

// Whoever looks at the log of a server need not have its secrets.
func TestLocateNeedsNoVariables(t *testing.T) {
	folder := inFolder(t, map[string]string{"hukilau.toml": "[state]\ndir = \"kept\"\n[models.m]\nprovider = \"openai\"\nmodel = \"x\"\napi_key = \"${NOT_SET_HERE}\"\n"})
	_, err := Open(t.Context(), Options{})
	require.ErrorContains(t, err, "NOT_SET_HERE")
	p, err := Locate(Options{})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(folder, "kept", "state.db"), p.StatePath())

	write(t, folder, map[string]string{"hukilau.toml": "[state]\ndir = \"${NOT_SET_HERE}\"\n"})
	_, err = Locate(Options{})
	require.ErrorContains(t, err, "NOT_SET_HERE", "the folder is not known")
	write(t, folder, map[string]string{"hukilau.toml": "nothing = 1\n"})
	_, err = Locate(Options{})
	require.ErrorContains(t, err, "hukilau.toml:1:1")
}

func TestOpenStore(t *testing.T) {
	folder := inFolder(t, map[string]string{"tools/a.yaml": yaml("a", "", "return 1")})
	h := hostOf(t, Options{})
	require.Equal(t, "1", result(t, h, "a", ""))
	require.NoError(t, h.Store.Log.Flush(t.Context()))
	s, err := h.Project.OpenStore(t.Context())
	require.NoError(t, err)
	list, err := s.Log.List(t.Context(), store.Filter{})
	require.NoError(t, errors.Join(err, s.Close()))
	require.Len(t, list, 1)
	info, err := os.Stat(filepath.Join(folder, ".hukilau"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "arguments and results are in there")
}

// Opening a pipe would wait for whoever writes to it.
func TestConfigurationThatIsAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "hukilau.toml")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err := Open(t.Context(), Options{ConfigFile: pipe})
	require.ErrorContains(t, err, "not a regular file")
}
