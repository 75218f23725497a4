package music

import (
	"io"

	"github.com/jfreymuth/vorbis"
)

// noComment is a header of comments without any: the decoder would make room for as many as the file claims.
var noComment = []byte("\x03vorbis\x00\x00\x00\x00\x00\x00\x00\x00\x01")

func inspectOgg(s *source) (*sound, error) {
	d, err := openVorbis(s, unknownLength)
	if err != nil {
		return nil, err
	}
	v := d.(*vorbisDecoder)
	snd := &sound{rate: v.vorbis.SampleRate(), length: unknownLength}
	s.allow(headAllowance)
	end, err := lastGranule(s, v.ogg.serial)
	if err != nil {
		return nil, err
	}
	if end != noGranule && end >= v.base {
		snd.length = end - v.base
	}
	snd.open = func() (decoder, error) { return openVorbis(s, snd.length) }
	return snd, nil
}

type vorbisDecoder struct {
	in       *source
	ogg      *oggReader
	vorbis   vorbis.Decoder
	channels int
	base     int64     // the position at which the stream begins
	left     int64     // until the end; negative where it is not known
	ready    []float32 // decoded samples of all channels
	room     []float32 // what ready lies in
	packet   []float32
}

func openVorbis(s *source, length int64) (decoder, error) {
	d := &vorbisDecoder{in: s, left: length}
	return d, guarded(s, func() error {
		s.allow(headAllowance)
		if err := s.seek(0); err != nil {
			return err
		}
		d.ogg = newOggReader(readerOnly{s})
		if err := d.headers(); err != nil {
			return broken(noEOF(err))
		}
		if err := d.firstPage(); err != io.EOF {
			return broken(err)
		}
		return nil
	})
}

// headers reads the three packets in front.
func (d *vorbisDecoder) headers() error {
	for i := range 3 {
		data, _, err := d.ogg.packet()
		if err != nil {
			return err
		}
		switch i {
		case 0:
			d.channels, err = checkVorbisStart(data)
		case 1:
			data = noComment
		case 2:
			err = checkVorbisSetup(data)
		}
		if err != nil {
			return err
		}
		if err := d.vorbis.ReadHeader(data); err != nil {
			return err
		}
	}
	d.packet = make([]float32, d.vorbis.BufferSize())
	return nil
}

// firstPage decodes all of the first page with sound, because its position at the end tells where the
// stream begins: before that is nothing to be heard, and some streams do not begin at 0.
func (d *vorbisDecoder) firstPage() error {
	for {
		end, err := d.more()
		if err != nil {
			return err
		}
		if !end {
			continue
		}
		have := int64(len(d.ready) / d.channels)
		switch at := d.ogg.page.granule; {
		case at == noGranule:
			continue
		case at > have:
			d.base = at - have
		case d.ogg.page.flags&oggEnd != 0:
			d.ready = d.ready[:max(0, at)*int64(d.channels)]
		default:
			d.ready = d.ready[(have-max(0, at))*int64(d.channels):]
		}
		return nil
	}
}

// more decodes one packet; end where no other one ends on its page.
func (d *vorbisDecoder) more() (end bool, err error) {
	data, end, err := d.ogg.packet()
	if err != nil {
		return false, err
	}
	if len(data) == 0 {
		return end, nil
	}
	out, err := d.vorbis.DecodeInto(data, d.packet)
	if err != nil {
		return false, err
	}
	if len(d.ready) == 0 {
		d.ready = d.room[:0]
	}
	d.ready = append(d.ready, out...)
	if cap(d.ready) > cap(d.room) {
		d.room = d.ready
	}
	return end, nil
}

func (d *vorbisDecoder) decode(out []frame) (n int, err error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	err = guarded(d.in, func() error {
		for len(d.ready) == 0 {
			if _, err := d.more(); err != nil {
				return d.ended(err)
			}
		}
		n = min(len(out), len(d.ready)/d.channels)
		if d.left > 0 {
			n = int(min(int64(n), d.left))
			d.left -= int64(n)
		}
		right := rightOf[d.channels]
		for i := range n {
			one := d.ready[i*d.channels:]
			out[i] = frame{one[0], one[right]}
		}
		d.ready = d.ready[n*d.channels:]
		return nil
	})
	return n, err
}

// ended says what the end of the packets means.
func (d *vorbisDecoder) ended(err error) error {
	if err == io.EOF && d.left > 0 {
		return damaged("it is cut off: %d samples less than it says", d.left)
	}
	return broken(err)
}

// rightOf is where the right channel in front is, by the number of channels; the left one is the first.
var rightOf = [maxChannels + 1]int{1: 0, 2: 1, 3: 2, 4: 1, 5: 2, 6: 2, 7: 2, 8: 2}
