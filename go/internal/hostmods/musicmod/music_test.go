package musicmod_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/musicmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

// fake is a player that notes what it is told.
type fake struct {
	told   []any
	status musicmod.Status
	err    error
}

func (f *fake) Play(_ context.Context, song string, s musicmod.Settings) error {
	f.told = append(f.told, song)
	return errors.Join(f.Set(context.Background(), s), f.err)
}

func (f *fake) Set(_ context.Context, s musicmod.Settings) error {
	if s.Volume != nil {
		f.told = append(f.told, *s.Volume)
	}
	if s.Loop != nil {
		f.told = append(f.told, *s.Loop)
	}
	return nil
}

func (f *fake) Pause(context.Context) (bool, error)  { return f.say("pause") }
func (f *fake) Resume(context.Context) (bool, error) { return f.say("resume") }
func (f *fake) Stop(context.Context) (bool, error)   { return f.say("stop") }
func (f *fake) Status() musicmod.Status              { return f.status }

func (f *fake) say(what string) (bool, error) {
	f.told = append(f.told, what)
	return what != "resume", f.err
}

func TestScriptsReachThePlayer(t *testing.T) {
	f := &fake{status: musicmod.Status{Song: "a", Playing: true, Position: 1.5, Duration: 3, Volume: 0.25, Loop: true, Error: "e"}}
	vm := modtest.New(t, musicmod.New(f), musicmod.Stub)
	out := vm.Run(t, `local n = __native
		n.music_play("song", {volume = 0.5, loop = false})
		n.music_play("plain") n.music_play("nil", nil)
		return n.music_pause(), n.music_resume(), n.music_stop(), n.music_volume(0), n.music_volume(), n.music_loop(true), n.music_loop(), n.music_status()`)
	require.Equal(t, []any{"song", 0.5, false, "plain", "nil", "pause", "resume", "stop", 0.0, true}, f.told)
	require.Equal(t, []any{true, false, true, 0.0, 0.25, true, true, map[string]any{
		"song": "a", "playing": true, "paused": false, "position": 1.5, "duration": 3.0, "volume": 0.25, "loop": true, "error": "e",
	}}, out)
	require.Contains(t, vm.Awaited, "music_play", "the VM does other work meanwhile")
	require.NotContains(t, vm.Awaited, "music_status")
	f.status = musicmod.Status{Volume: 1}
	require.Equal(t, []any{map[string]any{"playing": false, "paused": false, "position": 0.0, "duration": 0.0, "volume": 1.0, "loop": false}},
		vm.Run(t, "return __native.music_status()"))
}

func TestWrongArguments(t *testing.T) {
	f := &fake{}
	vm := modtest.New(t, musicmod.New(f), musicmod.Stub)
	for source, want := range map[string]string{
		`music_play()`:                        "music_play: argument 1 must be a string, got no value",
		`music_play("a", 1)`:                  "music_play: argument 2 must be a table",
		`music_play("a", {volum = 1})`:        "music_play: argument 2: there is no option volum; there are volume and loop",
		`music_play("a", {volume = 1.01})`:    "music_play: argument 2: volume must be a number from 0 to 1",
		`music_play("a", {volume = "1"})`:     "volume must be a number from 0 to 1",
		`music_play("a", {volume = 0/0})`:     "volume must be a number from 0 to 1",
		`music_play("a", {loop = 1})`:         "music_play: argument 2: loop must be a boolean",
		`music_volume(-1)`:                    "music_volume: argument 1 must be a number from 0 to 1",
		`music_volume(0/0)`:                   "must be a number from 0 to 1",
		`music_volume("loud")`:                "music_volume: argument 1 must be a number, got string",
		`music_loop("yes")`:                   "music_loop: argument 1 must be a boolean, got string",
		`music_play(string.rep("x", 3), nil)`: "",
	} {
		out := vm.Run(t, "local n = __native return pcall(function() n."+source+" end)")
		if want == "" {
			require.Equal(t, []any{true}, out, source)
			continue
		}
		e, failed := out[1].(map[string]any)
		require.True(t, failed, source)
		require.Equal(t, "invalid_argument", e["code"], source)
		require.Contains(t, e["message"], want, source)
	}
	require.Equal(t, []any{"xxx"}, f.told)
}

type coded struct{ error }

func (coded) ErrorCode() string { return "not_found" }

func TestErrorsOfThePlayerKeepTheirCode(t *testing.T) {
	f := &fake{err: coded{errors.New("there is no song")}}
	vm := modtest.New(t, musicmod.New(f), musicmod.Stub)
	for source, want := range map[string]string{
		`music_play("a")`: "music_play: there is no song", `music_stop()`: "music_stop: there is no song",
	} {
		out := vm.Run(t, "local n = __native return pcall(function() n."+source+" end)")
		require.Equal(t, map[string]any{"code": "not_found", "message": want}, out[1])
	}
}
