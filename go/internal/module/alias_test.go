package module

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func aliasTree(t *testing.T) (root, elsewhere string) {
	elsewhere = writeTree(t, files("shared.luau", "pack/init.luau", "pack/in.luau"))
	tree := files(
		"main.luau", "top.luau", "lib/one.luau",
		"src/app.luau", "src/near.luau", "src/deep/app.luau",
		"src/init/init.luau",
		"src/own/init.luau", "src/own/private.luau",
		"chain/inner.luau", "chain/app.luau",
	)
	tree[".luaurc"] = `{
		// the outer configuration
		"languageMode": "strict",
		"aliases": {
			"Root": ".",
			"src": "./src",
			"bare": "src",
			"lib": "./lib/",
			"near": "./hidden-by-the-inner-one",
			"up": "./src/..",
			"abs": "` + elsewhere + `",
			"absfile": "` + elsewhere + `/shared.luau",
			"outer": "./",
			"one": "@two", "two": "@three", "three": "@one",
			"into": "@two",
			"loop": "@Loop",
			"wantsinner": "@innerdir",
			"gone": "./gone",
			"absgone": "/no/such/place",
			"selfish": "@self/x",
		},
	}`
	tree["src/.luaurc"] = `{"aliases": {"near": "./near", "Mixed.Case-1_x": "./near"}}`
	tree["src/own/.luaurc"] = `{"aliases": {"private": "./private", "near": "./not-asked-by-an-init-file"}}`
	tree["chain/.luaurc"] = `{"aliases": {
		"innerdir": "./", "in": "@innerdir/inner", "out": "@outer/top", "pass": "@outer", "broken": "@missing",
	}}`
	return writeTree(t, tree), elsewhere
}

func TestAliases(t *testing.T) {
	root, elsewhere := aliasTree(t)
	t.Chdir(t.TempDir())
	r := newResolver(t, Options{})
	for _, c := range []struct{ from, name, want string }{
		{"main.luau", "@root/top", "top.luau"},
		{"main.luau", "@ROOT/src/app", "src/app.luau"},
		{"main.luau", "@src/app", "src/app.luau"},
		{"main.luau", "@bare/app", "src/app.luau"},
		{"main.luau", "@lib/one", "lib/one.luau"},
		{"main.luau", "@up/top", "top.luau"},
		{"main.luau", "@src/../top", "top.luau"},
		{"src/app.luau", "@near", "src/near.luau"},
		{"src/deep/app.luau", "@near", "src/near.luau"},
		{"src/app.luau", "@mixed.case-1_X", "src/near.luau"},
		{"src/deep/app.luau", "@root/top", "top.luau"},
		{"src/own/init.luau", "@near", "src/near.luau"},
		{"src/own/private.luau", "@private", "src/own/private.luau"},
		{"chain/app.luau", "@in", "chain/inner.luau"},
		{"chain/app.luau", "@out", "top.luau"},
		{"chain/app.luau", "@pass/top", "top.luau"},
	} {
		t.Run(c.from+" requires "+c.name, func(t *testing.T) {
			s, err := r.Resolve("@"+filepath.Join(root, c.from), c.name)
			require.NoError(t, err)
			assert.Equal(t, filepath.Join(root, c.want), s.ID)
		})
	}
	for name, want := range map[string]string{"@abs/shared": "shared.luau", "@abs/pack": "pack/init.luau", "@abs/pack/in": "pack/in.luau", "@absfile": "shared.luau"} {
		s, err := r.Resolve("@"+filepath.Join(root, "main.luau"), name)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(elsewhere, want), s.ID)
	}
}

