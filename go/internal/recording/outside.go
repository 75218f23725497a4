package recording

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// clockEntry is what one call read from the clock.
type clockEntry struct {
	Call string `json:"call"`
	// Read are microseconds since the run began, of one reading after the other.
	Read readings `json:"read"`
}

func (c *clockEntry) check() error {
	if c.Call == "" {
		return errors.New("call is missing")
	}
	return nil
}

// maxReadings is how many readings of a call are kept. Whoever reads the clock more often waits for it to go on.
const maxReadings = 10_000

// readings are written as one text: a number on a line of its own says no more.
type readings []int64

// MarshalText implements encoding.TextMarshaler.
func (r readings) MarshalText() ([]byte, error) {
	var out []byte
	for i, n := range r {
		if i > 0 {
			out = append(out, ' ')
		}
		out = strconv.AppendInt(out, n, 10)
	}
	return out, nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *readings) UnmarshalText(text []byte) error {
	const longest = int64(100 * 365 * 24 * time.Hour / time.Microsecond)
	for word := range strings.FieldsSeq(string(text)) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n < 0 || n > longest || len(*r) == maxReadings {
			return errors.New("read must be at most 10000 numbers of microseconds")
		}
		*r = append(*r, n)
	}
	return nil
}

// Outside is what one call of the run in ctx sees of the world. Calls of the same tool with the same arguments are
// told apart by their order. It is nil where there is no run.
func (s *Session) Outside(ctx context.Context, tool string, args []byte) *hostmod.Outside {
	r := runOf(ctx)
	if r == nil {
		return nil
	}
	kept := s.cleanJSON(args)
	name := tool + " " + digest(kept)[:8]
	s.mu.Lock()
	defer s.mu.Unlock()
	r.calls[name]++
	name += " " + strconv.Itoa(r.calls[name])
	source := &source{numbers: rand.NewChaCha8(r.derived(name))}
	id := uuid.Must(uuid.NewRandomFromReader(source))
	c := &clock{run: r, name: name}
	if s.replaying {
		for _, e := range r.entry.Clocks {
			if e.Call == name {
				c.entry = e
			}
		}
	}
	return &hostmod.Outside{ID: id.String(), Random: source, Read: c.read}
}

// derived is the seed of one call.
func (r *Run) derived(name string) [32]byte {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(r.seed))))
	h.Write(r.seed)
	h.Write([]byte(name))
	return [32]byte(h.Sum(nil))
}

// source gives random bytes to many goroutines.
type source struct {
	mu      sync.Mutex
	numbers *rand.ChaCha8
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbers.Read(p)
}

// moved is a moment of this run as one of the recorded run.
func (r *Run) moved(actual time.Time) time.Time { return r.entry.Began.Add(actual.Sub(r.began)) }

// clock is the time of day as one call reads it.
type clock struct {
	run   *Run
	name  string
	entry *clockEntry // nil: none so far
	next  int         // of entry.Read, in a replay
	last  time.Time
}

func (c *clock) read(actual time.Time) time.Time {
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	now := c.run.moved(actual).Truncate(time.Microsecond)
	if s.replaying {
		return c.replayed(now)
	}
	if c.run.ended {
		return now
	}
	if c.entry == nil {
		c.entry = &clockEntry{Call: c.name}
		c.run.entry.Clocks = append(c.run.entry.Clocks, c.entry)
	}
	if len(c.entry.Read) < maxReadings {
		c.entry.Read = append(c.entry.Read, max(0, now.Sub(c.run.entry.Began).Microseconds()))
	}
	return now
}

// replayed is the next recorded reading. After the last one the clock goes on from there.
func (c *clock) replayed(now time.Time) time.Time {
	if c.entry != nil && c.next < len(c.entry.Read) {
		c.last = c.run.entry.Began.Add(time.Duration(c.entry.Read[c.next]) * time.Microsecond)
		c.next++
		return c.last
	}
	if now.Before(c.last) {
		return c.last
	}
	return now
}
