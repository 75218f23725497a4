package module

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func libraryTree(t *testing.T) string {
	return writeTree(t, with(files(
		"first/both.luau", "first/both/init.luau", "first/onlyfirst.luau",
		"first/mixed/init.lua", "first/mixed.luau", "first/old.lua", "first/old/readme.txt",
		"second/both.luau", "second/onlysecond/init.luau", "second/utils/string.luau",
		"app/main.luau", "app/json.luau", "app/helper.luau", "app/libs/onlyapp.luau", "app/libs/both.luau", "app/libs/init/init.luau",
		"libs/onlytop.luau", "libs/onlyapp.luau",
	), ".luaurc", "{}"))
}

func TestLibraries(t *testing.T) {
	root := libraryTree(t)
	t.Chdir(root)
	r := newResolver(t, Options{
		Roots:    []string{"first", "", "missing", filepath.Join(root, "second")},
		Embedded: embeddedLibraries,
		Script:   filepath.Join(root, "app/main.luau"),
	})
	t.Chdir(t.TempDir())
	for name, want := range map[string]string{
		"both":         "first/both/init.luau",
		"onlyfirst":    "first/onlyfirst.luau",
		"mixed":        "first/mixed.luau",
		"old":          "first/old.lua",
		"onlysecond":   "second/onlysecond/init.luau",
		"utils/string": "second/utils/string.luau",
		"onlyapp":      "app/libs/onlyapp.luau",
		"onlytop":      "libs/onlytop.luau",
		"init":         "app/libs/init/init.luau",
	} {
		for _, from := range []string{"@" + root + "/app/main.luau", "@" + root + "/second/both.luau", "=stdin", "=@embedded/json/init.luau"} {
			s, err := r.Resolve(from, name)
			require.NoError(t, err)
			assert.Equal(t, filepath.Join(root, want), s.ID)
		}
	}
}

func TestEmbeddedLibraries(t *testing.T) {
	r := newResolver(t, Options{Embedded: embeddedLibraries})
	for _, c := range []struct{ from, name, id, chunk string }{
		{"=stdin", "json", "@embedded/json", "=@embedded/json/init.luau"},
		{"=stdin", "haivivi", "@embedded/haivivi", "=@embedded/haivivi/init.luau"},
		{"=stdin", "haivivi/http", "@embedded/haivivi/http", "=@embedded/haivivi/http.luau"},
		{"=@embedded/haivivi/init.luau", "@self/http", "@embedded/haivivi/http", "=@embedded/haivivi/http.luau"},
		{"=@embedded/haivivi/init.luau", "./json", "@embedded/json", "=@embedded/json/init.luau"},
		{"=@embedded/haivivi/http.luau", "./types", "@embedded/haivivi/types", "=@embedded/haivivi/types.luau"},
		{"=@embedded/haivivi/http.luau", "../json", "@embedded/json", "=@embedded/json/init.luau"},
	} {
		s, err := r.Resolve(c.from, c.name)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.id, s.ID)
		assert.Equal(t, c.chunk, s.Chunk)
		assert.NotEmpty(t, s.Code)
	}
	for _, name := range []string{"../../../etc/passwd", "./x", "@self/../../x", "@alias/x", "haivivi/none"} {
		e := mustFail(t, r, "=@embedded/haivivi/http.luau", name)
		assert.Equal(t, CodeNotFound, e.Code, name)
	}
	none := newResolver(t, Options{})
	assert.Equal(t, CodeName, mustFail(t, none, "=@embedded/haivivi/http.luau", "./types").Code)
}

func TestLibraryNotFound(t *testing.T) {
	root := libraryTree(t)
	main := filepath.Join(root, "app/main.luau")
	r := newResolver(t, Options{Roots: []string{root + "/first", root + "/missing"}, Embedded: embeddedLibraries, Script: main})

	e := mustFail(t, r, "@"+main, "nothing/here")
	assert.Equal(t, CodeNotFound, e.Code)
	assert.Equal(t, "no library has this name", e.Message)
	first := root + "/first/nothing/here"
	assert.Equal(t, []string{
		"looked for " + first + "/init.luau, " + first + ".luau, " + first + "/init.lua, " + first + ".lua",
		"no directory " + root + "/missing",
		"looked for " + root + "/app/libs/nothing/here/init.luau, " + root + "/app/libs/nothing/here.luau, " + root + "/app/libs/nothing/here/init.lua, " + root + "/app/libs/nothing/here.lua",
		"looked for " + root + "/libs/nothing/here/init.luau, " + root + "/libs/nothing/here.luau, " + root + "/libs/nothing/here/init.lua, " + root + "/libs/nothing/here.lua",
		"looked in the libraries inside the program",
	}, e.Details)
	assert.Contains(t, e.Hint, "--lib DIR")
	hosted := newResolver(t, Options{Embedded: embeddedLibraries, Script: main, Hosted: true})
	for _, name := range []string{"nothing/here", "/nothing"} {
		hint := mustFail(t, hosted, "@"+main, name).Hint
		assert.Contains(t, hint, `"./`)
		assert.NotContains(t, hint, "--lib")
		assert.NotContains(t, hint, "LUAU_PATH")
	}
	assert.Equal(t, "a script of no file has the libraries of the program alone, which `luau doc` lists", mustFail(t, hosted, "=script", "nothing").Hint)

	for name, hint := range map[string]string{
		"helper":       `"./helper"`,
		"JSON":         `did you mean "json"?`,
		"jsn":          `did you mean "json"?`,
		"haivivi/htp":  `did you mean "haivivi/http"?`,
		"haivvi/http":  `did you mean "haivivi/http"?`,
		"haivivi.http": `write "haivivi/http"`,
		"json.luau":    `write "json"`,
		"haivivi/init": "an init file is required by the name of its directory",
		"onlyApp":      `did you mean "onlyapp"?`,
	} {
		assert.Contains(t, mustFail(t, r, "@"+main, name).Hint, hint, name)
	}

	empty := newResolver(t, Options{})
	assert.Empty(t, mustFail(t, empty, "=stdin", "json").Details)
}

func TestLibraryRootThatIsAFile(t *testing.T) {
	root := writeTree(t, files("lib.luau"))
	_, err := New(Options{Roots: []string{root + "/lib.luau"}})
	require.ErrorContains(t, err, "lib.luau\" is not a directory")
}

// What is there and no file must not be passed over for a library further on.
func TestLibraryThatIsNoFile(t *testing.T) {
	root := writeTree(t, map[string]string{"libs/json.luau": "-> pipe"})
	makeFIFO(t, root+"/libs/pipe")
	r := newResolver(t, Options{Roots: []string{root + "/libs"}, Embedded: embeddedLibraries})
	e := mustFail(t, r, "=stdin", "json")
	assert.Equal(t, CodeSource, e.Code)
	assert.Equal(t, "is a FIFO, not a file", e.Message)
	assert.Contains(t, e.Error(), root+"/libs/json.luau")
}
