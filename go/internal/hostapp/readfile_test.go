package hostapp

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// What would never end, or is too much, is not read.
func TestReadDocument(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "there"), []byte("x"), 0o600))
	require.NoError(t, os.Truncate(filepath.Join(dir, "there"), maxDocument+1))
	require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "x"), filepath.Join(dir, "out")))
	for name, why := range map[string]string{
		"pipe": "not a regular file", ".": "not a regular file", "there": "more than", "out": "escapes", "none": "no such file",
	} {
		_, err := readDocument(dir, name)
		require.ErrorContains(t, err, why, name)
		require.NotContains(t, err.Error(), dir)
	}
}

func TestReadScript(t *testing.T) {
	text, err := ReadScript("-", strings.NewReader("return 1"))
	require.NoError(t, err)
	require.Equal(t, "return 1", text)
	_, err = ReadScript("-", strings.NewReader(strings.Repeat(" ", MaxArguments+1)))
	require.ErrorContains(t, err, "standard input: it has more than", "a part of a script is none")
}
