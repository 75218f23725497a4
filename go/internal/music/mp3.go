package music

import (
	"bufio"
	"encoding/binary"
	"io"

	"github.com/hajimehoshi/go-mp3"
)

// Samples of one granule, and by how many the decoder is late.
const (
	mp3Granule      = 576
	mp3DecoderDelay = 529
)

// mp3Header is the head of a frame as one number.
type mp3Header uint32

// validHeader says whether b begins with the head of a frame of layer 3.
func validHeader(b []byte) bool {
	return len(b) >= 4 && mp3Header(binary.BigEndian.Uint32(b)).valid()
}

// valid is for MPEG 1 and 2, layer 3, with a fixed rate of bits.
func (h mp3Header) valid() bool {
	version, layer, bitrate, rate := h>>19&3, h>>17&3, h>>12&15, h>>10&3
	return h>>21 == 0x7FF && version >= 2 && layer == 1 && bitrate != 0 && bitrate != 15 && rate != 3 && h&3 != 2
}

func (h mp3Header) low() bool { return h>>19&3 == 2 }

func (h mp3Header) mono() bool { return h>>6&3 == 3 }

func (h mp3Header) rate() int {
	rate := [3]int{44100, 48000, 32000}[h>>10&3]
	if h.low() {
		rate /= 2
	}
	return rate
}

// samples are those of a frame.
func (h mp3Header) samples() int64 {
	if h.low() {
		return mp3Granule
	}
	return 2 * mp3Granule
}

// size is that of the whole frame in bytes.
func (h mp3Header) size() int64 {
	kilobits := [15]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}[h>>12&15]
	factor := 144
	if h.low() {
		kilobits = [15]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}[h>>12&15]
		factor = 72
	}
	return int64(factor*kilobits*1000/h.rate()) + int64(h>>9&1)
}

// sideSize is how many bytes of side information follow the head.
func (h mp3Header) sideSize() int {
	switch {
	case h.low() && h.mono():
		return 9
	case h.low(), h.mono():
		return 17
	}
	return 32
}

// mp3Plan is which part of what is decoded is the song.
type mp3Plan struct {
	begin int64 // where the first frame is
	rate  int
	skip  int64 // samples in front that are none of it
	count int64 // samples of it
}

// planMP3 walks over all frames, because only that tells how long the song is: the index that some files begin
// with is a claim.
func planMP3(s *source) (mp3Plan, error) {
	if err := s.seek(0); err != nil {
		return mp3Plan{}, err
	}
	var plan mp3Plan
	in := bufio.NewReaderSize(s, 64<<10)
	pos, total := int64(0), int64(0)
	var delay, padding int64
	for first := true; ; {
		s.allow(stepAllowance) // whatever is between frames, a walk over it ends with the run's context
		head, err := in.Peek(4)
		if err == io.EOF {
			break
		}
		if err != nil {
			return plan, err
		}
		h := mp3Header(binary.BigEndian.Uint32(head))
		if !h.valid() || first && !followed(in, h) {
			if _, err := in.Discard(1); err != nil {
				return plan, err
			}
			pos++
			continue
		}
		size := h.size()
		if pos+size > s.size {
			break
		}
		if first {
			first = false
			plan.begin, plan.rate = pos, h.rate()
			index, before, after, err := encoderNote(in, h)
			if err != nil {
				return plan, err
			}
			if index {
				plan.skip, delay, padding = h.samples(), before, after
			}
		}
		total += h.samples()
		if _, err := in.Discard(int(size)); err != nil {
			return plan, err
		}
		pos += size
	}
	plan.count = total - plan.skip
	if delay+padding > 0 && delay+padding < plan.count {
		plan.count -= delay + padding
		plan.skip += delay + mp3DecoderDelay
		plan.count = min(plan.count, total-plan.skip)
	}
	return plan, nil
}

// followed says whether another frame comes after this one, or the end. Where sound begins is not known, and four
// bytes look like a head by chance.
func followed(in *bufio.Reader, h mp3Header) bool {
	size := int(h.size())
	bytes, err := in.Peek(size + 4)
	return err == io.EOF && len(bytes) >= size || err == nil && validHeader(bytes[size:])
}

// encoderNote reads the first frame: whether it is no sound but an index, and how many samples the encoder
// says that it added before and after the song.
func encoderNote(in *bufio.Reader, h mp3Header) (index bool, before, after int64, err error) {
	frame, err := in.Peek(int(h.size()))
	if err != nil {
		return false, 0, 0, err
	}
	at := 4 + h.sideSize()
	if at+8 > len(frame) || string(frame[at:at+4]) != "Xing" && string(frame[at:at+4]) != "Info" {
		return false, 0, 0, nil
	}
	flags := binary.BigEndian.Uint32(frame[at+4:])
	at += 8
	for bit, size := range []int{4, 4, 100, 4} {
		if flags>>bit&1 == 1 {
			at += size
		}
	}
	const note = 24 // up to the two counts, in three bytes
	if at+note > len(frame) {
		return true, 0, 0, nil
	}
	b := frame[at+note-3:]
	return true, int64(b[0])<<4 | int64(b[1])>>4, int64(b[1]&15)<<8 | int64(b[2]), nil
}

func inspectMP3(s *source) (*sound, error) {
	plan, err := planMP3(s)
	if err != nil {
		return nil, err
	}
	if plan.count <= 0 {
		return nil, damaged("there is no MP3 sound in it (MPEG 1 and 2, layer 3)")
	}
	return &sound{rate: plan.rate, length: plan.count, open: func() (decoder, error) { return openMP3(s, plan) }}, nil
}

type mp3Decoder struct {
	in         *source
	mp3        *mp3.Decoder
	skip, left int64
	buf        []byte
}

func openMP3(s *source, plan mp3Plan) (d decoder, err error) {
	err = guarded(s, func() error {
		s.allow(headAllowance)
		if err := s.seek(plan.begin); err != nil {
			return err
		}
		m, err := mp3.NewDecoder(readerOnly{bufio.NewReader(s)})
		d = &mp3Decoder{in: s, mp3: m, skip: plan.skip, left: plan.count}
		return broken(noEOF(err))
	})
	return d, err
}

func (d *mp3Decoder) decode(out []frame) (n int, err error) {
	err = guarded(d.in, func() error {
		for d.skip > 0 {
			dropped, err := d.read(int(min(d.skip, int64(len(out)))))
			if err != nil {
				return err
			}
			d.skip -= int64(dropped)
		}
		if d.left == 0 {
			return io.EOF
		}
		var err error
		if n, err = d.read(int(min(d.left, int64(len(out))))); err != nil {
			return err
		}
		d.left -= int64(n)
		le := binary.LittleEndian
		for i := range n {
			out[i] = frame{float32(int16(le.Uint16(d.buf[4*i:]))) / (1 << 15), float32(int16(le.Uint16(d.buf[4*i+2:]))) / (1 << 15)}
		}
		return nil
	})
	return n, err
}

// read gives so many samples, fewer where a frame ends.
func (d *mp3Decoder) read(samples int) (int, error) {
	if len(d.buf) < 4*samples {
		d.buf = make([]byte, 4*samples)
	}
	n, err := d.mp3.Read(d.buf[:4*samples])
	if n == 0 && err == io.EOF {
		return 0, damaged("it ends %d samples before its last frame", d.left)
	}
	if n > 0 {
		return n / 4, nil
	}
	return 0, broken(err)
}
