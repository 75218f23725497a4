package module

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// writeTree makes files under a fresh directory and returns its real path. A
// name that ends in "/" is a directory; content "-> x" is a link to x.
func writeTree(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, content := range files {
		file := filepath.Join(root, name)
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(file, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			require.NoError(t, os.Symlink(target, file))
			continue
		}
		require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
	}
	return root
}

// files lists names, each with its own name as content.
func files(names ...string) map[string]string {
	m := map[string]string{}
	for _, name := range names {
		m[name] = "return " + name
	}
	return m
}

func with(m map[string]string, name, content string) map[string]string {
	m[name] = content
	return m
}

func newResolver(t testing.TB, o Options) *Resolver {
	t.Helper()
	r, err := New(o)
	require.NoError(t, err)
	return r
}

// mustFail resolves a name that cannot be and returns the error.
func mustFail(t testing.TB, r *Resolver, chunk, name string) *Error {
	t.Helper()
	s, err := r.Resolve(chunk, name)
	require.Error(t, err, "found %s", s.ID)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Code)
	require.NotEmpty(t, e.Message)
	return e
}

var embeddedLibraries = fstest.MapFS{
	"json/init.luau":    {Data: []byte("return 'embedded json'")},
	"haivivi/init.luau": {Data: []byte("return require('@self/http')")},
	"haivivi/http.luau": {Data: []byte("return require('./types')")},
	"haivivi/types.luau": {
		Data: []byte("return 'types'"), Mode: fs.FileMode(0o444),
	},
}

// brokenFS answers for one path with an error.
type brokenFS struct {
	FS
	path string
	err  error
}

func (b brokenFS) Stat(file string) (fs.FileInfo, error) {
	if file == b.path {
		return nil, &fs.PathError{Op: "stat", Path: file, Err: b.err}
	}
	return b.FS.Stat(file)
}

// lockedFS shows a file that cannot be opened.
type lockedFS struct {
	FS
	path string
}

func (l lockedFS) Open(file string) (fs.File, error) {
	if file == l.path {
		return nil, &fs.PathError{Op: "open", Path: file, Err: fs.ErrPermission}
	}
	return l.FS.Open(file)
}
