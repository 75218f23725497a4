package upstream

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hukilau/hukilau/go/internal/size"
)

// conn carries messages to a server. What comes from it, its owner hands to a peer.
type conn interface {
	// send sends a message. For a request (p is not nil) it returns at once, and what goes wrong later is told to
	// the peer; for others it waits until the server has taken it.
	send(ctx context.Context, text []byte, p *pending) error
	// settled tells which revision is spoken from now on.
	settled(version string)
	// close ends it, whose requests have ended, and waits until nothing of it is left.
	close()
}

// peer matches answers of a server with requests.
type peer struct {
	conn    conn
	logger  *slog.Logger
	max     int // bytes of one result
	handler handler

	mu      sync.Mutex
	last    int64
	pending map[int64]*pending
	gone    chan struct{} // closed when the connection is of no more use
	cause   *Error
	heard   atomic.Int64 // messages
}

// handler takes what a server says of its own accord. It must not block.
type handler interface {
	asked(m message, via *pending)
	told(m message)
}

// pending is a request that is not answered yet.
type pending struct {
	id       int64
	method   string
	name     string // of the tool, prompt or resource, for HTTP's headers
	mirrored map[string]string
	ctx      context.Context
	options  *CallOptions // nil: not a call
	done     chan answer
	progress chan json.RawMessage
	sent     atomic.Bool // the server may have seen it
	idle     *idle       // nil: its time is not bounded so
}

// answer is what became of a request.
type answer struct {
	result json.RawMessage
	err    *Error
}

func newPeer(logger *slog.Logger, max int, h handler) *peer {
	return &peer{logger: logger, max: max, handler: h, pending: map[int64]*pending{}, gone: make(chan struct{})}
}

func newPending(ctx context.Context, method string) *pending {
	return &pending{method: method, ctx: ctx, done: make(chan answer, 1)}
}

// begin makes a request known, so that its answer is.
func (p *peer) begin(q *pending) *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause != nil {
		e := *p.cause
		e.unsent = true
		return &e
	}
	p.last++
	q.id = p.last
	p.pending[q.id] = q
	return nil
}

// take removes a request that is answered; nil where it is unknown, or answered already.
func (p *peer) take(id int64) *pending {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.pending[id]
	delete(p.pending, id)
	return q
}

// waits says whether a request still waits for its answer.
func (p *peer) waits(q *pending) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending[q.id] == q
}

// fail answers a request with an error, unless it is answered.
func (p *peer) fail(q *pending, err *Error) {
	if p.take(q.id) == q {
		q.done <- answer{err: err}
	}
}

// retire lets no more requests begin: the connection is of no more use. Those under way may still be answered.
func (p *peer) retire(cause *Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause == nil {
		e := *cause
		e.broken = true
		p.cause = &e
		close(p.gone)
	}
}

// underWay is how many requests wait for their answers.
func (p *peer) underWay() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending)
}

// lost ends all requests.
func (p *peer) lost(cause *Error) {
	p.retire(cause)
	cause.broken = true
	p.mu.Lock()
	open := p.pending
	p.pending = map[int64]*pending{}
	p.mu.Unlock()
	for _, q := range open {
		e := *cause
		e.unsent = e.unsent || !q.sent.Load()
		q.done <- answer{err: &e}
	}
}

// receive takes a text from the server. via is the request in whose answer it came, where the transport knows. It is
// false for what is no message.
func (p *peer) receive(text []byte, via *pending) bool {
	if first(text) == '[' { // a batch, in the revision of March 2025
		return elements(text, func(value []byte) {
			if first(value) != '[' {
				p.receive(value, via)
			}
		})
	}
	m, ok := parse(text)
	if !ok {
		return false
	}
	p.heard.Add(1)
	switch {
	case m.method == "":
		p.answered(m)
	case m.id != nil && string(m.id) != "null":
		p.handler.asked(m, via)
	case m.method == "notifications/progress":
		p.progressed(m)
	default:
		p.handler.told(m)
	}
	return true
}

func (p *peer) answered(m message) {
	q := p.take(m.number())
	if q == nil {
		p.logger.Debug("an answer to no request", "id", shown(string(m.id)))
		return
	}
	switch {
	case m.err != nil:
		q.done <- answer{err: refused(parseError(m.err))}
	case len(m.result) > p.max:
		q.done <- answer{err: tooLarge(p.max)}
	default:
		q.done <- answer{result: m.result}
	}
}

