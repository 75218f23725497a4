// Package musicmod lets scripts play music: __native.music_play and its kin. It knows scripts, not sound: the
// [Player], one for the whole program, decodes and plays. So a song goes on when the run that began it is over,
// and every script of the program sees and stops the same song.
package musicmod

import (
	"context"
	_ "embed"
	"errors"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed music.d.luau
var Stub string

// Settings change how a song sounds. What is nil stays as it is.
type Settings struct {
	Volume *float64 // 0 to 1
	Loop   *bool
}

// Status is what the player does.
type Status struct {
	Song     string // empty: none
	Playing  bool   // false while it is paused
	Paused   bool
	Position float64 // seconds
	Duration float64 // seconds
	Volume   float64
	Loop     bool
	Error    string // why the last song ended early; empty where it did not
}

// Player plays one song at a time. Any goroutine may use it; methods with a context return soon after that
// ends. Errors that have an ErrorCode keep it on their way to the script.
type Player interface {
	// Play begins a song in place of the one that plays, which goes on when this one cannot be played.
	Play(ctx context.Context, song string, s Settings) error
	// Pause, Resume and Stop say whether there was a song to do that with.
	Pause(ctx context.Context) (bool, error)
	Resume(ctx context.Context) (bool, error)
	Stop(ctx context.Context) (bool, error)
	// Set changes the settings of the player, now and for songs to come.
	Set(ctx context.Context, s Settings) error
	Status() Status
}

// Module is the module over one Player. Any goroutine may use it.
type Module struct{ player Player }

var _ hostmod.Module = (*Module)(nil)

// New makes the module. All scripts share p.
func New(p Player) *Module { return &Module{p} }

// Name implements hostmod.Module.
func (*Module) Name() string { return "music" }

// NewInstance implements hostmod.Module.
func (m *Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &instance{vm: vm, player: m.player}, nil
}

type instance struct {
	hostmod.Plain
	vm     hostmod.VM
	player Player
}

func (i *instance) Native() map[string]any {
	functions := map[string]any{"music_status": luau.Func{Name: "music_status", Do: i.status}}
	for name, do := range map[string]func(*luau.Call) error{
		"music_play": i.play, "music_pause": i.pause, "music_resume": i.resume, "music_stop": i.stop,
		"music_volume": i.volume, "music_loop": i.loop,
	} {
		functions[name] = luau.Func{Name: name, Do: do, MayWait: true}
	}
	return functions
}

// wait runs work on the player and names the function in its error.
func (i *instance) wait(c *luau.Call, work func(context.Context) (any, error)) error {
	name := c.Name()
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		result, err := work(ctx)
		switch {
		case err == nil && result == nil:
			return nil, nil
		case err == nil:
			return []any{result}, nil
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			return nil, err
		}
		return nil, &fault{name, err}
	})
}

// fault is an error of the player as scripts see it.
type fault struct {
	function string
	cause    error
}

func (f *fault) Error() string { return f.function + ": " + f.cause.Error() }

func (f *fault) Unwrap() error { return f.cause }

// play: (song: string, options: {volume: number?, loop: boolean?}?) -> ()
func (i *instance) play(c *luau.Call) error {
	song, err := c.Text(0)
	if err != nil {
		return err
	}
	options, err := hostmod.Options(c, 1, "volume", "loop")
	if err != nil {
		return err
	}
	var s Settings
	if given := options["volume"]; given != nil {
		volume, ok := given.(float64)
		if !ok || !isVolume(volume) {
			return c.Argument(1, ": volume must be a number from 0 to 1")
		}
		s.Volume = &volume
	}
	if given := options["loop"]; given != nil {
		loop, ok := given.(bool)
		if !ok {
			return c.Argument(1, ": loop must be a boolean")
		}
		s.Loop = &loop
	}
	return i.wait(c, func(ctx context.Context) (any, error) { return nil, i.player.Play(ctx, song, s) })
}

// isVolume is false also for what is no number.
func isVolume(v float64) bool { return v >= 0 && v <= 1 }

// pause: () -> boolean
func (i *instance) pause(c *luau.Call) error { return i.control(c, i.player.Pause) }

// resume: () -> boolean
func (i *instance) resume(c *luau.Call) error { return i.control(c, i.player.Resume) }

// stop: () -> boolean
func (i *instance) stop(c *luau.Call) error { return i.control(c, i.player.Stop) }

func (i *instance) control(c *luau.Call, do func(context.Context) (bool, error)) error {
	return i.wait(c, func(ctx context.Context) (any, error) { return do(ctx) })
}

// volume: (volume: number?) -> number
func (i *instance) volume(c *luau.Call) error {
	if c.IsNil(0) {
		return c.Return(i.player.Status().Volume)
	}
	volume, err := c.Number(0)
	if err != nil {
		return err
	}
	if !isVolume(volume) {
		return c.Argument(0, "must be a number from 0 to 1")
	}
	return i.wait(c, func(ctx context.Context) (any, error) {
		return volume, i.player.Set(ctx, Settings{Volume: &volume})
	})
}

// loop: (loop: boolean?) -> boolean
func (i *instance) loop(c *luau.Call) error {
	if c.IsNil(0) {
		return c.Return(i.player.Status().Loop)
	}
	loop, err := c.Bool(0)
	if err != nil {
		return err
	}
	return i.wait(c, func(ctx context.Context) (any, error) {
		return loop, i.player.Set(ctx, Settings{Loop: &loop})
	})
}

// status: () -> {playing: boolean, paused: boolean, position: number, duration: number, song: string?, ...}
func (i *instance) status(c *luau.Call) error {
	s := i.player.Status()
	table := map[string]any{
		"playing": s.Playing, "paused": s.Paused, "position": s.Position, "duration": s.Duration,
		"volume": s.Volume, "loop": s.Loop,
	}
	if s.Song != "" {
		table["song"] = s.Song
	}
	if s.Error != "" {
		table["error"] = s.Error
	}
	return c.Return(table)
}
