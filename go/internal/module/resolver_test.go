package module

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/libs"
)

func TestShippedLibrariesResolve(t *testing.T) {
	r := newResolver(t, Options{Embedded: libs.FS})
	s, err := r.Resolve("=stdin", "json")
	require.NoError(t, err)
	assert.Equal(t, "@embedded/json", s.ID)
	assert.Contains(t, string(s.Code), "function json.encode")
}

func TestFindDoesNotReadAndLoadDoes(t *testing.T) {
	root := writeTree(t, files("main.luau", "a.luau"))
	r := newResolver(t, Options{})
	at, err := r.Find("@"+root+"/main.luau", "./a")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(root+"/a.luau", []byte("return 2"), 0o644))
	s, err := r.Load(at)
	require.NoError(t, err)
	assert.Equal(t, Source{ID: at.ID, Chunk: at.Chunk, Code: []byte("return 2")}, s)

	require.NoError(t, os.Remove(root+"/a.luau"))
	_, err = r.Load(at)
	require.ErrorIs(t, err, &Error{Code: CodeNotFound})
	assert.Contains(t, err.Error(), `"./a"`)
}

// A file made, changed or removed between two calls is seen: nothing is kept.
func TestNothingIsRemembered(t *testing.T) {
	root := writeTree(t, files("main.luau"))
	main := "@" + root + "/main.luau"
	r := newResolver(t, Options{Script: root + "/main.luau"})
	mustFail(t, r, main, "@x/a")
	mustFail(t, r, main, "late")

	require.NoError(t, os.WriteFile(root+"/.luaurc", []byte(`{"aliases": {"x": "./libs"}}`), 0o644))
	require.NoError(t, os.Mkdir(root+"/libs", 0o755))
	require.NoError(t, os.WriteFile(root+"/libs/late.luau", nil, 0o644))
	for _, name := range []string{"@x/late", "late"} {
		s, err := r.Resolve(main, name)
		require.NoError(t, err)
		assert.Equal(t, root+"/libs/late.luau", s.ID)
	}
}

func TestConcurrentUse(t *testing.T) {
	root := servedTree(t)
	r := rootedResolver(t, Options{Script: root + "/tools/main.luau", Embedded: embeddedLibraries}, root+"/tools")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				for name, want := range map[string]string{"./inward": root + "/tools/part.luau", "box": root + "/tools/libs/box.luau", "json": "@embedded/json", "./nope": ""} {
					s, err := r.Resolve("@"+root+"/tools/main.luau", name)
					if assert.Equal(t, want == "", err != nil, "%d: %v", i, err) {
						assert.Equal(t, want, s.ID)
					}
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkResolve(b *testing.B) {
	root := writeTree(b, with(files("src/main.luau", "src/part.luau", "libs/box/init.luau"), ".luaurc", `{"aliases": {"src": "./src"}}`))
	main := filepath.Join(root, "src/main.luau")
	r := newResolver(b, Options{Script: main, Embedded: libs.FS})
	for _, name := range []string{"./part", "@src/part", "box", "json"} {
		b.Run(fmt.Sprintf("find %s", name), func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Find("@"+main, name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("resolve ./part", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.Resolve("@"+main, "./part"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
