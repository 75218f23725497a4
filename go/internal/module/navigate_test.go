package module

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var navigated = files(
	"main.luau",
	"plain.luau", "old.lua",
	"dir/init.luau", "dir/part.luau", "dir/sub/init.lua", "dir/sub/leaf.luau",
	"nested/init.luau", "nested/init/init.luau",
	"both.luau", "both.lua",
	"twice.luau", "twice/init.luau", "twice/inner.luau",
	"jobs/run.luau",
	"inits/init.luau", "inits/init.lua",
	"empty/notes.txt",
	".config.luau",
	"with space.luau", "ünï.luau", "dotted.name.luau",
)

func TestNavigate(t *testing.T) {
	root := writeTree(t, with(navigated, "jobs.luau", ""))
	t.Chdir(t.TempDir())
	r := newResolver(t, Options{Script: filepath.Join(root, "main.luau")})

	for _, c := range []struct{ from, name, want string }{
		{"main.luau", "./plain", "plain.luau"},
		{"main.luau", "./old", "old.lua"},
		{"main.luau", "./dir", "dir/init.luau"},
		{"main.luau", "./dir/", "dir/init.luau"},
		{"main.luau", ".//dir/./part", "dir/part.luau"},
		{"main.luau", "./dir/../plain", "plain.luau"},
		{"main.luau", "./dir/sub", "dir/sub/init.lua"},
		{"main.luau", "./with space", "with space.luau"},
		{"main.luau", "./ünï", "ünï.luau"},
		{"main.luau", "./dotted.name", "dotted.name.luau"},
		{"main.luau", "@self/../plain", "plain.luau"},
		{"main.luau", "@SELF", "main.luau"},

		// a plain file: "./" is its directory
		{"dir/part.luau", "./sub", "dir/sub/init.lua"},
		{"dir/part.luau", "../plain", "plain.luau"},
		{"dir/part.luau", "./", "dir/init.luau"},

		// an init file is its directory: "./" is one level up, "@self" inside
		{"dir/init.luau", "./plain", "plain.luau"},
		{"dir/init.luau", "./dir/part", "dir/part.luau"},
		{"dir/init.luau", "@self/part", "dir/part.luau"},
		{"dir/init.luau", "@self/sub", "dir/sub/init.lua"},
		{"dir/sub/init.lua", "./part", "dir/part.luau"},
		{"dir/sub/init.lua", "../plain", "plain.luau"},
		{"dir/sub/init.lua", "@self/leaf", "dir/sub/leaf.luau"},
		{"nested/init.luau", "@self/init", "nested/init/init.luau"},

		// B03: what is ambiguous matters only when it is itself required
		{"main.luau", "./jobs/run", "jobs/run.luau"},
		{"jobs/run.luau", "../plain", "plain.luau"},
		{"jobs.luau", "./jobs/run", "jobs/run.luau"},
		{"jobs.luau", "./plain", "plain.luau"},
		{"main.luau", "./twice/inner", "twice/inner.luau"},
		{"twice/inner.luau", "../plain", "plain.luau"},
		{"main.luau", "./both/../plain", "plain.luau"},
	} {
		t.Run(c.from+" requires "+c.name, func(t *testing.T) {
			s, err := r.Resolve("@"+filepath.Join(root, c.from), c.name)
			require.NoError(t, err)
			assert.Equal(t, filepath.Join(root, c.want), s.ID)
			assert.Equal(t, "@"+filepath.Join(root, c.want), s.Chunk)
			if c.want != "jobs.luau" {
				assert.Equal(t, "return "+c.want, string(s.Code))
			}
		})
	}
}

