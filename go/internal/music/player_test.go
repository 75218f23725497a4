package music

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/musicmod"
)

// stage is a player with a clock that stands still.
type stage struct {
	*Player
	clock *fakeClock
	t     *testing.T
}

func newStage(t *testing.T, folder fstest.MapFS, out Output) *stage {
	t.Helper()
	clock := newFakeClock()
	p := New(Options{Songs: folder, Output: out, Clock: clock})
	t.Cleanup(func() {
		require.NoError(t, p.Close())
		require.Zero(t, clock.waiting(), "no step is left")
	})
	return &stage{p, clock, t}
}

func (s *stage) play(song string, settings musicmod.Settings) {
	s.t.Helper()
	require.NoError(s.t, s.Play(s.t.Context(), song, settings))
}

func (s *stage) set(settings musicmod.Settings) {
	s.t.Helper()
	require.NoError(s.t, s.Set(s.t.Context(), settings))
}

func (s *stage) do(what func(context.Context) (bool, error)) bool {
	s.t.Helper()
	done, err := what(s.t.Context())
	require.NoError(s.t, err)
	return done
}

func (s *stage) at() float64 { return s.Status().Position }

func volume(v float64) musicmod.Settings { return musicmod.Settings{Volume: &v} }

func loop(on bool) musicmod.Settings { return musicmod.Settings{Loop: &on} }

func TestASongPlaysInItsTime(t *testing.T) {
	s := newStage(t, songs(map[string][]byte{"song_123.wav": ramp(8000, 20_001)}), nil)
	require.Equal(t, musicmod.Status{Volume: 1}, s.Status())
	s.play("song_123", volume(0.8))
	require.Equal(t, musicmod.Status{Song: "song_123", Playing: true, Duration: 20_001.0 / 8000, Volume: 0.8}, s.Status())
	s.clock.Advance(1500 * time.Millisecond)
	require.Equal(t, 1.5, s.at())
	s.clock.Advance(50*time.Millisecond + 124*time.Microsecond)
	require.Equal(t, 12400.0/8000, s.at(), "a sample that has not ended is not counted")
	s.clock.Advance(time.Microsecond)
	require.Equal(t, 12401.0/8000, s.at())
	s.clock.Advance(time.Hour)
	require.Equal(t, musicmod.Status{Volume: 0.8}, s.Status(), "it is over")
	require.Zero(t, s.clock.waiting())
}

func TestPauseResumeStop(t *testing.T) {
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 40_000)}), nil)
	require.False(t, s.do(s.Pause))
	require.False(t, s.do(s.Resume))
	require.False(t, s.do(s.Stop))
	s.play("a", musicmod.Settings{})
	s.clock.Advance(1234 * time.Millisecond)
	require.True(t, s.do(s.Pause))
	require.False(t, s.do(s.Pause), "it is paused already")
	s.clock.Advance(time.Hour)
	status := s.Status()
	require.Equal(t, 1.234, status.Position)
	require.False(t, status.Playing)
	require.True(t, status.Paused)
	require.Zero(t, s.clock.waiting(), "a paused player does nothing")
	require.True(t, s.do(s.Resume))
	require.False(t, s.do(s.Resume))
	s.clock.Advance(766 * time.Millisecond)
	require.Equal(t, 2.0, s.at())
	require.True(t, s.do(s.Stop))
	require.Equal(t, musicmod.Status{Volume: 1}, s.Status())
	require.Zero(t, s.clock.waiting())
}

func TestLoop(t *testing.T) {
	for name, samples := range map[string]int{"in memory": 4000, "from the file": 12_000} {
		t.Run(name, func(t *testing.T) {
			out := &recorder{}
			s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, samples)}), out)
			length := time.Duration(samples) * time.Second / 8000
			s.play("a", loop(true))
			s.clock.Advance(3*length + 100*time.Millisecond)
			require.Equal(t, 0.1, s.at())
			require.True(t, s.Status().Loop)
			s.set(loop(false))
			s.clock.Advance(length - 101*time.Millisecond)
			require.True(t, s.Status().Playing)
			s.clock.Advance(time.Millisecond)
			require.False(t, s.Status().Playing, "the round that played was the last")
			want := make([]int16, 4*samples)
			for i := range want {
				want[i] = int16(i % samples)
			}
			require.Equal(t, want, out.only(t).left())
		})
	}
}

func TestVolumeCountsFromWhereItWasSet(t *testing.T) {
	out := &recorder{}
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 9000)}), out)
	s.play("a", musicmod.Settings{})
	s.clock.Advance(530 * time.Millisecond)
	s.set(volume(0.5))
	s.clock.Advance(70 * time.Millisecond)
	s.set(volume(0))
	s.clock.Advance(time.Hour)
	heard := out.only(t).left()
	require.Len(t, heard, 9000)
	for i, v := range heard {
		switch {
		case i < 4240:
			require.EqualValues(t, i, v, "as recorded")
		case i < 4800:
			require.InDelta(t, float64(i)/2, float64(v), 0.5)
		default:
			require.Zero(t, v, "silent")
		}
	}
	for _, wrong := range []float64{-0.1, 1.1} {
		require.Equal(t, CodeName, CodeOf(s.Set(t.Context(), volume(wrong))))
	}
}

