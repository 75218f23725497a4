package upstream

import (
	"bufio"
	"io"
	"strings"
	"sync"
)

// tail keeps the last lines of a text.
type tail struct {
	mu    sync.Mutex
	lines []string
}

const (
	tailLines = 50
	tailLine  = 1 << 10 // bytes of one
)

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, strings.Clone(line))
}

func (t *tail) last(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.lines[max(0, len(t.lines)-n):]...)
}

// follow gives each line of a stream to take, until the stream ends. Longer ones are cut.
func follow(from io.Reader, take func(line string)) {
	in := bufio.NewReaderSize(from, tailLine)
	cut := false // the line has begun already
	for {
		part, err := in.ReadSlice('\n')
		if line := strings.TrimRight(string(part), "\r\n"); line != "" && !cut {
			take(line)
		}
		cut = err == bufio.ErrBufferFull
		if err != nil && !cut {
			return
		}
	}
}
