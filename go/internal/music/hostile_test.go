package music

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/musicmod"
)

// oggPages wraps packets, each in a page of its own.
func oggPages(flags []byte, granules []int64, packets ...[]byte) []byte {
	var file []byte
	for i, packet := range packets {
		page := append([]byte("OggS\x00"), flags[min(i, len(flags)-1)])
		page = binary.LittleEndian.AppendUint64(page, uint64(granules[min(i, len(granules)-1)]))
		page = append(page, 7, 0, 0, 0, byte(i), 0, 0, 0, 0, 0, 0, 0)
		segments := len(packet)/255 + 1
		page = append(page, byte(segments))
		for range segments - 1 {
			page = append(page, 255)
		}
		page = append(page, byte(len(packet)%255))
		page = append(page, packet...)
		binary.LittleEndian.PutUint32(page[22:], oggSum(page))
		file = append(file, page...)
	}
	return file
}

// vorbisStart is a first header.
func vorbisStart(channels byte, rate uint32, blocks byte) []byte {
	b := append([]byte("\x01vorbis\x00\x00\x00\x00"), channels)
	b = binary.LittleEndian.AppendUint32(b, rate)
	return append(append(b, make([]byte, 12)...), blocks, 1)
}

// bitWriter packs numbers as Vorbis does.
type bitWriter struct {
	data []byte
	n    int
}

func (w *bitWriter) put(value uint64, bits int) *bitWriter {
	for i := range bits {
		if w.n%8 == 0 {
			w.data = append(w.data, 0)
		}
		w.data[w.n/8] |= byte(value>>i&1) << (w.n % 8)
		w.n++
	}
	return w
}

func setupWith(books int, fill func(*bitWriter)) []byte {
	w := &bitWriter{}
	w.put(uint64(books-1), 8)
	fill(w)
	return append([]byte("\x05vorbis"), w.data...)
}

// vorbisWith is an Ogg file with a first and a third header.
func vorbisWith(start, setup []byte) []byte {
	comments := []byte("\x03vorbis\x00\x00\x00\x00\xff\xff\xff\xff\x01") // four thousand million of them
	return oggPages([]byte{oggBegin, 0}, []int64{0}, start, comments, setup, []byte{0, 0})
}

