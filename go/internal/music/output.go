package music

import "time"

// Format is what an output gets: samples of 16 bits, signed, the lower byte first, left and right in turn.
// The rate is that of the song.
type Format struct {
	Rate int // samples a second, of each channel
}

// Channels is how many there are, whatever the song has.
const Channels = 2

// frameBytes is the size of one sample of all channels.
const frameBytes = 2 * Channels

// Output is where songs sound. Any goroutine may use it.
type Output interface {
	// Open begins a song.
	Open(song string, f Format) (Sink, error)
	// Ahead is how long before its time sound is handed over, for what plays it when it comes.
	Ahead() time.Duration
}

// Sink takes the sound of one song. Write and Close are called by one goroutine at a time.
type Sink interface {
	// Write takes samples in the song's Format.
	Write(samples []byte) error
	// Close ends the song. What was written is still to be heard.
	Close() error
	// Abort ends it at once, also a Write under way; any goroutine may call it. Close may follow.
	Abort()
}

// null is the output that nobody hears.
type null struct{}

func (null) Open(string, Format) (Sink, error) { return null{}, nil }

func (null) Ahead() time.Duration { return 0 }

func (null) Write([]byte) error { return nil }

func (null) Close() error { return nil }

func (null) Abort() {}
