package hostapp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway"
)

// sessionFiles opens the files of a session, and says where they are.
func sessionFiles(t *testing.T, h *Host, session string) (gateway.Folder, string) {
	t.Helper()
	before, _ := filepath.Glob(filepath.Join(h.Project.scratchFolder(), "*"))
	f, err := h.scratch(session)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	after, err := filepath.Glob(filepath.Join(h.Project.scratchFolder(), "*"))
	require.NoError(t, err)
	for _, dir := range after {
		if !strings.Contains(strings.Join(before, "\n"), dir) {
			return f, dir
		}
	}
	return f, ""
}

func TestFilesOfASession(t *testing.T) {
	inFolder(t, nil)
	h := hostOf(t, Options{})
	ctx := t.Context()
	f, dir := sessionFiles(t, h, "one")
	require.NoError(t, f.Write(ctx, "a.txt", "aloha", false))
	require.NoError(t, f.Write(ctx, "a.txt", " kakou", true))
	require.NoError(t, f.Write(ctx, "deep/down/b.bin", "\x00\xff", false))
	require.NoError(t, f.Write(ctx, `win\path.txt`, "x", false))
	text, err := f.Read(ctx, "./a.txt")
	require.NoError(t, err)
	require.Equal(t, "aloha kakou", text)
	text, err = f.Read(ctx, "deep/../deep/down/b.bin")
	require.NoError(t, err)
	require.Equal(t, "\x00\xff", text)
	list, err := f.List(ctx, "")
	require.NoError(t, err)
	require.JSONEq(t, `[{"path":"a.txt","size":11},{"path":"deep/down/b.bin","size":2},{"path":"win/path.txt","size":1}]`, list)
	list, err = f.List(ctx, "deep")
	require.NoError(t, err)
	require.JSONEq(t, `[{"path":"deep/down/b.bin","size":2}]`, list)
	require.NoError(t, f.Remove(ctx, "a.txt"))
	_, err = f.Read(ctx, "a.txt")
	require.ErrorContains(t, err, "there is no such file")

	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	other, _ := sessionFiles(t, h, "two")
	list, err = other.List(ctx, "")
	require.NoError(t, err)
	require.JSONEq(t, `[]`, list)
	again, _ := sessionFiles(t, h, "one")
	text, err = again.Read(ctx, "win/path.txt")
	require.NoError(t, err)
	require.Equal(t, "x", text)
}

// Nothing leads out of a session's folder, and no error says where that is.
func TestFilesStayInTheSession(t *testing.T) {
	folder := inFolder(t, map[string]string{"secret.txt": "secret"})
	h := hostOf(t, Options{})
	ctx := t.Context()
	f, dir := sessionFiles(t, h, "one")
	require.NoError(t, f.Write(ctx, "mine", "x", false))
	outside, err := filepath.Rel(dir, filepath.Join(folder, "secret.txt"))
	require.NoError(t, err)
	paths := []string{
		"", ".", "..", "../x", "a/../../x", "/etc/passwd", folder + "/secret.txt", outside, `..\x`, `a\..\..\x`, "a\x00b", "mine/x", "mine/../..",
		strings.Repeat("../", 20) + "etc/passwd",
	}
	// What another program has put there leads nowhere, either.
	require.NoError(t, os.Symlink(filepath.Join(folder, "secret.txt"), filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink(folder, filepath.Join(dir, "folder")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "relative")))
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	paths = append(paths, "link", "folder/secret.txt", "relative", "loop", "folder")
	for _, name := range paths {
		text, readErr := f.Read(ctx, name)
		require.Error(t, readErr, name)
		require.Empty(t, text)
		writeErr := f.Write(ctx, name, "changed", false)
		require.Error(t, writeErr, name)
		for _, err := range []error{readErr, writeErr, f.Write(ctx, name, "changed", true)} {
			require.NotContains(t, err.Error(), dir, name)
			require.NotContains(t, err.Error(), "state", name)
		}
	}
	for _, name := range []string{"..", "/", "folder", "link", "a\x00"} {
		list, err := f.List(ctx, name)
		require.NotContains(t, list, "secret", name)
		if err != nil {
			require.NotContains(t, err.Error(), dir, name)
		}
	}
	for _, name := range []string{"..", ".", "", "../" + filepath.Base(dir), outside, "folder/secret.txt"} {
		require.Error(t, f.Remove(ctx, name), name)
	}
	secret, err := os.ReadFile(filepath.Join(folder, "secret.txt"))
	require.NoError(t, err)
	require.Equal(t, "secret", string(secret))
}

