package module

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// MaxSource is the largest source that is read, in bytes.
const MaxSource = 4 << 20

// pipeWait is how long a main script that comes through a pipe may keep still.
const pipeWait = 10 * time.Second

// what a path may be.
const (
	fileOnly   = false
	fileOrPipe = true // a shell's <(command) is a pipe with a writer
)

var (
	utf8Mark    = []byte("\xef\xbb\xbf")
	utf16LE     = []byte("\xff\xfe")
	utf16BE     = []byte("\xfe\xff")
	shebangMark = []byte("#!")
)

// ReadScript reads the main script from the real file system. Its chunk name is
// "@" and the path as given. The error is an *Error.
func ReadScript(path string) (Source, error) { return ReadScriptFrom(nil, path) }

// ReadScriptFrom is ReadScript through another file system; nil is the real one.
func ReadScriptFrom(files FS, path string) (Source, error) {
	if files == nil {
		files = systemFS{}
	}
	s, err := readScript(files, path)
	if err != nil {
		err.script = true
		return Source{}, err.named(path)
	}
	return s, nil
}

// CleanText makes the source of a script that was read from elsewhere: without byte order mark and
// shebang, and refused when it is no text or too long.
func CleanText(name string, text []byte) ([]byte, error) {
	clean, bad := cleanText(text)
	if bad != nil {
		bad.script = true
		bad.Message = strings.Replace(bad.Message, "the file", "the text", 1)
		return nil, bad.named(name)
	}
	return clean, nil
}

func cleanText(text []byte) ([]byte, *Error) {
	if len(text) > MaxSource {
		return nil, tooLarge(int64(len(text)), MaxSource)
	}
	return cleanSource(text)
}

func readScript(files FS, path string) (Source, *Error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return Source{}, &Error{Code: CodeName, Message: "no file can have this name", Hint: "give the path of a script"}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return Source{}, &Error{Code: CodeSource, Message: err.Error(), Err: err}
	}
	code, bad := readSource(files, abs, fileOrPipe)
	if bad != nil {
		bad.Hint = scriptHint(files, path, abs, bad)
		return Source{}, bad
	}
	real, err := files.RealPath(abs)
	if err != nil {
		real = abs // a pipe's name under /dev/fd leads to no file
	}
	return Source{ID: real, Chunk: "@" + path, Code: code}, nil
}

// scriptHint looks at what is near a script that was not found.
func scriptHint(files FS, path, abs string, bad *Error) string {
	isFile := func(file string) bool {
		info, err := files.Stat(file)
		return err == nil && info.Mode().IsRegular()
	}
	if info, err := files.Stat(abs); err == nil && info.IsDir() {
		for _, suffix := range initSuffixes {
			if isFile(abs + suffix) {
				return fmt.Sprintf("run %q", filepath.Clean(path)+suffix)
			}
		}
		return "give the path of a script in it"
	}
	if bad.Code != CodeNotFound {
		return bad.Hint
	}
	for _, suffix := range suffixes {
		if isFile(abs + suffix) {
			return fmt.Sprintf("did you mean %q?", path+suffix)
		}
	}
	if found := near(files, filepath.Dir(abs), filepath.Base(abs), wholeNames); len(found) > 0 {
		return didYouMean(prefixed(strings.TrimSuffix(path, filepath.Base(path)), found))
	}
	return "check the path; it starts from the working directory"
}

// readSource reads a file and makes it ready for the compiler.
func readSource(files FS, path string, pipes bool) ([]byte, *Error) {
	text, err := readFile(files, path, MaxSource, pipes, pipeWait)
	if err != nil {
		return nil, err
	}
	return cleanSource(text)
}

// readFile reads at most limit bytes of a regular file (or, for pipes, of a FIFO
// that has a writer) and never waits longer than wait.
func readFile(files FS, path string, limit int64, pipes bool, wait time.Duration) ([]byte, *Error) {
	// Looking first keeps devices from being opened; looking again at what was
	// opened keeps a file swapped in between from being read as another kind.
	info, err := files.Stat(path)
	if err != nil {
		return nil, openError(err)
	}
	if bad := checkKind(info, limit, pipes); bad != nil {
		return nil, bad
	}
	f, err := files.Open(path)
	if err != nil {
		return nil, openError(err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, openError(err)
	}
	if bad := checkKind(info, limit, pipes); bad != nil {
		return nil, bad
	}
	isPipe := info.Mode()&fs.ModeNamedPipe != 0
	if d, ok := f.(interface{ SetReadDeadline(time.Time) error }); ok && isPipe {
		_ = d.SetReadDeadline(time.Now().Add(wait)) // a file without deadlines cannot wait either
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &Error{Code: CodeSource, Message: fmt.Sprintf("the pipe did not end within %s", wait), Err: err}
	case err != nil:
		return nil, openError(err)
	case isPipe && len(text) == 0:
		return nil, &Error{Code: CodeSource, Message: "is a FIFO and nothing was written to it", Hint: "start its writer first, or give a file"}
	case int64(len(text)) > limit:
		return nil, tooLarge(int64(len(text)), limit)
	}
	return text, nil
}

func checkKind(info fs.FileInfo, limit int64, pipes bool) *Error {
	mode := info.Mode()
	is := func(what string) *Error { return &Error{Code: CodeSource, Message: "is " + what + ", not a file"} }
	switch {
	case mode.IsRegular():
		if info.Size() > limit {
			return tooLarge(info.Size(), limit)
		}
		return nil
	case mode.IsDir():
		return is("a directory")
	case mode&fs.ModeNamedPipe != 0:
		if pipes {
			return nil
		}
		return is("a FIFO")
	case mode&fs.ModeSocket != 0:
		return is("a socket")
	}
	return is("a device")
}

func tooLarge(size, limit int64) *Error {
	const mib = 1 << 20
	return &Error{
		Code:    CodeLimit,
		Message: fmt.Sprintf("the file is larger than %d MiB (%.1f MiB or more)", limit/mib, float64(size)/mib),
		Hint:    "split the code into modules, or keep data in a file that the script reads",
	}
}

func openError(err error) *Error {
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{Code: CodeNotFound, Message: "no such file", Err: err}
	}
	e := unreadable(err, "")
	e.Details = nil // the caller knows the path in the form the user wrote it
	return e
}

// cleanSource drops the byte order mark and the shebang's text, and refuses what
// the compiler would misread: it takes a NUL for the end of the file.
func cleanSource(text []byte) ([]byte, *Error) {
	if bytes.HasPrefix(text, utf16LE) || bytes.HasPrefix(text, utf16BE) {
		return nil, &Error{Code: CodeSource, Message: "the file is UTF-16 text", Hint: "save it as UTF-8"}
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		line, column := position(text, at)
		return nil, &Error{
			Code:    CodeSource,
			Message: fmt.Sprintf("the file has a NUL byte at line %d, column %d, so it is not Luau source", line, column),
			Hint:    `write \0 in a string; if the file is binary or compiled, give its source`,
		}
	}
	text = bytes.TrimPrefix(text, utf8Mark)
	if bytes.HasPrefix(text, shebangMark) {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			return nil, nil
		}
		text = text[end:] // the line end stays, so line numbers do
	}
	return text, nil
}
