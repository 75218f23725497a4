package app

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
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
	if err := folderFor(dir); err != nil {
		return nil, err
	}
	project, err := openProject(dir)
	if err != nil {
		return nil, err
	}
	defer project.close()
	if err := project.checkEmpty(); err != nil {
		return nil, err
	}
	if _, _, err := project.mergedSettings(nil); err != nil {
		return nil, err // before anything is written
	}
	var names []string
	for _, file := range projectFiles {
		text, err := projectFS.ReadFile("project/" + file.from)
		if err != nil {
			return nil, err
		}
		if err := project.create(file.name, text); err != nil {
			return nil, err
		}
		names = append(names, file.name)
	}
	return names, nil
}

// folderFor makes the folder of a new project where it is not there.
func folderFor(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &OptionError{fmt.Sprintf("%s is a file; name a folder", dir)}
	case errors.Is(err, syscall.ENOTDIR):
		return &OptionError{fmt.Sprintf("%s would be in a file; name a folder", dir)}
	}
	if link, err := os.Lstat(dir); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		return &OptionError{fmt.Sprintf("%s is a link that leads nowhere; name a folder", dir)}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder %s: %w", dir, reason(err))
	}
	return nil
}

// checkEmpty finds out whether all files of a new project can be created.
func (p *projectFolder) checkEmpty() error {
	var list []string
	for _, file := range projectFiles {
		name, err := p.inTheWay(file.name)
		if err != nil {
			return err
		}
		if name != "" {
			list = append(list, name)
		}
	}
	if list != nil {
		return &InTheWayError{p.dir, list}
	}
	return nil
}
