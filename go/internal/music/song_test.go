package music

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/musicmod"
)

func TestFind(t *testing.T) {
	folder := songs(map[string][]byte{
		"song_123.mp3": {1}, "Loud.WAV": {1}, "two.wav": {1}, "two.ogg": {1}, "album/first.flac": {1},
		"caf\u00e9.ogg": {1}, "u\u0308ber.wav": {1}, "海.flac": {1}, "x.wav.mp3": {1}, "note.txt": {1},
		".hidden.wav": {1}, "album/.hidden.wav": {1}, "a b.mp3": {1},
	})
	folder["folder.wav"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
	for id, want := range map[string]string{
		"song_123": "song_123.mp3", "song_123.mp3": "song_123.mp3", "Loud": "Loud.WAV", "two.wav": "two.wav", "two.ogg": "two.ogg",
		"album/first": "album/first.flac", "cafe\u0301": "caf\u00e9.ogg", "\u00fcber": "u\u0308ber.wav", "海": "海.flac",
		"x.wav": "x.wav.mp3", "a b": "a b.mp3",
	} {
		name, err := find(folder, id)
		require.NoError(t, err, id)
		require.Equal(t, want, name)
	}
	for id, want := range map[string][2]string{
		"":                        {CodeName, "is empty"},
		"../two":                  {CodeName, "leads elsewhere"},
		"album/../two":            {CodeName, "leads elsewhere"},
		"/etc/passwd":             {CodeName, "leads elsewhere"},
		`..\two`:                  {CodeName, "leads elsewhere"},
		"./two":                   {CodeName, "leads elsewhere"},
		"album//first":            {CodeName, "leads elsewhere"},
		".":                       {CodeName, "leads elsewhere"},
		".hidden":                 {CodeName, "hidden"},
		"album/.hidden":           {CodeName, "hidden"},
		"a\x00b":                  {CodeName, "control character"},
		"a\nb":                    {CodeName, "control character"},
		"\xff":                    {CodeName, "not UTF-8"},
		strings.Repeat("x", 1025): {CodeName, "longer than 1024 bytes"},
		"none":                    {CodeNotFound, `there is no song "none": no file of that name with .wav, .mp3, .flac or .ogg in the music folder`},
		"none.wav":                {CodeNotFound, `there is no song "none.wav"`},
		"note.txt":                {CodeNotFound, "there is no song"},
		"note":                    {CodeNotFound, "there is no song"},
		"album":                   {CodeNotFound, "there is no song"},
		"song_123/x":              {CodeNotFound, "there is no song"},
		"two":                     {CodeAmbiguous, `there are several songs "two": give one of two.wav or two.ogg`},
		"folder":                  {CodeAudio, `"folder.wav" is no file but a folder`},
	} {
		_, err := find(folder, id)
		require.Equal(t, want[0], CodeOf(err), "%q: %v", id, err)
		require.Contains(t, err.Error(), want[1])
	}
}

// root is a folder on the disk with a song in it, and what lies outside of it.
func root(t *testing.T) (inside string, folder fs.FS) {
	t.Helper()
	base := t.TempDir()
	inside = filepath.Join(base, "music")
	require.NoError(t, os.Mkdir(inside, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(inside, "a.wav"), ramp(8000, 9000), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(base, "secret.wav"), ramp(8000, 9000), 0o644))
	r, err := os.OpenRoot(inside)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return inside, Folder(r)
}

func playable(folder fs.FS, song string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	p := New(Options{Songs: folder, Clock: newFakeClock()})
	return errors.Join(p.Play(ctx, song, musicmod.Settings{}), p.Close())
}

func TestLinksStayInTheFolder(t *testing.T) {
	inside, folder := root(t)
	require.NoError(t, os.Symlink("a.wav", filepath.Join(inside, "link.wav")))
	require.NoError(t, os.Symlink("../secret.wav", filepath.Join(inside, "out.wav")))
	require.NoError(t, os.Symlink(filepath.Dir(inside), filepath.Join(inside, "up")))
	require.NoError(t, os.Symlink("gone.wav", filepath.Join(inside, "dangling.wav")))
	require.NoError(t, os.Symlink("circle.wav", filepath.Join(inside, "circle.wav")))
	require.NoError(t, playable(folder, "a"))
	require.NoError(t, playable(folder, "link"))
	for song, want := range map[string]string{"out": CodeRefused, "up/secret": CodeRefused, "dangling": CodeNotFound, "circle": CodeIO} {
		err := playable(folder, song)
		require.Equal(t, want, CodeOf(err), "%s: %v", song, err)
		require.NotContains(t, err.Error(), filepath.Dir(inside), "no path of the machine")
	}
	require.ErrorContains(t, playable(folder, "out"), `song "out": a link leads out of the music folder`)
}

func TestOnlyFilesArePlayed(t *testing.T) {
	inside, folder := root(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(inside, "fifo.wav"), 0o644))
	require.ErrorContains(t, playable(folder, "fifo"), "is no file but a FIFO")
	// Also where it was put there after a look.
	f, err := folder.Open("fifo.wav")
	require.NoError(t, err, "it does not wait for a writer")
	_, _, err = examine(f, "fifo", ".wav", func() error { return nil })
	require.Equal(t, CodeAudio, CodeOf(err))
	require.NoError(t, f.Close())
	require.NoError(t, os.Mkdir(filepath.Join(inside, "folder.wav"), 0o755))
	require.ErrorContains(t, playable(folder, "folder"), "is no file but a folder")
	if os.Geteuid() != 0 {
		require.NoError(t, os.WriteFile(filepath.Join(inside, "closed.wav"), ramp(8000, 9), 0))
		require.Equal(t, CodeRefused, CodeOf(playable(folder, "closed")))
	}
}

func TestWithoutAFolderThereAreNoSongs(t *testing.T) {
	err := playable(nil, "a")
	require.Equal(t, CodeNotFound, CodeOf(err))
	require.ErrorContains(t, err, "this program has no music folder")
}
