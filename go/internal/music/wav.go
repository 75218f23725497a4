package music

import (
	"encoding/binary"
	"io"
	"math"
)

// WAV is read by our own code: readers of it tend to believe the sizes in its headers, which are anything.

const (
	wavPCM        = 1
	wavFloat      = 3
	wavExtensible = 0xFFFE
)

// wavFormat is the chunk "fmt ".
type wavFormat struct {
	tag, channels, bits, block int
	rate                       int64
}

func inspectWAV(s *source) (*sound, error) {
	format, at, size, err := wavChunks(s)
	if err != nil {
		return nil, err
	}
	if err := format.check(); err != nil {
		return nil, err
	}
	frames := size / int64(format.block)
	return &sound{rate: int(format.rate), length: frames, open: func() (decoder, error) {
		if err := s.seek(at); err != nil {
			return nil, err
		}
		return &wavDecoder{in: s, format: format, left: frames}, nil
	}}, nil
}

// wavChunks finds the format and where the sound is. A size that goes beyond the end, as that of a file
// which was never finished, means up to the end.
func wavChunks(s *source) (format wavFormat, at, size int64, err error) {
	const most = 10_000
	pos, known := int64(12), false
	for range most {
		head, err := s.read(make([]byte, 8), pos)
		if err != nil {
			return format, 0, 0, err
		}
		if len(head) < 8 {
			return format, 0, 0, damaged("the WAV file has no sound in it")
		}
		pos += 8
		size := min(int64(binary.LittleEndian.Uint32(head[4:])), s.size-pos)
		switch string(head[:4]) {
		case "fmt ":
			if format, err = wavFormatOf(s, pos, size); err != nil {
				return format, 0, 0, err
			}
			known = true
		case "data":
			if !known {
				return format, 0, 0, damaged("the WAV file does not say its format before its sound")
			}
			return format, pos, size, nil
		}
		pos += size + size&1
	}
	return format, 0, 0, damaged("the WAV file has more than %d parts before its sound", most)
}

func wavFormatOf(s *source, at, size int64) (f wavFormat, err error) {
	data, err := s.read(make([]byte, min(size, 40)), at)
	if err != nil {
		return f, err
	}
	if len(data) < 16 {
		return f, damaged("the format of the WAV file is cut off")
	}
	le := binary.LittleEndian
	f = wavFormat{
		tag: int(le.Uint16(data)), channels: int(le.Uint16(data[2:])), rate: int64(le.Uint32(data[4:])),
		block: int(le.Uint16(data[12:])), bits: int(le.Uint16(data[14:])),
	}
	if f.tag == wavExtensible && len(data) >= 26 {
		f.tag = int(le.Uint16(data[24:]))
	}
	return f, nil
}

func (f wavFormat) check() error {
	if err := checkFormat(f.rate, int64(f.channels)); err != nil {
		return err
	}
	pcm := f.tag == wavPCM && (f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32)
	float := f.tag == wavFloat && (f.bits == 32 || f.bits == 64)
	switch {
	case !pcm && !float:
		return damaged("the WAV file is of kind %d with %d bits; plain samples of 8, 16, 24 and 32 bits and floats can be played", f.tag, f.bits)
	case f.block != f.channels*f.bits/8:
		return damaged("the WAV file has %d bytes for %d samples of %d bits", f.block, f.channels, f.bits)
	}
	return nil
}

type wavDecoder struct {
	in     *source
	format wavFormat
	left   int64
	buf    []byte
}

func (d *wavDecoder) decode(out []frame) (int, error) {
	want := int(min(int64(len(out)), d.left))
	if want == 0 {
		return 0, io.EOF
	}
	if size := want * d.format.block; len(d.buf) < size {
		d.buf = make([]byte, size)
	}
	data := d.buf[:want*d.format.block]
	if _, err := io.ReadFull(d.in, data); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = damaged("the file became shorter while it was played")
		}
		return 0, err
	}
	d.left -= int64(want)
	width, right := d.format.bits/8, 0
	if d.format.channels > 1 {
		right = width
	}
	for i := range want {
		one := data[i*d.format.block:]
		out[i] = frame{d.format.sample(one[:width]), d.format.sample(one[right : right+width])}
	}
	return want, nil
}

func (f wavFormat) sample(b []byte) float32 {
	le := binary.LittleEndian
	switch {
	case f.tag == wavFloat && f.bits == 32:
		return math.Float32frombits(le.Uint32(b))
	case f.tag == wavFloat:
		return float32(math.Float64frombits(le.Uint64(b)))
	case f.bits == 8:
		return (float32(b[0]) - 128) / 128
	case f.bits == 16:
		return float32(int16(le.Uint16(b))) / (1 << 15)
	case f.bits == 24:
		return float32(int32(b[0])<<8|int32(b[1])<<16|int32(b[2])<<24) / (1 << 31)
	}
	return float32(int32(le.Uint32(b))) / (1 << 31)
}
