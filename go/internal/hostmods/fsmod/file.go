package fsmod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
)

// kinds of entries.
const (
	kindFile      = "file"
	kindDirectory = "directory"
	kindLink      = "link"
	kindOther     = "other"
)

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return kindFile
	case mode.IsDir():
		return kindDirectory
	case mode&fs.ModeSymlink != 0:
		return kindLink
	}
	return kindOther
}

// notFile is the error for what is no regular file.
func notFile(mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return invalid("is a directory")
	case mode&fs.ModeNamedPipe != 0:
		return invalid("is a FIFO, not a file")
	case mode&fs.ModeSocket != 0:
		return invalid("is a socket, not a file")
	case mode&fs.ModeDevice != 0:
		return invalid("is a device, not a file")
	}
	return invalid("is not a file")
}

// open opens a regular file. It is looked at before, because opening some devices has effects, and
// after, because it may be another one by then. It never waits for the other end of a FIFO.
func open(t tree, name string, flag int) (*os.File, fs.FileInfo, error) {
	info, err := t.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, nil, notFile(info.Mode())
	case err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)):
		return nil, nil, err
	}
	f, err := t.OpenFile(name, flag|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = notFile(info.Mode())
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// closing closes f when ctx ends: some files of /proc are regular and wait all the same.
func closing(ctx context.Context, f *os.File) (stop func()) {
	cancel := context.AfterFunc(ctx, func() { _ = f.Close() })
	return func() {
		cancel()
		_ = f.Close()
	}
}

// step is how much is read or written between two looks at the context.
const step = 4 << 20

// readPart reads length bytes from offset, or to the end when length is negative.
func readPart(ctx context.Context, held *ledger, f *os.File, size, offset, length int64) (*contents, error) {
	want := max(0, size-offset)
	if length >= 0 {
		want = min(want, length)
	}
	out := &contents{held: held}
	if err := out.grow(want + 1); err != nil {
		return nil, tooLarge(want)
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, out.drop(err)
		}
		if length >= 0 && int64(len(out.bytes)) >= length {
			return out, nil
		}
		if len(out.bytes) == cap(out.bytes) {
			if err := out.grow(2 * int64(cap(out.bytes))); err != nil {
				return nil, out.drop(tooLarge(2 * int64(cap(out.bytes))))
			}
		}
		if done, err := out.read(f, offset, length); done || err != nil {
			if err != nil {
				return nil, out.drop(err)
			}
			return out, nil
		}
	}
}

func tooLarge(bytes int64) error {
	return &fault{code: errNoMemory.code, message: fmt.Sprintf(
		"there is no room for %d bytes within the memory limit; read the file in parts, or by lines", bytes)}
}

// grow makes room for n bytes in all.
func (c *contents) grow(n int64) error {
	const least = 512 // files of /proc say that they are empty
	n = max(n, least)
	if err := c.held.charge(n); err != nil {
		return err
	}
	bytes := make([]byte, len(c.bytes), n)
	copy(bytes, c.bytes)
	c.held.uncharge(c.cost)
	c.bytes, c.cost = bytes, n
	return nil
}

// read adds what fits; done at the end of the file.
func (c *contents) read(f *os.File, offset, length int64) (done bool, err error) {
	have := int64(len(c.bytes))
	room := min(int64(cap(c.bytes))-have, step)
	if length >= 0 {
		room = min(room, length-have)
	}
	n, err := f.ReadAt(c.bytes[have:have+room], offset+have)
	c.bytes = c.bytes[:have+int64(n)]
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// drop gives the room back.
func (c *contents) drop(err error) error {
	c.held.uncharge(c.cost)
	c.bytes, c.cost = nil, 0
	return err
}

// writeAll writes in steps.
func writeAll(ctx context.Context, f *os.File, contents []byte) error {
	for len(contents) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.Write(contents[:min(len(contents), step)])
		if err != nil {
			return err
		}
		contents = contents[n:]
	}
	return nil
}

// replace puts a new file in a place, under another name first, so that nobody sees half of it. What
// was there keeps its permission bits; a new file has those of mode.
func (p *place) replace(mode fs.FileMode, fill func(*os.File) error) error {
	name, err := p.target()
	if err != nil {
		return err
	}
	before, info, err := open(p, name, os.O_WRONLY)
	switch {
	case err == nil: // it could be written, so it may be replaced
		mode = info.Mode().Perm()
		err = before.Close()
	case errors.Is(err, fs.ErrNotExist):
		info, err = nil, nil
	}
	if err != nil {
		return err
	}
	f, temporary, err := p.temporary(name)
	if err != nil {
		return err
	}
	if err = fill(f); err == nil && (info != nil || mode != newFile) {
		err = f.Chmod(mode)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = p.Rename(temporary, name)
	}
	if err != nil {
		_ = p.Remove(temporary)
	}
	return err
}

// newFile are the permission bits of a new file, from which the process's mask takes some.
const newFile fs.FileMode = 0o666

// temporary makes an empty file beside name.
func (p *place) temporary(name string) (*os.File, string, error) {
	const tries = 100
	for range tries {
		other := directory(name) + ".luau-" + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
		f, err := p.OpenFile(other, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFile)
		switch {
		case err == nil:
			return f, other, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, "", &fault{code: codeNotFound, message: "its directory does not exist; fs.mkdir makes it", cause: err}
		case !errors.Is(err, fs.ErrExist):
			return nil, "", err
		}
	}
	return nil, "", &fault{code: codeIO, message: "no free name for a temporary file"}
}
