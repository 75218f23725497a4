package tooldef

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/module"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder is a directory with files, and what loads it.
type folder struct {
	t    *testing.T
	root string
	o    Options
}

func newFolder(t *testing.T, files map[string]string) *folder {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	f := &folder{t: t, root: root}
	for name, text := range files {
		f.write(name, text)
	}
	rooted, err := module.RootFS(root)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rooted.Close()) })
	f.o = Options{Files: rooted, Root: root, Dirs: []string{"tools"}}
	return f
}

func (f *folder) write(name, text string) {
	f.t.Helper()
	file := filepath.Join(f.root, name)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(f.t, os.WriteFile(file, []byte(text), 0o644))
}

// load loads and gives the names of the tools and the errors; the next load begins from this one.
func (f *folder) load() (names, errs []string) {
	f.t.Helper()
	s, err := Load(f.t.Context(), f.o)
	require.NoError(f.t, err)
	for _, tool := range s.Tools() {
		name := tool.Name
		if tool.Stale {
			name += " (stale)"
		}
		names = append(names, name)
		found, ok := s.Find(tool.Name)
		require.True(f.t, ok)
		require.Same(f.t, tool, found)
	}
	for _, b := range s.Errors() {
		errs = append(errs, b.Err.Error())
	}
	f.o.Previous = s
	return names, errs
}

func (f *folder) find(name string) *Tool {
	f.t.Helper()
	tool, ok := f.o.Previous.Find(name)
	require.True(f.t, ok, name)
	return tool
}

func yamlText(name string) string { return "name: " + name + "\nlua: function invoke() end\n" }

func luaText(name string) string {
	return "tool = { name = '" + name + "', parameters = {} }\nfunction tool.execute() end\n"
}

func TestLoad(t *testing.T) {
	f := newFolder(t, map[string]string{
		"tools/b.yaml":              yamlText("b1") + "---\n" + yamlText("b2"),
		"tools/a.yml":               "name: a\nlua_file: scripts/a.luau\n",
		"tools/scripts/a.luau":      "\nfunction invoke() end",
		"tools/scripts/helper.luau": "local tool = {}\nreturn tool\n",
		"tools/deep/c.lua":          "#!/usr/bin/env luau\n" + luaText("c"),
		"tools/deep/d.LUAU":         "\xef\xbb\xbf" + luaText("d"),
		"tools/.hidden/e.yaml":      yamlText("e"),
		"tools/.f.yaml":             yamlText("f"),
		"tools/node_modules/g.yaml": yamlText("g"),
		"tools/README.md":           "tool = {}",
		"tools/notes.yaml":          "title: x\n",
		"tools/meant.luau":          "local tool = { name = 'm' }\nfunction tool.execute() end\n",
		"tools/local.lua":           "local tool = { name = 'l', description = 'd', parameters = {} }\nfunction tool.execute(params, context) return {} end\nreturn tool\n",
		"tools/later.lua":           "local tool = {}\ntool.name = 'l'\ntool.execute = function() end\nreturn tool\n",
		"tools/inside.lua":          "local tool = { name = 'l', execute = function() end }\n",
		"tools/scripts/module.lua":  "local tool = { shared = true }\nfunction tool.execute(sql) end\nreturn tool\n",
		"tools/scripts/fields.lua":  "local tool = { name = 'x' }\nreturn tool\n",
		"tools/broken.lua":          "tool = {\n",
	})
	names, errs := f.load()
	require.Equal(t, []string{"a", "b1", "b2", "c", "d"}, names)
	require.Len(t, errs, 6)
	require.Contains(t, errs[0], "tools/broken.lua:2:1: the script does not compile: ")
	for i, name := range []string{"inside.lua", "later.lua", "local.lua", "meant.luau"} {
		require.Equal(t, "tools/"+name+`:1: the script defines no global table tool; its "tool" is a local: leave the word local out`, errs[1+i])
	}
	require.Equal(t, "tools/notes.yaml:1:1: this is no tool yet: name and lua (or lua_file, or agent) are missing", errs[5])
	require.Equal(t, "@tools/scripts/a.luau", f.find("a").Chunk)
	require.Equal(t, "tools/a.yml", f.find("a").File)
	require.Equal(t, "@tools/deep/c.lua", f.find("c").Chunk)
}