func TestAliasesFail(t *testing.T) {
	root, _ := aliasTree(t)
	r := newResolver(t, Options{})
	for _, c := range []struct{ from, name, code, message, detail, hint string }{
		{"main.luau", "@nope/x", CodeNotFound, "@nope is not a valid alias", root + "/.luaurc: only @Root, @src, ", `add it to a .luaurc`},
		{"main.luau", "@rot/x", CodeNotFound, "@rot is not a valid alias", "", `did you mean "@Root"?`},
		{"main.luau", "@", CodeNotFound, "@ is not a valid alias", "", "letters, digits"},
		{"main.luau", "@@x", CodeNotFound, "@@x is not a valid alias", "", ""},
		{"main.luau", "@../x", CodeNotFound, "@.. is not a valid alias", "", ""},
		{"src/own/init.luau", "@private", CodeNotFound, "@private is not a valid alias", root + "/src/.luaurc, " + root + "/.luaurc", ""},
		{"main.luau", "@one", CodeConfig, "detected alias cycle (@one -> @two -> @three -> @one)", root + "/.luaurc", ""},
		{"main.luau", "@into", CodeConfig, "detected alias cycle (@two -> @three -> @one -> @two)", "", ""},
		{"main.luau", "@loop/x", CodeConfig, "detected alias cycle (@loop -> @loop)", "", ""},
		{"chain/app.luau", "@broken", CodeNotFound, "@missing is not a valid alias", `on the way to @broken = "@missing"`, ""},
		{"chain/app.luau", "@wantsinner", CodeNotFound, "@innerdir is not a valid alias", `on the way to @wantsinner = "@innerdir"`, ""},
		{"main.luau", "@gone", CodeNotFound, `could not resolve child component "gone"`, `on the way to @gone = "./gone" of ` + root + "/.luaurc", ""},
		{"main.luau", "@absgone/x", CodeNotFound, `could not jump to alias "/no/such/place"`, "looked for /no/such/place.luau", "correct @absgone"},
		{"main.luau", "@selfish", CodeNotFound, "@self is not a valid alias", "", `write "./"`},
	} {
		t.Run(c.from+" requires "+c.name, func(t *testing.T) {
			e := mustFail(t, r, "@"+filepath.Join(root, c.from), c.name)
			assert.Equal(t, c.code, e.Code)
			assert.Equal(t, c.message, e.Message)
			assert.Contains(t, e.Error(), c.detail)
			assert.Contains(t, e.Hint, c.hint)
		})
	}
}

func TestLuauConfigIsNotRead(t *testing.T) {
	root := writeTree(t, map[string]string{
		"main.luau": "", "dep.luau": "", ".config.luau": `return {luau = {aliases = {dep = "./dep"}}}`,
		"both/main.luau": "", "both/dep.luau": "", "both/.config.luau": "error()", "both/.luaurc": `{"aliases": {"dep": "./dep"}}`,
	})
	r := newResolver(t, Options{})
	e := mustFail(t, r, "@"+filepath.Join(root, "main.luau"), "@dep")
	assert.Contains(t, e.Error(), root+"/.config.luau")
	assert.Contains(t, e.Hint, "write its aliases into a .luaurc")

	s, err := r.Resolve("@"+filepath.Join(root, "both/main.luau"), "@dep")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "both/dep.luau"), s.ID)
}

func TestBadConfigStopsTheSearch(t *testing.T) {
	root := writeTree(t, map[string]string{
		".luaurc": `{"aliases": {"dep": "./dep"}}`, "dep.luau": "", "plain.luau": "",
		"in/main.luau": "", "in/.luaurc": "{\n  \"aliases\": {\n    \"dep\": 5\n  }\n}\n",
		"dir/main.luau": "", "dir/.luaurc/": "",
	})
	r := newResolver(t, Options{Script: "main.luau", Dir: root})
	in := "@" + filepath.Join(root, "in/main.luau")
	e := mustFail(t, r, in, "@dep")
	assert.Equal(t, CodeConfig, e.Code)
	assert.Equal(t, `bad .luaurc: expected a string, true, false, an object or an array, got "5"`, e.Message)
	assert.Equal(t, []string{"at in/.luaurc:3:12"}, e.Details)

	_, err := r.Resolve(in, "../plain")
	require.NoError(t, err, "a require without an alias asks no .luaurc")

	s, err := r.Resolve("@"+filepath.Join(root, "dir/main.luau"), "@dep")
	require.NoError(t, err, "a directory named .luaurc is none")
	assert.Equal(t, filepath.Join(root, "dep.luau"), s.ID)
}

func TestUnreadableConfigIsAnError(t *testing.T) {
	root := writeTree(t, map[string]string{"main.luau": "", ".luaurc": "{}", "big/.luaurc": string(make([]byte, maxConfig+1)), "big/main.luau": ""})
	for from, r := range map[string]*Resolver{
		"main.luau":     newResolver(t, Options{FS: lockedFS{systemFS{}, root + "/.luaurc"}}),
		"./main.luau":   newResolver(t, Options{FS: brokenFS{systemFS{}, root + "/.luaurc", fs.ErrPermission}}),
		"big/main.luau": newResolver(t, Options{}),
	} {
		e := mustFail(t, r, "@"+filepath.Join(root, from), "@x/y")
		assert.Contains(t, e.Message, "a .luaurc cannot be read: ")
		assert.Contains(t, e.Error(), "in "+filepath.Join(root, filepath.Dir(from), ".luaurc"))
	}
}

func TestManyAliasesKeepTheErrorShort(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"aliases": {`)
	for i := range 5000 {
		fmt.Fprintf(&text, `"alias%d": "./x",`, i)
	}
	text.WriteString("}}")
	root := writeTree(t, map[string]string{"main.luau": "", ".luaurc": text.String()})
	e := mustFail(t, newResolver(t, Options{}), "@"+root+"/main.luau", "@nope")
	assert.Contains(t, e.Error(), "@alias19 and 4980 more")
	assert.Less(t, len(e.Error()), 1000)
}
