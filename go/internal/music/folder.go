package music

import (
	"io/fs"
	"os"
	"syscall"
)

// Folder is a folder of songs. What is in it can be reached through links only while they stay in it. To open a
// file does not wait, not even for the other end of a FIFO that was put in its place.
func Folder(root *os.Root) fs.FS { return folder{root} }

type folder struct{ root *os.Root }

var _ fs.StatFS = folder{}

func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func (f folder) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	return f.root.Stat(name)
}
