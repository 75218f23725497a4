package httpmod

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// maxStreams is how many streams a script may have open at once. Each holds a connection and one of
// the client's slots.
const maxStreams = 128

// Sizes of one read.
const (
	defaultRead = 32 << 10
	maxRead     = 1 << 20
)

// streams are the open streams of one VM's run by number. Numbers are not used twice, so that a
// stale one never reaches the stream of somebody else. Work away from the VM's goroutine uses it too.
type streams struct {
	mu      sync.Mutex
	open    map[int]*scriptStream
	last    int
	opening int // requests that will become streams
	run     int // counts runs: what an earlier one still opens is closed
}

type scriptStream struct {
	*Stream
	busy bool // somebody reads
}

// reserve keeps a place for a stream; the number is that of the run.
func (s *streams) reserve() (run int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open)+s.opening >= maxStreams {
		return 0, false
	}
	s.opening++
	return s.run, true
}

// settle turns a reservation into a stream, or gives it up when there is none.
func (s *streams) settle(run int, stream *Stream) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run != s.run {
		if stream != nil {
			stream.Close()
		}
		return 0
	}
	s.opening--
	if stream == nil {
		return 0
	}
	if s.open == nil {
		s.open = map[int]*scriptStream{}
	}
	s.last++
	s.open[s.last] = &scriptStream{Stream: stream}
	return s.last
}

// use finds a stream for one reader at a time.
func (s *streams) use(id int) (*scriptStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream := s.open[id]
	switch {
	case stream == nil:
		return nil, &luau.Error{Code: CodeArgument, Message: "http.read: there is no open stream " + strconv.Itoa(id)}
	case stream.busy:
		return nil, &luau.Error{Code: luau.CodeBusy, Message: "http.read: another task is reading this stream"}
	}
	stream.busy = true
	return stream, nil
}

// leave ends use; a stream that is over is closed.
func (s *streams) leave(id int, stream *scriptStream, over bool) {
	s.mu.Lock()
	stream.busy = false
	if over && s.open[id] == stream {
		delete(s.open, id)
	}
	s.mu.Unlock()
	if over {
		stream.Close()
	}
}

func (s *streams) close(id int) {
	s.mu.Lock()
	stream := s.open[id]
	delete(s.open, id)
	s.mu.Unlock()
	if stream != nil {
		stream.Close()
	}
}

func (s *streams) closeAll() {
	s.mu.Lock()
	open := s.open
	s.open, s.opening = nil, 0
	s.run++
	s.mu.Unlock()
	for _, stream := range open {
		stream.Close()
	}
}

// open: (options: HttpRequest) -> HttpStream
func (i *instance) open(c *luau.Call) error {
	r, err := i.requestArgument(c)
	if err != nil {
		return err
	}
	if r.MaxBody == 0 {
		r.MaxBody = -1 // what is read in pieces need not end
	}
	run, ok := i.streams.reserve()
	if !ok {
		return &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf(
			"http.open: more than %d streams are open; read them to their end or close them", maxStreams)}
	}
	begun := false
	err = i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		begun = true
		stream, err := i.client.Open(ctx, r)
		id := i.streams.settle(run, stream)
		if err != nil {
			return nil, err
		}
		table := head(stream.Status, stream.Header, stream.URL)
		table["id"] = id
		return []any{table}, nil
	})
	if err != nil && !begun { // an error here means that nothing goes on elsewhere
		i.streams.settle(run, nil)
	}
	return err
}

// read: (id: number, most: number?) -> string?
func (i *instance) read(c *luau.Call) error {
	id, err := c.Int(0)
	if err != nil {
		return err
	}
	most, err := c.IntOpt(1, defaultRead)
	if err != nil {
		return err
	}
	if most < 1 {
		return c.Argument(1, "must be a number of bytes above 0")
	}
	stream, err := i.streams.use(id)
	if err != nil {
		return err
	}
	begun := false
	err = i.vm.Await(c, func(context.Context) ([]any, error) {
		begun = true
		chunk, err := i.chunk(stream, min(most, maxRead))
		over := err != nil
		i.streams.leave(id, stream, over)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if over {
			return []any{nil}, nil
		}
		return []any{chunk}, nil
	})
	if err != nil && !begun {
		i.streams.leave(id, stream, false)
	}
	return err
}

// chunk reads at least one byte. A last piece and the end may come in one Read; the end is told next.
func (i *instance) chunk(stream *scriptStream, most int) (string, error) {
	memory := vmMemory{i.vm}
	if err := memory.Charge(int64(most)); err != nil {
		return "", err
	}
	defer memory.Uncharge(int64(most))
	buf := make([]byte, most)
	for {
		n, err := stream.Read(buf)
		if n > 0 {
			return string(buf[:n]), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// close: (id: number) -> ()
func (i *instance) close(c *luau.Call) error {
	id, err := c.Int(0)
	if err == nil {
		i.streams.close(id)
	}
	return err
}
