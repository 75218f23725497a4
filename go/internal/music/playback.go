package music

import (
	"context"
	"encoding/binary"
	"io"
	"io/fs"
	"math"
	"sync/atomic"
	"time"
)

// period is how often what is due is decoded.
const period = 100 * time.Millisecond

// stepFrames is how many samples are decoded at once.
const stepFrames = 4096

// longestLag is how far the output may be behind. What is more is time in which nothing was played: a machine
// that stood still, a command that did not read.
const longestLag = 5 * time.Second

// playback is one song that plays.
type playback struct {
	song  string
	sound *sound
	in    *source
	file  fs.File
	sink  Sink
	ahead int64 // samples
	gone  atomic.Bool

	pump   lock // held by what uses the following
	decode decoder
	frames [stepFrames]frame
	bytes  [stepFrames * frameBytes]byte
	closed bool

	// Under the player's mu.
	anchor    time.Time // when the song was at base
	base      int64     // in samples since the beginning, over all rounds
	paused    bool
	delivered int64 // what the output got, over all rounds
	timer     Timer
	turn      int // of the timer; a step of an earlier one sets no other
}

// load opens a song without playing it.
func (p *Player) load(ctx context.Context, song string) (*playback, error) {
	in, snd, file, err := open(p.options.Songs, song, ctx.Err)
	if err != nil {
		return nil, err
	}
	b := &playback{song: song, sound: snd, in: in, file: file, pump: newLock()}
	err = b.rewind()
	if err == nil && snd.length <= int64(snd.rate) {
		b.decode, err = inMemory(in, b.decode, snd.length)
	}
	if err != nil {
		_ = b.dispose()
		return nil, about(song, err)
	}
	in.check = func() error {
		if b.gone.Load() {
			return errStopped
		}
		return nil
	}
	return b, nil
}

// rewind goes to the beginning of the song.
func (b *playback) rewind() error {
	if m, ok := b.decode.(*memory); ok {
		m.at = 0
		return nil
	}
	return guarded(b.in, func() (err error) {
		b.decode, err = b.sound.open()
		return err
	})
}

// dispose closes what the song holds. It holds the pump.
func (b *playback) dispose() (err error) {
	if b.closed {
		return nil
	}
	b.closed = true
	if b.sink != nil {
		if err = b.sink.Close(); err != nil {
			err = &Error{Code: CodeOutput, Message: "the output cannot be closed: " + plainCause(err), cause: err}
		}
	}
	_ = b.file.Close()
	return err
}

// clock is where the song is by the clock, over all rounds.
func (b *playback) clock(now time.Time) int64 {
	if b.paused {
		return b.base
	}
	return b.base + samplesIn(max(0, now.Sub(b.anchor)), b.sound.rate)
}

// position is where the song is: not further than what the output got, or would have got by now if each
// step came at its time, and not beyond the end.
func (b *playback) position(now time.Time, loop bool) int64 {
	limit := b.delivered
	if b.ahead == 0 {
		limit += samplesIn(period, b.sound.rate)
	}
	if !loop {
		limit = min(limit, b.delivered+b.leftOf(b.delivered))
	}
	return min(b.clock(now), limit)
}

// inSong is the place in the song of a position over all rounds.
func (b *playback) inSong(at int64, loop bool) int64 {
	if rest := at % b.sound.length; rest > 0 || at == 0 || loop {
		return rest
	}
	return b.sound.length
}

func (b *playback) seconds(samples int64) float64 { return float64(samples) / float64(b.sound.rate) }

// schedule sets the time of the next step: after a period, or at the end if that comes first. It holds mu.
func (p *Player) schedule(b *playback) {
	wait := period
	if !p.loop {
		end := b.delivered + b.leftOf(b.delivered)
		wait = min(wait, timeOf(end-b.base, b.sound.rate)-p.options.Clock.Now().Sub(b.anchor))
	}
	b.turn++
	turn := b.turn
	b.timer = p.options.Clock.AfterFunc(max(0, wait), func() { p.tick(b, turn) })
}