func TestNavigateFails(t *testing.T) {
	root := writeTree(t, with(navigated, "jobs.luau", ""))
	r := newResolver(t, Options{Script: filepath.Join(root, "main.luau")})

	for _, c := range []struct{ from, name, code, message, detail, hint string }{
		{"main.luau", "./nope", CodeNotFound, `could not resolve child component "nope"`,
			"looked for " + root + "/nope.luau, " + root + "/nope.lua, " + root + "/nope/init.luau, " + root + "/nope/init.lua", ""},
		{"main.luau", "./nope/../plain", CodeNotFound, `could not resolve child component "nope"`, root + "/nope", ""},
		{"main.luau", "./Plain", CodeNotFound, `could not resolve child component "Plain"`, "", `did you mean "plain"?`},
		{"main.luau", "./palin", CodeNotFound, `could not resolve child component "palin"`, "", `did you mean "plain"?`},
		{"main.luau", "./dir/prt", CodeNotFound, `could not resolve child component "prt"`, "", `did you mean "part"?`},
		{"main.luau", "./plain.luau", CodeNotFound, `could not resolve child component "plain.luau"`, "", `write "plain"`},
		{"main.luau", "./dir/init", CodeNotFound, `could not resolve child component "init"`, "", "name of its directory"},
		{"main.luau", "./.config", CodeNotFound, `could not resolve child component ".config"`, "", "no module"},
		{"main.luau", "./empty", CodeNotFound, "no module present at resolved path", root + "/empty/init.luau", "has no init.luau"},
		{"main.luau", "./plain/x", CodeNotFound, `could not resolve child component "x"`, "", ""},
		{"main.luau", "./both", CodeAmbiguous, `could not resolve child component "both" (ambiguous)`, root + "/both.luau, " + root + "/both.lua", "rename"},
		{"main.luau", "./twice", CodeAmbiguous, `could not resolve child component "twice" (ambiguous)`, root + "/twice.luau, " + root + "/twice/", "rename"},
		{"main.luau", "./jobs", CodeAmbiguous, `could not resolve child component "jobs" (ambiguous)`, root + "/jobs.luau, " + root + "/jobs/", "rename"},
		{"jobs/run.luau", "./", CodeAmbiguous, `could not resolve child component "jobs" (ambiguous)`, "", ""},
		{"main.luau", "./inits", CodeAmbiguous, `could not resolve child component "inits" (ambiguous)`, "init.luau, " + root + "/inits/init.lua", ""},
		{"main.luau", "@self/x", CodeNotFound, `could not resolve child component "x"`, root + "/main/x.luau", ""},
		{"main.luau", "../../../../../../../../../../../../x", CodeNotFound, "could not get parent of", "/ is the topmost directory", ""},
	} {
		t.Run(c.from+" requires "+c.name, func(t *testing.T) {
			e := mustFail(t, r, "@"+filepath.Join(root, c.from), c.name)
			assert.Equal(t, c.code, e.Code)
			assert.Contains(t, e.Message, c.message)
			assert.NotContains(t, e.Message, root, "a message must not name paths of the host")
			assert.Contains(t, e.Error(), c.detail)
			assert.Contains(t, e.Hint, c.hint)
			assert.Contains(t, e.Error(), `error requiring module "`+c.name+`": `)
			assert.ErrorIs(t, e, &Error{Code: c.code})
			assert.Equal(t, c.code == CodeNotFound && len(e.Details) > 0 && c.detail != "/ is the topmost directory", errors.Is(e, fs.ErrNotExist))
		})
	}
}

func TestUnreadablePlacesAreNamed(t *testing.T) {
	root := writeTree(t, files("main.luau", "a.luau"))
	chunk := "@" + filepath.Join(root, "main.luau")

	stat := newResolver(t, Options{FS: brokenFS{systemFS{}, root + "/a.luau", fs.ErrPermission}})
	e := mustFail(t, stat, chunk, "./a")
	assert.Equal(t, CodePermission, e.Code)
	assert.Contains(t, e.Details, root+"/a.luau: permission denied")
	assert.ErrorIs(t, e, fs.ErrPermission)

	open := newResolver(t, Options{FS: lockedFS{systemFS{}, root + "/a.luau"}})
	e = mustFail(t, open, chunk, "./a")
	assert.Equal(t, CodePermission, e.Code)
	assert.Equal(t, "the file cannot be read: permission denied", e.Message)
	assert.Contains(t, e.Details, "in "+root+"/a.luau")
}