// A file that is named has to be a tool, though its folder is looked through as well.
func TestLoadNamedInFolder(t *testing.T) {
	f := newFolder(t, map[string]string{"tools/a.lua": "local x = 1\n", "tools/b.lua": "local x = 1\n"})
	f.o.Dirs = []string{"tools", "tools/a.lua"}
	_, errs := f.load()
	require.Len(t, errs, 1)
	require.Contains(t, errs[0], "tools/a.lua: the script defines no global table tool")
}

func TestLoadSingleFiles(t *testing.T) {
	f := newFolder(t, map[string]string{"x.lua": luaText("x"), "y.lua": "return 1", "z.txt": "", "w.yaml": yamlText("w")})
	f.o.Dirs = []string{"x.lua", f.root + "/w.yaml", "y.lua", "z.txt", "gone"}
	names, errs := f.load()
	require.Equal(t, []string{"w", "x"}, names)
	require.Equal(t, []string{
		"gone: there is no such file or folder; check the path; it begins at the folder of the configuration",
		"y.lua: the script defines no global table tool; write tool = { name = ..., description = ..., parameters = { ... } }",
		"z.txt: the name of a tool file ends in .yaml, .yml, .luau or .lua",
	}, errs)
}

func TestLoadConfigured(t *testing.T) {
	f := newFolder(t, map[string]string{"lua/x.lua": luaText("x"), "lua/y.lua": luaText("y"), "tools/z.yaml": yamlText("z"), "tools/x.yaml": yamlText("x")})
	memory, isolation := int64(8<<20), engine.Shared
	f.o.Scripts = map[string]Script{
		"x":     {Path: "lua/x.lua", Timeout: time.Second, Approve: true, Rate: Rate{1, time.Second}, Config: map[string]any{"url": "https://x"}},
		"other": {Path: "lua/y.lua"},
		"gone":  {Path: "lua/gone.lua"},
		"z":     {Path: "tools/z.yaml"},
	}
	f.o.Policies = map[string]Policy{"x": {Memory: &memory, Isolation: &isolation, Permissions: Permissions{Net: []string{"x.com"}}}}
	names, errs := f.load()
	require.Equal(t, []string{"x"}, names)
	require.Equal(t, []string{
		"lua/gone.lua: there is no such file",
		`lua/y.lua:1: the configuration calls this tool "other" ([tools.script.other]), its own name is "y"; use one name for both`,
		`tools/x.yaml:1: the tool "x" is already defined in lua/x.lua, line 1; this second one in tools/x.yaml is not used; give one of them another name`,
		"tools/z.yaml: the path of [tools.script.z] must be a .lua or .luau file; a YAML tool has its own config: put its folder into [tools] dirs",
	}, errs)
	x := f.find("x")
	require.Equal(t, Tool{
		Name: "x", Dialect: Execute, Params: x.Params, Timeout: time.Second, Memory: memory, Isolation: isolation,
		Permissions: Permissions{Net: []string{"x.com"}}, Rate: Rate{1, time.Second}, Approve: true,
		Config: map[string]any{"url": "https://x"}, Chunk: "@lua/x.lua", Source: luaText("x"), File: "lua/x.lua", Line: 1, Hash: x.Hash,
	}, *x)
	f.load()
	require.Same(t, x, f.find("x"), "nothing changed")
	f.o.Policies["x"] = Policy{}
	f.load()
	require.Empty(t, f.find("x").Permissions.Net)
	require.NotEqual(t, x.Hash, f.find("x").Hash)
}

// X13: two files define the same tool; names that are no names.
func TestX13(t *testing.T) {
	f := newFolder(t, map[string]string{
		"tools/a.yaml": yamlText("same"), "tools/b.lua": luaText("same"), "tools/c.yaml": yamlText("c") + "---\n" + yamlText("c"),
		"tools/d.yaml": yamlText("with space"), "tools/e.yaml": yamlText("wörter"), "tools/f.yaml": yamlText(strings.Repeat("x", 200)),
		"tools/g.lua": luaText("../x"), "tools/h.yaml": yamlText("list"),
	})
	names, errs := f.load()
	require.Equal(t, []string{"c", "same"}, names)
	require.Equal(t, "tools/a.yaml", f.find("same").File)
	const rule = "is not allowed: it begins with a letter or underscore, and letters, digits, underscores and hyphens follow"
	require.Equal(t, []string{
		`tools/b.lua:1: the tool "same" is already defined in tools/a.yaml, line 1; this second one in tools/b.lua is not used; give one of them another name`,
		`tools/c.yaml:4: the tool "c" is already defined in tools/c.yaml, line 1; this second one in tools/c.yaml is not used; give one of them another name`,
		`tools/d.yaml:1:1: the tool name "with space" ` + rule,
		`tools/e.yaml:1:1: the tool name "wörter" ` + rule,
		`tools/f.yaml:1:1: the tool name "xxxxxxxxxxxxxxxxxxxx"... has 200 characters; at most 64 are allowed`,
		`tools/g.lua:1: the tool name "../x" ` + rule,
		`tools/h.yaml:1:1: a tool cannot be named "list": GET /tools/list lists the tools`,
	}, errs)
}

