package music

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeClock moves when it is told to. What is due runs in Advance, each call at its own time.
type fakeClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*fakeTimer
}

type fakeTimer struct {
	clock *fakeClock
	at    time.Time
	call  func()
}

func newFakeClock() *fakeClock { return &fakeClock{now: time.Unix(1_000_000, 0)} }

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) AfterFunc(d time.Duration, f func()) Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &fakeTimer{c, c.now.Add(d), f}
	c.timers = append(c.timers, t)
	return t
}

func (t *fakeTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.clock.drop(t)
}

func (c *fakeClock) drop(t *fakeTimer) bool {
	for i, other := range c.timers {
		if other == t {
			c.timers = append(c.timers[:i], c.timers[i+1:]...)
			return true
		}
	}
	return false
}

// next moves the clock to the first timer up to end, and takes it.
func (c *fakeClock) next(end time.Time) *fakeTimer {
	c.mu.Lock()
	defer c.mu.Unlock()
	sort.SliceStable(c.timers, func(i, j int) bool { return c.timers[i].at.Before(c.timers[j].at) })
	if len(c.timers) == 0 || c.timers[0].at.After(end) {
		c.now = end
		return nil
	}
	t := c.timers[0]
	c.drop(t)
	if t.at.After(c.now) {
		c.now = t.at
	}
	return t
}

func (c *fakeClock) Advance(d time.Duration) {
	end := c.Now().Add(d)
	for t := c.next(end); t != nil; t = c.next(end) {
		t.call()
	}
}

func (c *fakeClock) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// wavOf is a WAV file with these samples of each channel.
func wavOf(rate, channels int, samples ...int16) []byte {
	var b bytes.Buffer
	le := binary.LittleEndian
	size := uint32(2 * len(samples))
	b.WriteString("RIFF")
	_ = binary.Write(&b, le, 36+size)
	b.WriteString("WAVEfmt ")
	_ = binary.Write(&b, le, []uint32{16})
	_ = binary.Write(&b, le, []uint16{1, uint16(channels)})
	_ = binary.Write(&b, le, []uint32{uint32(rate), uint32(rate * channels * 2)})
	_ = binary.Write(&b, le, []uint16{uint16(channels * 2), 16})
	b.WriteString("data")
	_ = binary.Write(&b, le, size)
	_ = binary.Write(&b, le, samples)
	return b.Bytes()
}

// ramp is a mono WAV file whose samples count from 0.
func ramp(rate, samples int) []byte {
	list := make([]int16, samples)
	for i := range list {
		list[i] = int16(i)
	}
	return wavOf(rate, 1, list...)
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

// songs makes a folder of files in memory.
func songs(files map[string][]byte) fstest.MapFS {
	folder := fstest.MapFS{}
	for name, data := range files {
		folder[name] = &fstest.MapFile{Data: data}
	}
	return folder
}
