package fsmod

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// list: (path: string, glob: string?) -> {Entry}
func (i *instance) list(c *luau.Call) error {
	dir, err := c.Text(0)
	if err != nil {
		return err
	}
	text, err := c.TextOpt(1, "*")
	if err != nil {
		return err
	}
	pattern, problem := parseGlob(text)
	if problem != "" {
		return c.Argument(1, problem)
	}
	held := i.ledger()
	return i.with(c, dir, toList, false, func(ctx context.Context, p *place) (any, error) {
		l := &lister{ctx: ctx, place: p, held: held, real: p.abs}
		defer func() { held.uncharge(l.cost) }()
		if p.denied != nil {
			l.real = real(p.abs, 0)
		}
		if err := l.directory("", pattern.start()); err != nil {
			return nil, err
		}
		slices.SortFunc(l.found, func(a, b item) int { return strings.Compare(a.path, b.path) })
		list := make([]any, len(l.found))
		for n, found := range l.found {
			list[n] = entry(found.path, found.info)
		}
		return list, nil
	})
}

type item struct {
	path string
	info fs.FileInfo
}

// lister walks below one directory. Links to directories are listed, not followed.
type lister struct {
	ctx   context.Context
	place *place
	held  *ledger
	real  string // the directory, without links
	cost  int64
	found []item
}

// itemCost is what an entry takes in Go beside its path: the item, the table made of it.
const itemCost = 800

// batch is how many entries are read at once.
const batch = 256

// directory lists what is in rel, "" for the directory itself.
func (l *lister) directory(rel string, at states) error {
	f, err := l.place.OpenFile(filepath.Join(l.place.name, rel), os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		if rel != "" && errors.Is(err, fs.ErrNotExist) {
			return nil // gone since
		}
		if rel == "" && errors.Is(err, syscall.ENOTDIR) {
			return invalid("is not a directory")
		}
		return named(filepath.Join(l.place.given, rel), err)
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(batch)
		for _, e := range entries {
			if err := l.entry(path.Join(rel, e.Name()), e, at); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return named(filepath.Join(l.place.given, rel), err)
		}
	}
}

func (l *lister) entry(rel string, e fs.DirEntry, at states) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	next := at.step(e.Name())
	inner := e.IsDir() && next.open()
	if !inner && !next.accept() { // most files below "**/*.luau": nothing more is asked about them
		return nil
	}
	if l.place.denied.cover(filepath.Join(l.real, rel), false) ||
		l.place.denied.cover(filepath.Join(l.place.abs, rel), false) {
		return nil
	}
	// Not by the entry's own Info, which asks the system by name and not within the root.
	info, err := l.place.Lstat(filepath.Join(l.place.name, rel))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return named(filepath.Join(l.place.given, rel), err)
	}
	if next.accept() {
		if err := l.add(filepath.Join(l.place.given, rel), info); err != nil {
			return err
		}
	}
	if inner && info.IsDir() {
		return l.directory(rel, next)
	}
	return nil
}

func (l *lister) add(path string, info fs.FileInfo) error {
	cost := itemCost + 2*int64(len(path))
	if err := l.held.charge(cost); err != nil {
		return &fault{code: errNoMemory.code, message: "there is no room for all entries within the memory limit; list less at once"}
	}
	l.cost += cost
	l.found = append(l.found, item{path, info})
	return nil
}

// empty removes all that is in a directory. It stays below it, whatever becomes of links meanwhile.
func empty(ctx context.Context, t tree, name string) error {
	root, err := t.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return emptyIn(ctx, root, ".")
}

func emptyIn(ctx context.Context, root *os.Root, name string) error {
	for {
		entries, err := firstEntries(root, name)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			inner := filepath.Join(name, e.Name())
			if e.IsDir() {
				if err := emptyIn(ctx, root, inner); err != nil {
					return err
				}
			}
			if err := root.Remove(inner); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
}

// firstEntries reads some of a directory: the next ones are the first when these are removed.
func firstEntries(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(batch)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}