// X12: a file that is broken while it serves keeps its last good version, until it is mended.
func TestX12(t *testing.T) {
	for name, test := range map[string]struct{ file, good, broken, want, mended string }{
		"YAML syntax":  {"tools/a.yaml", yamlText("a"), "name: [", "tools/a.yaml:2:1: did not find expected node content", yamlText("a") + "title: new\n"},
		"script":       {"tools/a.yaml", yamlText("a"), "name: a\nlua: x =", "tools/a.yaml:2: the script does not compile: ", yamlText("a") + "title: new\n"},
		"unknown key":  {"tools/a.yaml", yamlText("a"), yamlText("a") + "tilte: new\n", `tools/a.yaml:3:1: unknown key "tilte"; did you mean "title"?`, yamlText("a") + "title: new\n"},
		"schema":       {"tools/a.yaml", yamlText("a"), yamlText("a") + "params: {type: object, properties: 1}\n", "tools/a.yaml:3:24: ", yamlText("a") + "title: new\n"},
		"Lua syntax":   {"tools/a.lua", luaText("a"), "tool = {", "tools/a.lua:1:9: the script does not compile: ", luaText("a") + "tool.title = 'new'"},
		"Lua error":    {"tools/a.lua", luaText("a"), luaText("a") + "error('no')", "tools/a.lua:3: no", luaText("a") + "tool.title = 'new'"},
		"unreadable":   {"tools/a.lua", luaText("a"), "tool = 1 \x00", "NUL byte", luaText("a") + "tool.title = 'new'"},
		"not a script": {"tools/s.luau", "function invoke() end", "function", "tools/s.luau:1:9: the script does not compile: ", "function invoke() end -- new"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, map[string]string{test.file: test.good, "tools/other.yaml": yamlText("z")})
			if test.file == "tools/s.luau" {
				f.write("tools/a.yaml", "name: a\nlua_file: s.luau\n")
			}
			names, errs := f.load()
			require.Equal(t, []string{"a", "z"}, names)
			require.Empty(t, errs)
			good := f.find("a")
			for range 2 { // it stays, however often it is looked at
				f.write(test.file, test.broken)
				names, errs = f.load()
				require.Equal(t, []string{"a (stale)", "z"}, names)
				require.Len(t, errs, 1)
				require.Contains(t, errs[0], test.want)
				require.Equal(t, good.Hash, f.find("a").Hash)
			}
			f.write(test.file, test.mended)
			names, errs = f.load()
			require.Equal(t, []string{"a", "z"}, names)
			require.Empty(t, errs)
			require.NotEqual(t, good.Hash, f.find("a").Hash)
			f.write(test.file, test.good)
			f.load()
			require.Equal(t, good.Hash, f.find("a").Hash)
		})
	}
}

// What the configuration takes from a tool is taken from its last good version too.
func TestStaleToolObeysTheConfiguration(t *testing.T) {
	f := newFolder(t, map[string]string{"tools/a.yaml": yamlText("a") + "permissions: {net: [x.com]}\n"})
	f.load()
	f.write("tools/a.yaml", "name: [")
	for _, hosts := range [][]string{{"y.com"}, {}} {
		f.o.Policies = map[string]Policy{"a": {Permissions: Permissions{Net: hosts}}}
		names, _ := f.load()
		require.Equal(t, []string{"a (stale)"}, names)
		require.Equal(t, hosts, f.find("a").Permissions.Net)
	}
	f.o.Policies = map[string]Policy{"a": {Permissions: Permissions{Net: []string{"https://x.com"}}}}
	f.write("tools/a.yaml", yamlText("a"))
	names, errs := f.load()
	require.Empty(t, names)
	require.Contains(t, errs[0], `tools/a.yaml:1: the configuration of the tool "a": net: "https://x.com" is a URL: write its host alone, as api.example.com`)
}

