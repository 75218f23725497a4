package httpmod

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Response is a whole answer. It is plain data but for Release.
type Response struct {
	Status  int
	Proto   string      // "HTTP/1.1", "HTTP/2.0"
	Header  http.Header // canonical names, every value apart
	Body    []byte
	URL     string // of the hop that answered
	account *ledger
}

// Release gives the memory back to the account the request was charged to. Call it
// when Body has been copied or dropped; a second call does nothing.
func (r *Response) Release() {
	if r.account != nil {
		r.account.settle()
	}
}

// Stream is an answer whose body is still on its way. One goroutine may read while
// others call Close.
type Stream struct {
	Status int
	Proto  string
	Header http.Header
	URL    string

	client  *Client
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	idle    time.Duration
	late    atomic.Pointer[overdue] // what the timer says when it fires
	slot    bool
	account *ledger
	last    *hop
	resp    *http.Response
	body    io.Reader
	size    int64 // as declared; -1: unknown
	limit   int64 // negative: none
	once    sync.Once
}

func (s *Stream) startTimer(d time.Duration) {
	s.late.Store(noAnswerWithin(d))
	s.timer = time.AfterFunc(max(d, time.Hour), s.expire)
	s.timer.Stop()
	if d > 0 {
		s.timer.Reset(d)
	}
}

func (s *Stream) expire() { s.cancel(s.late.Load()) }

// goIdle ends the time for the whole request and starts that between reads.
func (s *Stream) goIdle(own, fallback time.Duration) {
	s.timer.Stop()
	s.idle = pick(own, fallback)
	s.late.Store(&overdue{"the server sent nothing for " + s.idle.String()})
}

// adopt takes over the final response: checks its size, charges what it holds
// and puts decoding and limits in front of its body.
func (s *Stream) adopt(resp *http.Response, last *hop, limit int64) error {
	s.resp, s.last, s.limit = resp, last, limit
	s.Status, s.Proto, s.Header, s.URL = resp.StatusCode, resp.Proto, resp.Header, last.url.String()
	context.AfterFunc(s.ctx, func() { s.Close() }) // so a stream nobody closes still ends with its run
	s.size = resp.ContentLength
	if resp.Body == http.NoBody {
		s.size = 0
	}
	most := limit
	if err := s.account.charge(headerSize(resp.Header)); err != nil {
		return err
	}
	const advice = "; raise max_body, or read it in pieces with http.stream"
	problem := fmt.Sprintf("the response body is over the limit of %d bytes", limit)
	over := &Error{Code: CodeLimit, Message: problem + advice}
	s.body = resp.Body
	if how := coding(resp.Header); how != "" && last.inflate && s.size != 0 {
		if err := s.account.charge(decoderMemory); err != nil {
			return err
		}
		s.Header.Del("Content-Encoding")
		s.Header.Del("Content-Length")
		s.size, most = -1, wireLimit(limit)
		s.body = newDecoder(how, &capped{src: resp.Body, limit: most, over: over})
	}
	if resp.Body != http.NoBody && limit >= 0 && resp.ContentLength > most {
		over.Message = fmt.Sprintf("%s: it has %d%s", problem, resp.ContentLength, advice)
		return over
	}
	s.body = &capped{src: s.body, limit: limit, over: over}
	return nil
}

// wireLimit bounds a compressed body that never inflates to anything, with room
// for a server that flushes after every few bytes.
func wireLimit(limit int64) int64 {
	if limit < 0 {
		return -1
	}
	return 2*limit + 64<<10
}

func headerSize(header http.Header) int64 {
	const each = 32
	var n int64
	for name, values := range header {
		n += int64(len(name)) + each
		for _, v := range values {
			n += int64(len(v)) + each
		}
	}
	return n
}

// Read reads the decoded body. It returns io.EOF or an *Error.
func (s *Stream) Read(p []byte) (int, error) {
	if s.idle > 0 {
		s.timer.Reset(s.idle)
		defer s.timer.Stop()
	}
	n, err := s.body.Read(p)
	if err != nil && err != io.EOF {
		err = s.fail(err)
	}
	return n, err
}

func (s *Stream) fail(err error) error {
	return asError(s.ctx, err).at(s.last.method, s.last.url)
}

// Close ends the stream and gives back what it held. It never fails; its error is
// there for io.Closer.
func (s *Stream) Close() error {
	s.once.Do(func() {
		s.timer.Stop()
		s.cancel(context.Canceled)
		if s.resp != nil {
			s.resp.Body.Close()
		}
		s.account.settle()
		if s.slot {
			<-s.client.slots
		}
	})
	return nil
}

// readAll reads the body into memory that is charged before it is taken.
func (s *Stream) readAll() ([]byte, error) {
	var buf []byte
	for {
		if len(buf) == cap(buf) {
			full, err := s.grow(&buf)
			if full || err != nil {
				return buf, err
			}
		}
		n, err := s.body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// grow makes room for at least one byte more. At the declared end it first
// looks whether there is anything left to make room for.
func (s *Stream) grow(buf *[]byte) (full bool, err error) {
	const first, ahead = 16 << 10, 8
	var spare [1]byte
	have, n := int64(len(*buf)), 0
	size := max(2*have, first)
	if s.size >= 0 {
		// A declared length is believed bit by bit, as the bytes arrive.
		size = min(s.size, max(ahead*have, 4*first))
	}
	size = min(size, s.limit)
	if size <= have {
		n, err = io.ReadFull(s.body, spare[:])
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		size = max(2*have, first)
	}
	if err := s.account.charge(size); err != nil {
		return false, err
	}
	bigger := make([]byte, have, size)
	copy(bigger, *buf)
	s.account.uncharge(have)
	*buf = append(bigger, spare[:n]...)
	return false, nil
}
