package fsmod_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/fsmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

var all = hostmod.Grants{All: true}

// start gives a VM whose relative paths begin at dir.
func start(t *testing.T, dir string, g hostmod.Grants) *modtest.VM {
	t.Helper()
	vm := modtest.New(t, fsmod.Module{Dir: dir}, fsmod.Stub)
	*vm.Grants() = g
	vm.Run(t, "fs = __native.fs")
	return vm
}

// fails runs an expression and gives code and message of its error.
func fails(t *testing.T, vm *modtest.VM, source string) (code, message string) {
	t.Helper()
	began := time.Now()
	out := vm.Run(t, "return pcall(function() return "+source+" end)")
	require.Equal(t, false, out[0], "%s gave %v", source, out)
	require.Less(t, time.Since(began), 5*time.Second, source)
	e, ok := out[1].(map[string]any)
	require.True(t, ok, "%s raised %v", source, out[1])
	return e["code"].(string), e["message"].(string)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// names lists a directory, to see that nothing is left over.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestReadAndWrite(t *testing.T) {
	dir := t.TempDir()
	vm := start(t, dir, all)
	out := vm.Run(t, `
		fs.write("f", "a\0b") fs.append("f", buffer.fromstring("\xff\n")) fs.append("new", "x") fs.write("empty", "")
		return fs.read("f"), fs.read("new"), fs.read("empty"), fs.read("f", 1), fs.read("f", 1, 2), fs.read("f", 0, 0),
			fs.read("f", 100), fs.read("f", 4, 100), fs.read("f", 2^52)`)
	require.Equal(t, []any{"a\x00b\xff\n", "x", "", "\x00b\xff\n", "\x00b", "", "", "\n", ""}, out)
	require.Equal(t, "a\x00b\xff\n", text(t, filepath.Join(dir, "f")))
	require.Equal(t, []string{"empty", "f", "new"}, names(t, dir))
	require.Greater(t, len(vm.Run(t, `return fs.read("/proc/self/status")`)[0].(string)), 100, "a file without a size")
}

func TestWriteReplacesAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, path, strings.Repeat("a", 1<<20))
	stop, wrong := make(chan struct{}), make(chan string, 1)
	go func() {
		defer close(wrong)
		for {
			select {
			case <-stop:
				return
			default:
			}
			b, err := os.ReadFile(path)
			if err != nil || len(b) != 1<<20 || strings.Trim(string(b), string(b[:1])) != "" {
				wrong <- fmt.Sprintf("%d bytes, %v", len(b), err)
				return
			}
		}
	}()
	start(t, dir, all).Run(t, `for i = 1, 40 do fs.write("f", string.rep(if i % 2 == 0 then "b" else "c", 2^20)) end`)
	close(stop)
	require.Empty(t, <-wrong)
	require.Equal(t, []string{"f"}, names(t, dir))
}

func TestWriteKeepsModeAndFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "d/f"), "old")
	require.NoError(t, os.Chmod(filepath.Join(dir, "d/f"), 0o640))
	require.NoError(t, os.Symlink("d/../d/f", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("d/to-be", filepath.Join(dir, "dangling")))
	for _, g := range []hostmod.Grants{all, {Read: []string{"."}, Write: []string{"."}}} {
		vm := start(t, dir, g)
		vm.Run(t, `fs.write("link", "new") fs.write("dangling", "made") fs.append("link", "er")`)
		require.Equal(t, "newer", text(t, filepath.Join(dir, "d/f")))
		require.Equal(t, "made", text(t, filepath.Join(dir, "d/to-be")))
		require.NoError(t, os.Remove(filepath.Join(dir, "d/to-be")))
		info, err := os.Lstat(filepath.Join(dir, "link"))
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink)
		info, err = os.Stat(filepath.Join(dir, "d/f"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o640), info.Mode())
	}
}

func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	vm := start(t, dir, all)
	out := vm.Run(t, `
		fs.mkdir("a/b/c") fs.mkdir("a/b/c")
		fs.write("a/f", "12345")
		fs.copy("a/f", "a/b/copy") fs.rename("a/f", "a/moved") fs.rename("a/b", "a/z")
		local before = {fs.exists("a/f"), fs.exists("a/moved"), fs.exists("a/z/copy"), fs.exists("a/moved/below"), fs.exists("none/below")}
		local s = fs.stat("a/moved")
		fs.remove("a/z/copy") fs.remove("a/z/c") fs.remove("a", {recursive = true})
		return before, s.path, s.name, s.kind, s.size, fs.stat(".").kind, fs.exists("a")`)
	require.Equal(t, []any{[]any{false, true, true, false, false}, "a/moved", "moved", "file", 5.0, "directory", false}, out)
	put(t, filepath.Join(dir, "t"), "x")
	when := time.Unix(1_700_000_000, 250_000_000)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "t"), when, when))
	require.Equal(t, []any{1_700_000_000.25}, vm.Run(t, `return fs.stat("t").modified`))
}

