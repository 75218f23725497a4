package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// Without sessions a server cannot ask its client. A question to the user is the answer to the request, and the
// client sends the request again with what the user said and the state that came with the question. The script
// meanwhile waits where it is: the call goes on in a goroutine of its own, and the state names it. It holds its
// place among the running calls, and its time runs on.

// conversation is a call that may ask.
type conversation struct {
	server *Server
	told   *sink
	cancel context.CancelCauseFunc
	asks   chan *question
	ended  chan outcome

	// Who may go on with it, and with what.
	caller string
	tool   string
	args   []byte

	open  *question // waits for an answer
	timer *time.Timer
}

type question struct {
	form   mcp.InputRequest
	fits   func(mcp.InputResponse) bool
	answer chan mcp.InputResponse
}

// asked is the id of the one question that a conversation has at a time.
const asked = "question"

// converse begins a conversation.
func (s *Server) converse(ctx context.Context, req *mcp.CallToolRequest, told *sink) (*mcp.CallToolResult, error) {
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	c := &conversation{
		server: s, told: told, cancel: cancel, asks: make(chan *question), ended: make(chan outcome, 1),
		caller: caller(ctx).Name, tool: req.Params.Name, args: arguments(req),
	}
	var can abilities
	if canAsk(req) {
		can.ask = c.ask
	}
	if canSample(req) {
		can.sample = c.sample
	}
	go func() {
		defer cancel(nil)
		c.ended <- s.guarded(running, req, told, can)
	}()
	return c.proceed(ctx, req)
}

// ask hands a question to whichever request waits, and waits for its answer.
func (c *conversation) ask(ctx context.Context, form *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	return askOf[*mcp.ElicitResult](ctx, c, form)
}

func askOf[Answer mcp.InputResponse](ctx context.Context, c *conversation, form mcp.InputRequest) (answer Answer, err error) {
	q := &question{form: form, answer: make(chan mcp.InputResponse, 1), fits: func(given mcp.InputResponse) bool {
		_, ok := given.(Answer)
		return ok
	}}
	select {
	case c.asks <- q:
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
	select {
	case given := <-q.answer:
		return given.(Answer), nil
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
}

// proceed waits, for one request, until the call has ended or asks.
func (c *conversation) proceed(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	defer c.told.detach()
	select {
	case o := <-c.ended:
		return c.server.finish(req, o)
	case c.open = <-c.asks:
		return c.put(), nil
	case <-ctx.Done():
		c.cancel(context.Cause(ctx))
		<-c.ended
		return nil, context.Cause(ctx)
	}
}

// put is the question as an answer.
func (c *conversation) put() *mcp.CallToolResult {
	state, ok := c.server.suspended.add(c, c.server.options.AskTime)
	if !ok {
		c.cancel(errNoAnswer)
		return c.server.refusal(&toolhost.Error{Code: toolhost.Busy, Message: "too many calls wait for an answer of their users; try again later"})
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{asked: c.open.form}, RequestState: state}
}

// resume goes on with a conversation, by what a request brings.
func (s *Server) resume(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := s.suspended.take(req.Params.RequestState, func(c *conversation) bool {
		return c.caller == caller(ctx).Name && c.tool == req.Params.Name && bytes.Equal(c.args, arguments(req))
	})
	if c == nil {
		return nil, &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidParams,
			Message: "no call of yours with these arguments waits under this requestState: it has expired, or was answered already; call the tool again without it",
		}
	}
	answer, given := req.Params.InputResponses[asked]
	if !given || !c.open.fits(answer) {
		return c.put(), nil
	}
	c.told.attach(ctx, req, req.Session)
	c.open.answer <- answer
	c.open = nil
	return c.proceed(ctx, req)
}

// suspended are the conversations that wait for their clients, by the state that names them.
type suspended struct {
	mu     sync.Mutex
	all    map[string]*conversation
	closed bool
}

// maxSuspended is how many conversations may wait at once.
const maxSuspended = 1000

func (s *suspended) add(c *conversation, limit time.Duration) (state string, ok bool) {
	state = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.all) >= maxSuspended {
		return "", false
	}
	s.all[state] = c
	c.timer = time.AfterFunc(limit, func() { s.expire(state) })
	return state, true
}

// take gives one out, once, to whom it belongs.
func (s *suspended) take(state string, belongs func(*conversation) bool) *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.all[state]
	if c == nil || !belongs(c) {
		return nil
	}
	delete(s.all, state)
	c.timer.Stop()
	return c
}

func (s *suspended) expire(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.all[state]; c != nil {
		delete(s.all, state)
		c.cancel(errNoAnswer)
	}
}

// close ends them all.
func (s *suspended) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for state, c := range s.all {
		delete(s.all, state)
		c.timer.Stop()
		c.cancel(errNoAnswer)
	}
}
