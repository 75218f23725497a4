package hostapp

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a stranger puts into a project's cache is not read: it would say where requests with credentials go.
func TestCachedDocumentsAreOurs(t *testing.T) {
	inFolder(t, nil)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	p := hostOf(t, Options{}).Project
	require.Nil(t, p.cached("openapi-a"))
	p.cache("openapi-a", []byte("model"))
	require.Equal(t, "model", string(p.cached("openapi-a")))
	made, err := os.ReadFile(p.cachePath("openapi-a"))
	require.NoError(t, err)
	for name, text := range map[string][]byte{
		"another text":  append(append([]byte{}, made[:32]...), "model of evil.example"...),
		"no signature":  []byte("model of evil.example, which is longer than a signature"),
		"nothing":       {},
		"a signature":   made[:32],
		"of other keys": append(make([]byte, 32), made[32:]...),
	} {
		require.NoError(t, os.WriteFile(p.cachePath("openapi-a"), text, 0o600))
		require.Nil(t, p.cached("openapi-a"), name)
	}
	require.NoError(t, os.WriteFile(p.cachePath("openapi-b"), made, 0o600))
	require.Nil(t, p.cached("openapi-b"), "it is another document's")
	require.NoError(t, os.WriteFile(p.cachePath("openapi-a"), made, 0o600))
	require.Equal(t, "model", string(p.cached("openapi-a")))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	require.Nil(t, p.cached("openapi-a"), "another user's")
}

func TestCachedDocumentsMakeRoom(t *testing.T) {
	inFolder(t, nil)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	p := hostOf(t, Options{}).Project
	p.cache("openapi-first", nil)
	old := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(p.cachePath("openapi-first"), old, old))
	require.NoError(t, os.WriteFile(p.cachePath(".hukilau-torn"), []byte("x"), 0o600))
	require.NoError(t, os.Chtimes(p.cachePath(".hukilau-torn"), old, old))
	for i := range mostCached {
		p.cache(fmt.Sprint("openapi-", i), []byte("x"))
	}
	files, err := os.ReadDir(filepath.Dir(p.cachePath("x")))
	require.NoError(t, err)
	require.Len(t, files, mostCached)
	require.Nil(t, p.cached("openapi-first"))
}