// refused is a server's error.
func refused(e *wireError) *Error {
	err := &Error{Code: CodeUpstream, Number: e.code, Data: e.data, Message: shown(e.message)}
	switch e.code {
	case numberInvalidParams:
		err.Code = CodeInvalid
	case numberNotFound:
		err.Code = CodeNotFound
	}
	if err.Message == "" {
		err.Message = "the server refused without saying why"
	}
	return err
}

func tooLarge(most int) *Error {
	return &Error{Code: CodeTooLarge, Message: "the result is larger than " + size.Bytes(most).String() + ": ask for less"}
}

// mostTold bounds one notification of progress: several may be waiting to be taken.
const mostTold = 64 << 10

// progressed hands on how far a call is. What nobody takes in time is dropped: newer ones say more.
func (p *peer) progressed(m message) {
	var token message
	members(m.params, func(key, value []byte) {
		if string(key) == "progressToken" {
			token.id = value
		}
	})
	p.mu.Lock()
	q := p.pending[token.number()]
	p.mu.Unlock()
	if q == nil {
		return
	}
	q.idle.alive()
	if q.progress == nil || len(m.params) > mostTold {
		return
	}
	select {
	case q.progress <- m.params:
	default:
	}
}

// wait waits for the answer, and tells of progress meanwhile.
func (p *peer) wait(ctx context.Context, q *pending) (json.RawMessage, *Error) {
	for {
		select {
		case params := <-q.progress:
			q.options.Progress(params)
		case a := <-q.done:
			p.rest(q)
			return a.result, a.err
		case <-ctx.Done():
			return nil, p.abandon(ctx, q)
		}
	}
}

// rest tells what progress came before the answer.
func (p *peer) rest(q *pending) {
	for {
		select {
		case params := <-q.progress:
			q.options.Progress(params)
		default:
			return
		}
	}
}

// abandon gives a request up, and tells the server.
func (p *peer) abandon(ctx context.Context, q *pending) *Error {
	waited := p.take(q.id) == q
	err := stopped(ctx)
	err.unsent = !q.sent.Load()
	if waited && q.sent.Load() && q.method != "initialize" {
		go p.cancel(q.id, err.Code)
	}
	return err
}

// cancelTime bounds how long a server may take to take a cancellation.
const cancelTime = 5 * time.Second

func (p *peer) cancel(id int64, reason string) {
	ctx, stop := context.WithTimeout(context.Background(), cancelTime)
	defer stop()
	var f fields
	f.key("requestId")
	f.text = strconv.AppendInt(f.text, id, 10)
	f.string("reason", reason)
	if err := p.conn.send(ctx, request(0, "notifications/cancelled", f.end()), nil); err != nil {
		p.logger.Debug("a cancellation was not taken", "error", err)
	}
}

// errIdle is the cause of a context whose call gave no sign of life.
var errIdle = &Error{Code: CodeTimeout}

// stopped is the error of a context that has ended.
func stopped(ctx context.Context) *Error {
	switch cause := context.Cause(ctx); {
	case cause == errIdle:
		return &Error{Code: CodeTimeout, Message: "no answer came in time", cause: context.DeadlineExceeded}
	case cause == context.DeadlineExceeded || ctx.Err() == context.DeadlineExceeded:
		return &Error{Code: CodeTimeout, Message: "no answer came before the deadline", cause: cause}
	default:
		return &Error{Code: CodeCancelled, Message: "the call was cancelled", cause: cause}
	}
}

// roundTrip sends a request and waits for its answer.
func (p *peer) roundTrip(ctx context.Context, method string, params []byte) (json.RawMessage, *Error) {
	q := newPending(ctx, method)
	if failed := p.begin(q); failed != nil {
		return nil, failed
	}
	return p.exchange(ctx, q, params)
}

func (p *peer) exchange(ctx context.Context, q *pending, params []byte) (json.RawMessage, *Error) {
	if err := p.conn.send(ctx, request(q.id, q.method, params), q); err != nil {
		p.take(q.id)
		return nil, asError(err)
	}
	return p.wait(ctx, q)
}