func TestPlayReplacesTheSongUnlessItFails(t *testing.T) {
	out := &recorder{}
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 40_000), "b.wav": ramp(16000, 40_000), "bad.wav": []byte("RIFF")}), out)
	s.play("a", loop(true))
	s.clock.Advance(time.Second)
	require.Equal(t, CodeAudio, CodeOf(s.Play(t.Context(), "bad", loop(false))))
	require.Equal(t, CodeNotFound, CodeOf(s.Play(t.Context(), "none", loop(false))))
	require.Equal(t, CodeName, CodeOf(s.Play(t.Context(), "a", volume(7))))
	s.clock.Advance(time.Second)
	status := s.Status()
	require.Equal(t, "a", status.Song)
	require.Equal(t, 2.0, status.Position)
	require.True(t, status.Loop, "the settings of a song that does not play count for nothing")
	s.play("b", musicmod.Settings{})
	require.Equal(t, musicmod.Status{Song: "b", Playing: true, Duration: 2.5, Volume: 1, Loop: true}, s.Status())
	s.clock.Advance(500 * time.Millisecond)
	require.Len(t, out.sinks, 2)
	require.Len(t, out.sinks[0].left(), 16_000)
	require.True(t, out.sinks[0].closed)
	require.Equal(t, 16000, out.sinks[1].format.Rate)
	require.Len(t, out.sinks[1].left(), 8000)
}

// Every format plays to its end, in rounds.
func TestEveryFormatPlays(t *testing.T) {
	for _, name := range []string{"stereo.mp3", "plain.mp3", "low.mp3", "mono.flac", "unsized.flac", "stereo24.flac", "stereo.ogg", "mono.ogg"} {
		t.Run(name, func(t *testing.T) {
			out := &recorder{}
			s := newStage(t, songs(map[string][]byte{name: fixture(t, name)}), out)
			_, length, frames, err := decoded(fixture(t, name), name[len(name)-4:])
			require.NoError(t, err)
			s.play(name, loop(true))
			s.clock.Advance(time.Duration(s.Status().Duration*float64(time.Second)) + time.Millisecond)
			s.set(loop(false))
			s.clock.Advance(time.Minute)
			require.Empty(t, s.Status().Error)
			want := make([]int16, 2*length)
			for i := range want {
				want[i] = toInt16(float64(frames[i%int(length)][0]))
			}
			require.True(t, slices.Equal(want, out.only(t).left()))
		})
	}
}

// recorder is an output that keeps what it gets.
type recorder struct {
	ahead time.Duration
	write func([]byte) error // nil: take it
	sinks []*recorded
}

type recorded struct {
	*recorder
	song            string
	format          Format
	data            bytes.Buffer
	mu              sync.Mutex
	closed, aborted bool
}

func (r *recorder) Open(song string, f Format) (Sink, error) {
	sink := &recorded{recorder: r, song: song, format: f}
	r.sinks = append(r.sinks, sink)
	return sink, nil
}

func (r *recorder) Ahead() time.Duration { return r.ahead }

func (r *recorder) only(t *testing.T) *recorded {
	t.Helper()
	require.Len(t, r.sinks, 1)
	return r.sinks[0]
}

func (r *recorded) Write(b []byte) error {
	if r.write != nil {
		if err := r.write(b); err != nil {
			return err
		}
	}
	_, err := r.data.Write(b)
	return err
}

func (r *recorded) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

func (r *recorded) Abort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aborted = true
}

// left are the samples of the left channel.
func (r *recorded) left() []int16 {
	data := r.data.Bytes()
	list := make([]int16, len(data)/frameBytes)
	for i := range list {
		list[i] = int16(binary.LittleEndian.Uint16(data[i*frameBytes:]))
	}
	return list
}

func TestAnOutputThatFailsEndsTheSong(t *testing.T) {
	calls := 0
	out := &recorder{write: func([]byte) error {
		if calls++; calls == 3 {
			return io.ErrClosedPipe
		}
		return nil
	}}
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 40_000)}), out)
	s.play("a", musicmod.Settings{})
	s.clock.Advance(time.Second)
	require.Equal(t, musicmod.Status{Volume: 1, Error: `song "a": the output takes no more sound: io: read/write on closed pipe`}, s.Status())
	require.True(t, out.only(t).aborted)
	require.True(t, out.only(t).closed)
	s.play("a", musicmod.Settings{})
	require.Empty(t, s.Status().Error)
	out.sinks = nil
}

func TestAnOutputThatCannotBeOpened(t *testing.T) {
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 40_000)}), WAVFiles(func(string) (File, error) {
		return nil, errors.New("no space")
	}))
	err := s.Play(t.Context(), "a", musicmod.Settings{})
	require.Equal(t, CodeOutput, CodeOf(err))
	require.Equal(t, musicmod.Status{Volume: 1}, s.Status())
}

func TestAClosedPlayerPlaysNoMore(t *testing.T) {
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 40_000)}), nil)
	s.play("a", musicmod.Settings{})
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.Equal(t, musicmod.Status{Volume: 1}, s.Status())
	require.Equal(t, CodeClosed, CodeOf(s.Play(t.Context(), "a", musicmod.Settings{})))
}

func TestARunThatIsOverEndsItsCall(t *testing.T) {
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 40_000)}), nil)
	s.play("a", musicmod.Settings{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Play(ctx, "a", musicmod.Settings{}), context.Canceled)
	require.NoError(t, s.control.take(t.Context()))
	_, err := s.Pause(ctx)
	require.ErrorIs(t, err, context.Canceled, "it does not wait for others")
	s.control.release()
	require.True(t, s.Status().Playing)
}

// A machine that stood still does not make the player run after what was missed.
func TestLongLagIsNotCaughtUp(t *testing.T) {
	out := &recorder{}
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(1000, 30_000)}), out)
	s.play("a", musicmod.Settings{})
	s.clock.Advance(time.Second)
	s.clock.mu.Lock()
	s.clock.now = s.clock.now.Add(10 * time.Second) // and no step
	s.clock.mu.Unlock()
	require.LessOrEqual(t, s.at(), 1.1)
	s.clock.Advance(time.Second)
	require.InDelta(t, 2.0, s.at(), 0.15)
	require.True(t, s.do(s.Stop))
}
