package music

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decoded is all sound of a file.
func decoded(data []byte, extension string) (rate int, length int64, frames []frame, err error) {
	s := &source{file: bytes.NewReader(data), size: int64(len(data)), check: func() error { return nil }}
	var snd *sound
	err = guarded(s, func() (err error) {
		if snd, err = inspect(s, extension); err == nil && snd.length == unknownLength {
			snd.length, err = measure(s, snd.open)
		}
		return err
	})
	if err != nil {
		return 0, 0, nil, err
	}
	var d decoder
	if d, err = snd.open(); err != nil {
		return 0, 0, nil, err
	}
	buf := make([]frame, stepFrames)
	for {
		s.allow(stepAllowance)
		n, err := d.decode(buf)
		if err == io.EOF {
			return snd.rate, snd.length, frames, nil
		}
		if err != nil {
			return snd.rate, snd.length, frames, err
		}
		frames = append(frames, buf[:n]...)
	}
}

// Each format gives the sine that went in, to the sample: no shift fits better than the right one.
func TestFixturesSoundAsTheyShould(t *testing.T) {
	for _, c := range []struct {
		name         string
		rate, length int
		right        float64 // Hz
		off          float64 // how much a sample may be wrong, on average
		shift        int     // samples in front that are no part of the sine
	}{
		{"stereo.mp3", 44100, 66150, 660, 0.03, 0},
		{"plain.mp3", 44100, 59 * 1152, 660, 0.03, 576 + 529}, // nothing says where it begins
		{"low.mp3", 16000, 24000, 440, 0.03, 0},
		{"mono.flac", 16000, 24000, 440, 0.0001, 0},
		{"stereo24.flac", 44100, 8000, 660, 0.0001, 0},
		{"unsized.flac", 16000, 24000, 440, 0.0001, 0},
		{"stereo.ogg", 44100, 66150, 660, 0.03, 0},
		{"mono.ogg", 16000, 24000, 440, 0.03, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			rate, length, frames, err := decoded(fixture(t, c.name), c.name[len(c.name)-4:])
			require.NoError(t, err)
			assert.Equal(t, c.rate, rate)
			assert.EqualValues(t, c.length, length)
			require.Len(t, frames, c.length, "the length is that of what is decoded")
			for channel, hertz := range []float64{440, c.right} {
				right := wrong(frames, channel, hertz, rate, c.shift)
				assert.Less(t, right, c.off)
				for _, shift := range []int{-2, -1, 1, 2} {
					assert.Less(t, right, wrong(frames, channel, hertz, rate, c.shift+shift), "channel %d, shift %d", channel, shift)
				}
			}
		})
	}
}

// wrong is how much samples differ from a sine that begins at shift.
func wrong(frames []frame, channel int, hertz float64, rate, shift int) (off float64) {
	const first, last = 2000, 7000
	for i := first; i < last; i++ {
		at := 2 * math.Pi * float64(i-shift) / float64(rate)
		off += math.Abs(float64(frames[i][channel]) - 0.5*math.Sin(hertz*at))
	}
	return off / (last - first)
}

// The content decides, not the name; tags in front of it are skipped without being read.
func TestWhatIsInAFileCounts(t *testing.T) {
	tag := func(size int) []byte {
		b := []byte{'I', 'D', '3', 4, 0, 0, byte(size >> 21 & 127), byte(size >> 14 & 127), byte(size >> 7 & 127), byte(size & 127)}
		return append(b, make([]byte, size)...)
	}
	for name, data := range map[string][]byte{
		"flac called wav":    fixture(t, "mono.flac"),
		"mp3 called wav":     fixture(t, "low.mp3"),
		"ogg with two tags":  append(append(tag(5), tag(300)...), fixture(t, "mono.ogg")...),
		"mp3 with large tag": append(tag(40<<20), fixture(t, "low.mp3")...),
	} {
		_, length, frames, err := decoded(data, ".wav")
		require.NoError(t, err, name)
		require.EqualValues(t, 24000, length, name)
		require.Len(t, frames, 24000, name)
	}
	_, length, frames, err := decoded(append(append([]byte("some bytes \xff\xfb\x90 of another kind"), fixture(t, "low.mp3")...), "TAG at the end"...), ".mp3")
	require.NoError(t, err)
	require.EqualValues(t, 24000, length)
	require.Len(t, frames, 24000)
}

