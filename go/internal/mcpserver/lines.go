package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var _ mcp.Connection = (*lines)(nil)

// lines is a connection of messages, one a line. A line that is no message is answered with an error, and the
// next one is read: the SDK's own connection would end there.
type lines struct {
	in          *bufio.Reader
	closer      io.Closer // of in; may be nil
	maxLine     int
	maxInFlight int
	grace       time.Duration // of calls that run when in ends
	logger      *slog.Logger

	incoming chan jsonrpc.Message
	closed   chan struct{}
	unread   chan struct{} // closed when in has ended, and the client does not read its answers
	once     sync.Once
	direct   atomic.Pointer[direct] // nil until there is a session
	out      io.Writer
	turn     sync.Mutex // of who writes to it

	mu       sync.Mutex          // of what follows
	inFlight map[jsonrpc.ID]bool // calls that are not answered yet; true: the client has cancelled it
	writing  int                 // answers that are being sent
	idle     chan struct{}       // closed when all is answered, once in has ended
	outgoing chan outgoing
}

// outgoing is a line to be written, and who waits for that.
type outgoing struct {
	text []byte
	done chan<- error
}

func newLines(in io.Reader, out io.Writer, o *Options) *lines {
	l := &lines{
		in: bufio.NewReaderSize(in, 64<<10), maxLine: o.MaxMessage, maxInFlight: o.MaxInFlight, grace: o.Grace, logger: o.Logger,
		incoming: make(chan jsonrpc.Message), closed: make(chan struct{}), unread: make(chan struct{}), inFlight: map[jsonrpc.ID]bool{},
	}
	l.closer, _ = in.(io.Closer)
	l.out, l.outgoing = out, make(chan outgoing)
	go l.read()
	go l.write()
	return l
}

// SessionID implements mcp.Connection: there is but one.
func (l *lines) SessionID() string { return "" }

// Close implements mcp.Connection.
func (l *lines) Close() error {
	l.once.Do(func() {
		close(l.closed)
		if l.closer != nil {
			l.closer.Close()
		}
	})
	return nil
}

// Read implements mcp.Connection.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case message, ok := <-l.incoming:
		if !ok {
			return nil, io.EOF
		}
		return message, nil
	case <-l.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read gives the messages to Read, and errors to the client.
func (l *lines) read() {
	defer close(l.incoming)
	for {
		line, err := l.next()
		if errors.Is(err, errTooLong) {
			l.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the line has more than %d bytes", l.maxLine))
			continue
		}
		if len(line) > 0 && !l.take(line) {
			return
		}
		if err != nil {
			l.drain()
			return
		}
	}
}

var errTooLong = errors.New("the line is too long")

// next gives a line without the white space around it. What is over the limit is skipped, not kept.
func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > l.maxLine {
			return nil, l.skip(err)
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return bytes.TrimSpace(line), err
		}
	}
}

// skip reads to the end of the line.
func (l *lines) skip(err error) error {
	for err == bufio.ErrBufferFull {
		_, err = l.in.ReadSlice('\n')
	}
	return errTooLong // an end of the stream is met again at the next line
}

// take hands a line on. It is false when the connection was closed.
func (l *lines) take(line []byte) bool {
	message, id, wrong := messageOf(line)
	if wrong == nil {
		wrong = l.admit(message)
	}
	if wrong != nil {
		if !isAnswer(line) { // two sides that answer answers would never end
			l.refuse(id, wrong.Code, wrong.Message)
		}
		return true
	}
	if request, ok := message.(*jsonrpc.Request); ok {
		if d := l.direct.Load(); d != nil && d.take(request) {
			return true
		}
	}
	select {
	case l.incoming <- message:
		return true
	case <-l.closed:
		return false
	}
}

// admit counts a call, and marks one that the client cancels.
func (l *lines) admit(message jsonrpc.Message) *jsonrpc.Error {
	request, ok := message.(*jsonrpc.Request)
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case request.Method == "notifications/cancelled":
		if id, ok := cancelled(request.Params); ok {
			if _, runs := l.inFlight[id]; runs {
				l.inFlight[id] = true
				if d := l.direct.Load(); d != nil {
					d.cancel(id)
				}
			}
		}
	case !request.IsCall():
	case len(l.inFlight) >= l.maxInFlight || l.writing >= l.maxInFlight: // whoever reads no answers gets no more of them
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("the answers of %d requests were not read yet; send more when some are", l.maxInFlight)}
	default:
		if _, twice := l.inFlight[request.ID]; twice {
			return errTwice
		}
		l.inFlight[request.ID] = false
	}
	return nil
}

var errTwice = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request with this id is not answered yet"}

func cancelled(params json.RawMessage) (jsonrpc.ID, bool) {
	var said struct {
		RequestID any `json:"requestId"`
	}
	if json.Unmarshal(params, &said) != nil || said.RequestID == nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(said.RequestID)
	return id, err == nil
}

// Write implements mcp.Connection. A call that the client has cancelled is not answered.
func (l *lines) Write(_ context.Context, message jsonrpc.Message) error {
	response, ok := message.(*jsonrpc.Response)
	if ok && response.Error != nil {
		message = &jsonrpc.Response{ID: response.ID, Error: mended(response.Error)}
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	if !ok {
		return l.send(text)
	}
	defer l.answered()
	if gone := l.answering(response.ID); gone {
		return nil
	}
	return l.send(text)
}

// answering takes a call out, before its answer is sent: the client may use the id again once it has that. It
// says whether the client has cancelled the call.
func (l *lines) answering(id jsonrpc.ID) (gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	gone = l.inFlight[id]
	delete(l.inFlight, id)
	l.writing++
	return gone
}

func (l *lines) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing--
	l.wake()
}

// send writes one line. Once the connection is closed nobody waits for a client that reads nothing.
func (l *lines) send(text []byte) error {
	done := make(chan error, 1)
	select {
	case l.outgoing <- outgoing{append(text, '\n'), done}:
	case <-l.closed:
		return io.ErrClosedPipe
	}
	select {
	case err := <-done:
		return err
	case <-l.closed:
		return io.ErrClosedPipe
	}
}

// write writes one line at a time, until the connection is closed.
func (l *lines) write() {
	for {
		select {
		case line := <-l.outgoing:
			line.done <- l.put(line.text)
		case <-l.closed:
			return
		}
	}
}

// put writes a line at once. Who cannot wait for a client that reads nothing calls send.
func (l *lines) put(text []byte) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	select {
	case <-l.closed:
		return io.ErrClosedPipe
	default:
	}
	_, err := l.out.Write(text)
	return err
}

// refuse answers what is no request: id is null where it is not known.
func (l *lines) refuse(id jsonrpc.ID, code int64, message string) {
	text, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", id.Raw(), &jsonrpc.Error{Code: code, Message: message}})
	if err == nil {
		_ = l.send(text) // a client that is gone is seen at the next read
	}
}
