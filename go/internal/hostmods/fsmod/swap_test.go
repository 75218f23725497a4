package fsmod_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// swap makes the links lead to one place and to the other in turn, as another process might, until the test
// is over.
func swap(t *testing.T, links map[string][2]string) {
	t.Helper()
	over := make(chan struct{})
	var running sync.WaitGroup
	for link, targets := range links {
		require.NoError(t, os.Symlink(targets[0], link))
		running.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				if os.Symlink(targets[n%2], link+".next") == nil {
					_ = os.Rename(link+".next", link)
				}
			}
		})
	}
	t.Cleanup(func() { close(over); running.Wait() })
}

// Each call finds the link where it is allowed often enough, and where it is denied.
func TestDeniedBehindALinkThatChanges(t *testing.T) {
	for name, grants := range map[string]hostmod.Grants{
		"all":     {All: true, DenyRead: []string{"tree/out"}, DenyWrite: []string{"tree/out"}},
		"granted": {Read: []string{"tree"}, Write: []string{"tree"}, DenyRead: []string{"tree/out"}, DenyWrite: []string{"tree/out"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, "tree/in/file"), "mine")
			put(t, filepath.Join(dir, "tree/out/file"), "secret")
			put(t, filepath.Join(dir, "tree/out/sub/deep"), "secret")
			require.NoError(t, os.Mkdir(filepath.Join(dir, "tree/in/sub"), 0o755))
			swap(t, map[string][2]string{
				filepath.Join(dir, "tree/dir"):  {"in", "out"},
				filepath.Join(dir, "tree/file"): {"in/file", "out/file"},
			})
			vm := start(t, dir, grants)
			out := vm.Run(t, `
				local counts = {ok = 0, permission = 0}
				local function try(f, ...)
					local ok, value = pcall(f, ...)
					local how = if ok then "ok" else value.code
					counts[how] = (counts[how] or 0) + 1
					return if ok then value else nil
				end
				for n = 1, 100 do
					for _, path in {"tree/dir/file", "tree/file"} do
						local text = try(fs.read, path)
						assert(text == nil or string.find(text, "^mine"), text)
						local info = try(fs.stat, path)
						assert(info == nil or info.size ~= 6, "the size of what is denied")
						try(fs.append, path, "")
					end
					for _, entry in try(fs.list, "tree/dir", "**") or {} do
						assert(entry.name ~= "deep", "the name of what is denied")
					end
					try(fs.write, "tree/dir/written", "x")
					try(fs.append, "tree/dir/appended", "x")
					try(fs.mkdir, "tree/dir/made/below")
					try(fs.copy, "tree/file", "tree/copy")
					try(fs.copy, "tree/in/file", "tree/dir/copied")
					try(fs.rename, "tree/dir/written", "tree/dir/renamed")
					try(fs.remove, "tree/dir/renamed")
					try(fs.remove, "tree/dir/made", {recursive = true})
				end
				return counts.ok, counts.permission, fs.exists("tree/copy") and fs.read("tree/copy") or "mine"`)
			require.Greater(t, out[0], 20.0, "calls that were allowed")
			require.Greater(t, out[1], 20.0, "calls that were denied")
			require.True(t, strings.HasPrefix(out[2].(string), "mine"), out[2])
			require.Equal(t, []string{"file", "sub"}, names(t, filepath.Join(dir, "tree/out")), "nothing is made or removed there")
			require.Equal(t, "secret", text(t, filepath.Join(dir, "tree/out/file")))
		})
	}
}

// What a path leads to is as without denials, where it leads to nothing denied.
func TestDenialsChangeNothingElse(t *testing.T) {
	dir := outside(t)
	for name, grants := range map[string]hostmod.Grants{
		"all":     {All: true, DenyRead: []string{"out"}, DenyWrite: []string{"out"}},
		"granted": {Read: []string{"."}, Write: []string{"."}, DenyRead: []string{"out"}, DenyWrite: []string{"out"}},
	} {
		t.Run(name, func(t *testing.T) {
			vm := start(t, dir, grants)
			require.Equal(t, []any{true, false, false, false, "directory", "directory"}, vm.Run(t, `
				return fs.exists("in/good"), fs.exists("in/none"), fs.exists("in/file/x"), fs.exists("none/x"),
					fs.stat(".").kind, fs.stat("in/sub/..").kind`))
			free := start(t, dir, hostmod.Grants{All: true})
			for _, source := range []string{
				`fs.read("in/none")`, `fs.read("in")`, `fs.mkdir("in/file")`, `fs.append("none/x", "")`, `fs.write("none/x", "")`,
				`fs.remove("in")`, `fs.remove("in/none")`, `fs.rename("in/none", "in/x")`, `fs.stat("in/none")`, `fs.list("in/file")`,
			} {
				code, message := fails(t, vm, source)
				want, without := fails(t, free, source)
				require.Equal(t, want, code, source)
				require.Equal(t, without, message, source)
			}
		})
	}
}
