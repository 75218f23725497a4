package music

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// playsOrFails decodes the beginning, and holds the decoder to what it says.
func playsOrFails(t *testing.T, data []byte, extension string) {
	t.Helper()
	s := &source{file: bytes.NewReader(data), size: int64(len(data)), check: func() error { return nil }}
	var snd *sound
	err := guarded(s, func() (err error) {
		snd, err = inspect(s, extension)
		return err
	})
	if err != nil {
		require.NotEmpty(t, CodeOf(err), "%v", err)
		return
	}
	require.True(t, snd.rate >= minRate && snd.rate <= maxRate)
	d, err := snd.open()
	buf, total := make([]frame, stepFrames), int64(0)
	for err == nil && total < 5*stepFrames {
		s.allow(stepAllowance)
		var n int
		n, err = d.decode(buf)
		require.True(t, n > 0 || err != nil, "neither sound nor an error")
		require.True(t, n == 0 || err == nil, "sound and an error")
		total += int64(n)
		for _, f := range buf[:n] {
			toInt16(float64(f[0]))
		}
	}
	require.True(t, snd.length == unknownLength || total <= snd.length, "%d samples of %d", total, snd.length)
	if err == io.EOF && snd.length != unknownLength {
		require.Equal(t, snd.length, total)
	} else if err != nil && err != io.EOF {
		require.NotEmpty(t, CodeOf(err), "%v", err)
	}
}

func FuzzDecode(f *testing.F) {
	entries, err := os.ReadDir("testdata")
	require.NoError(f, err)
	for _, entry := range entries {
		if !entry.IsDir() && !strings.HasSuffix(entry.Name(), ".md") {
			f.Add(fixture(f, entry.Name()), strings.HasSuffix(entry.Name(), ".mp3"))
		}
	}
	f.Add(ramp(8000, 20), false)
	f.Add(wavWith(part("LIST", []byte("odd")), part("fmt ", formatPart(wavFloat, 2, 48000, 64)), part("data", make([]byte, 64))), false)
	f.Fuzz(func(t *testing.T, data []byte, mp3 bool) {
		extension := ".wav"
		if mp3 {
			extension = ".mp3"
		}
		playsOrFails(t, data, extension)
	})
}

// Pages with a right checksum around any packets: a fuzzer does not find those by itself.
func FuzzVorbisPackets(f *testing.F) {
	for _, name := range []string{"mono.ogg", "stereo.ogg"} {
		r := newOggReader(bytes.NewReader(fixture(f, name)))
		var packets [][]byte
		for range 8 {
			data, _, err := r.packet()
			require.NoError(f, err)
			packets = append(packets, bytes.Clone(data))
		}
		f.Add(packets[0], packets[2], packets[3], packets[6], int64(1500))
	}
	f.Fuzz(func(t *testing.T, start, setup, first, second []byte, granule int64) {
		for _, packet := range [][]byte{start, setup, first, second} {
			if len(packet) > 254*255 {
				return
			}
		}
		file := oggPages([]byte{oggBegin, 0, 0, 0, 0, 0, oggEnd}, []int64{0, 0, 0, noGranule, granule - 9, granule, granule},
			start, noComment, setup, first, second, first, second)
		playsOrFails(t, file, ".ogg")
	})
}
