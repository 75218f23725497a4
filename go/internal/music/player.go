package music

import (
	"context"
	"io/fs"
	"sync"

	"github.com/hukilau/hukilau/go/internal/hostmods/musicmod"
)

// Options say where songs come from and where they go.
type Options struct {
	// Songs is the folder of the songs, as [Folder] makes it. Its files must be seekable. nil: there are none.
	Songs fs.FS
	// Output is where they sound. nil: nowhere, but in their time.
	Output Output
	// Clock is the time by which they play. nil: the real one.
	Clock Clock
}

// Player plays one song at a time. Any goroutine may use it; it must be closed.
//
// Between two looks at the clock nothing of it runs: each tenth of a second it decodes what is due.
type Player struct {
	options Options
	control lock // held by what changes which song plays, or how

	mu      sync.Mutex
	current *playback // nil: none
	volume  float64
	loop    bool
	failure string
	closed  bool
}

var _ musicmod.Player = (*Player)(nil)

// New makes a player, at full volume.
func New(o Options) *Player {
	if o.Output == nil {
		o.Output = null{}
	}
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	return &Player{options: o, control: newLock(), volume: 1}
}

// lock is a mutex that one can stop to wait for.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

func (l lock) take(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	default:
	}
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l lock) release() { <-l }

// Play implements musicmod.Player. It returns when the song is known to be playable and has begun.
func (p *Player) Play(ctx context.Context, song string, s musicmod.Settings) error {
	if p.options.Songs == nil {
		return fail(CodeNotFound, "there is no song %q: this program has no music folder", song)
	}
	if err := checkVolume(s); err != nil {
		return err
	}
	next, err := p.load(ctx, song)
	if err != nil {
		return err
	}
	if err := p.control.take(ctx); err != nil {
		_ = next.dispose()
		return err
	}
	defer p.control.release()
	return p.begin(ctx, next, s)
}

// begin puts a song in place of the one that plays. It holds control.
func (p *Player) begin(ctx context.Context, next *playback, s musicmod.Settings) error {
	if p.isClosed() {
		_ = next.dispose()
		return fail(CodeClosed, "the player is closed")
	}
	if err := p.end(ctx); err != nil {
		_ = next.dispose()
		return err
	}
	sink, err := p.options.Output.Open(next.song, Format{Rate: next.sound.rate})
	if err != nil {
		_ = next.dispose()
		return &Error{Code: CodeOutput, Message: "the output cannot be opened: " + plainCause(err), cause: err}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apply(s)
	p.failure = ""
	next.sink, next.ahead = sink, samplesIn(p.options.Output.Ahead(), next.sound.rate)
	next.anchor = p.options.Clock.Now()
	p.current = next
	p.schedule(next)
	return nil
}

func (p *Player) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// apply takes settings. It holds mu.
func (p *Player) apply(s musicmod.Settings) {
	if s.Volume != nil {
		p.volume = *s.Volume
	}
	if s.Loop != nil {
		p.loop = *s.Loop
	}
}

func checkVolume(s musicmod.Settings) error {
	if s.Volume != nil && !(*s.Volume >= 0 && *s.Volume <= 1) {
		return fail(CodeName, "a volume is a number from 0 to 1, not %v", *s.Volume)
	}
	return nil
}

// Pause implements musicmod.Player.
func (p *Player) Pause(ctx context.Context) (bool, error) {
	return p.change(ctx, func(b *playback) bool {
		if b.paused {
			return false
		}
		b.base = b.position(p.options.Clock.Now(), p.loop)
		b.paused = true
		b.unschedule()
		return true
	})
}

// Resume implements musicmod.Player.
func (p *Player) Resume(ctx context.Context) (bool, error) {
	return p.change(ctx, func(b *playback) bool {
		if !b.paused {
			return false
		}
		b.paused, b.anchor = false, p.options.Clock.Now()
		p.schedule(b)
		return true
	})
}

// Set implements musicmod.Player. What was handed to the output before stays as it is.
func (p *Player) Set(ctx context.Context, s musicmod.Settings) error {
	if err := checkVolume(s); err != nil {
		return err
	}
	if err := p.control.take(ctx); err != nil {
		return err
	}
	defer p.control.release()
	if err := p.catchUp(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apply(s)
	if b := p.current; b != nil && !b.paused && s.Loop != nil {
		b.unschedule()
		p.schedule(b) // its end may have become another
	}
	return nil
}

// change does something with the song that plays, when all that was due before has been handed out.
func (p *Player) change(ctx context.Context, do func(*playback) bool) (bool, error) {
	if err := p.control.take(ctx); err != nil {
		return false, err
	}
	defer p.control.release()
	if err := p.catchUp(ctx); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current != nil && do(p.current), nil
}

// Stop implements musicmod.Player.
func (p *Player) Stop(ctx context.Context) (bool, error) {
	if err := p.control.take(ctx); err != nil {
		return false, err
	}
	defer p.control.release()
	p.mu.Lock()
	was := p.current != nil
	p.mu.Unlock()
	return was, p.end(ctx)
}

// Close stops the song. Nothing of the player runs when it has returned.
func (p *Player) Close() error {
	ctx := context.Background()
	if err := p.control.take(ctx); err != nil {
		return err
	}
	defer p.control.release()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	return p.end(ctx)
}

// Status implements musicmod.Player.
func (p *Player) Status() musicmod.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := musicmod.Status{Volume: p.volume, Loop: p.loop, Error: p.failure}
	b := p.current
	if b == nil {
		return s
	}
	at := b.inSong(b.position(p.options.Clock.Now(), p.loop), p.loop)
	s.Song, s.Playing, s.Paused = b.song, !b.paused, b.paused
	s.Position, s.Duration = b.seconds(at), b.seconds(b.sound.length)
	return s
}
