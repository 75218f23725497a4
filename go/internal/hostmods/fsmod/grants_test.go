package fsmod_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// outside makes a tree with a granted directory "in" and what a script must not reach beside it.
func outside(t *testing.T) string {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "in/file"), "mine")
	put(t, filepath.Join(dir, "in/sub/file"), "mine")
	put(t, filepath.Join(dir, "out/secret"), "secret")
	put(t, filepath.Join(dir, "insecure/secret"), "secret")
	for name, to := range map[string]string{
		"up": "../out/secret", "updir": "../out", "abs": filepath.Join(dir, "out/secret"), "absin": filepath.Join(dir, "in/file"),
		"sub/chain": "../updir/secret", "new": "../out/new", "good": "sub/file",
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, "in", name)))
	}
	return dir
}

func TestNothingLeadsOutOfARoot(t *testing.T) {
	dir := outside(t)
	vm := start(t, dir, hostmod.Grants{Read: []string{"in"}, Write: []string{filepath.Join(dir, "in")}})
	for _, path := range []string{
		"out/secret", "in/../out/secret", "in/up", "in/updir/secret", "in/abs", "in/absin", "in/sub/chain", "/etc/passwd",
		"in/sub/../../out/secret", "insecure/secret", "in/../insecure/secret", "..", ".",
	} {
		for _, source := range []string{
			`fs.read(path)`, `fs.write(path, "x")`, `fs.append(path, "x")`, `fs.stat(path)`, `fs.exists(path)`, `fs.list(path)`,
			`fs.mkdir(path .. "/made")`, `fs.copy(path, "in/got")`, `fs.copy("in/file", path)`, `fs.rename("in/file", path .. "/x")`,
		} {
			code, message := fails(t, vm, `(function(path) return `+source+` end)("`+path+`")`)
			if path == "in/absin" || path == "in/abs" || path == "in/up" || path == "in/sub/chain" {
				require.Contains(t, []string{"permission", "invalid_argument", "exists", "not_found"}, code, "%s of %s", source, path)
				continue // list and mkdir see the link itself first
			}
			require.Equal(t, "permission", code, "%s of %s: %s", source, path, message)
		}
	}
	code, message := fails(t, vm, `fs.read("in/up")`)
	require.Equal(t, "permission", code)
	require.Equal(t, "fs.read: in/up: a link on the way leads out of the granted directory", message)
	code, _ = fails(t, vm, `fs.write("in/new", "x")`)
	require.Equal(t, "permission", code)
	code, _ = fails(t, vm, `fs.append("in/new", "x")`)
	require.Equal(t, "permission", code)
	require.Equal(t, []any{"mine"}, vm.Run(t, `return fs.read("in/good")`))

	out := vm.Run(t, `
		fs.remove("in/abs") fs.rename("in/updir", "in/sub/updir")
		fs.remove("in/sub", {recursive = true})
		local left = {}
		for _, e in fs.list("in", "**") do table.insert(left, e.path .. " " .. e.kind) end
		return left`)
	require.Equal(t, []any{[]any{"in/absin link", "in/file file", "in/good link", "in/new link", "in/up link"}}, out)
	require.Equal(t, "secret", text(t, filepath.Join(dir, "out/secret")))
	require.Equal(t, []string{"secret"}, names(t, filepath.Join(dir, "out")))
	require.Equal(t, []string{"in", "insecure", "out"}, names(t, dir))
}

func TestGrantsNameTheKey(t *testing.T) {
	dir := outside(t)
	for source, want := range map[string]struct {
		grants  hostmod.Grants
		message string
		key     string
	}{
		`fs.read("in/file")`: {hostmod.Grants{Write: []string{"in"}},
			"fs.read: in/file: reading it is not granted; add its directory to read (on the command line: --allow-read=in)", "read"},
		`fs.write("in/file", "x")`: {hostmod.Grants{Read: []string{"*"}},
			"fs.write: in/file: writing it is not granted; add its directory to write (on the command line: --allow-write=in)", "write"},
		`fs.copy("in/file", "out/got")`: {hostmod.Grants{Read: []string{"in"}, Write: []string{"in"}},
			"fs.copy: out/got: writing it is not granted; add its directory to write (on the command line: --allow-write=out)", "write"},
		`fs.rename("in/file", "out/got")`: {hostmod.Grants{Read: []string{"*"}, Write: []string{"in"}},
			"fs.rename: out/got: writing it is not granted; add its directory to write (on the command line: --allow-write=out)", "write"},
		`fs.read("in/sub/file")`: {hostmod.Grants{All: true, DenyRead: []string{"in/sub"}},
			"fs.read: in/sub/file: reading it is denied by deny_read (on the command line: --deny-read)", "deny_read"},
		`fs.list("in")`: {hostmod.Grants{},
			"fs.list: in: reading it is not granted; add its directory to read (on the command line: --allow-read=in)", "read"},
		`fs.mkdir("new")`: {hostmod.Grants{},
			"fs.mkdir: new: writing it is not granted; add its directory to write (on the command line: --allow-write=.)", "write"},
		`fs.stat("../x")`: {hostmod.Grants{},
			"fs.stat: ../x: reading it is not granted; add its directory to read (on the command line: --allow-read=..)", "read"},
		`fs.stat("my data/x")`: {hostmod.Grants{},
			`fs.stat: my data/x: reading it is not granted; add its directory to read (on the command line: --allow-read="my data")`, "read"},
		`fs.exists("/x/y")`: {hostmod.Grants{},
			"fs.exists: /x/y: reading it is not granted; add its directory to read (on the command line: --allow-read=/x)", "read"},
	} {
		vm := start(t, dir, want.grants)
		code, message := fails(t, vm, source)
		require.Equal(t, "permission", code)
		require.Equal(t, want.message, message)
		require.Equal(t, []any{want.key}, vm.Run(t, `local _, e = pcall(function() return `+source+` end) return e.key`))
	}
}

