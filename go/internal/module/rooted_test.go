package module

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func rootedResolver(t testing.TB, o Options, dirs ...string) *Resolver {
	t.Helper()
	files, err := RootFS(dirs...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, files.Close()) })
	o.FS = files
	return newResolver(t, o)
}

func servedTree(t testing.TB) string {
	tree := files("tools/main.luau", "tools/part.luau", "tools/libs/box.luau", "tools/deep/a.luau", "secret.luau", "outside/init.luau", "other/granted.luau")
	tree[".luaurc"] = `{"aliases": {"out": "./outside"}}`
	tree["tools/deep/.luaurc"] = `{"aliases": {"etc": "/etc", "up": "../..", "tools": "..", "other": "../../other"}}`
	tree["tools/inward.luau"] = "-> deep/../part.luau"
	tree["tools/linkdir"] = "-> ./deep"
	tree["tools/outward.luau"] = "-> ../secret.luau"
	tree["tools/outdir"] = "-> ../outside"
	tree["tools/absolute.luau"] = "-> /etc/passwd"
	tree["tools/loop.luau"] = "-> loop.luau"
	tree["byname"] = "-> tools"
	return writeTree(t, tree)
}

func TestRootedReadsInside(t *testing.T) {
	root := servedTree(t)
	script := root + "/tools/main.luau"
	r := rootedResolver(t, Options{Script: script}, root+"/tools", root+"/other")
	for _, c := range []struct{ from, name, want string }{
		{"tools/main.luau", "./part", "tools/part.luau"},
		{"tools/main.luau", "./inward", "tools/part.luau"},
		{"tools/main.luau", "./linkdir/a", "tools/deep/a.luau"},
		{"tools/main.luau", "box", "tools/libs/box.luau"},
		{"tools/deep/a.luau", "@tools/part", "tools/part.luau"},
		{"tools/deep/a.luau", "@other/granted", "other/granted.luau"},
		{"tools/main.luau", "../other/granted", "other/granted.luau"},
		{"tools/main.luau", "../tools/part", "tools/part.luau"},
	} {
		s, err := r.Resolve("@"+filepath.Join(root, c.from), c.name)
		require.NoError(t, err, c.name)
		assert.Equal(t, filepath.Join(root, c.want), s.ID)
		assert.Equal(t, "return "+c.want, string(s.Code))
	}
	s, err := ReadScriptFrom(r.files.files, script)
	require.NoError(t, err)
	assert.Equal(t, script, s.ID)
}

func TestRootedReadsNothingOutside(t *testing.T) {
	root := servedTree(t)
	r := rootedResolver(t, Options{Script: root + "/tools/main.luau", Roots: []string{root}, Embedded: embeddedLibraries}, root+"/tools")
	for _, c := range []struct{ from, name, code string }{
		{"tools/main.luau", "../secret", CodePermission},
		{"tools/main.luau", "../outside", CodePermission},
		{"tools/main.luau", "./outward", CodePermission},
		{"tools/main.luau", "./outdir", CodePermission},
		{"tools/main.luau", "./absolute", CodePermission},
		{"tools/main.luau", "../other/granted", CodePermission},
		{"tools/main.luau", "secret", CodePermission},
		{"tools/deep/a.luau", "@etc/hostname", CodePermission},
		{"tools/deep/a.luau", "@up/secret", CodePermission},
		{"tools/main.luau", "@out", CodeNotFound}, // the .luaurc above is not read
		{"tools/main.luau", "./loop", CodeNotFound},
		{"secret.luau", "./outside", CodePermission},
	} {
		e := mustFail(t, r, "@"+filepath.Join(root, c.from), c.name)
		assert.Equal(t, c.code, e.Code, "%s: %v", c.name, e)
		if c.code == CodePermission {
			assert.ErrorIs(t, e, fs.ErrPermission)
			assert.Contains(t, e.Error(), ErrOutside.Error())
		}
	}
	_, err := ReadScriptFrom(r.files.files, root+"/secret.luau")
	require.ErrorIs(t, err, &Error{Code: CodePermission})

	s, err := r.Resolve("@"+root+"/tools/main.luau", "json")
	require.NoError(t, err, "a library root outside does not hide the embedded libraries")
	assert.Equal(t, "@embedded/json", s.ID)
}

func TestRootedGrants(t *testing.T) {
	root := servedTree(t)

	linked := rootedResolver(t, Options{}, root+"/byname")
	for _, dir := range []string{"byname", "tools"} {
		s, err := linked.Resolve("@"+filepath.Join(root, dir, "main.luau"), "./part")
		require.NoError(t, err)
		assert.Equal(t, root+"/tools/part.luau", s.ID)
	}

	nested := rootedResolver(t, Options{}, root, root+"/tools")
	e := mustFail(t, nested, "@"+root+"/tools/main.luau", "./outward")
	assert.Equal(t, CodePermission, e.Code, "the inner directory's own limit holds")

	none := rootedResolver(t, Options{})
	assert.Equal(t, CodePermission, mustFail(t, none, "@"+root+"/tools/main.luau", "./part").Code)

	_, err := RootFS(root, root+"/missing")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "missing")

	files, err := RootFS(root)
	require.NoError(t, err)
	require.NoError(t, files.Close())
	_, err = files.Stat(root + "/secret.luau")
	require.ErrorIs(t, err, fs.ErrClosed)
}

func TestRootedRealPath(t *testing.T) {
	root := servedTree(t)
	require.NoError(t, os.Symlink("linkdir/../inward.luau", root+"/tools/twice.luau"))
	files, err := RootFS(root + "/tools")
	require.NoError(t, err)
	defer files.Close()
	for name, want := range map[string]string{"twice.luau": "part.luau", "linkdir/a.luau": "deep/a.luau", ".": ""} {
		real, err := files.RealPath(filepath.Join(root, "tools", name))
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(root, "tools", want), real)
	}
	for name, cause := range map[string]string{
		"loop.luau": "too many levels", "absolute.luau": ErrOutside.Error(), "outward.luau": ErrOutside.Error(), "../secret.luau": ErrOutside.Error(), "nope": "no such file",
	} {
		_, err := files.RealPath(filepath.Join(root, "tools", name))
		require.ErrorContains(t, err, cause, name)
	}
}
