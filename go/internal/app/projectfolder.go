package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// projectFile is a file by its name relative to the project, with forward slashes.
type projectFile struct {
	name string
	text []byte
}

// projectFolder is a folder in which files are read and written. A project may come from anybody, so no
// link in it leads out.
type projectFolder struct {
	dir  string
	root *os.Root
}

func openProject(dir string) (*projectFolder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open the folder %s: %w", dir, reason(err))
	}
	return &projectFolder{dir, root}, nil
}

func (p *projectFolder) close() { _ = p.root.Close() }

// place is where a file is, for messages.
func (p *projectFolder) place(name string) string {
	return filepath.Join(p.dir, filepath.FromSlash(name))
}

// failed is the error of something that was tried with a file: "write".
func (p *projectFolder) failed(verb, name string, err error) error {
	// An os.Root has no error value to compare with for this: it is what is left of a file's errors.
	if errors.As(err, new(*fs.PathError)) && !errors.As(err, new(syscall.Errno)) {
		return fmt.Errorf("cannot %s %s: a link on the way leads out of the folder", verb, p.place(name))
	}
	return fmt.Errorf("cannot %s %s: %w", verb, p.place(name), reason(err))
}

// maxSettings bounds a settings file.
const maxSettings = 4 << 20

// settings is the text of a settings file; nil when there is none.
func (p *projectFolder) settings(name string) ([]byte, error) {
	text, err := opener(p.root.OpenFile).read(name, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, p.failed("read", name, err)
	}
	return text, nil
}

// replace writes a file unless it has that text already.
func (p *projectFolder) replace(file projectFile) (changed bool, err error) {
	open := opener(p.root.OpenFile)
	same, err := open.holds(file.name, file.text)
	if err != nil {
		return false, p.failed("read", file.name, err)
	}
	if same {
		return false, nil
	}
	if err := p.folderOf(file.name); err != nil {
		return false, err
	}
	if err := open.write(file.name, file.text); err != nil {
		return false, p.failed("write", file.name, err)
	}
	return true, nil
}

// folderOf makes the folder of a file.
func (p *projectFolder) folderOf(name string) error {
	if err := p.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return p.failed("make the folder of", name, err)
	}
	return nil
}

// create writes a file that is not there.
func (p *projectFolder) create(name string, text []byte) error {
	if err := p.folderOf(name); err != nil {
		return err
	}
	file, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		_, err = file.Write(text)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return p.failed("write", name, err)
	}
	return nil
}

// inTheWay is the name of what keeps a file from being created; "" when nothing does.
func (p *projectFolder) inTheWay(name string) (string, error) {
	if p.has(name) {
		return name, nil
	}
	folder := path.Dir(name)
	info, err := p.root.Stat(folder)
	switch {
	case err == nil && info.IsDir():
		return "", nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", p.failed("write", name, err)
	case err != nil && !p.has(folder): // else it is a link that leads nowhere
		return "", nil
	}
	return folder, nil
}

func (p *projectFolder) has(name string) bool {
	_, err := p.root.Lstat(name)
	return err == nil
}

// reason is the error without the path, which the message names already.
func reason(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
