package hosted

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// withChecker lets hostapp find the real type checker.
func withChecker(t *testing.T) (root string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	require.NoError(t, err)
	programs := filepath.Join(root, "build", "bin")
	require.FileExists(t, filepath.Join(programs, checkerName), "run make checker")
	t.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("LUAU_PATH", "")
	before := hostapp.StartChecker
	hostapp.StartChecker = startChecker
	t.Cleanup(func() { hostapp.StartChecker = before })
	return root
}

// The SDK and the examples are right by the types that users are shown.
func TestLibrariesAndExamplesAreTyped(t *testing.T) {
	root := withChecker(t)
	examples, err := filepath.Glob(filepath.Join(root, "examples", "*", ""))
	require.NoError(t, err)
	// Scripts of a gateway are by the types of its sources.
	examples = slices.DeleteFunc(examples, func(path string) bool {
		return filepath.Base(path) == "gateway" || strings.HasSuffix(path, ".md") || !hasScripts(t, path)
	})
	for least, paths := range map[int][]string{30: {filepath.Join(root, "libs")}, 9: examples} {
		report, err := hostapp.CheckFiles(t.Context(), hostapp.FileCheck{
			Paths: paths, Warn: func(message string) { t.Error(message) },
		})
		require.NoError(t, err)
		require.Greater(t, report.Files, least)
		for _, f := range report.Findings {
			t.Errorf("%s:%v", f.Path, f)
		}
	}
}

// hasScripts says whether a folder has something for luau check.
func hasScripts(t *testing.T, dir string) (found bool) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		found = found || strings.HasSuffix(path, ".luau")
		return err
	}))
	return found
}

func TestToolsOfExamplesAreTyped(t *testing.T) {
	root := withChecker(t)
	projects, err := filepath.Glob(filepath.Join(root, "examples", "tools", "*", "tools"))
	require.NoError(t, err)
	require.NotEmpty(t, projects)
	for _, tools := range projects {
		dir := filepath.Dir(tools)
		var said strings.Builder
		p, err := hostapp.Open(t.Context(), hostapp.Options{Dir: dir, Stderr: &said, Unset: hostapp.UnsetLater, QuietLevel: "error"})
		require.NoError(t, err)
		report, err := p.Check(t.Context())
		require.NoError(t, err)
		require.NoError(t, p.Close())
		require.Empty(t, report.Findings, dir)
		require.Empty(t, said.String(), dir)
	}
}

// The process gets nothing of ours, and what it says is kept to a bound.
func TestStartChecker(t *testing.T) {
	withChecker(t)
	t.Setenv("SECRET_OF_THE_HOST", "x")
	p, err := startChecker(nil)
	require.NoError(t, err)
	own := fmt.Sprintf("/proc/%d/", p.(*checking).cmd.Process.Pid)
	environ, err := os.ReadFile(own + "environ")
	require.NoError(t, err)
	require.Empty(t, environ)
	folder, err := os.Readlink(own + "cwd")
	require.NoError(t, err)
	require.Equal(t, "/", folder)
	_, err = p.Write([]byte(strings.Repeat("x", 10_000) + "\n"))
	require.NoError(t, err)
	code, said := p.Wait()
	require.Equal(t, 1, code)
	require.Contains(t, said, "luau-check: ")

	var kept tail
	for range 100 {
		_, err := kept.Write([]byte(strings.Repeat("a", 1000) + "end"))
		require.NoError(t, err)
	}
	require.Len(t, kept.text(), mostSaid)
	require.True(t, strings.HasSuffix(kept.text(), "aend"))
}

func TestNoChecker(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := startChecker(nil)
	require.ErrorIs(t, err, typecheck.ErrAbsent)
}
