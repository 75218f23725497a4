package music

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"
)

// File is what a WAV file is written to.
type File interface {
	io.WriteSeeker
	io.Closer
}

// WAVFiles is an output that writes each song to a file, which create makes. Sound is written when its time has
// come, not faster, so that a file holds what was to be heard: all up to where the song was stopped, and nothing
// of a pause.
func WAVFiles(create func(song string) (File, error)) Output { return wavFiles{create} }

type wavFiles struct {
	create func(song string) (File, error)
}

func (o wavFiles) Open(song string, f Format) (Sink, error) {
	file, err := o.create(song)
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(wavHead(f, 0)); err != nil {
		_ = file.Close()
		return nil, err
	}
	return &wavFile{file: file, format: f}, nil
}

func (wavFiles) Ahead() time.Duration { return 0 }

type wavFile struct {
	file   File
	format Format
	size   int64
}

// wavLargest is how much sound one file may hold.
const wavLargest = math.MaxUint32 - wavHeadSize

func (w *wavFile) Write(samples []byte) error {
	if w.size+int64(len(samples)) > wavLargest {
		return fmt.Errorf("a WAV file holds no more than %d bytes", wavLargest)
	}
	n, err := w.file.Write(samples)
	w.size += int64(n)
	return err
}

func (w *wavFile) Close() error {
	_, err := w.file.Seek(0, io.SeekStart)
	if err == nil {
		_, err = w.file.Write(wavHead(w.format, w.size))
	}
	if e := w.file.Close(); err == nil {
		err = e
	}
	return err
}

func (*wavFile) Abort() {} // to write does not wait

const wavHeadSize = 44

// wavUnknown is the size of sound that is still to come.
const wavUnknown = math.MaxUint32 - wavHeadSize

// wavHead is what a WAV file begins with.
func wavHead(f Format, size int64) []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, wavHeadSize), "RIFF"...)
	b = le.AppendUint32(b, uint32(size+wavHeadSize-8))
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, wavPCM)
	b = le.AppendUint16(b, Channels)
	b = le.AppendUint32(b, uint32(f.Rate))
	b = le.AppendUint32(b, uint32(f.Rate*frameBytes))
	b = le.AppendUint16(b, frameBytes)
	b = le.AppendUint16(b, 16)
	b = append(b, "data"...)
	return le.AppendUint32(b, uint32(size))
}
