package fsmod

import (
	"io/fs"
	"os"
)

// tree is what files are looked for in: an os.Root, or the whole file system.
type tree interface {
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
	OpenRoot(name string) (*os.Root, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	MkdirAll(name string, perm fs.FileMode) error
	Remove(name string) error
	Rename(from, to string) error
	Close() error
}

var (
	_ tree = (*os.Root)(nil)
	_ tree = whole{}
)

// whole is the file system; names are absolute.
type whole struct{}

func (whole) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}
func (whole) OpenRoot(name string) (*os.Root, error)       { return os.OpenRoot(name) }
func (whole) Stat(name string) (fs.FileInfo, error)        { return os.Stat(name) }
func (whole) Lstat(name string) (fs.FileInfo, error)       { return os.Lstat(name) }
func (whole) Readlink(name string) (string, error)         { return os.Readlink(name) }
func (whole) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (whole) Remove(name string) error                     { return os.Remove(name) }
func (whole) Rename(from, to string) error                 { return os.Rename(from, to) }
func (whole) Close() error                                 { return nil }
