package luaudoc

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// sources are all scripts of the tree, and Luau's own ones where they have been fetched.
func sources(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, folder := range []string{"libs", "tests/luau", "examples", "bench", "go/internal", "build/deps/luau-repository/tests/conformance"} {
		_ = filepath.WalkDir(filepath.Join("../../..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".luau" {
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				found[path] = string(text)
			}
			return nil // not everything is there
		})
	}
	require.Greater(t, len(found), 80)
	return found
}

// What the compiler takes is read. Scripts that are cut off are tried too: most are wrong then, and some
// are not.
func TestAgreesWithTheCompiler(t *testing.T) {
	pieces := 12
	if testing.Short() {
		pieces = 2
	}
	taken := 0
	for path, source := range sources(t) {
		lines := strings.SplitAfter(source, "\n")
		for i := 1; i <= pieces; i++ {
			text := strings.Join(lines[:len(lines)*i/pieces], "")
			if _, err := luau.Compile("="+path, text, luau.CompileOptions{}); err != nil {
				continue
			}
			taken++
			_, err := Parse("m", Source{"@" + path, text}, nil)
			require.NoError(t, err, "the first %d parts of %d", i, pieces)
		}
	}
	require.Greater(t, taken, 80)
}