func TestRelativeScriptKeepsRelativeChunks(t *testing.T) {
	root := writeTree(t, files("app/main.luau", "app/part.luau", "app/libs/box.luau", "above.luau"))
	t.Chdir(root)
	r := newResolver(t, Options{Script: "./app/main.luau"})
	t.Chdir(t.TempDir()) // a change of directory later must not matter

	for name, want := range map[string]string{"./part": "app/part.luau", "box": "app/libs/box.luau"} {
		s, err := r.Resolve("@./app/main.luau", name)
		require.NoError(t, err)
		assert.Equal(t, "@"+want, s.Chunk)
		assert.Equal(t, filepath.Join(root, want), s.ID)
	}

	s, err := r.Resolve("@app/part.luau", "../above")
	require.NoError(t, err)
	assert.Equal(t, "@above.luau", s.Chunk)

	inside := newResolver(t, Options{Script: "main.luau", Dir: filepath.Join(root, "app")})
	s, err = inside.Resolve("@main.luau", "../above")
	require.NoError(t, err)
	assert.Equal(t, "@"+filepath.Join(root, "above.luau"), s.Chunk, "above the directory the absolute path is clearer")
}

func TestLinksAreOneModule(t *testing.T) {
	tree := files("main.luau", "real/a.luau", "real/b.luau")
	tree["alias.luau"] = "-> real/a.luau"
	tree["linked"] = "-> real"
	tree["loop.luau"] = "-> loop.luau"
	root := writeTree(t, tree)
	r := newResolver(t, Options{})
	chunk := "@" + filepath.Join(root, "main.luau")

	for name, seen := range map[string]string{"./real/a": "real/a.luau", "./alias": "alias.luau", "./linked/a": "linked/a.luau"} {
		s, err := r.Resolve(chunk, name)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(root, "real/a.luau"), s.ID, name)
		assert.Equal(t, "@"+filepath.Join(root, seen), s.Chunk)
	}
	s, err := r.Resolve("@"+filepath.Join(root, "linked/a.luau"), "./b")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "real/b.luau"), s.ID)

	e := mustFail(t, r, chunk, "./loop")
	assert.Contains(t, e.Error(), "too many levels of symbolic links")
}

func TestCodeFromNoFile(t *testing.T) {
	root := writeTree(t, files("x.luau", "libs/box.luau"))
	t.Chdir(root)
	r := newResolver(t, Options{Roots: []string{"libs"}, Embedded: embeddedLibraries})
	for _, chunk := range []string{"=stdin", "=(eval)", "=", "", "return 1", "@", "@a\x00b"} {
		for _, name := range []string{"./x", "../x", "@self/x", "@alias/x"} {
			e := mustFail(t, r, chunk, name)
			assert.Equal(t, CodeName, e.Code)
			assert.Contains(t, e.Message, "comes from no file")
			assert.Contains(t, e.Hint, "put the code in a file")
		}
		s, err := r.Resolve(chunk, "box")
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(root, "libs/box.luau"), s.ID)
	}
	assert.Contains(t, mustFail(t, r, "=stdin", "./x").Error(), `"stdin" comes from no file`)
}

func TestBadNames(t *testing.T) {
	root := writeTree(t, files("main.luau", "libs/a/b.luau", "secret.luau"))
	r := newResolver(t, Options{Script: filepath.Join(root, "main.luau"), Embedded: embeddedLibraries})
	for name, message := range map[string]string{
		"":                             "the name is empty",
		"a\x00b":                       "NUL byte",
		"./a\x00b":                     "NUL byte",
		"/etc/passwd":                  "absolute path",
		`a\b`:                          "backslash",
		`.\a`:                          "backslash",
		"a/../../secret":               `cannot have ".." as a part`,
		"a/..":                         `cannot have ".." as a part`,
		"..":                           `cannot have ".." as a part`,
		".":                            `cannot have "." as a part`,
		"a/./b":                        `cannot have "." as a part`,
		"a//b":                         "empty part",
		"a/":                           "empty part",
		"a\nb":                         "control character 0x0a",
		"./a\x7f":                      "control character 0x7f",
		string(make([]byte, 2000)):     "2000 bytes; the limit is 1024",
		"https://example.org/mod.luau": "empty part",
	} {
		e := mustFail(t, r, "@"+filepath.Join(root, "main.luau"), name)
		assert.Equal(t, CodeName, e.Code, "%q", name)
		assert.Contains(t, e.Message, message, "%q", name)
		assert.Less(t, len(e.Error()), 1000)
		assert.NotContains(t, e.Error(), "\x00")
	}
	assert.Contains(t, mustFail(t, r, "=x", `a\b`).Hint, `"a/b"`)
	assert.Contains(t, mustFail(t, r, "=x", "a//b").Hint, `"a/b"`)
}