// part is a chunk of a WAV file.
func part(name string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data)))
	b = append(b, data...)
	return append(b, make([]byte, len(data)%2)...)
}

func formatPart(tag, channels, rate, bits int) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(nil, uint16(tag))
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, 0) // bytes a second: nobody needs it
	b = le.AppendUint16(b, uint16(channels*bits/8))
	return le.AppendUint16(b, uint16(bits))
}

func wavWith(parts ...[]byte) []byte {
	return append([]byte("RIFF\xff\xff\xff\xffWAVE"), bytes.Join(parts, nil)...)
}

func TestKindsOfWAV(t *testing.T) {
	le := binary.LittleEndian
	float := math.Float32bits(-0.5)
	for _, c := range []struct {
		name   string
		format []byte
		data   []byte
		want   []frame
	}{
		{"8 bits", formatPart(wavPCM, 1, 8000, 8), []byte{0, 128, 192}, []frame{{-1, -1}, {0, 0}, {0.5, 0.5}}},
		{"16 bits", formatPart(wavPCM, 2, 8000, 16), []byte{0, 0x80, 0, 0x40}, []frame{{-1, 0.5}}},
		{"24 bits", formatPart(wavPCM, 1, 8000, 24), []byte{0, 0, 0xC0, 1, 0, 0}, []frame{{-0.5, -0.5}, {1.0 / (1 << 23), 1.0 / (1 << 23)}}},
		{"32 bits", formatPart(wavPCM, 1, 8000, 32), []byte{0, 0, 0, 0x20}, []frame{{0.25, 0.25}}},
		{"float", formatPart(wavFloat, 1, 8000, 32), le.AppendUint32(nil, float), []frame{{-0.5, -0.5}}},
		{"double", formatPart(wavFloat, 1, 8000, 64), le.AppendUint64(nil, math.Float64bits(0.75)), []frame{{0.75, 0.75}}},
		{"six channels", formatPart(wavPCM, 6, 8000, 8), []byte{0, 128, 1, 1, 1, 1}, []frame{{-1, 0}}},
		{"extensible", append(formatPart(wavExtensible, 1, 8000, 8), "\x16\x00\x08\x00\x04\x00\x00\x00\x01\x00\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"...), []byte{128}, []frame{{0, 0}}},
	} {
		_, length, frames, err := decoded(wavWith(part("LIST", []byte("odd")), part("fmt ", c.format), part("data", c.data), part("LIST", []byte("more"))), ".wav")
		require.NoError(t, err, c.name)
		require.EqualValues(t, len(c.want), length, c.name)
		require.Equal(t, c.want, frames, c.name)
	}
	whole := wavOf(8000, 1, 1, 2, 3)
	_, length, frames, err := decoded(whole[:len(whole)-3], ".wav")
	require.NoError(t, err)
	require.EqualValues(t, 1, length, "a file that was never finished has what is there")
	require.Len(t, frames, 1)
}

func TestTimesAreExact(t *testing.T) {
	for _, rate := range []int{8000, 11025, 44100, 48000, 96000, 767_999} {
		for _, n := range []int64{0, 1, 2, 3, 44099, 44100, 123456789} {
			require.Equal(t, n, samplesIn(timeOf(n, rate), rate), "%d at %d", n, rate)
			if n > 0 {
				require.Equal(t, n-1, samplesIn(timeOf(n, rate)-1, rate), "%d at %d", n, rate)
			}
		}
	}
}
