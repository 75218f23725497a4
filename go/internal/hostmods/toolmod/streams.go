package toolmod

import (
	"context"
	"strconv"
	"sync"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// errClosed is about what a script did not close itself: it kept an agent, or an iterator, for longer than the call.
var errClosed = &luau.Error{Code: "closed", Message: "this agent or stream is closed: it ends with the call that made it"}

// opening is a stream that is being opened, and then that stream. A run may end before it is there.
type opening struct {
	mu     sync.Mutex
	stream Stream
	closed bool
}

func (o *opening) opened(s Stream) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stream = s
	if o.closed {
		s.Close()
		return context.Canceled
	}
	return nil
}

func (o *opening) Next(ctx context.Context) ([]byte, error) {
	s, err := o.get()
	if err != nil {
		return nil, err
	}
	return s.Next(ctx)
}

func (o *opening) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed && o.stream != nil {
		o.stream.Close()
	}
	o.closed = true
}

func (o *opening) isClosed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed
}

func (o *opening) get() (Stream, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.stream == nil {
		return nil, errClosed
	}
	return o.stream, nil
}

// opened is the stream of argument 0.
func (i *instance) opened(c *luau.Call) (*opening, uint64, error) {
	text, err := c.Text(0)
	if err != nil {
		return nil, 0, err
	}
	id, err := strconv.ParseUint(text, 10, 64)
	if o, known := i.streams[id].(*opening); known && err == nil {
		return o, id, nil
	}
	return nil, 0, errClosed
}

// next: (id: string) -> string?
func (i *instance) next(c *luau.Call) error {
	o, _, err := i.opened(c)
	if err != nil {
		return err
	}
	return i.waiting(c, 1, func(ctx context.Context, _ Host, _ []string) ([]byte, error) { return o.Next(ctx) })
}

// close: (id: string) -> ()
func (i *instance) close(c *luau.Call) error {
	o, id, err := i.opened(c)
	if err != nil {
		return nil // it is closed already
	}
	delete(i.streams, id)
	o.Close()
	return nil
}

func (o *opening) agent() (Agent, error) {
	s, err := o.get()
	if err != nil {
		return nil, err
	}
	a, ok := s.(Agent)
	if !ok {
		return nil, &luau.Error{Code: luau.CodeArgument, Message: "this is no agent"}
	}
	return a, nil
}

// input: (id: string, message: string) -> ()
func (i *instance) input(c *luau.Call) error {
	o, _, err := i.opened(c)
	if err != nil {
		return err
	}
	a, err := o.agent()
	if err != nil {
		return err
	}
	return i.waiting(c, 2, func(ctx context.Context, _ Host, args []string) ([]byte, error) {
		return nil, a.Input(ctx, []byte(args[1]))
	})
}

// needs_input: (id: string) -> boolean
func (i *instance) needsInput(c *luau.Call) error {
	o, _, err := i.opened(c)
	if err != nil {
		return err
	}
	a, err := o.agent()
	if err != nil {
		return err
	}
	return c.Return(a.NeedsInput())
}
