package music

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/musicmod"
)

func TestAWAVFileHoldsWhatWasToBeHeard(t *testing.T) {
	folder := t.TempDir()
	out := WAVFiles(func(song string) (File, error) { return os.Create(filepath.Join(folder, song+"-out.wav")) })
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 40_000)}), out)
	s.play("a", musicmod.Settings{})
	s.clock.Advance(1230 * time.Millisecond)
	require.True(t, s.do(s.Pause))
	s.clock.Advance(time.Hour)
	require.True(t, s.do(s.Resume))
	s.clock.Advance(20 * time.Millisecond)
	require.True(t, s.do(s.Stop))
	data, err := os.ReadFile(filepath.Join(folder, "a-out.wav"))
	require.NoError(t, err)
	rate, length, frames, err := decoded(data, ".wav")
	require.NoError(t, err)
	require.Equal(t, 8000, rate)
	require.EqualValues(t, 10_000, length, "a second and a quarter")
	require.Len(t, data, wavHeadSize+10_000*frameBytes)
	want := make([]frame, len(frames))
	for i := range want {
		want[i] = frame{float32(i) / (1 << 15), float32(i) / (1 << 15)}
	}
	require.Equal(t, want, frames)
}

func TestAWAVFileHasALimit(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "a.wav"))
	require.NoError(t, err)
	w := &wavFile{file: file, size: wavLargest - 8}
	require.NoError(t, w.Write(make([]byte, 8)))
	require.ErrorContains(t, w.Write(make([]byte, 4)), "no more than")
	require.NoError(t, w.Close())
}

// program is a player command: what it reads goes to a pipe.
type program struct {
	*io.PipeWriter
	mu     sync.Mutex
	killed bool
}

func (p *program) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	_ = p.CloseWithError(errors.New("killed"))
}

func (p *program) wasKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// reading starts programs whose input is read at once.
func reading(o CommandOptions) (out Output, heard func() []byte, last func() *program) {
	var got []byte
	var p *program
	done := make(chan struct{})
	o.Start = func(string, Format) (Program, error) {
		r, w := io.Pipe()
		p = &program{PipeWriter: w}
		go func() {
			defer close(done)
			got, _ = io.ReadAll(r)
		}()
		return p, nil
	}
	return Command(o), func() []byte { <-done; return got }, func() *program { return p }
}

func TestACommandGetsSoundAheadOfItsTime(t *testing.T) {
	out, heard, last := reading(CommandOptions{})
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 16_000)}), out)
	s.play("a", musicmod.Settings{})
	s.clock.Advance(time.Second)
	require.Equal(t, 1.0, s.at())
	require.EqualValues(t, 9600, s.current.delivered, "200 ms ahead")
	s.clock.Advance(999 * time.Millisecond)
	require.True(t, s.Status().Playing)
	s.clock.Advance(time.Millisecond)
	require.Empty(t, s.Status().Song)
	require.Len(t, heard(), 16_000*frameBytes, "samples alone")
	require.False(t, last().wasKilled(), "it may play what it has")
}

func TestACommandThatFindsTheFormatInItsInput(t *testing.T) {
	out, heard, last := reading(CommandOptions{WAV: true, Ahead: 50 * time.Millisecond})
	s := newStage(t, songs(map[string][]byte{"a.wav": ramp(8000, 16_000)}), out)
	s.play("a", musicmod.Settings{})
	s.clock.Advance(500 * time.Millisecond)
	require.True(t, s.do(s.Pause))
	s.clock.Advance(time.Hour)
	require.Equal(t, 0.5, s.at())
	require.True(t, s.do(s.Stop))
	rate, _, frames, err := decoded(heard(), ".wav")
	require.NoError(t, err)
	require.Equal(t, 8000, rate)
	require.Len(t, frames, 4400)
	require.True(t, last().wasKilled(), "a stop is heard at once")
}

// A command that does not read holds nobody up: not those who ask, and not those who stop it.
func TestACommandThatDoesNotRead(t *testing.T) {
	r, w := io.Pipe()
	defer func() { _ = r.Close() }()
	p := &program{PipeWriter: w}
	player := New(Options{
		Songs:  songs(map[string][]byte{"a.wav": ramp(8000, 16_000)}),
		Output: Command(CommandOptions{Start: func(string, Format) (Program, error) { return p, nil }}),
	})
	require.NoError(t, player.Play(t.Context(), "a", musicmod.Settings{}))
	begun := make([]byte, 4)
	_, err := io.ReadFull(r, begun) // the player is writing, and waits
	require.NoError(t, err)
	require.Zero(t, player.Status().Position, "nothing was taken")
	paused, err := player.Pause(t.Context())
	require.NoError(t, err)
	require.True(t, paused)
	stopped, err := player.Stop(t.Context())
	require.NoError(t, err)
	require.True(t, stopped)
	require.True(t, p.wasKilled())
	require.NoError(t, player.Close())
}

// By the real clock, from many sides at once.
func TestManyUseOnePlayer(t *testing.T) {
	player := New(Options{Songs: songs(map[string][]byte{"a.wav": ramp(8000, 400), "b.wav": ramp(48000, 96_000), "c.ogg": fixture(t, "mono.ogg")})})
	var users sync.WaitGroup
	for user := range 8 {
		users.Go(func() {
			ctx := t.Context()
			for i := range 50 {
				_ = player.Play(ctx, []string{"a", "b", "c"}[(user+i)%3], loop(i%2 == 0))
				_, _ = player.Pause(ctx)
				_ = player.Set(ctx, volume(0.5))
				_, _ = player.Resume(ctx)
				s := player.Status()
				if s.Position < 0 || s.Position > s.Duration {
					t.Errorf("position %v of %v", s.Position, s.Duration)
				}
				if i%10 == 9 {
					_, _ = player.Stop(ctx)
				}
			}
		})
	}
	users.Wait()
	require.Empty(t, player.Status().Error)
	require.NoError(t, player.Close())
}
