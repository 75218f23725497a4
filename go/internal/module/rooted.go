package module

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links RealPath follows before it calls them a loop.
const maxLinks = 40

// Rooted is an FS that reads only below the directories it was given, through
// os.Root: neither ".." nor a link leads out. It is safe for concurrent use.
type Rooted struct {
	roots []grant
}

type grant struct {
	root *os.Root
	dir  string // as it was named
	real string // without links: a path may arrive in either form
}

// RootFS opens the directories that may be read. With none, nothing may be.
func RootFS(dirs ...string) (*Rooted, error) {
	r := &Rooted{}
	for _, dir := range dirs {
		g, err := openGrant(dir)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("module: directory %q cannot be granted: %w", dir, err), r.Close())
		}
		r.roots = append(r.roots, g)
	}
	return r, nil
}

func openGrant(dir string) (grant, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return grant{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return grant{}, err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return grant{}, err
	}
	return grant{root: root, dir: abs, real: real}, nil
}

// Close releases the directories; reads after it fail.
func (r *Rooted) Close() error {
	var errs []error
	for _, g := range r.roots {
		errs = append(errs, g.root.Close())
	}
	return errors.Join(errs...)
}

func (r *Rooted) Stat(file string) (fs.FileInfo, error) {
	g, rel, err := r.within("stat", file)
	if err != nil {
		return nil, err
	}
	info, err := g.root.Stat(rel)
	return info, escaped(err)
}

// Open passes O_NONBLOCK because opening a FIFO without a writer would wait.
func (r *Rooted) Open(file string) (fs.File, error) {
	g, rel, err := r.within("open", file)
	if err != nil {
		return nil, err
	}
	f, err := g.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, escaped(err)
	}
	return f, nil
}

func (r *Rooted) Names(dir string, limit int) ([]string, error) {
	g, rel, err := r.within("open", dir)
	if err != nil {
		return nil, err
	}
	f, err := g.root.Open(rel)
	if err != nil {
		return nil, escaped(err)
	}
	defer f.Close()
	return f.Readdirnames(limit)
}

// RealPath follows links by hand, as os.Root has no call for it. It only makes
// an identity: what is read goes through os.Root again.
func (r *Rooted) RealPath(file string) (string, error) {
	g, rel, err := r.within("realpath", file)
	if err != nil {
		return "", err
	}
	done, rest := ".", strings.Split(rel, "/")
	for links := 0; len(rest) > 0; {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		info, err := g.root.Lstat(next)
		if err != nil {
			return "", escaped(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "realpath", Path: file, Err: syscall.ELOOP}
		}
		target, err := g.root.Readlink(next)
		if err != nil {
			return "", escaped(err)
		}
		if path.IsAbs(target) {
			return "", &fs.PathError{Op: "realpath", Path: file, Err: ErrOutside}
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return path.Join(g.real, done), nil
}

// within finds the granted directory that holds file; of nested ones the inner.
func (r *Rooted) within(op, file string) (grant, string, error) {
	var best grant
	rel := ""
	for _, g := range r.roots {
		for _, dir := range []string{g.dir, g.real} {
			below, ok := relativeTo(dir, file)
			if ok && (best.root == nil || len(below) < len(rel)) {
				best, rel = g, below
			}
		}
	}
	if best.root == nil {
		return grant{}, "", &fs.PathError{Op: op, Path: file, Err: ErrOutside}
	}
	return best, rel, nil
}

func relativeTo(dir, file string) (string, bool) {
	if file == dir {
		return ".", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/")
}

// escaped marks an error of os.Root's own making. Those of the system carry an
// errno; the rest say that a link or ".." leads out of the directory.
func escaped(err error) error {
	var errno syscall.Errno
	if err == nil || errors.As(err, &errno) || errors.Is(err, fs.ErrClosed) {
		return err
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return &fs.PathError{Op: p.Op, Path: p.Path, Err: ErrOutside}
	}
	return err
}
