package module

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func makeFIFO(t testing.TB, file string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(file, 0o644))
}

func TestReadScript(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", ""},
		"only a mark":       {"\ufeff", ""},
		"only a shebang":    {"#!/usr/bin/env luau", ""},
		"shebang":           {"#!/usr/bin/env luau\nprint(1)\n", "\nprint(1)\n"},
		"shebang with CRLF": {"#!/usr/bin/env luau\r\nprint(1)\r\n", "\nprint(1)\r\n"},
		"mark":              {"\ufeffprint(1)", "print(1)"},
		"mark and shebang":  {"\ufeff#!luau\n\nx", "\n\nx"},
		"CRLF":              {"a\r\nb\r\n", "a\r\nb\r\n"},
		"comment":           {"# no shebang\n", "# no shebang\n"},
		"not UTF-8":         {"return '\xe9\xff'", "return '\xe9\xff'"},
		"at the limit":      {strings.Repeat(" ", MaxSource), strings.Repeat(" ", MaxSource)},
	} {
		t.Run(name, func(t *testing.T) {
			root := writeTree(t, map[string]string{"a b.luau": c.text})
			t.Chdir(root)
			s, err := ReadScript("./a b.luau")
			require.NoError(t, err)
			assert.Equal(t, c.want, string(s.Code))
			assert.Equal(t, "@./a b.luau", s.Chunk)
			assert.Equal(t, filepath.Join(root, "a b.luau"), s.ID)

			m, err := newResolver(t, Options{}).Resolve("@./main.luau", "./a b")
			require.NoError(t, err)
			assert.Equal(t, c.want, string(m.Code))
		})
	}
}

func TestReadScriptFails(t *testing.T) {
	root := writeTree(t, map[string]string{
		"nul.luau": "ab\ncd\x00", "bytecode.luau": "\x06\x03\x00\x01", "le.luau": "\xff\xfea\x00", "be.luau": "\xfe\xff\x00a",
		"large.luau": "", "grown.luau": strings.Repeat(" ", MaxSource+1),
		"dir/x.luau": "", "pack/init.luau": "", "hello.luau": "", "loop": "-> loop", "gone": "-> nowhere",
	})
	require.NoError(t, os.Truncate(root+"/large.luau", 50<<20))
	makeFIFO(t, root+"/pipe.luau")
	t.Chdir(root)
	for _, c := range []struct{ path, code, message, hint string }{
		{"nul.luau", CodeSource, "the file has a NUL byte at line 2, column 3", "give its source"},
		{"bytecode.luau", CodeSource, "the file has a NUL byte at line 1, column 3", "compiled"},
		{"le.luau", CodeSource, "the file is UTF-16 text", "UTF-8"},
		{"be.luau", CodeSource, "the file is UTF-16 text", "UTF-8"},
		{"large.luau", CodeLimit, "larger than 4 MiB (50.0 MiB", "split"},
		{"grown.luau", CodeLimit, "larger than 4 MiB", "split"},
		{"dir", CodeSource, "is a directory, not a file", "path of a script in it"},
		{"pack/", CodeSource, "is a directory, not a file", `run "pack/init.luau"`},
		{"pipe.luau", CodeSource, "is a FIFO and nothing was written to it", "writer"},
		{"/dev/null", CodeSource, "is a device, not a file", ""},
		{"hello", CodeNotFound, "no such file", `did you mean "hello.luau"?`},
		{"./helo.luau", CodeNotFound, "no such file", `did you mean "./hello.luau"?`},
		{"none/at/all.luau", CodeNotFound, "no such file", "working directory"},
		{"hello.luau/x", CodeSource, "not a directory", ""},
		{"gone", CodeNotFound, "no such file", ""},
		{"loop", CodeSource, "too many levels of symbolic links", ""},
		{"", CodeName, "no file can have this name", ""},
		{"a\x00b", CodeName, "no file can have this name", ""},
	} {
		t.Run(c.path, func(t *testing.T) {
			_, err := ReadScript(c.path)
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.code, e.Code)
			assert.Contains(t, e.Message, c.message)
			assert.Contains(t, e.Hint, c.hint)
			assert.True(t, strings.HasPrefix(e.Error(), "cannot run "+quoteName(c.path)+": "), e.Error())
		})
	}

	_, err := ReadScriptFrom(lockedFS{systemFS{}, root + "/hello.luau"}, "hello.luau")
	require.ErrorIs(t, err, &Error{Code: CodePermission})
	assert.EqualError(t, err, `cannot run "hello.luau": the file cannot be read: permission denied`)
}

// A shell's <(command) hands over a pipe under /dev/fd.
func TestScriptThroughAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	write := func() {
		_, err := w.WriteString("#!luau\nprint(1)")
		require.NoError(t, err)
	}

	write()
	_, bad := readFile(systemFS{}, path, MaxSource, fileOrPipe, 20*time.Millisecond)
	require.NotNil(t, bad, "the writer has not closed the pipe")
	assert.Equal(t, "the pipe did not end within 20ms", bad.Message)

	write()
	require.NoError(t, w.Close())
	s, err := ReadScript(path)
	require.NoError(t, err)
	assert.Equal(t, "\nprint(1)", string(s.Code))
	assert.Equal(t, path, s.ID)
}
