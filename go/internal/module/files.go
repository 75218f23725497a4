package module

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// FS is how a resolver reads files. Paths are absolute and clean, with slashes.
// Implementations are safe for concurrent use.
type FS interface {
	// Stat describes a file, following links.
	Stat(file string) (fs.FileInfo, error)
	// Open opens a file for reading and never waits, not even on a FIFO.
	Open(file string) (fs.File, error)
	// Names lists the first names in a directory, at most limit, in any order.
	Names(dir string, limit int) ([]string, error)
	// RealPath is the path of the file behind all links.
	RealPath(file string) (string, error)
}

// ErrOutside is the cause of an error about a file that is outside the
// directories a rooted FS grants.
var ErrOutside = errors.New("outside the directories that may be read")

// embeddedPrefix starts the identity of every module inside the binary.
const embeddedPrefix = "@embedded/"

// EmbeddedChunk starts the chunk name of every module inside the binary.
const EmbeddedChunk = "=" + embeddedPrefix

// tree is a file system together with what its modules are called.
type tree struct {
	files    FS
	embedded bool
}

type systemFS struct{}

func (systemFS) Stat(file string) (fs.FileInfo, error) { return os.Stat(file) }

// Open passes O_NONBLOCK because opening a FIFO without a writer would wait.
func (systemFS) Open(file string) (fs.File, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (systemFS) Names(dir string, limit int) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(limit)
}

func (systemFS) RealPath(file string) (string, error) { return filepath.EvalSymlinks(file) }

// embeddedFS presents an fs.FS under "/", so that the same rules walk it.
type embeddedFS struct{ inner fs.FS }

func (e embeddedFS) Stat(file string) (fs.FileInfo, error) { return fs.Stat(e.inner, inner(file)) }

func (e embeddedFS) Open(file string) (fs.File, error) { return e.inner.Open(inner(file)) }

func (e embeddedFS) Names(dir string, limit int) ([]string, error) {
	entries, err := fs.ReadDir(e.inner, inner(dir))
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, min(limit, len(entries)))
	for _, entry := range entries[:min(limit, len(entries))] {
		names = append(names, entry.Name())
	}
	return names, nil
}

func (embeddedFS) RealPath(file string) (string, error) { return path.Clean(file), nil }

func inner(file string) string {
	if file = strings.TrimPrefix(path.Clean(file), "/"); file != "" {
		return file
	}
	return "."
}
