package tooldef

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/module"
)

// The bounds of what is read.
const (
	maxFiles = 10_000
	maxFile  = 1 << 20
	maxTotal = 128 << 20 // bytes of all files and scripts together
	maxDepth = 32        // of directories
	maxNames = 100_000   // of files and directories of all kinds
)

// source is one file that may define tools.
type source struct {
	path   string // absolute
	named  bool   // it was given by itself: it has to be a tool
	script string // the name of its [tools.script.<name>]; "" is none
}

// files reads what is below the roots of an FS.
type files struct {
	in   module.FS
	root string // absolute; what paths are shown from
}

// show is a path as errors and chunks have it.
func (f files) show(file string) string {
	if below, ok := strings.CutPrefix(file, strings.TrimSuffix(f.root, "/")+"/"); ok {
		return below
	}
	return file
}

func (f files) absolute(file string) string {
	if path.IsAbs(file) {
		return path.Clean(file)
	}
	return path.Join(f.root, file)
}

// worded is an error in other words.
type worded struct {
	text string
	err  error
}

func (w *worded) Error() string { return w.text }
func (w *worded) Unwrap() error { return w.err }

// problem says why a file cannot be used, without its path.
func problem(err error) error {
	var at *fs.PathError
	switch {
	case errors.Is(err, module.ErrOutside):
		return &worded{"it is outside of the folder that tools may be in, or a link leads out of it", module.ErrOutside}
	case errors.Is(err, fs.ErrNotExist):
		return &worded{"no such file", fs.ErrNotExist}
	case errors.As(err, &at):
		return at.Err
	}
	return err
}

// read gives the bytes of a regular file, and never waits.
func (f files) read(file string) ([]byte, error) {
	info, err := f.in.Stat(file)
	if err != nil {
		return nil, problem(err)
	}
	if err := readable(info); err != nil {
		return nil, err
	}
	open, err := f.in.Open(file)
	if err != nil {
		return nil, problem(err)
	}
	defer open.Close()
	// What was opened may be another file than what was looked at.
	if info, err = open.Stat(); err != nil {
		return nil, problem(err)
	}
	if err := readable(info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(open, maxFile+1))
	if err != nil {
		return nil, problem(err)
	}
	if len(text) > maxFile {
		return nil, tooLarge(int64(len(text)))
	}
	return text, nil
}

func readable(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return errors.New("it is a directory, not a file")
	case !mode.IsRegular():
		return errors.New("it is a FIFO, a socket or a device, not a file")
	case info.Size() > maxFile:
		return tooLarge(info.Size())
	}
	return nil
}

func tooLarge(size int64) error {
	return fmt.Errorf("it has %d bytes; a tool file has at most %d", size, maxFile)
}

// walk finds the files that may define tools, in order of their paths.
type walk struct {
	files
	seen   map[string]bool // real paths: links may lead to a file or directory twice
	names  int             // that were met
	found  []source
	broken []Broken
	full   bool
}

func (w *walk) refuse(file, problem, hint string) {
	e := &Error{File: w.show(file), Problem: problem, Hint: hint}
	w.broken = append(w.broken, broken(e.File, "", e))
}

const nameDirs = "name the directories of tools in [tools] dirs"

// start takes a directory or a single file.
func (w *walk) start(given string) {
	file := w.absolute(given)
	info, err := w.in.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.refuse(file, "there is no such file or folder", "check the path; it begins at the folder of the configuration")
	case err != nil:
		w.refuse(file, problem(err).Error(), "check the path; it begins at the folder of the configuration")
	case info.IsDir():
		w.directory(file, 0)
	default:
		w.file(file, info, true)
	}
}

func (w *walk) directory(dir string, depth int) {
	if w.again(dir) {
		return
	}
	if depth > maxDepth {
		w.refuse(dir, fmt.Sprintf("directories are nested deeper than %d", maxDepth), "")
		return
	}
	names, err := w.in.Names(dir, maxNames-w.names+1)
	if err != nil && !errors.Is(err, io.EOF) {
		w.refuse(dir, problem(err).Error(), "")
		return
	}
	if w.names += len(names); w.names > maxNames {
		w.full = true
		w.refuse(dir, fmt.Sprintf("there are more than %d files and directories; this directory and the later ones are not read", maxNames), nameDirs)
		return
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, ".") || name == "node_modules" || w.full {
			continue
		}
		w.entry(path.Join(dir, name), depth)
	}
}

func (w *walk) entry(file string, depth int) {
	info, err := w.in.Stat(file)
	switch {
	case err != nil && kindOfFile(file) == noTool:
	case err != nil:
		w.refuse(file, problem(err).Error(), "")
	case info.IsDir():
		w.directory(file, depth+1)
	default:
		w.file(file, info, false)
	}
}

// file takes one file when its name is that of a tool file.
func (w *walk) file(file string, info fs.FileInfo, named bool) {
	switch {
	case kindOfFile(file) == noTool:
		if named {
			w.refuse(file, "the name of a tool file ends in .yaml, .yml, .luau or .lua", "")
		}
	case !info.Mode().IsRegular():
		w.refuse(file, readable(info).Error(), "")
	case w.again(file):
		if i := slices.IndexFunc(w.found, func(s source) bool { return s.path == file }); named && i >= 0 {
			w.found[i].named = true
		}
	case len(w.found) >= maxFiles:
		w.full = true
		w.refuse(file, fmt.Sprintf("there are more than %d files; this one and the later ones are not read", maxFiles), nameDirs)
	default:
		w.found = append(w.found, source{path: file, named: named})
	}
}

// again says whether a file was met before, and notes it.
func (w *walk) again(file string) bool {
	real, err := w.in.RealPath(file)
	if err != nil {
		real = file
	}
	if w.seen[real] {
		return true
	}
	w.seen[real] = true
	return false
}

// fileKind is what a file may be by its name.
type fileKind int

const (
	noTool fileKind = iota
	yamlTool
	luaTool
)

func kindOfFile(file string) fileKind {
	switch strings.ToLower(path.Ext(file)) {
	case ".yaml", ".yml":
		return yamlTool
	case ".lua", ".luau":
		return luaTool
	}
	return noTool
}
