package fsmod_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.luau", "b.lua", "z.txt", ".hidden", "src/a.luau", "src/deep/er/c.luau", "src/deep/d.txt", "sp ace/é.txt", "x[1]"} {
		put(t, filepath.Join(dir, name), name)
	}
	require.NoError(t, os.Symlink("src", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "src", "up"))) // a circle for who follows it
	vm := start(t, dir, all)
	for glob, want := range map[string]string{
		"*":                     ".hidden a.luau b.lua link sp ace src x[1] z.txt",
		"*.luau":                "a.luau",
		"**/*.luau":             "a.luau src/a.luau src/deep/er/c.luau",
		"**/*.{luau,txt}":       "a.luau sp ace/é.txt src/a.luau src/deep/d.txt src/deep/er/c.luau z.txt",
		"src/**":                "src src/a.luau src/deep src/deep/d.txt src/deep/er src/deep/er/c.luau src/up",
		"src/*/*":               "src/deep/d.txt src/deep/er",
		"**/deep/**/c.luau":     "src/deep/er/c.luau",
		"**/**/er":              "src/deep/er",
		"?.lua":                 "b.lua",
		"[ab].*":                "a.luau b.lua",
		"[^ab].*":               "z.txt",
		"x\\[1]":                "x[1]",
		"./src/./a.luau":        "src/a.luau",
		"{a,src/a}.luau":        "a.luau src/a.luau",
		"{src/{deep,none},a}*":  "a.luau src/deep",
		"*/*.txt":               "sp ace/é.txt",
		"none":                  "",
		"a.luau/b":              "",
		"link/*":                "",
		"**/é.txt":              "sp ace/é.txt",
		"**/a/**/a/**/a/**/a/z": "",
	} {
		out := vm.Run(t, fmt.Sprintf(`local paths = {} for _, e in fs.list(".", %q) do table.insert(paths, e.path) end return table.concat(paths, " ")`, glob))
		require.Equal(t, []any{want}, out, glob)
	}
	out := vm.Run(t, `
		local found = fs.list("src/deep/")
		return #found, found[1].path, found[1].name, found[1].kind, found[1].size, found[2].kind, fs.list("src")[3].kind`)
	require.Equal(t, []any{2.0, "src/deep/d.txt", "d.txt", "file", 14.0, "directory", "link"}, out)
	require.Equal(t, []any{filepath.Join(dir, "a.luau")}, vm.Run(t, fmt.Sprintf(`return fs.list(%q, "a.*")[1].path`, dir)))
}

// Patterns made to take for ever do not: fails and Run have a time limit.
func TestHostilePatterns(t *testing.T) {
	dir := t.TempDir()
	deep := strings.Repeat("a/", 60)
	put(t, filepath.Join(dir, deep, strings.Repeat("a", 200)), "")
	vm := start(t, dir, all)
	for _, glob := range []string{
		strings.Repeat("**/a/", 31) + "b",
		strings.Repeat("*a", 500) + "b",
		strings.Repeat("{a,a}", 6) + strings.Repeat("*a", 400) + "b",
		strings.Repeat("**/", 300) + "b",
	} {
		require.Equal(t, []any{0.0}, vm.Run(t, fmt.Sprintf(`return #fs.list(".", %q)`, glob)))
	}
}

func TestRemoveManyAndDeep(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "d", strings.Repeat("deep/", 500), "f"), "")
	for i := range 1000 {
		put(t, filepath.Join(dir, "d", "many", fmt.Sprint(i)), "")
	}
	start(t, dir, all).Run(t, `fs.remove("d", {recursive = true})`)
	require.Empty(t, names(t, dir))
}