// unschedule takes the next step back. It holds mu.
func (b *playback) unschedule() {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// tick is one step at its time.
func (p *Player) tick(b *playback, turn int) {
	_ = b.pump.take(context.Background())
	defer b.pump.release()
	p.step(b)
	p.mu.Lock()
	plays := p.current == b
	if plays && !b.paused && b.turn == turn {
		p.schedule(b)
	}
	p.mu.Unlock()
	if !plays {
		_ = b.dispose() // whoever ended it may not have waited for this step
	}
}

// step hands out what is due. It holds the pump.
func (p *Player) step(b *playback) {
	for {
		n, volume, over := p.due(b)
		if over {
			p.finish(b, nil)
			return
		}
		if n == 0 {
			return
		}
		got, err := b.next(int(n))
		if err == nil {
			err = b.write(got, volume)
		}
		if err != nil {
			p.finish(b, err)
			return
		}
		p.mu.Lock()
		b.delivered += int64(got)
		p.mu.Unlock()
	}
}

// due says how many samples are to be handed out at once now; over when the song has ended.
func (p *Player) due(b *playback) (n int64, volume float64, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != b {
		return 0, 0, false
	}
	now := p.options.Clock.Now()
	lag := b.clock(now) - b.delivered
	if lag > samplesIn(longestLag, b.sound.rate) {
		b.base, b.anchor, lag = b.delivered, now, 0
	}
	left := int64(math.MaxInt64)
	if !p.loop {
		left = b.leftOf(b.delivered)
	}
	if left == 0 {
		return 0, 0, lag >= 0
	}
	n = lag
	if !b.paused {
		n += b.ahead
	}
	return min(max(0, n), left, stepFrames), p.volume, false
}

// leftOf is how much of a round is left at a position; nothing at the end of one.
func (b *playback) leftOf(at int64) int64 {
	if at == 0 {
		return b.sound.length
	}
	return (b.sound.length - at%b.sound.length) % b.sound.length
}

// next decodes up to n samples, at least one, and begins anew at the end of a round.
func (b *playback) next(n int) (got int, err error) {
	for range 2 {
		b.in.allow(stepAllowance)
		got, err = b.decode.decode(b.frames[:n])
		if err != io.EOF {
			return got, err
		}
		if err = b.rewind(); err != nil {
			return 0, err
		}
	}
	return 0, damaged("there is no sound in it")
}

// finish ends the song by itself, or because of err. It holds the pump.
func (p *Player) finish(b *playback, err error) {
	if CodeOf(err) == CodeOutput {
		b.sink.Abort()
	}
	closed := b.dispose()
	if err == nil {
		err = closed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != b {
		return
	}
	p.current = nil
	b.unschedule()
	if err != nil {
		p.failure = about(b.song, err).Error()
	}
}

// catchUp hands out what is due now, where that is not done ahead of time.
func (p *Player) catchUp(ctx context.Context) error {
	p.mu.Lock()
	b := p.current
	p.mu.Unlock()
	if b == nil || b.ahead > 0 {
		return nil
	}
	if err := b.pump.take(ctx); err != nil {
		return err
	}
	defer b.pump.release()
	p.step(b)
	return nil
}

// end ends the song that plays. It holds control.
func (p *Player) end(ctx context.Context) error {
	if err := p.catchUp(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	b := p.current
	p.current = nil
	if b != nil {
		b.unschedule()
	}
	p.mu.Unlock()
	if b == nil {
		return nil
	}
	b.gone.Store(true)
	if b.ahead > 0 {
		b.sink.Abort() // what plays it has more than was to be heard
	}
	if err := b.pump.take(ctx); err != nil {
		return err
	}
	defer b.pump.release()
	return b.dispose()
}

// write hands samples to the output.
func (b *playback) write(n int, volume float64) error {
	for i, f := range b.frames[:n] {
		for channel, v := range f {
			binary.LittleEndian.PutUint16(b.bytes[i*frameBytes+2*channel:], uint16(toInt16(float64(v)*volume)))
		}
	}
	if err := b.sink.Write(b.bytes[:n*frameBytes]); err != nil {
		return &Error{Code: CodeOutput, Message: "the output takes no more sound: " + plainCause(err), cause: err}
	}
	return nil
}

func toInt16(v float64) int16 {
	scaled := math.RoundToEven(v * (1 << 15))
	switch {
	case scaled >= math.MaxInt16:
		return math.MaxInt16
	case scaled <= math.MinInt16:
		return math.MinInt16
	case scaled != scaled:
		return 0
	}
	return int16(scaled)
}
