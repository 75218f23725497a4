package music

import (
	"io"
	"sync"
	"time"
)

// Program is a player command that runs, and its standard input.
type Program interface {
	io.Writer
	// Close says that no more sound comes: the program ends when it has played what it got. It does not wait
	// for that.
	Close() error
	// Kill ends the program, and with it a Write under way. It may come at any time and more than once.
	Kill()
}

// CommandOptions say how sound is handed to a command.
type CommandOptions struct {
	// Start starts the command for a song. It must be set.
	Start func(song string, f Format) (Program, error)
	// WAV puts the head of a WAV file in front, for a command that is to find the format in what it reads. Without
	// it the command gets samples alone and is told the format by Start.
	WAV bool
	// Ahead is how long before its time the command gets sound. 0: 200 ms.
	Ahead time.Duration
}

// Command is an output that starts a command for each song and writes to its standard input. A pause is
// silence there: nothing is written.
func Command(o CommandOptions) Output {
	if o.Ahead <= 0 {
		o.Ahead = 200 * time.Millisecond
	}
	return &command{o}
}

type command struct{ options CommandOptions }

func (c *command) Open(song string, f Format) (Sink, error) {
	program, err := c.options.Start(song, f)
	if err != nil {
		return nil, err
	}
	sink := &piped{program: program}
	if c.options.WAV {
		sink.head = wavHead(f, wavUnknown)
	}
	return sink, nil
}

func (c *command) Ahead() time.Duration { return c.options.Ahead }

type piped struct {
	program Program
	head    []byte // to be written first
	once    sync.Once
}

func (p *piped) Write(samples []byte) error {
	if p.head != nil {
		if _, err := p.program.Write(p.head); err != nil {
			return err
		}
		p.head = nil
	}
	_, err := p.program.Write(samples)
	return err
}

func (p *piped) Close() (err error) {
	p.once.Do(func() { err = p.program.Close() })
	return err
}

func (p *piped) Abort() { p.once.Do(p.program.Kill) }
