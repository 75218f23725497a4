package fsmod

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// with answers a call with what work makes of the place, away from the VM's goroutine. In the end it
// calls after.
func (i *instance) with(c *luau.Call, path string, how access, below bool, work func(context.Context, *place) (any, error), after ...func()) error {
	name := c.Name()
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		for _, f := range after {
			defer f()
		}
		p, err := i.place(how, below, path)
		if err != nil {
			return nil, explain(name, path, err)
		}
		defer p.Close()
		value, err := work(ctx, p)
		if err != nil {
			return nil, explain(name, path, err)
		}
		if value == nil {
			return nil, nil
		}
		return []any{value}, nil
	})
}

// read: (path: string, offset: number?, length: number?) -> string
func (i *instance) read(c *luau.Call) error {
	path, err := c.Text(0)
	if err != nil {
		return err
	}
	offset, err := c.IntOpt(1, 0)
	if err != nil {
		return err
	}
	length, err := c.IntOpt(2, -1)
	if err != nil {
		return err
	}
	if offset < 0 {
		return c.Argument(1, "must be 0 or more")
	}
	if length < 0 && !c.IsNil(2) {
		return c.Argument(2, "must be 0 or more")
	}
	held := i.ledger()
	return i.with(c, path, toRead, false, func(ctx context.Context, p *place) (any, error) {
		f, info, err := open(p, p.name, os.O_RDONLY)
		if err != nil {
			return nil, err
		}
		defer closing(ctx, f)()
		return readPart(ctx, held, f, info.Size(), int64(offset), int64(length))
	})
}

// input reads path and contents, which are charged until release.
func (i *instance) input(c *luau.Call) (path string, contents []byte, release func(), err error) {
	if path, err = c.Text(0); err != nil {
		return "", nil, nil, err
	}
	if contents, err = c.Bytes(1); err != nil {
		return "", nil, nil, err
	}
	held, cost := i.ledger(), int64(len(contents))
	if err = held.charge(cost); err != nil {
		return "", nil, nil, explain(c.Name(), path, err)
	}
	return path, contents, func() { held.uncharge(cost) }, nil
}

// write: (path: string, contents: string | buffer) -> ()
func (i *instance) write(c *luau.Call) error {
	path, contents, release, err := i.input(c)
	if err != nil {
		return err
	}
	return i.with(c, path, toWrite, false, func(ctx context.Context, p *place) (any, error) {
		return nil, p.replace(newFile, func(f *os.File) error { return writeAll(ctx, f, contents) })
	}, release)
}

// append: (path: string, contents: string | buffer) -> ()
func (i *instance) append(c *luau.Call) error {
	path, contents, release, err := i.input(c)
	if err != nil {
		return err
	}
	return i.with(c, path, toWrite, false, func(ctx context.Context, p *place) (any, error) {
		f, _, err := open(p, p.name, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
		if err != nil {
			return nil, err
		}
		return nil, errors.Join(writeAll(ctx, f, contents), f.Close())
	}, release)
}

func entry(path string, info fs.FileInfo) map[string]any {
	return map[string]any{
		"path": path, "name": filepath.Base(path), "kind": kindOf(info.Mode()),
		"size": float64(info.Size()), "modified": hostmod.Seconds(info.ModTime()),
	}
}

// stat: (path: string) -> Entry
func (i *instance) stat(c *luau.Call) error {
	path, err := c.Text(0)
	if err != nil {
		return err
	}
	return i.with(c, path, toRead, false, func(_ context.Context, p *place) (any, error) {
		info, err := p.Stat(p.name)
		if err != nil {
			return nil, err
		}
		return entry(p.given, info), nil
	})
}

// exists: (path: string) -> boolean
func (i *instance) exists(c *luau.Call) error {
	path, err := c.Text(0)
	if err != nil {
		return err
	}
	return i.with(c, path, toRead, false, func(_ context.Context, p *place) (any, error) {
		_, err := p.Stat(p.name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return false, nil
		}
		return err == nil, err
	})
}

// mkdir: (path: string) -> ()
func (i *instance) mkdir(c *luau.Call) error {
	path, err := c.Text(0)
	if err != nil {
		return err
	}
	return i.with(c, path, toWrite, false, func(_ context.Context, p *place) (any, error) {
		err := p.MkdirAll(p.name, 0o777)
		if err == nil {
			return nil, nil
		}
		if info, other := p.Stat(p.name); other == nil && !info.IsDir() {
			return nil, &fault{code: codeExists, message: "is there already and not a directory"}
		}
		return nil, err
	})
}

// remove: (path: string, options: {recursive: boolean?}?) -> ()
func (i *instance) remove(c *luau.Call) error {
	path, err := c.Text(0)
	if err != nil {
		return err
	}
	recursive, err := recursiveOption(c, 1)
	if err != nil {
		return err
	}
	return i.with(c, path, toWrite, recursive, func(ctx context.Context, p *place) (any, error) {
		if p.name == "." || p.name == string(filepath.Separator) {
			return nil, invalid("is a root, which is not removed")
		}
		info, err := p.Lstat(p.name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() && recursive {
			if err := empty(ctx, p, p.name); err != nil {
				return nil, err
			}
		}
		return nil, p.Remove(p.name)
	})
}

// recursiveOption reads {recursive: boolean?}.
func recursiveOption(c *luau.Call, n int) (bool, error) {
	options, err := hostmod.Options(c, n, "recursive")
	if err != nil {
		return false, err
	}
	recursive, ok := options["recursive"].(bool)
	if !ok && options["recursive"] != nil {
		return false, c.Argument(n, ": recursive must be a boolean")
	}
	return recursive, nil
}

// copy: (from: string, to: string) -> ()
func (i *instance) copy(c *luau.Call) error {
	source, err := c.Text(0)
	if err != nil {
		return err
	}
	to, err := c.Text(1)
	if err != nil {
		return err
	}
	return i.with(c, source, toRead, false, func(ctx context.Context, p *place) (any, error) {
		f, info, err := open(p, p.name, os.O_RDONLY)
		if err != nil {
			return nil, err
		}
		defer closing(ctx, f)()
		dest, err := i.place(toWrite, false, to)
		if err == nil {
			defer dest.Close()
			err = dest.replace(info.Mode().Perm(), func(into *os.File) error { return copyAll(ctx, into, f) })
		}
		if err != nil {
			return nil, named(to, err)
		}
		return nil, nil
	})
}

func copyAll(ctx context.Context, to, from *os.File) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := io.CopyN(to, from, step); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// rename: (from: string, to: string) -> ()
func (i *instance) rename(c *luau.Call) error {
	old, err := c.Text(0)
	if err != nil {
		return err
	}
	to, err := c.Text(1)
	if err != nil {
		return err
	}
	name := c.Name()
	return i.vm.Await(c, func(context.Context) ([]any, error) {
		both, err := i.places(toWrite, true, old, to)
		if err != nil {
			return nil, explain(name, old, err)
		}
		defer both[0].Close()
		if _, err := both[0].Lstat(both[0].name); err != nil {
			return nil, explain(name, old, err)
		}
		return nil, explain(name, to, both[0].Rename(both[0].name, both[1].name))
	})
}
