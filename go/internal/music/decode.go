package music

import (
	"bytes"
	"fmt"
	"io"
)

// frame is one sample of the left and the right channel, from -1 to 1.
type frame [2]float32

// decoder gives the sound of a song from its beginning.
type decoder interface {
	// decode gives at least one sample, or an error: io.EOF at the end.
	decode(out []frame) (int, error)
}

// sound is what is known of a song before it plays.
type sound struct {
	rate   int   // samples a second
	length int64 // samples; negative where only decoding tells
	open   func() (decoder, error)
}

// unknownLength is that of a song whose file does not say it.
const unknownLength = -1

// What a song may be. Everything that is sold lies far inside.
const (
	minRate     = 1000
	maxRate     = 768_000
	maxChannels = 8
)

func checkFormat(rate, channels int64) error {
	switch {
	case rate < minRate || rate > maxRate:
		return damaged("it has %d samples a second; %d to %d can be played", rate, minRate, maxRate)
	case channels < 1 || channels > maxChannels:
		return damaged("it has %d channels; 1 to %d can be played", channels, maxChannels)
	}
	return nil
}

// inspect finds out what a file holds. extension is what its name ends with; what is in the file counts more.
func inspect(s *source, extension string) (*sound, error) {
	s.allow(headAllowance)
	if s.size == 0 {
		return nil, damaged("the file is empty")
	}
	if err := skipTags(s); err != nil {
		return nil, err
	}
	head, err := s.read(make([]byte, 12), 0)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("RIFF")) && bytes.HasSuffix(head, []byte("WAVE")):
		return inspectWAV(s)
	case bytes.HasPrefix(head, []byte("fLaC")):
		return inspectFLAC(s)
	case bytes.HasPrefix(head, []byte("OggS")):
		return inspectOgg(s)
	case extension == ".mp3" || validHeader(head):
		return inspectMP3(s)
	}
	return nil, damaged("it is not WAV, MP3, FLAC or Ogg Vorbis, whatever its name says")
}

// skipTags makes the source begin after what taggers put in front of any format: ID3v2.
func skipTags(s *source) error {
	const most = 32
	for range most {
		head, err := s.read(make([]byte, 10), 0)
		if err != nil {
			return err
		}
		if len(head) < 10 || !bytes.HasPrefix(head, []byte("ID3")) {
			return nil
		}
		if (head[6]|head[7]|head[8]|head[9])&0x80 != 0 {
			return damaged("the size of its ID3 tag is none")
		}
		size := 10 + (int64(head[6])<<21 | int64(head[7])<<14 | int64(head[8])<<7 | int64(head[9]))
		if head[5]&0x10 != 0 {
			size += 10 // a footer
		}
		if size >= s.size {
			return damaged("it holds nothing but an ID3 tag, or is cut off inside of it")
		}
		s.start, s.size = s.start+size, s.size-size
	}
	return damaged("it begins with more than %d ID3 tags", most)
}

// guarded runs what reads a file: a panic of a decoder is an error of the file. What reading failed with
// counts more than what the decoder made of it.
func guarded(s *source, read func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damaged("it is damaged (%s)", short(fmt.Sprint(r)))
		}
		if err != nil && s.err != nil {
			err = s.err
		}
	}()
	return read()
}

// broken is the error for what a decoder does not take.
func broken(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if e, ok := err.(*Error); ok {
		return e
	}
	return &Error{Code: CodeAudio, Message: "it is damaged or cut off (" + short(err.Error()) + ")", cause: err}
}

func short(text string) string {
	const most = 120
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}

// measure decodes a song once to count its samples.
func measure(s *source, open func() (decoder, error)) (length int64, err error) {
	d, err := open()
	buf := make([]frame, stepFrames)
	for err == nil {
		s.allow(stepAllowance)
		var n int
		n, err = d.decode(buf)
		length += int64(n)
	}
	if err == io.EOF {
		return length, nil
	}
	return 0, err
}
