package music

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/hostmods/builtin"
	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/musicmod"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/libs"
)

// run runs a script in a VM of its own and gives what it prints.
func run(ctx context.Context, t *testing.T, source string, modules ...hostmod.Module) (string, error) {
	t.Helper()
	resolver, err := module.New(module.Options{Embedded: libs.FS})
	require.NoError(t, err)
	client, err := httpmod.New(httpmod.Options{}) // haivivi is made of it too
	require.NoError(t, err)
	defer client.CloseIdle()
	var out bytes.Buffer
	vm, err := engine.New(&engine.Config{
		Modules: append(builtin.Modules(builtin.Parts{HTTP: httpmod.NewModule(client)}), modules...), Resolver: resolver,
		Output: func(text []byte) { out.Write(text) },
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, vm.Close()) }()
	err = vm.RunSource(ctx, "=test", source, engine.RunOptions{})
	return out.String(), err
}

// heard is what a script prints where there is a player.
func (s *stage) heard(source string) string {
	s.t.Helper()
	out, err := run(s.t.Context(), s.t, source, musicmod.New(s.Player))
	require.NoError(s.t, err)
	return out
}

const shown = `
local status = haivivi.music.status()
print(status.playing, status.paused, status.position, status.duration, status.song, status.volume, status.loop)
`

// The example of the specification, a piece in each run: the player belongs to the program.
func TestASongGoesOnBetweenRuns(t *testing.T) {
	s := newStage(t, songs(map[string][]byte{"song_123.mp3": fixture(t, "stereo.mp3")}), nil)
	haivivi := "local haivivi = require('haivivi')\n"
	require.Equal(t, "true\tfalse\t0\t1.5\tsong_123\t0.8\tfalse\n", s.heard(haivivi+`
		haivivi.music.play("song_123", {
			volume = 0.8,
			loop = false
		})`+shown))
	s.clock.Advance(250 * time.Millisecond)
	require.Equal(t, "true\tfalse\t0.25\t1.5\tsong_123\t0.8\tfalse\n", s.heard(haivivi+shown))
	require.Equal(t, "false\ttrue\t0.25\t1.5\tsong_123\t0.8\tfalse\n", s.heard(haivivi+"haivivi.music.pause()"+shown))
	s.clock.Advance(time.Hour)
	require.Equal(t, "true\tfalse\t0.25\t1.5\tsong_123\t0.8\tfalse\n", s.heard(haivivi+"haivivi.music.resume()"+shown))
	s.clock.Advance(time.Second)
	require.Equal(t, "true\tfalse\t1.25\t1.5\tsong_123\t0.5\ttrue\n", s.heard(haivivi+"haivivi.music.volume(0.5) haivivi.music.loop(true)"+shown))
	s.clock.Advance(500 * time.Millisecond)
	require.Equal(t, "true\tfalse\t0.25\t1.5\tsong_123\t0.5\ttrue\n", s.heard(haivivi+shown))
	require.Equal(t, "false\tfalse\t0\t0\tnil\t0.5\ttrue\n", s.heard(haivivi+"haivivi.music.stop()"+shown))
	require.Equal(t, "false\tfalse\tfalse\n", s.heard(haivivi+"local m = haivivi.music print(m.stop(), m.pause(), m.resume())"))
}

func TestErrorsInScripts(t *testing.T) {
	s := newStage(t, songs(map[string][]byte{"bad.ogg": []byte("x"), "two.wav": {1}, "two.mp3": {1}}), nil)
	require.Equal(t, `not_found	music.play: there is no song "none": no file of that name with .wav, .mp3, .flac or .ogg in the music folder
invalid_argument	music.play: "../two" is no name of a song: it leads elsewhere, or to a hidden file
invalid_audio	music.play: song "bad": it is not WAV, MP3, FLAC or Ogg Vorbis, whatever its name says
ambiguous	music.play: there are several songs "two": give one of two.wav or two.mp3
invalid_argument	music.play: argument 2: volume must be a number from 0 to 1
`, s.heard(`
		local music = require("haivivi/music")
		for _, case in { { "none" }, { "../two" }, { "bad" }, { "two" }, { "two", { volume = 2 } } } do
			local ok, err = pcall(music.play, case[1], case[2])
			assert(not ok)
			print(err.code, err.message)
		end`))
}

// A script that plays goes on with other tasks meanwhile, and where it cannot wait, it plays all the same.
func TestPlayingInTasksAndComparators(t *testing.T) {
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 16_000)}), nil)
	require.Equal(t, "a\t2\n", s.heard(`
		local music, async = require("haivivi").music, require("async")
		async.all({ function() music.play("a") end, function() music.volume(0.3) end })
		table.sort({ 1, 2 }, function(a, b) music.play("a") return a < b end)
		print(music.status().song, music.status().duration)`))
}

// Without a player the SDK is there but for music, which says what is missing when it is read.
func TestTheSDKWithoutAPlayer(t *testing.T) {
	out, err := run(t.Context(), t, `
		local haivivi = require("haivivi")
		assert(haivivi.context.create and rawget(haivivi, "music") == nil and haivivi.other == nil)
		print(pcall(function() return haivivi.music end))
		print(pcall(require, "haivivi/music"))
		for name in package.loaded do assert(not string.find(name, "music"), name) end`)
	require.NoError(t, err)
	require.Contains(t, out, `false	test:4: haivivi.music: this host has no module "music"`)
	require.Contains(t, out, `require("haivivi/music"): this host has no module "music"`)
}

// Reading about a song ends with the run's time.
func TestARunThatEndsWhileASongIsRead(t *testing.T) {
	f := &large{head: []byte("ID3\x04\x00\x00\x00\x00\x00\x01."), size: 1 << 40}
	p := New(Options{Songs: f.folder("x.mp3")})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := run(ctx, t, `pcall(require("haivivi").music.play, "x") error("not reached")`, musicmod.New(p))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, p.Close())
}