func TestHostileFilesAreErrors(t *testing.T) {
	start := vorbisStart(2, 44100, 0xB8)
	flac := fixture(t, "mono.flac")
	at := func(data []byte, place int, value byte) []byte {
		data = bytes.Clone(data)
		data[place] = value
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":                    {nil, "the file is empty"},
		"one byte":                 {[]byte("R"), "is not WAV, MP3, FLAC or Ogg Vorbis"},
		"text":                     {[]byte(strings.Repeat("this is a text. ", 100)), "is not WAV, MP3, FLAC or Ogg Vorbis"},
		"tag alone":                {[]byte("ID3\x04\x00\x00\x00\x00\x00\x05.....")[:14], "nothing but an ID3 tag"},
		"tag of 256 MB":            {append([]byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f"), make([]byte, 100)...), "nothing but an ID3 tag"},
		"tag without size":         {append([]byte("ID3\x04\x00\x00\xff\xff\xff\xff"), make([]byte, 100)...), "the size of its ID3 tag is none"},
		"tags without end":         {bytes.Repeat([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), 1000), "more than 32 ID3 tags"},
		"wav: nothing":             {[]byte("RIFF\x00\x00\x00\x00WAVE"), "has no sound in it"},
		"wav: chunk of 4 GB":       {wavWith([]byte("LIST\xff\xff\xff\xff")), "has no sound in it"},
		"wav: negative chunk":      {wavWith([]byte("LIST\x00\x00\x00\x80")), "has no sound in it"},
		"wav: empty chunks":        {wavWith(bytes.Repeat([]byte("LIST\x00\x00\x00\x00"), 20_000)), "more than 10000 parts"},
		"wav: short format":        {wavWith(part("fmt ", make([]byte, 10)), part("data", make([]byte, 10))), "format of the WAV file is cut off"},
		"wav: data first":          {wavWith(part("data", make([]byte, 10))), "does not say its format"},
		"wav: no samples":          {wavOf(8000, 1), "there is no sound in it"},
		"wav: block of 0":          {wavWith(part("fmt ", at(formatPart(1, 1, 8000, 16), 12, 0)), part("data", make([]byte, 10))), "0 bytes for 1 samples"},
		"wav: 0 channels":          {wavWith(part("fmt ", formatPart(1, 0, 8000, 16)), part("data", make([]byte, 10))), "it has 0 channels"},
		"wav: 65535 channels":      {wavWith(part("fmt ", formatPart(1, 65535, 8000, 16)), part("data", make([]byte, 10))), "it has 65535 channels"},
		"wav: 4 GHz":               {wavWith(part("fmt ", formatPart(1, 1, 0xFFFFFFFF, 16)), part("data", make([]byte, 10))), "it has 4294967295 samples a second"},
		"wav: 0 Hz":                {wavWith(part("fmt ", formatPart(1, 1, 0, 16)), part("data", make([]byte, 10))), "it has 0 samples a second"},
		"wav: compressed":          {wavWith(part("fmt ", formatPart(2, 1, 8000, 4)), part("data", make([]byte, 10))), "of kind 2 with 4 bits"},
		"mp3: one frame too short": {fixture(t, "low.mp3")[:50], "there is no MP3 sound"},
		"flac: cut in its head":    {flac[:20], "damaged or cut off"},
		"flac: no rate":            {at(at(at(flac, 18, 0), 19, 0), 20, flac[20]&15), "invalid sample rate"},
		"ogg: cut in its head":     {fixture(t, "mono.ogg")[:100], "damaged or cut off"},
		"ogg: damaged":             {at(fixture(t, "mono.ogg"), 70, 99), "a page of the Ogg file is damaged"},
		"ogg: page of nothing":     {[]byte("OggS\x00\x02" + strings.Repeat("\x00", 21)), "damaged"},
		"ogg: other":               {oggPages([]byte{oggBegin}, []int64{0}, []byte("OpusHead"+strings.Repeat("x", 30))), "holds no Vorbis sound"},
		"ogg: endless packet":      {endlessPacket(), "longer than 4194304 bytes"},
		"vorbis: no channels":      {vorbisWith(vorbisStart(0, 44100, 0xB8), nil), "it has 0 channels"},
		"vorbis: 255 channels":     {vorbisWith(vorbisStart(255, 44100, 0xB8), nil), "it has 255 channels"},
		"vorbis: 4 GHz":            {vorbisWith(vorbisStart(2, 0xFFFFFFFF, 0xB8), nil), "samples a second"},
		"vorbis: block sizes":      {vorbisWith(vorbisStart(2, 44100, 0xF0), nil), "its blocks have 2^0 and 2^15 samples"},
		"vorbis: no third header":  {vorbisWith(start, []byte("\x05vorbit")), "third header is none"},
		"vorbis: no entries": {vorbisWith(start, setupWith(1, func(w *bitWriter) {
			w.put(0x564342, 24).put(1, 16).put(0, 24).put(0, 64)
		})), "one of its tables is damaged"},
		"vorbis: 16 million entries": {vorbisWith(start, setupWith(1, func(w *bitWriter) {
			w.put(0x564342, 24).put(1, 16).put(1<<24-1, 24).put(0, 64)
		})), "one of its tables is damaged"},
		"vorbis: no dimension": {vorbisWith(start, setupWith(1, func(w *bitWriter) {
			w.put(0x564342, 24).put(0, 16).put(2, 24).put(0, 2).put(0, 10).put(0, 64)
		})), "one of its tables is damaged"},
		"vorbis: code without end": {vorbisWith(start, setupWith(1, func(w *bitWriter) {
			w.put(0x564342, 24).put(1, 16).put(2, 24).put(0, 2).put(1, 5).put(1, 5).put(0, 64) // 00, 01, and nothing behind 1
		})), "a code without an end"},
		"vorbis: too many values": {vorbisWith(start, setupWith(1, func(w *bitWriter) {
			w.put(0x564342, 24).put(65535, 16).put(16384, 24).put(1, 1).put(13, 5).put(16384, 15).put(2, 4).put(0, 64).put(0, 64)
		})), "its tables are too large"},
		"vorbis: first kind of floor": {vorbisWith(start, setupWith(1, func(w *bitWriter) {
			smallBook(w).put(0, 6).put(0, 16).put(0, 6).put(0, 16).put(0, 64)
		})), "a floor of a kind"},
		"vorbis: residue that ends before it begins": {vorbisWith(start, setupWith(1, func(w *bitWriter) {
			smallBook(w).put(0, 6).put(0, 16).put(0, 6).put(1, 16).put(0, 5)
			w.put(0, 3).put(0, 2).put(0, 8).put(0, 2).put(4, 4) // its floor has a class and nothing else
			w.put(0, 6).put(1, 16).put(9, 24).put(8, 24).put(0, 64)
		})), "its third header is damaged"},
		"vorbis: tables cut off": {vorbisWith(start, setupWith(256, func(w *bitWriter) {
			w.put(0x564342, 24).put(1, 16).put(2, 24).put(0, 2).put(0, 10).put(0, 4)
		})), "one of its tables is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			err := playable(songs(map[string][]byte{"x.wav": c.data}), "x")
			if strings.HasPrefix(name, "mp3") {
				err = playable(songs(map[string][]byte{"x.mp3": c.data}), "x")
			}
			require.Error(t, err)
			require.Contains(t, err.Error(), c.want)
			require.Contains(t, err.Error(), `song "x": `)
			require.Equal(t, CodeAudio, CodeOf(err))
		})
	}
}

// smallBook is a table with two codes of one bit.
func smallBook(w *bitWriter) *bitWriter {
	return w.put(0x564342, 24).put(1, 16).put(2, 24).put(0, 2).put(0, 10).put(0, 4)
}

// endlessPacket goes on over more pages than anybody wants.
func endlessPacket() []byte {
	page := append([]byte("OggS\x00\x00"), make([]byte, 21)...)
	page[26] = 255
	page = append(page, bytes.Repeat([]byte{255}, 255)...)
	page = append(page, make([]byte, 255*255)...)
	binary.LittleEndian.PutUint32(page[22:], oggSum(page))
	start := oggPages([]byte{oggBegin}, []int64{0}, vorbisStart(2, 44100, 0xB8))
	file := start
	binary.LittleEndian.PutUint32(page[14:], 7)
	binary.LittleEndian.PutUint32(page[22:], 0)
	binary.LittleEndian.PutUint32(page[22:], oggSum(page))
	for range 100 {
		file = append(file, page...)
	}
	return file
}

// What is cut off plays up to there, and then says so.
func TestTruncatedSongs(t *testing.T) {
	for name, want := range map[string]string{
		"mono.flac": "cut off", "stereo24.flac": "cut off", "stereo.mp3": "", "plain.mp3": "", "stereo.ogg": "",
	} {
		data := fixture(t, name)
		for _, part := range []int{2, 3, 4} {
			out := &recorder{}
			s := newStage(t, songs(map[string][]byte{name: data[:len(data)*(part-1)/part]}), out)
			err := s.Play(t.Context(), name, musicmod.Settings{})
			if err != nil {
				require.Equal(t, CodeAudio, CodeOf(err), "%s: %v", name, err)
				continue
			}
			s.clock.Advance(time.Minute)
			status := s.Status()
			require.Empty(t, status.Song)
			if want == "" {
				require.Empty(t, status.Error, name)
			} else {
				require.Contains(t, status.Error, want, name)
			}
			require.NotEmpty(t, out.only(t).left(), name)
		}
	}
}

// large is a file of any size that begins with head and goes on with one byte.
type large struct {
	head []byte
	fill byte
	size int64
	at   int64
	read int64
	bad  int64 // from where it cannot be read; 0: nowhere
}

func (f *large) Open(string) (fs.File, error) { return f, nil }

func (f *large) Stat() (fs.FileInfo, error) { return largeInfo{size: f.size}, nil }

func (f *large) Read(p []byte) (int, error) {
	n := int(min(int64(len(p)), f.size-f.at))
	if f.bad > 0 && f.at+int64(n) > f.bad {
		return 0, &fs.PathError{Op: "read", Path: "/some/where/x.wav", Err: syscall.EIO}
	}
	if n == 0 {
		return 0, io.EOF
	}
	for i := range p[:n] {
		p[i] = f.fill
		if at := f.at + int64(i); at < int64(len(f.head)) {
			p[i] = f.head[at]
		}
	}
	f.at += int64(n)
	f.read += int64(n)
	return n, nil
}

func (f *large) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart {
		return 0, errors.ErrUnsupported
	}
	f.at = offset
	return offset, nil
}