func TestRoots(t *testing.T) {
	dir := outside(t)
	vm := start(t, dir, hostmod.Grants{Read: []string{"in", "out"}, Write: []string{"in", "in/sub", "out"}})
	vm.Run(t, `
		fs.rename("in/sub/file", "in/from-sub") fs.copy("in/file", "out/copied")
		assert(fs.exists("in/from-sub") and fs.read("out/copied") == "mine" and fs.stat("in").kind == "directory")`)
	code, message := fails(t, vm, `fs.rename("in/file", "out/file")`)
	require.Equal(t, "invalid_argument", code)
	require.Equal(t, "fs.rename: in/file: the two paths are in different granted directories; copy and remove", message)
	code, message = fails(t, vm, `fs.remove("out", {recursive = true})`)
	require.Equal(t, "invalid_argument", code)
	require.Equal(t, "fs.remove: out: is a root, which is not removed", message)

	vm = start(t, dir, hostmod.Grants{Read: []string{"gone", "in/file"}})
	code, message = fails(t, vm, `fs.read("gone/file")`)
	require.Equal(t, "not_found", code)
	require.Equal(t, "fs.read: gone/file: gone, which is granted for it (read), does not exist: make it before the script starts, "+
		"or grant the one above it (on the command line: --allow-read=.)", message)
	code, message = fails(t, vm, `fs.read("in/file")`)
	require.Equal(t, "not_found", code, "only directories are granted")
	require.Equal(t, "fs.read: in/file: in/file, which is granted for it (read), is a file, and directories are granted: "+
		"grant the one it is in (on the command line: --allow-read=in)", message)

	vm = start(t, dir, hostmod.Grants{Write: []string{filepath.Join(dir, "gone")}})
	_, message = fails(t, vm, `fs.write("gone/file", "x")`)
	require.Equal(t, "fs.write: gone/file: the directory that is granted for it (write) does not exist: make it before the script starts, "+
		"or grant the one above it", message, "a script does not learn where it is")

	vm = start(t, dir, hostmod.Grants{Read: []string{"*"}, Write: []string{"*"}})
	vm.Run(t, `fs.write("anywhere", fs.read("out/secret"))`)
}

func TestDenied(t *testing.T) {
	dir := outside(t)
	for name, grants := range map[string]hostmod.Grants{
		"all":     {All: true, DenyRead: []string{"out"}, DenyWrite: []string{"out"}},
		"granted": {Read: []string{"."}, Write: []string{"."}, DenyRead: []string{"in/updir"}, DenyWrite: []string{"in/updir"}},
	} {
		t.Run(name, func(t *testing.T) {
			vm := start(t, dir, grants)
			for _, source := range []string{
				`fs.read("out/secret")`, `fs.read("in/up")`, `fs.read("in/updir/secret")`, `fs.read("in/sub/chain")`,
				`fs.write("out/secret", "x")`, `fs.write("in/new", "x")`, `fs.append("in/new", "x")`, `fs.list("out")`, `fs.exists("out/none")`,
				`fs.copy("in/file", "in/up")`, `fs.mkdir("in/updir/made")`, `fs.remove("out/secret")`, `fs.remove(".", {recursive = true})`,
				`fs.rename("in/file", "out/secret")`, `fs.rename("out", "moved")`, `fs.rename("../` + filepath.Base(dir) + `", "../moved")`,
			} {
				code, message := fails(t, vm, source)
				require.Equal(t, "permission", code, "%s: %s", source, message)
			}
			out := vm.Run(t, `local found = {} for _, e in fs.list(".", "**") do if e.kind ~= "link" then table.insert(found, e.path) end end return found`)
			require.Equal(t, []any{[]any{"in", "in/file", "in/sub", "in/sub/file", "insecure", "insecure/secret"}}, out)
			require.Equal(t, []any{"mine"}, vm.Run(t, `return fs.read("in/good")`))
		})
	}
	require.Equal(t, []string{"secret"}, names(t, filepath.Join(dir, "out")))
}

func TestWhatTheSystemForbids(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may do everything")
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "x")
	require.NoError(t, os.Chmod(filepath.Join(dir, "file"), 0))
	vm := start(t, dir, all)
	for _, source := range []string{`fs.read("file")`, `fs.write("file", "x")`, `fs.append("file", "x")`, `fs.copy("file", "to")`} {
		code, message := fails(t, vm, source)
		require.Equal(t, "permission", code)
		require.Contains(t, message, "the operating system does not allow it")
	}
}