func TestCopyKeepsBits(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "run"), strings.Repeat("0123456789", 1_000_000))
	require.NoError(t, os.Chmod(filepath.Join(dir, "run"), 0o755))
	put(t, filepath.Join(dir, "there"), "old")
	start(t, dir, all).Run(t, `fs.copy("run", "again") fs.copy("run", "there") fs.copy("run", "run")`)
	for name, mode := range map[string]os.FileMode{"again": 0o755, "there": 0o644, "run": 0o755} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), name)
		require.Equal(t, int64(10_000_000), info.Size(), name)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "x")
	put(t, filepath.Join(dir, "full/file"), "x")
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	vm := start(t, dir, all)
	for source, want := range map[string][2]string{
		`fs.read("none")`:                           {"not_found", "fs.read: none: no such file or directory"},
		`fs.read("file/below")`:                     {"not_found", "fs.read: file/below: a part of the path is not a directory"},
		`fs.read("full")`:                           {"invalid_argument", "fs.read: full: is a directory"},
		`fs.read("")`:                               {"invalid_argument", "fs.read: : the path is empty"},
		`fs.read("a\0b")`:                           {"invalid_argument", `fs.read: "a\x00b": a path cannot contain a zero byte`},
		`fs.read("loop")`:                           {"io", "fs.read: loop: too many links, or links in a circle"},
		`fs.write("loop", "")`:                      {"io", "fs.write: loop: too many links, or links in a circle"},
		`fs.read("file", -1)`:                       {"invalid_argument", "fs.read: argument 2 must be 0 or more"},
		`fs.read("file", 0, -1)`:                    {"invalid_argument", "fs.read: argument 3 must be 0 or more"},
		`fs.read("file", 0.5)`:                      {"invalid_argument", "fs.read: argument 2 must be a whole number, got 0.5"},
		`fs.read({})`:                               {"invalid_argument", "fs.read: argument 1 must be a string, got table"},
		`fs.read(string.rep("d/", 3000))`:           {"invalid_argument", "the path is longer than 4096 bytes"},
		`fs.read(string.rep("n", 300))`:             {"invalid_argument", "the path or a name in it is too long"},
		`fs.write("none/file", "x")`:                {"not_found", "fs.write: none/file: its directory does not exist; fs.mkdir makes it"},
		`fs.write("full", "x")`:                     {"invalid_argument", "fs.write: full: is a directory"},
		`fs.write("file", 5)`:                       {"invalid_argument", "fs.write: argument 2 must be a string or a buffer, got number"},
		`fs.append("full", "x")`:                    {"invalid_argument", "fs.append: full: is a directory"},
		`fs.mkdir("file")`:                          {"exists", "fs.mkdir: file: is there already and not a directory"},
		`fs.mkdir("file/below")`:                    {"not_found", "a part of the path is not a directory"},
		`fs.remove("none")`:                         {"not_found", "fs.remove: none: no such file or directory"},
		`fs.remove("full")`:                         {"exists", "fs.remove: full: the directory is not empty; recursive = true removes what is in it"},
		`fs.remove("/", {recursive = true})`:        {"invalid_argument", "fs.remove: /: is a root, which is not removed"},
		`fs.remove("full", {recursiv = true})`:      {"invalid_argument", "fs.remove: argument 2: there is no option recursiv; there is recursive"},
		`fs.remove("full", {recursive = "yes"})`:    {"invalid_argument", "fs.remove: argument 2: recursive must be a boolean"},
		`fs.copy("none", "to")`:                     {"not_found", "fs.copy: none: no such file or directory"},
		`fs.copy("file", "none/to")`:                {"not_found", "fs.copy: none/to: its directory does not exist; fs.mkdir makes it"},
		`fs.copy("full", "to")`:                     {"invalid_argument", "fs.copy: full: is a directory"},
		`fs.copy("file", "full")`:                   {"invalid_argument", "fs.copy: full: is a directory"},
		`fs.rename("none", "to")`:                   {"not_found", "fs.rename: none: no such file or directory"},
		`fs.rename("file", "none/to")`:              {"not_found", "fs.rename: none/to: no such file or directory"},
		`fs.rename("file", "full")`:                 {"exists", "fs.rename: full: something of this name is there already"},
		`fs.list("none")`:                           {"not_found", "fs.list: none: no such file or directory"},
		`fs.list("file")`:                           {"invalid_argument", "fs.list: file: is not a directory"},
		`fs.list(".", "")`:                          {"invalid_argument", "fs.list: argument 2 must not be empty"},
		`fs.list(".", "/etc/*")`:                    {"invalid_argument", `do not begin with "/"`},
		`fs.list(".", "../*")`:                      {"invalid_argument", `fs.list: argument 2 must not contain ".."`},
		`fs.list(".", "[a")`:                        {"invalid_argument", "fs.list: argument 2 is not a pattern: [a"},
		`fs.list(".", "{a,b")`:                      {"invalid_argument", `fs.list: argument 2 has a "{" without its "}"`},
		`fs.list(".", string.rep("{a,b}", 7))`:      {"invalid_argument", "fs.list: argument 2 has more than 64 alternatives"},
		`fs.list(".", string.rep("a/", 65) .. "b")`: {"invalid_argument", "fs.list: argument 2 has more than 64 parts"},
		`fs.list(".", string.rep("a", 1025))`:       {"invalid_argument", "fs.list: argument 2 must have at most 1024 bytes"},
	} {
		code, message := fails(t, vm, source)
		require.Equal(t, want[0], code, source)
		require.Contains(t, message, want[1], source)
	}
	require.Equal(t, []string{"file", "full", "loop"}, names(t, dir), "nothing is left over")
	out := vm.Run(t, `local _, e = pcall(fs.read, "none") return e.path, tostring(e)`)
	require.Equal(t, []any{"none", "fs.read: none: no such file or directory"}, out)
}

