package fsmod

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/modtest"
)

// counting counts what is asked about single names.
type counting struct {
	whole
	asked []string
}

func (c *counting) Lstat(name string) (fs.FileInfo, error) {
	c.asked = append(c.asked, filepath.Base(name))
	return c.whole.Lstat(name)
}

func TestListAsksOnlyAboutWhatMatches(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "below"), 0o755))
	for _, name := range []string{"a.luau", "b.txt", "c.txt", "below/d.luau", "below/e.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	pattern, problem := parseGlob("**/*.luau")
	require.Empty(t, problem)
	vm := modtest.New(t, Module{}, Stub)
	files := &counting{}
	l := &lister{ctx: t.Context(), place: &place{tree: files, name: dir, given: dir, abs: dir}, held: &ledger{vm: vm}, real: dir}
	require.NoError(t, l.directory("", pattern.start()))
	require.Len(t, l.found, 2)
	require.ElementsMatch(t, []string{"a.luau", "below", "d.luau"}, files.asked)
}

// Most runs use no files.
func TestRunsWithoutFilesCostNothing(t *testing.T) {
	i, err := Module{}.NewInstance(modtest.New(t, Module{}, Stub))
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(10, i.EndRun))
}
