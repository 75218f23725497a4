package app

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The files of a new project. Their names have a suffix, so that no tool takes them for this tree's.
//
//go:embed project/*
var projectFS embed.FS

// projectFiles are the files of a new project and the embedded ones that they come from.
var projectFiles = [...]struct{ name, from string }{
	{"main.luau", "main.luau.txt"},
	{"src/greeting.luau", "greeting.luau.txt"},
	{"tests/greeting_test.luau", "greeting_test.luau.txt"},
	{".luaurc", "luaurc.txt"},
	{".gitignore", "gitignore.txt"},
	{"README.md", "readme.txt"},
}

// InTheWayError says which files a new project would overwrite.
type InTheWayError struct {
	Dir   string
	Files []string
}

// Error names them.
func (e *InTheWayError) Error() string {
	return fmt.Sprintf("%s has %s already; nothing was written", e.Dir, strings.Join(e.Files, ", "))
}

// NewProject makes a small project in dir, which need not be there, and gives the names of its files. It
// overwrites nothing.
func NewProject(dir string) ([]string, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, &OptionError{fmt.Sprintf("%s is a file; name a folder", dir)}
	}
	var names, inTheWay []string
	for _, file := range projectFiles {
		names = append(names, file.name)
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file.name))); !errors.Is(err, fs.ErrNotExist) {
			inTheWay = append(inTheWay, file.name)
		}
	}
	if inTheWay != nil {
		return nil, &InTheWayError{dir, inTheWay}
	}
	if _, _, err := mergedSettings(dir, nil); err != nil {
		return nil, err // before anything is written
	}
	for _, file := range projectFiles {
		text, err := projectFS.ReadFile("project/" + file.from)
		if err != nil {
			return nil, err
		}
		if err := createFile(filepath.Join(dir, filepath.FromSlash(file.name)), text); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// createFile writes a file that is not there.
func createFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of %s: %w", path, reason(err))
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, reason(err))
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