// A tool that was taken out on purpose does not stay.
func TestRemovedTools(t *testing.T) {
	f := newFolder(t, map[string]string{"tools/a.yaml": yamlText("a") + "---\n" + yamlText("b"), "tools/c.lua": luaText("c")})
	f.o.Scripts = map[string]Script{"d": {Path: "d.lua"}}
	f.write("d.lua", luaText("d"))
	names, _ := f.load()
	require.Equal(t, []string{"a", "b", "c", "d"}, names)
	f.write("tools/a.yaml", yamlText("a")+"---\nname: n\nlua: x =\n")
	require.NoError(t, os.Remove(f.root+"/tools/c.lua"))
	require.NoError(t, os.Remove(f.root+"/d.lua"))
	names, errs := f.load()
	require.Equal(t, []string{"a"}, names)
	require.Len(t, errs, 2)
}

// What did not change is not read again; what depends on something that did is.
func TestReload(t *testing.T) {
	f := newFolder(t, map[string]string{
		"tools/a.yaml": yamlText("a"), "tools/b.lua": luaText("b"), "tools/s.yaml": "name: s\nlua_file: s.luau\n", "tools/s.luau": "function invoke() end",
		"tools/m.yaml": "name: m\nlua: |\n  local h = require('./helper')\n  function invoke() end\n", "tools/helper.luau": "return 1",
	})
	names, errs := f.load()
	require.Equal(t, []string{"a", "b", "m", "s"}, names)
	require.Empty(t, errs)
	before := map[string]*Tool{}
	for _, name := range names {
		before[name] = f.find(name)
	}
	f.load()
	for _, name := range names {
		require.Same(t, before[name], f.find(name), name)
	}
	f.write("tools/helper.luau", "return 2")
	f.load()
	require.NotEqual(t, before["m"].Hash, f.find("m").Hash, "it requires what changed")
	require.Same(t, before["a"], f.find("a"))
	require.Same(t, before["b"], f.find("b"))
	f.write("tools/s.luau", "function invoke() return 1 end")
	f.load()
	require.NotEqual(t, before["s"].Hash, f.find("s").Hash)
	require.Contains(t, f.find("s").Source, "return 1")
}

func TestLuaFileStaysInside(t *testing.T) {
	f := newFolder(t, map[string]string{"tools/s.txt": "x = 1", "own.luau": "function invoke() end"})
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(outside+"/secret.lua", []byte("x = 1"), 0o644))
	require.NoError(t, os.Symlink(outside+"/secret.lua", f.root+"/tools/link.lua"))
	require.NoError(t, os.Mkdir(f.root+"/tools/dir.lua", 0o755))
	for name, want := range map[string]string{
		"../own.luau": "", "../../secret.lua": "must be relative to the YAML file and stay in the folder", outside + "/secret.lua": "must be relative",
		"link.lua": "outside of the folder", "gone.lua": "no such file", "dir.lua": "a directory", "s.txt": "ends in .luau or .lua",
	} {
		f.write("tools/a.yaml", "name: a\nlua_file: "+name+"\n")
		f.o.Previous = nil
		f.o.Dirs = []string{"tools/a.yaml"}
		_, errs := f.load()
		if want == "" {
			require.Empty(t, errs)
			continue
		}
		require.Len(t, errs, 1, name)
		require.Contains(t, errs[0], "tools/a.yaml:2:1: lua_file", name)
		require.Contains(t, errs[0], want, name)
	}
}

