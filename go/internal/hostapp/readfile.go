package hostapp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// withoutPath is the error of a file without its name.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

var errNotRegular = errors.New("it is not a regular file")

// readRegular reads a file, and of one that has more bytes than most only so much that it shows.
func readRegular(path string, most int64) ([]byte, error) {
	return readBy(os.Stat, os.Open, path, most)
}

func readBy(stat func(string) (fs.FileInfo, error), open func(string) (*os.File, error), name string, most int64) ([]byte, error) {
	// Opening a pipe would wait for whoever writes to it.
	if info, err := stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, orError(err, errNotRegular)
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

func orError(err, other error) error {
	if err == nil {
		return other
	}
	return err
}

// readWhole reads a file that has at most so many bytes.
func readWhole(path string, most int64) ([]byte, error) {
	text, err := readRegular(path, most)
	return bounded(text, most, err)
}

// readIn is readWhole for a file in a folder, out of which no link leads.
func readIn(root *os.Root, name string, most int64) ([]byte, error) {
	text, err := readBy(root.Stat, root.Open, name, most)
	return bounded(text, most, err)
}

// readAll reads a stream of at most so many bytes.
func readAll(in io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	return bounded(text, most, err)
}

func bounded(text []byte, most int64, err error) ([]byte, error) {
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}