func (*large) Close() error { return nil }

type largeInfo struct {
	fs.FileInfo
	size int64
}

func (i largeInfo) Size() int64 { return i.size }

func (largeInfo) Mode() fs.FileMode { return 0o644 }

func (largeInfo) IsDir() bool { return false }

func (f *large) folder(name string) fs.FS { return largeFolder{name, f} }

type largeFolder struct {
	name string
	file *large
}

func (l largeFolder) Open(name string) (fs.File, error) {
	if name != l.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return l.file, nil
}

// A file of many GB is played without being read as a whole.
func TestAVeryLargeSong(t *testing.T) {
	f := &large{head: wavWith(part("fmt ", formatPart(1, 2, 48000, 16)), []byte("data\xf0\xff\xff\xff")), size: 5 << 30}
	clock := newFakeClock()
	p := New(Options{Songs: f.folder("x.wav"), Clock: clock})
	require.NoError(t, p.Play(t.Context(), "x", musicmod.Settings{}))
	clock.Advance(time.Second)
	require.Equal(t, 1.0, p.Status().Position)
	require.InDelta(t, 22369.6, p.Status().Duration, 0.1)
	require.Less(t, f.read, int64(1<<20))
	require.NoError(t, p.Close())
}

// A disk that fails and a file that is cut while it plays end the song, and say so without a path.
func TestFilesThatFailWhileTheyPlay(t *testing.T) {
	for want, spoil := range map[string]func(*large){
		`song "x": the file cannot be read: input/output error`: func(f *large) { f.bad = 50_000 },
		`song "x": the file became shorter while it was played`: func(f *large) { f.size = 50_000 },
	} {
		f := &large{head: wavWith(part("fmt ", formatPart(wavPCM, 1, 8000, 16)), []byte("data\x00\x00\x10\x00")), size: 5 << 20}
		clock := newFakeClock()
		p := New(Options{Songs: f.folder("x.wav"), Clock: clock})
		require.NoError(t, p.Play(t.Context(), "x", musicmod.Settings{}))
		clock.Advance(time.Second)
		require.True(t, p.Status().Playing)
		spoil(f)
		clock.Advance(time.Minute)
		require.Equal(t, musicmod.Status{Volume: 1, Error: want}, p.Status())
		require.Zero(t, clock.waiting())
		require.NoError(t, p.Close())
	}
}

