package music

import (
	"io"

	"github.com/mewkiz/flac"
	flacframe "github.com/mewkiz/flac/frame"
)

func inspectFLAC(s *source) (*sound, error) {
	var info struct{ rate, channels, bits, samples int64 }
	err := guarded(s, func() error {
		if err := s.seek(0); err != nil {
			return err
		}
		stream, err := flac.New(readerOnly{s})
		if err != nil {
			return broken(noEOF(err))
		}
		info.rate, info.channels = int64(stream.Info.SampleRate), int64(stream.Info.NChannels)
		info.bits, info.samples = int64(stream.Info.BitsPerSample), int64(stream.Info.NSamples)
		return nil
	})
	if err == nil {
		err = checkFormat(info.rate, info.channels)
	}
	if err == nil && (info.bits < 4 || info.bits > 32) {
		err = damaged("it has %d bits a sample", info.bits)
	}
	if err != nil {
		return nil, err
	}
	snd := &sound{rate: int(info.rate), length: info.samples}
	// A frame has at least 11 bytes and at most 65535 samples: more than fits is a lie.
	if info.samples == 0 || info.samples/65535 > s.size/11 {
		snd.length = unknownLength
	}
	snd.open = func() (decoder, error) { return openFLAC(s, int(info.bits), int(info.channels), snd.length) }
	return snd, nil
}

// noEOF makes the end of a file where more has to come an error.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

type flacDecoder struct {
	in       *source
	stream   *flac.Stream
	bits     int
	channels int
	now      *flacframe.Frame // nil: read the next
	at       int              // in now
	left     int64            // until the end; negative where it is not known
}

func openFLAC(s *source, bits, channels int, length int64) (d decoder, err error) {
	err = guarded(s, func() error {
		s.allow(headAllowance)
		if err := s.seek(0); err != nil {
			return err
		}
		stream, err := flac.New(readerOnly{s})
		d = &flacDecoder{in: s, stream: stream, bits: bits, channels: channels, left: length}
		return broken(noEOF(err))
	})
	return d, err
}

func (d *flacDecoder) decode(out []frame) (n int, err error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	err = guarded(d.in, func() error {
		for d.now == nil || d.at >= int(d.now.BlockSize) {
			if err := d.next(); err != nil {
				return err
			}
		}
		n = min(len(out), int(d.now.BlockSize)-d.at)
		if d.left > 0 {
			n = int(min(int64(n), d.left))
			d.left -= int64(n)
		}
		scale := 1 / float32(int64(1)<<(d.bits-1))
		left := d.now.Subframes[0].Samples[d.at : d.at+n]
		right := d.now.Subframes[min(1, d.channels-1)].Samples[d.at : d.at+n]
		for i := range n {
			out[i] = frame{float32(left[i]) * scale, float32(right[i]) * scale}
		}
		d.at += n
		return nil
	})
	if err != nil {
		n = 0
	}
	return n, err
}

func (d *flacDecoder) next() error {
	f, err := d.stream.ParseNext()
	if err == io.EOF && d.left > 0 {
		return damaged("it is cut off: %d samples less than it says", d.left)
	}
	if err != nil {
		return broken(err)
	}
	if f.Channels.Count() != d.channels {
		return damaged("a part of it has %d channels, not %d", f.Channels.Count(), d.channels)
	}
	d.now, d.at = f, 0
	return nil
}