func TestLoadHostileFiles(t *testing.T) {
	f := newFolder(t, map[string]string{
		"tools/ok.yaml":   yamlText("ok"),
		"tools/big.yaml":  "# " + strings.Repeat("x", 10<<20),
		"tools/big.luau":  "tool = 1 --" + strings.Repeat("x", 10<<20),
		"tools/utf16.lua": "\xff\xfet\x00o\x00",
		"tools/empty.lua": "", "tools/empty.yaml": "",
	})
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(outside+"/o.yaml", []byte(yamlText("o")), 0o644))
	require.NoError(t, os.Symlink(outside+"/o.yaml", f.root+"/tools/link.yaml"))
	require.NoError(t, os.Symlink(outside, f.root+"/tools/linkdir.yaml"))
	require.NoError(t, os.Symlink("ok.yaml", f.root+"/tools/twice.yaml"))
	require.NoError(t, os.Symlink(".", f.root+"/tools/loop"))
	require.NoError(t, os.Symlink("nowhere", f.root+"/tools/dangling.lua"))
	require.NoError(t, os.Symlink("nowhere", f.root+"/tools/dangling.txt"))
	require.NoError(t, syscall.Mkfifo(f.root+"/tools/fifo.yaml", 0o644))
	require.NoError(t, syscall.Mkfifo(f.root+"/tools/fifo.lua", 0o644))
	names, errs := f.load()
	require.Equal(t, []string{"ok"}, names)
	for i, want := range []string{
		"tools/big.luau: it has 10485771 bytes; a tool file has at most 1048576", "tools/big.yaml: it has", "tools/dangling.lua: no such file",
		"tools/empty.yaml: there is no tool in this file", "tools/fifo.lua: it is a FIFO", "tools/fifo.yaml: it is a FIFO",
		"tools/link.yaml: it is outside of the folder", "tools/linkdir.yaml: it is outside of the folder",
		"tools/utf16.lua: ",
	} {
		require.Less(t, i, len(errs))
		require.Contains(t, errs[i], want)
	}
	require.Len(t, errs, 9)
}

// A folder of endless scripts does not take all day.
func TestLoadOfEndlessScripts(t *testing.T) {
	f := newFolder(t, map[string]string{"tools/z.yaml": yamlText("z")})
	for i := range 60 {
		f.write(fmt.Sprintf("tools/%02d.lua", i), "tool = {} while true do end")
	}
	f.o.ReadTime = 5 * time.Millisecond
	names, errs := f.load()
	require.Equal(t, []string{"z"}, names)
	require.Len(t, errs, 60)
	require.Contains(t, errs[0], "reading the tool took more than 5ms")
	require.Equal(t, "tools/59.lua: it was not read: 20 tools before it took too long", errs[59])
}

func TestLoadStops(t *testing.T) {
	f := newFolder(t, map[string]string{"tools/a.lua": "tool = {} while true do end"})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	f.o.ReadTime = time.Hour
	_, err := Load(ctx, f.o)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = Load(t.Context(), Options{})
	require.ErrorContains(t, err, "Options.Files is nil")
}

// E04 between files: a schema that cannot be hides nothing else.
func TestE04BesideOthers(t *testing.T) {
	cycle := "name: bad\nlua: x = 1\nparams:\n  $ref: '#/$defs/a'\n  $defs:\n    a: {allOf: [{$ref: '#/$defs/b'}]}\n    b: {allOf: [{$ref: '#/$defs/a'}]}\n"
	f := newFolder(t, map[string]string{"tools/a.yaml": yamlText("a1") + "---\n" + cycle + "---\n" + yamlText("a2"), "tools/b.yaml": yamlText("b")})
	names, errs := f.load()
	require.Equal(t, []string{"a1", "a2", "b"}, names)
	require.Len(t, errs, 1)
	require.Contains(t, errs[0], "tools/a.yaml:6:1: ")
}

func BenchmarkLoad1000(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		text, name := "name: y%d\ndescription: one of many\nparams:\n  type: object\n  properties:\n    city: {type: string, description: a city}\n    n: {type: integer, default: 3}\n  required: [city]\nlua: |\n  function invoke(ctx, args)\n    return { city = args.city, n = args.n + 1 }\n  end\n", "%d.yaml"
		if i%2 == 1 {
			text, name = "tool = { name = 'y%d', description = 'one', parameters = {\n{ name = 'city', type = 'string', required = true },\n{ name = 'n', type = 'integer', default = 3 } } }\nfunction tool.execute(params, context)\n return { city = params.city }\nend\n", "%d.lua"
		}
		require.NoError(b, os.WriteFile(filepath.Join(root, fmt.Sprintf(name, i)), fmt.Appendf(nil, text, i), 0o644))
	}
	rooted, err := module.RootFS(root)
	require.NoError(b, err)
	defer rooted.Close()
	for b.Loop() {
		s, err := Load(b.Context(), Options{Files: rooted, Root: root, Dirs: []string{"."}})
		require.NoError(b, err)
		require.Len(b, s.Tools(), 1000)
	}
}
