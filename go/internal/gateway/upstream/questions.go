package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/size"
)

// Bounds of the questions of a server: how many may be open, and the bytes of one.
const (
	mostAsked    = 16
	mostQuestion = 1 << 20
)

// questions are requests of a server that are being answered.
type questions struct {
	mu     sync.Mutex
	open   map[string]context.CancelFunc // by id
	calls  []*pending                    // under way, oldest first: whose functions may answer
	closed bool
	done   sync.WaitGroup
}

func (q *questions) enter(p *pending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls = append(q.calls, p)
}

func (q *questions) leave(p *pending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.calls, p); i >= 0 {
		q.calls = slices.Delete(q.calls, i, i+1)
	}
}

// close ends what is open and waits for it.
func (q *questions) close() {
	q.mu.Lock()
	q.closed = true
	for _, stop := range q.open {
		stop()
	}
	q.mu.Unlock()
	q.done.Wait()
}

// asked implements handler.
func (s *session) asked(m message, via *pending) {
	switch m.method {
	case "ping":
		s.answer(m, nil, func(context.Context) (json.RawMessage, *wireError) { return json.RawMessage("{}"), nil })
	case "roots/list":
		s.answer(m, nil, func(context.Context) (json.RawMessage, *wireError) { return json.RawMessage(`{"roots":[]}`), nil })
	case "elicitation/create", "sampling/createMessage":
		if len(m.params) > mostQuestion {
			m.params = nil
			s.answer(m, nil, func(context.Context) (json.RawMessage, *wireError) {
				return nil, &wireError{code: numberInvalidParams, message: "the request is larger than " + size.Bytes(mostQuestion).String()}
			})
			return
		}
		call := s.questions.whose(m.method, via, s.owner.config.Stateless)
		s.answer(m, call, func(ctx context.Context) (json.RawMessage, *wireError) {
			return ask(ctx, m.method, m.params, call)
		})
	default:
		s.answer(m, nil, func(context.Context) (json.RawMessage, *wireError) {
			return nil, &wireError{code: numberMethodNotFound, message: "this client does not know " + shown(m.method)}
		})
	}
}

// whose finds the call that a question belongs to. A connection that sessions share cannot guess between calls: the
// question of one must not go to the user of another.
func (q *questions) whose(method string, via *pending, shared bool) *pending {
	if via != nil && via.options != nil {
		return via
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var able []*pending
	for _, p := range q.calls {
		if askOf(method, p) != nil {
			able = append(able, p)
		}
	}
	if len(able) == 0 || shared && len(q.calls) > 1 {
		return nil
	}
	return able[len(able)-1]
}

func askOf(method string, p *pending) Ask {
	switch {
	case p == nil || p.options == nil:
		return nil
	case method == "sampling/createMessage":
		return p.options.Sample
	case method == "elicitation/create":
		return p.options.Elicit
	}
	return nil
}

// ask has our client answer.
func ask(ctx context.Context, method string, params json.RawMessage, call *pending) (json.RawMessage, *wireError) {
	do := askOf(method, call)
	if do == nil {
		switch method {
		case "elicitation/create":
			return nil, &wireError{code: numberRefused, message: "elicitation: this client cannot ask its user for this call"}
		case "sampling/createMessage":
			return nil, &wireError{code: numberRefused, message: "sampling: this client cannot ask its model for this call"}
		}
		return nil, &wireError{code: numberMethodNotFound, message: "this client does not know " + shown(method)}
	}
	result, err := do(ctx, params)
	switch {
	case err != nil:
		said := &wireError{code: numberInternal, message: err.Error()}
		var coded *Error
		if errors.As(err, &coded) && coded.Number != 0 {
			said.code, said.message = coded.Number, coded.Message
		}
		return nil, said
	case !valid(result) || first(result) != '{':
		return nil, &wireError{code: numberInternal, message: "the client's answer is no JSON object"}
	}
	return result, nil
}

// answer answers a request of the server, on a goroutine of its own. Time that a user takes does not count for the
// call.
func (s *session) answer(m message, call *pending, do func(context.Context) (json.RawMessage, *wireError)) {
	ctx := context.Background()
	if call != nil {
		ctx = call.ctx
	}
	ctx, stop := context.WithCancel(ctx)
	id := string(m.id)
	q := &s.questions
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.open) >= mostAsked || q.open[id] != nil {
		stop()
		s.logger.Warn("a request of the server is not answered: too many are open", "method", shown(m.method))
		return
	}
	if q.open == nil {
		q.open = map[string]context.CancelFunc{}
	}
	q.open[id] = stop
	q.done.Go(func() {
		defer stop()
		if call != nil {
			call.idle.asking(true)
			defer call.idle.asking(false)
		}
		result, failed := do(ctx)
		q.mu.Lock()
		delete(q.open, id)
		q.mu.Unlock()
		s.respond(m, result, failed)
	})
}

func (s *session) respond(m message, result json.RawMessage, failed *wireError) {
	text := reply(m.id, result)
	if failed != nil {
		text = refusal(m.id, failed.code, s.owner.redacted(failed.message))
	}
	ctx, stop := context.WithTimeout(context.Background(), answerTime)
	defer stop()
	if err := s.conn.send(ctx, text, nil); err != nil {
		s.logger.Debug("an answer to the server was not taken", "method", m.method, "error", err)
	}
}

// answerTime is how long a server may take to take our answer.
const answerTime = 30 * time.Second

// cancelled ends a question that the server has given up.
func (s *session) cancelled(params json.RawMessage) {
	var id string
	members(params, func(key, value []byte) {
		if string(key) == "requestId" {
			id = string(value)
		}
	})
	s.questions.mu.Lock()
	defer s.questions.mu.Unlock()
	if stop := s.questions.open[id]; stop != nil {
		stop()
	}
}