func TestFilesOfASessionAreBounded(t *testing.T) {
	inFolder(t, nil)
	h := hostOf(t, Options{})
	ctx := t.Context()
	f, dir := sessionFiles(t, h, "one")
	whole := strings.Repeat("x", maxScratchFile)
	require.ErrorContains(t, f.Write(ctx, "big", whole+"x", false), "a file may have")
	for i := range maxScratchBytes / maxScratchFile {
		require.NoError(t, f.Write(ctx, fmt.Sprint("big", i), whole, false))
	}
	require.ErrorContains(t, f.Write(ctx, "one more", "x", false), "may have 134217728 bytes together")
	require.ErrorContains(t, f.Write(ctx, "big0", "x", true), "a file may have")
	require.NoError(t, f.Write(ctx, "big0", "x", false), "what takes the place of more is no more")
	require.NoError(t, f.Write(ctx, "one more", "x", false))
	require.NoError(t, os.Truncate(filepath.Join(dir, "big1"), maxScratchFile+1))
	_, err := f.Read(ctx, "big1")
	require.ErrorContains(t, err, "it has more than")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	_, err = f.Read(ctx, "folder")
	require.ErrorContains(t, err, "it is not a regular file")
}

// Folders that a script makes and leaves empty count as well.
func TestManyFilesOfASession(t *testing.T) {
	inFolder(t, nil)
	h := hostOf(t, Options{})
	f, _ := sessionFiles(t, h, "one")
	f.(*scratch).most = 6
	ctx := t.Context()
	for i := range 3 {
		name := fmt.Sprintf("d%d/x", i)
		require.NoError(t, f.Write(ctx, name, "x", false))
		require.NoError(t, f.Write(ctx, name, "y", false), "the same file is no other one")
		require.NoError(t, f.Remove(ctx, name))
	}
	for i := range 3 {
		require.NoError(t, f.Write(ctx, fmt.Sprint("f", i), "x", false))
	}
	require.ErrorContains(t, f.Write(ctx, "one more", "x", false), "may have 6 files")
	require.NoError(t, f.Remove(ctx, "d0"), "an empty folder can be removed")
	require.NoError(t, f.Write(ctx, "one more", "x", false))
}

// Files are there for a day after they were used.
func TestOldSessionsAreDeleted(t *testing.T) {
	inFolder(t, nil)
	h := hostOf(t, Options{})
	_, old := sessionFiles(t, h, "old")
	_, young := sessionFiles(t, h, "young")
	for dir, age := range map[string]time.Duration{old: 25 * time.Hour, young: 23 * time.Hour} {
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(dir, at, at))
	}
	sessionFiles(t, h, "new")
	require.NoDirExists(t, old)
	require.DirExists(t, young)
}

// What is counted as files come and go is what is there.
func TestFilesAreCounted(t *testing.T) {
	inFolder(t, nil)
	h := hostOf(t, Options{})
	ctx := t.Context()
	opened, _ := sessionFiles(t, h, "counted")
	f := opened.(*scratch)
	for i := range 100 {
		require.NoError(t, f.Write(ctx, fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat("x", i), false))
		require.NoError(t, f.Write(ctx, fmt.Sprintf("f%d", i%10), strings.Repeat("x", 100-i), i%3 == 0))
		if i%5 == 0 {
			require.NoError(t, f.Remove(ctx, fmt.Sprintf("d%d/f%d", i%7, i)))
		}
	}
	require.Error(t, f.Remove(ctx, "d1"), "it is not empty")
	require.Error(t, f.Remove(ctx, "none"))
	require.Error(t, f.Write(ctx, "d1", "x", false))
	require.NoError(t, f.Write(ctx, "last", "x", false))
	size, files := f.used()
	require.Equal(t, []int64{size, int64(files)}, []int64{f.size, int64(f.files)})
}

// A project of a stranger has no files deleted that are none of a session's, and none written outside of it.
func TestLinksInTheStateAreNotFollowed(t *testing.T) {
	inFolder(t, nil)
	h := hostOf(t, Options{})
	home := t.TempDir()
	old := time.Now().Add(-72 * time.Hour)
	precious := filepath.Join(home, "documents")
	require.NoError(t, os.Mkdir(precious, 0o700))
	require.NoError(t, os.Chtimes(precious, old, old))
	all := h.Project.scratchFolder()
	require.NoError(t, os.MkdirAll(filepath.Dir(all), 0o700))
	require.NoError(t, os.Symlink(home, all))
	_, err := h.scratch("one")
	require.ErrorContains(t, err, "is no folder: remove it")
	require.DirExists(t, precious)

	require.NoError(t, os.Remove(all))
	require.NoError(t, os.MkdirAll(filepath.Join(all, "documents"), 0o700))
	stale := filepath.Join(all, strings.Repeat("ab", 12))
	require.NoError(t, os.Mkdir(stale, 0o700))
	for _, dir := range []string{stale, filepath.Join(all, "documents")} {
		require.NoError(t, os.Chtimes(dir, old, old))
	}
	sessionFiles(t, h, "one")
	require.NoDirExists(t, stale)
	require.DirExists(t, filepath.Join(all, "documents"), "it is no session's")
}
