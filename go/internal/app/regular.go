package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

var errNoFile = errors.New("it is there and no file")

// opener is os.OpenFile, or that of an os.Root.
type opener func(name string, flag int, perm fs.FileMode) (*os.File, error)

// regular opens a file, and refuses what may never answer or never end: a FIFO, a device. It never waits,
// and empties nothing.
func (open opener) regular(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := open(name, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		if errors.Is(err, syscall.ENXIO) { // a FIFO that nobody reads, a socket
			err = errNoFile
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// read gives the text of a file that has at most so many bytes.
func (open opener) read(name string, most int) ([]byte, error) {
	f, err := open.regular(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}

// holds says whether a file is there and has that text.
func (open opener) holds(name string, text []byte) (bool, error) {
	f, err := open.regular(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	old, err := io.ReadAll(io.LimitReader(f, int64(len(text))+1))
	return bytes.Equal(old, text), err
}

// write puts text in the place of what a file had.
func (open opener) write(name string, text []byte) error {
	f, err := open.regular(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.Write(text)
	}
	return errors.Join(err, f.Close())
}
