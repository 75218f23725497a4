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

// scriptStream is a stream with what came of a read whose reader did not wait for it.
type scriptStream struct {
	*Stream
	reader  *turn         // nil: nobody reads
	pending chan struct{} // closed when the read that is under way is over; nil: none is
	room    []byte        // what reads fill
	rest    []byte        // the part of room that nobody has had yet
	err     error         // what ended the body, once rest is had
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

// find gives an open stream.
func (s *streams) find(id int) (*scriptStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stream := s.open[id]; stream != nil {
		return stream, nil
	}
	return nil, &luau.Error{Code: CodeArgument, Message: "http.read: there is no open stream " + strconv.Itoa(id)}
}

// turn is one reader of a stream.
type turn struct {
	ctx   context.Context // set when began is closed
	began chan struct{}
	left  chan struct{}
}

// claim takes the stream for a reader, unless there is one.
func (s *streams) claim(stream *scriptStream) (t *turn, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t = &turn{began: make(chan struct{}), left: make(chan struct{})}
	if stream.reader == nil {
		stream.reader = t
		return t, true
	}
	return t, false
}

// queue takes the stream when the reader that it has is one whose task was cancelled: that one is about to
// leave, and the task may be reading again already. Two that wait for bytes are a mistake.
func (s *streams) queue(stream *scriptStream, t *turn) error {
	for {
		s.mu.Lock()
		before := stream.reader
		if before == nil {
			stream.reader = t
		}
		s.mu.Unlock()
		if before == nil {
			return nil
		}
		select {
		case <-before.began:
			if before.ctx.Err() == nil {
				return &luau.Error{Code: luau.CodeBusy, Message: "stream:read: another task is reading this stream"}
			}
		case <-before.left:
		}
		<-before.left
	}
}

// leave ends a turn; a stream that is over is closed.
func (s *streams) leave(id int, stream *scriptStream, over bool) {
	s.mu.Lock()
	close(stream.reader.left)
	stream.reader = nil
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
	if !ok { // some may be garbage by now
		i.vm.Collect()
		run, ok = i.streams.reserve()
	}
	if !ok {
		return &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf(
			"http.stream: more than %d streams are open; read them to their end or close them", maxStreams)}
	}
	begun := false
	err = i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		begun = true
		// A stream outlives the wait for it, and the task: others may have it by then.
		stream, err := i.client.Open(ctx, i.vm.Context(), r)
		id := i.streams.settle(run, stream)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil { // nobody waits any more
			i.streams.close(id)
			return nil, asError(ctx, context.Cause(ctx))
		}
		table := head(stream.Status, stream.Header, stream.URL)
		table["id"], table["is_open"] = id, i.guard(id)
		return []any{table}, nil
	})
	if err != nil && !begun { // an error here means that nothing goes on elsewhere
		i.streams.settle(run, nil)
	}
	return err
}

// guard is a function in the table of a stream. When the table is garbage nobody can read the stream any
// more, which then closes: tables of Luau have no finalizer, but it is known when a function is collected.
func (i *instance) guard(id int) luau.Func {
	return luau.Func{
		Name: "http.is_open",
		Do: func(c *luau.Call) error {
			_, err := i.streams.find(id)
			return c.Return(err == nil)
		},
		Gone: func() { i.streams.close(id) },
	}
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
	stream, err := i.streams.find(id)
	if err != nil {
		return err
	}
	t, first := i.streams.claim(stream)
	begun := false
	err = i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		begun = true
		t.ctx = ctx
		close(t.began)
		if !first {
			if err := i.streams.queue(stream, t); err != nil {
				return nil, err
			}
		}
		chunk, err := stream.next(ctx, min(most, maxRead))
		over := err != nil && ctx.Err() == nil
		i.streams.leave(id, stream, over)
		if err == io.EOF {
			return []any{nil}, nil
		}
		return []any{chunk}, err
	})
	if err != nil && !begun && first { // an error here means that nothing goes on elsewhere
		i.streams.leave(id, stream, false)
	}
	return err
}

// next gives at least one byte. When ctx ends first, the read goes on, and what it brings is the next
// reader's: a script may stop waiting without losing bytes.
func (s *scriptStream) next(ctx context.Context, most int) (string, error) {
	if s.pending == nil && len(s.rest) == 0 && s.err == nil {
		if err := s.fill(most); err != nil {
			return "", err
		}
	}
	if s.pending != nil {
		select {
		case <-s.pending:
			s.pending = nil
		case <-ctx.Done():
			return "", asError(ctx, context.Cause(ctx))
		}
	}
	if len(s.rest) == 0 {
		return "", s.err
	}
	n := min(most, len(s.rest))
	chunk := string(s.rest[:n])
	s.rest = s.rest[n:]
	if len(s.rest) == 0 && cap(s.room) > defaultRead {
		s.account.uncharge(int64(cap(s.room)))
		s.room, s.rest = nil, nil
	}
	return chunk, nil
}

// fill begins a read.
func (s *scriptStream) fill(most int) error {
	if more := int64(most - cap(s.room)); more > 0 {
		if err := s.account.charge(more); err != nil {
			return err
		}
		s.room = make([]byte, most)
	}
	done := make(chan struct{})
	s.pending = done
	go func() {
		defer close(done)
		n := 0
		for n == 0 && s.err == nil {
			n, s.err = s.Read(s.room[:most])
		}
		s.rest = s.room[:n]
	}()
	return nil
}

// close: (id: number) -> ()
func (i *instance) close(c *luau.Call) error {
	id, err := c.Int(0)
	if err == nil {
		i.streams.close(id)
	}
	return err
}
