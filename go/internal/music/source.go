package music

import (
	"errors"
	"io"
)

// source is the file of a song, or a part of it from start on. It is used by one goroutine at a time.
type source struct {
	file  io.ReadSeeker
	start int64
	size  int64 // from start
	at    int64 // from start
	left  int64 // how much may be read until the next allow
	// check says why reading ends, nil where it goes on.
	check func() error
	err   error // the first one of reading, but for the end
}

// What may be read at once: the headers of a song, and for one step of decoding. A file may hold much that is
// no sound; what is more than this is taken for a mistake.
const (
	headAllowance = 24 << 20
	stepAllowance = 2 << 20
)

// allow lets so many more bytes be read.
func (s *source) allow(n int64) { s.left = n }

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	if err := s.check(); err != nil {
		return 0, s.keep(err)
	}
	if s.left <= 0 {
		return 0, s.keep(damaged("there is no sound in a large part of the file"))
	}
	n, err := s.file.Read(p[:min(int64(len(p)), s.left)])
	s.at += int64(n)
	s.left -= int64(n)
	if err != nil && err != io.EOF {
		err = s.keep(&Error{Code: CodeIO, Message: "the file cannot be read: " + plainCause(err), cause: err})
	}
	return n, err
}

func (s *source) keep(err error) error {
	if s.err == nil {
		s.err = err
	}
	return err
}

// seek goes to a place, from start.
func (s *source) seek(at int64) error {
	if err := s.check(); err != nil {
		return s.keep(err)
	}
	if _, err := s.file.Seek(s.start+at, io.SeekStart); err != nil {
		return s.keep(&Error{Code: CodeIO, Message: "the file cannot be read: " + plainCause(err), cause: err})
	}
	s.at = at
	return nil
}

// read fills p from a place; what is there when the file ends before.
func (s *source) read(p []byte, at int64) ([]byte, error) {
	if err := s.seek(at); err != nil {
		return nil, err
	}
	n, err := io.ReadFull(s, p)
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return p[:n], err
}

// readerOnly hides that a source can seek: decoders then read once, from front to back.
type readerOnly struct{ io.Reader }
