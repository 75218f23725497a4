package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const reference = "../../../docs/reference"

func TestReferenceIsUpToDate(t *testing.T) {
	want, err := pages()
	require.NoError(t, err)
	files, err := filepath.Glob(reference + "/*")
	require.NoError(t, err)
	var have []string
	for _, path := range files {
		name := filepath.Base(path)
		have = append(have, name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if string(text) != string(want[name]) {
			t.Errorf("docs/reference/%s is not what the sources say: run `make docs` and commit", name)
		}
	}
	assert.Equal(t, slices.Sorted(maps.Keys(want)), have, "run `make docs` and commit")
}

func TestWriteLeavesOnlyThePages(t *testing.T) {
	folder := t.TempDir()
	old := filepath.Join(folder, "gone.md")
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o644))
	written, err := write(folder)
	require.NoError(t, err)
	require.Greater(t, len(written), 20)
	written, err = write(folder)
	require.NoError(t, err)
	require.Empty(t, written, "nothing changed")
	require.NoFileExists(t, old)
	require.FileExists(t, filepath.Join(folder, "haivivi-http.md"))
	for _, path := range []string{"README.md", "native.md", "commands.md"} {
		text, err := os.ReadFile(filepath.Join(folder, path))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), "# "), path)
	}
}

func TestEscaped(t *testing.T) {
	for in, want := range map[string]string{
		"a_b and _c":              `a_b and \_c`,
		"`x * y` * z":             "`x * y` \\* z",
		"see https://x.y/a_b*c [": `see https://x.y/a_b*c \[`,
		"<http.Options>":          `\<http.Options>`,
		`\d`:                      `\\d`,
		"no end ` of * code":      "no end ` of * code",
	} {
		assert.Equal(t, want, escaped(in))
	}
	assert.Equal(t, `a \| b`, cell("a | b"))
}
