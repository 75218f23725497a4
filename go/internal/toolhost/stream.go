package toolhost

import (
	"context"
	"sync"
)

// stream carries pieces from who makes them to the script, one at a time: a slow script slows the maker down.
type stream struct {
	pieces chan []byte
	done   chan struct{} // closed when the maker has ended, after err is set
	err    error
	cancel context.CancelFunc
	once   sync.Once
}

func newStream() *stream {
	return &stream{pieces: make(chan []byte), done: make(chan struct{}), cancel: func() {}}
}

func (s *stream) send(ctx context.Context, piece []byte) error {
	select {
	case s.pieces <- piece:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *stream) end(err error) {
	s.err = err
	close(s.done)
}

// Next implements toolmod.Stream.
func (s *stream) Next(ctx context.Context) ([]byte, error) {
	select {
	case piece := <-s.pieces:
		return piece, nil
	case <-s.done:
		return nil, s.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close implements toolmod.Stream, and waits for the maker.
func (s *stream) Close() {
	s.once.Do(s.cancel)
	<-s.done
}