// Where no sound is found, the search ends: with the run in which it is made, or after a part of the file.
func TestSearchesEnd(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	f := &large{head: []byte("ID3\x04\x00\x00\x00\x00\x00\x01."), size: 1 << 40}
	p := New(Options{Songs: f.folder("x.mp3")})
	require.ErrorIs(t, p.Play(ctx, "x", musicmod.Settings{}), context.DeadlineExceeded)
	require.NoError(t, p.Close())

	// A FLAC file that says how long it is, and then holds zeros.
	f = &large{head: fixture(t, "mono.flac")[:8000], size: 1 << 40}
	clock := newFakeClock()
	p = New(Options{Songs: f.folder("x.flac"), Clock: clock})
	if err := p.Play(t.Context(), "x", musicmod.Settings{}); err == nil {
		clock.Advance(time.Minute)
		require.Contains(t, p.Status().Error, `song "x": `)
	}
	require.Less(t, f.read, int64(64<<20))
	require.NoError(t, p.Close())
}

// The largest tables that are let through are made in a moment.
func TestLargeTables(t *testing.T) {
	books := vorbisMaxEntries / vorbisMaxBook
	setup := setupWith(books, func(w *bitWriter) {
		for range books {
			w.put(0x564342, 24).put(1, 16).put(vorbisMaxBook, 24).put(0, 2)
			for range vorbisMaxBook {
				w.put(13, 5)
			}
			w.put(0, 4)
		}
		w.put(0, 6).put(0, 16).put(0, 6).put(1, 16).put(0, 5).put(0, 13).put(0, 2).put(4, 4)
		w.put(0, 6).put(1, 16).put(0, 24).put(8, 24).put(0, 24).put(0, 6).put(0, 8).put(0, 64)
	})
	require.NoError(t, checkVorbisSetup(setup))
	require.ErrorContains(t, playable(songs(map[string][]byte{"x.ogg": vorbisWith(vorbisStart(2, 44100, 0xB8), setup)}), "x"), "decoding error")
}

// A decoder that panics is an error of its file.
func TestPanicsAreErrors(t *testing.T) {
	none := []int{}
	err := guarded(&source{}, func() error { return damaged("item %d", none[len(none)]) })
	require.Equal(t, CodeAudio, CodeOf(err))
	require.Contains(t, err.Error(), "it is damaged (")
}
