package upstream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"
)

var _ conn = (*lines)(nil)

// lines is a connection over the pipes of a process, one message a line.
type lines struct {
	process *Process
	peer    *peer
	max     int // bytes of a line

	queue  chan *outgoing
	turn   sync.Mutex // of who writes
	now    deadliner  // the same pipe; nil: a write to it may take for ever
	closed chan struct{}
	once   sync.Once
	done   sync.WaitGroup
}

// outgoing is a line to be written.
type outgoing struct {
	text []byte
	of   *pending      // nil: not a request
	done chan struct{} // closed when it is written; nil: nobody waits for that
}

// deadliner is a pipe whose writes can be bounded.
type deadliner interface {
	io.Writer
	SetWriteDeadline(time.Time) error
}

// Bounds of what a request writes itself. So few bytes a pipe takes whole or not at all, and when it is full, others
// are waited for by the goroutine that has nothing else to do.
const (
	atomicWrite = 512 // bytes, on each system
	directTime  = 5 * time.Millisecond
)

// writeTime is how long a server may leave its input unread.
const writeTime = 30 * time.Second

func newLines(process *Process, p *peer, max int) {
	l := &lines{
		process: process, peer: p, max: max,
		queue: make(chan *outgoing, 64), closed: make(chan struct{}),
	}
	if in, ok := process.In.(deadliner); ok && in.SetWriteDeadline(time.Time{}) == nil {
		l.now = in
	}
	p.conn = l
	l.done.Go(l.read)
	l.done.Go(l.write)
}

// settled implements conn.
func (l *lines) settled(string) {}

// send implements conn.
func (l *lines) send(ctx context.Context, text []byte, p *pending) error {
	if bytes.IndexByte(text, '\n') >= 0 { // between the values of arguments
		var line bytes.Buffer
		if err := json.Compact(&line, text); err != nil {
			return &Error{Code: CodeInvalid, Message: "this is no JSON: " + err.Error(), unsent: true}
		}
		text = line.Bytes()
	}
	if p != nil && l.wrote(text, p) {
		return nil
	}
	out := &outgoing{text: text, of: p}
	if p == nil {
		out.done = make(chan struct{})
	}
	select {
	case l.queue <- out:
	case <-l.closed:
		return errLineClosed()
	case <-ctx.Done():
		err := stopped(ctx)
		err.unsent = true
		return err
	}
	if p != nil {
		return nil
	}
	select {
	case <-out.done:
		return nil
	case <-l.closed:
		return errLineClosed()
	case <-ctx.Done():
		return stopped(ctx)
	}
}

// wrote writes a short request at once, where nobody else does: to hand it to another goroutine takes longer. What goes
// wrong with it is found again by the one that gets it then.
func (l *lines) wrote(text []byte, p *pending) bool {
	if l.now == nil || len(text) >= atomicWrite || len(l.queue) > 0 || !l.turn.TryLock() {
		return false
	}
	defer l.turn.Unlock()
	if p.ctx.Err() != nil || l.now.SetWriteDeadline(time.Now().Add(directTime)) != nil {
		return false
	}
	line := append(append(make([]byte, 0, atomicWrite), text...), '\n')
	p.sent.Store(true)
	n, err := l.now.Write(line)
	switch n {
	case 0:
		p.sent.Store(false)
		return false
	case len(line):
	default: // no pipe does that
		l.fail("it takes no more requests", err)
	}
	return true
}

func errLineClosed() *Error {
	return &Error{Code: CodeUnavailable, Message: "the connection is closed", unsent: true, broken: true}
}

// write writes what is queued, many lines at once where there are many.
func (l *lines) write() {
	buffer := make([]byte, 0, 4<<10)
	var batch []*outgoing
	for {
		select {
		case out := <-l.queue:
			batch = append(batch[:0], out)
		case <-l.closed:
			return
		}
		for more := true; more && len(batch) < cap(l.queue); {
			select {
			case out := <-l.queue:
				batch = append(batch, out)
			default:
				more = false
			}
		}
		buffer = buffer[:0]
		for _, out := range batch {
			if out.of != nil {
				if out.of.ctx.Err() != nil { // nobody waits any more
					continue
				}
				out.of.sent.Store(true)
			}
			buffer = append(append(buffer, out.text...), '\n')
		}
		if n, err := l.put(buffer); err != nil {
			for _, out := range batch {
				if out.of != nil && n == 0 {
					out.of.sent.Store(false)
				}
			}
			l.fail("it takes no more requests", err)
			return
		}
		for _, out := range batch {
			if out.done != nil {
				close(out.done)
			}
		}
		if cap(buffer) > 1<<20 {
			buffer = nil
		}
	}
}

// put writes, but not for ever.
func (l *lines) put(text []byte) (int, error) {
	if len(text) == 0 {
		return 0, nil
	}
	l.turn.Lock()
	defer l.turn.Unlock()
	if l.now != nil {
		_ = l.now.SetWriteDeadline(time.Time{}) // it could be set before
	}
	late := time.AfterFunc(writeTime, func() { l.fail("it does not read its input", nil) })
	defer late.Stop()
	return l.process.In.Write(text)
}

// fail ends the connection. What waits in the queue was never sent.
func (l *lines) fail(problem string, err error) {
	if err != nil && err != io.EOF {
		problem += ": " + err.Error()
	}
	l.peer.lost(&Error{Code: CodeLost, Message: "the connection to the server is lost: " + problem, cause: err})
	l.shut()
}

func (l *lines) shut() {
	l.once.Do(func() {
		close(l.closed)
		_ = l.process.In.Close() // the server sees the end of its input
	})
}

// read takes the lines of the server.
func (l *lines) read() {
	in := bufio.NewReaderSize(l.process.Out, 64<<10)
	for {
		line, err := l.line(in)
		if len(line) > 0 && err != errTooLong && !l.peer.receive(line, nil) {
			l.peer.logger.Warn("a line of the server's output is no message, and is skipped", "line", shown(string(line[:min(len(line), 500)])))
		}
		switch err {
		case nil:
		case io.EOF:
			l.fail("it has closed its output", nil)
			return
		default:
			l.fail("it cannot be read", err)
			return
		}
	}
}

// line gives a line without the space around it. Its memory is its own.
func (l *lines) line(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > l.max {
			return nil, errTooLong
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return bytes.TrimSpace(line), err
		}
	}
}

// errTooLong is about a line over the bounds. Its end may be far: the connection ends.
var errTooLong = &Error{Code: CodeTooLarge, Message: "one line is longer than what is read"}

// close implements conn.
func (l *lines) close() {
	l.shut()
	l.process.Stop()
	_ = l.process.Out.Close() // a reader of it must not wait for a process that nobody can end
	l.done.Wait()
}
