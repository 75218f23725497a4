package fsmod

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// checked is a tree in which some directories are denied. A path that is allowed when it is looked at may
// lead elsewhere when it is used, because another process swaps a link on it. So everything is opened
// first, and then asked where it is: a file before a byte of it is read or written, and the directory of
// whatever else is done, which is then done in that very directory by a name without parts.
type checked struct {
	tree
	how    access
	denied *denials
}

func (c checked) refused() error {
	return &fault{code: codePermission, key: c.how.denyKey, message: c.how.denial()}
}

// allow fails when an open file, or what has that name in it, is denied.
func (c checked) allow(f *os.File, name string, below bool) (path string, err error) {
	if path, err = pathOf(f); err != nil {
		return "", err
	}
	path = filepath.Join(path, name)
	if c.denied.cover(path, below) || c.denied.cover(strings.TrimSuffix(path, " (deleted)"), below) {
		return "", c.refused()
	}
	return path, nil
}

// pathOf is where the system says that an open file is.
func pathOf(f *os.File) (path string, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return "", err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { path, failed = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd))) })
	if err = errors.Join(err, failed); err != nil {
		return "", &fault{code: codeIO, message: "whether it is denied cannot be told without /proc", cause: err}
	}
	return path, nil
}

// pinned is a directory that is open, and a name in it.
type pinned struct {
	root *os.Root
	dir  *os.File // the same
	base string
	path string // of the name
}

func (p *pinned) close() {
	_ = p.dir.Close()
	_ = p.root.Close()
}

// pin opens the directory of a name, and fails when the name is denied there.
func (c checked) pin(name string, below bool) (*pinned, error) {
	dir, base := directory(name), filepath.Base(name)
	if base == "." || base == ".." || base == string(filepath.Separator) {
		dir, base = name, "."
	}
	if dir == "" {
		dir = "."
	}
	root, err := c.tree.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	p := &pinned{root: root, base: base}
	if p.dir, err = root.Open("."); err != nil {
		_ = root.Close()
		return nil, err
	}
	if p.path, err = c.allow(p.dir, base, below); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// OpenFile opens without any effect on what is there, and creates only where nothing is.
func (c checked) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if flag&os.O_EXCL == 0 {
		f, err := c.tree.OpenFile(name, flag&^os.O_CREATE, perm)
		if err == nil {
			return c.kept(f)
		}
		if flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if name, err = c.follow(name); err != nil {
			return nil, err
		}
	}
	p, err := c.pin(name, false)
	if err != nil {
		return nil, err
	}
	defer p.close()
	f, err := p.root.OpenFile(p.base, flag|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	return c.kept(f)
}

func (c checked) kept(f *os.File) (*os.File, error) {
	if _, err := c.allow(f, "", false); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (c checked) OpenRoot(name string) (*os.Root, error) {
	p, err := c.pin(name+string(filepath.Separator)+".", true)
	if err != nil {
		return nil, err
	}
	_ = p.dir.Close()
	return p.root, nil
}

// follow is where the links at the end of a name lead, each read in a directory that is allowed.
func (c checked) follow(name string) (string, error) {
	for range maxLinks {
		to, err := c.Readlink(name)
		switch {
		case errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrNotExist): // no link
			return name, nil
		case err != nil:
			return "", err
		case filepath.IsAbs(to):
			name = to // which an os.Root refuses
		default:
			name = directory(name) + to
		}
	}
	return "", &fault{code: codeIO, message: "too many links, or links in a circle"}
}

func (c checked) Stat(name string) (fs.FileInfo, error) {
	for range maxLinks {
		end, err := c.follow(name)
		if err != nil {
			return nil, err
		}
		info, err := c.Lstat(end)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return info, err
		}
	}
	return nil, &fault{code: codeIO, message: "its links change all the time"}
}

func (c checked) Lstat(name string) (info fs.FileInfo, err error) {
	err = c.in(name, false, func(p *pinned) error {
		info, err = p.root.Lstat(p.base)
		return err
	})
	return info, err
}

func (c checked) Readlink(name string) (to string, err error) {
	err = c.in(name, false, func(p *pinned) error {
		to, err = p.root.Readlink(p.base)
		return err
	})
	return to, err
}

func (c checked) Remove(name string) error {
	return c.in(name, true, func(p *pinned) error { return p.root.Remove(p.base) })
}

func (c checked) in(name string, below bool, work func(*pinned) error) error {
	p, err := c.pin(name, below)
	if err != nil {
		return err
	}
	defer p.close()
	return work(p)
}

func (c checked) MkdirAll(name string, perm fs.FileMode) error {
	info, err := c.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if above := filepath.Dir(name); above != name && above != "." {
		if err := c.MkdirAll(above, perm); err != nil {
			return err
		}
	}
	return c.in(name, false, func(p *pinned) error {
		if err := p.root.Mkdir(p.base, perm); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil // somebody else made it meanwhile
	})
}

func (c checked) Rename(from, to string) error {
	return c.in(from, true, func(a *pinned) error {
		return c.in(to, true, func(b *pinned) error {
			err := renameat(a, b)
			if err != nil {
				err = &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
			}
			return err
		})
	})
}

func renameat(a, b *pinned) error {
	from, err := a.dir.SyscallConn()
	if err != nil {
		return err
	}
	to, err := b.dir.SyscallConn()
	if err != nil {
		return err
	}
	var inner, renamed error
	err = from.Control(func(old uintptr) {
		inner = to.Control(func(new uintptr) { renamed = syscall.Renameat(int(old), a.base, int(new), b.base) })
	})
	return cmp.Or(err, inner, renamed)
}