// A FIFO without another end, devices and sockets must not make anybody wait.
func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "x")
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666))
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	require.NoError(t, err)
	defer socket.Close()
	vm := start(t, dir, all)
	for path, what := range map[string]string{"fifo": "a FIFO", "socket": "a socket", "/dev/zero": "a device", "/dev/null": "a device"} {
		for _, source := range []string{`fs.read(%q)`, `fs.write(%q, "x")`, `fs.append(%q, "x")`, `fs.copy(%q, "to")`, `fs.copy("file", %q)`} {
			code, message := fails(t, vm, fmt.Sprintf(source, path))
			require.Equal(t, "invalid_argument", code)
			require.Contains(t, message, path+": is "+what+", not a file")
		}
		code, _ := fails(t, vm, fmt.Sprintf(`fs.list(%q)`, path))
		require.Equal(t, "invalid_argument", code)
		require.Equal(t, []any{"other"}, vm.Run(t, fmt.Sprintf(`return fs.stat(%q).kind`, path)))
	}
	vm.Run(t, `fs.remove("fifo")`)
	require.Equal(t, []string{"file", "socket"}, names(t, dir))
}

// A file's size is what it says; nothing of that size is made before there is room.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "huge"))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(1<<40))
	require.NoError(t, f.Close())
	vm := start(t, dir, all)
	code, message := fails(t, vm, `fs.read("huge")`)
	require.Equal(t, "memory", code)
	require.Equal(t, "fs.read: huge: there is no room for 1099511627776 bytes within the memory limit; read the file in parts, or by lines", message)
	require.Equal(t, []any{"\x00\x00\x00"}, vm.Run(t, `return fs.read("huge", 2^39, 3)`))
}

// A long path is cut between two characters.
func TestLongPathsInErrors(t *testing.T) {
	vm := start(t, t.TempDir(), all)
	_, message := fails(t, vm, `fs.read("a/" .. string.rep("é/", 90) .. "aé")`)
	require.Contains(t, message, strings.Repeat("é/", 66)+"...: ")
	require.NotContains(t, message, `\x`)
}

// What calls charge is given back: 40 MiB are left, and each of these takes more in all.
func TestMemoryIsGivenBack(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f"), strings.Repeat("x", 1<<20))
	for i := range 300 {
		put(t, filepath.Join(dir, "many", fmt.Sprint(i)), "")
	}
	vm := start(t, dir, hostmod.Grants{Read: []string{"."}, Write: []string{"none"}})
	require.True(t, vm.Charge(216<<20), "of 256 MiB")
	vm.Run(t, `for i = 1, 90 do assert(#fs.read("f") == 2^20) end`)
	vm.Run(t, `for i = 1, 180 do assert(#fs.list("many") == 300) end`)
	vm.Run(t, `local text = string.rep("x", 2^20) for i = 1, 90 do assert(not pcall(fs.write, "f", text)) end`)
	*vm.Grants() = all
	vm.Run(t, `local text = string.rep("x", 2^20) for i = 1, 60 do fs.write("g", text) end`)
	vm.Run(t, `for i = 1, 60 do assert(not pcall(fs.read, "none")) fs.append("g", "") end`)
}
