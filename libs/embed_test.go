package libs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func luauFiles(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var found []string
	require.NoError(t, fs.WalkDir(tree, ".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".luau" {
			found = append(found, path)
		}
		return err
	}))
	return found
}

func TestEveryLuauFileIsEmbedded(t *testing.T) {
	onDisk := luauFiles(t, os.DirFS("."))
	require.Contains(t, onDisk, "json/init.luau")
	assert.Equal(t, onDisk, luauFiles(t, FS))
}

func TestLibrariesAreStrictAndUnambiguous(t *testing.T) {
	modules := map[string]string{}
	for _, file := range luauFiles(t, FS) {
		text, err := fs.ReadFile(FS, file)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(text), "--!strict\n"), "%s must begin with --!strict", file)

		name := strings.TrimSuffix(strings.TrimSuffix(file, ".luau"), "/init")
		assert.NotContains(t, modules, name, "%s and %s answer to one name", file, modules[name])
		modules[name] = file
	}
}
