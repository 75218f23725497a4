// Package agent runs the tool loop: a model is asked, the tools that it wants are called, their
// results go back, until it answers. It knows neither scripts nor where tools come from.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hukilau/hukilau/go/internal/models"
)

// Options describe an Agent.
type Options struct {
	Provider models.Provider
	Model    string
	Prompt   string // of the system
	Tools    []models.Tool
	// Call runs a tool that the model asked for, with arguments that are a JSON object. Several run at
	// once. It must return soon after ctx ends.
	Call func(ctx context.Context, name string, arguments json.RawMessage) (text string, isError bool)
	// History is what was said before, and is told first in every exchange.
	History []models.Message
	// Recent is how many past exchanges the model is told beside the current one; 0: 20; below 0: none.
	Recent   int
	MaxTurns int // answers of the model in one exchange; 0: 10
	Parallel int // tools that run at once; 0: 8
	// Contexts are asked what the model should know, once for each exchange.
	Contexts []Context
	// Budget is charged for each answer; nil: none.
	Budget *models.Budget

	Temperature *float64
	MaxTokens   int
	Stop        []string
	Seed        *int64
}

// Context provides what a model should know. Get is given the text of the user.
type Context struct {
	Name string
	Get  func(ctx context.Context, query string) (string, error)
}

// Agent is a conversation with a model. Any goroutine may use it. Close it.
type Agent struct {
	o        Options
	provider models.Provider
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu      sync.Mutex
	pending []input
	memory  [][]models.Message // exchanges, each begins with the user
	current *talk              // nil: none runs
	dropped chan struct{}      // closed when the exchange that was broken off has ended; nil: none was
	closed  bool
}

// input is a message that no exchange has taken yet.
type input struct {
	message models.Message
	context []string
}

// talk is an exchange that runs.
type talk struct {
	steps  chan step
	over   chan struct{} // closed when the last step was read, or nobody is to read one
	ended  chan struct{} // closed when nothing of it runs any more
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// step is an event of an exchange, or the error that ended it.
type step struct {
	event Event
	err   error
}

// New makes an Agent that lives until Close, at most as long as ctx.
func New(ctx context.Context, o Options) *Agent {
	switch {
	case o.Recent == 0:
		o.Recent = 20
	case o.Recent < 0:
		o.Recent = 0
	}
	if o.MaxTurns <= 0 {
		o.MaxTurns = 10
	}
	if o.Parallel <= 0 {
		o.Parallel = 8
	}
	a := &Agent{o: o, provider: o.Provider}
	if o.Budget != nil {
		a.provider = models.WithBudget(o.Provider, o.Budget)
	}
	a.ctx, a.cancel = context.WithCancel(ctx)
	return a
}

var errClosed = &models.Error{Code: "closed", Message: "the agent is closed"}

// maxPending is how many inputs may wait for their exchange.
const maxPending = 1000

// errInterrupted ends an exchange into which the user speaks.
var errInterrupted = errors.New("the user said something else")

// Input gives a message of the user. The next exchange takes all that came before it. An exchange that runs is
// broken off: its tools are stopped, what was not read of it never is, and the model will be told what was. about is
// what the model should know beside the message, in that exchange only.
func (a *Agent) Input(m models.Message, about ...string) error {
	if m.Role != models.RoleUser {
		return &models.Error{Code: models.CodeInvalidRequest, Message: "an input is a message of role user, not " + string(m.Role)}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return errClosed
	case len(a.pending) >= maxPending:
		return &models.Error{Code: models.CodeLimit, Message: fmt.Sprintf("%d inputs wait already: read what the agent answers first", maxPending)}
	}
	a.pending = append(a.pending, input{m, about})
	if t := a.current; t != nil {
		t.cancel(errInterrupted)
		a.dropped = t.ended
		a.finishLocked(t)
	}
	return nil
}

// InputText gives a text of the user.
func (a *Agent) InputText(text string, about ...string) error {
	return a.Input(models.TextMessage(models.RoleUser, text), about...)
}

// NeedsInput says whether the last exchange was read to its end and none waits.
func (a *Agent) NeedsInput() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current == nil && len(a.pending) == 0
}

// Next gives the next event, and starts an exchange where inputs wait and none runs. EventEnd is the
// last of an exchange; an error ends it as well. io.EOF means that the agent needs input. The exchange
// goes on only as fast as its events are taken.
func (a *Agent) Next(ctx context.Context) (Event, error) {
	if err := ctx.Err(); err != nil {
		return Event{}, err
	}
	for {
		t, err := a.talk()
		if err != nil {
			return Event{}, err
		}
		select {
		case s := <-t.steps:
			if s.err != nil || s.event.Kind == EventEnd {
				a.finish(t)
			}
			return s.event, s.err
		case <-t.over: // another reader had the end, or it was broken off
		case <-ctx.Done():
			return Event{}, ctx.Err()
		case <-a.ctx.Done():
			return Event{}, a.end()
		}
	}
}

// talk is the exchange that runs, or a new one.
func (a *Agent) talk() (*talk, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed || a.ctx.Err() != nil:
		return nil, a.endLocked()
	case a.current != nil:
		return a.current, nil
	case len(a.pending) == 0:
		return nil, io.EOF
	}
	t := &talk{steps: make(chan step), over: make(chan struct{}), ended: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancelCause(a.ctx)
	a.current = t
	inputs, before := a.pending, a.dropped
	a.pending, a.dropped = nil, nil
	a.running.Go(func() {
		defer close(t.ended)
		defer t.cancel(nil)
		if before != nil {
			<-before // what it did is remembered then
		}
		last := a.exchange(t.ctx, inputs, func(e Event) error { return t.send(step{event: e}) })
		// An error means that nobody is to hear of the end.
		_ = t.send(last)
	})
	return t, nil
}

func (t *talk) send(s step) error {
	if t.ctx.Err() != nil { // a reader may wait still
		return context.Cause(t.ctx)
	}
	select {
	case t.steps <- s:
		return nil
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	}
}

// finish is for the one reader that had the last step.
func (a *Agent) finish(t *talk) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finishLocked(t)
}

func (a *Agent) finishLocked(t *talk) {
	if a.current == t {
		a.current = nil
		close(t.over)
	}
}

// end is the error of an agent whose time is over.
func (a *Agent) end() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.endLocked()
}

func (a *Agent) endLocked() error {
	if a.closed {
		return errClosed
	}
	return a.ctx.Err()
}

// Answer is what an exchange came to.
type Answer struct {
	Text  string // all of it, also what was said before tools were called
	Last  string // what was said last
	Stop  models.StopReason
	Turns int
	Usage models.Usage
}

// Collect reads the exchange to its end. Without input there is none, and the error is io.EOF.
func (a *Agent) Collect(ctx context.Context) (Answer, error) {
	var all, last text
	for {
		e, err := a.Next(ctx)
		switch {
		case err != nil:
			return Answer{Text: all.String(), Last: last.String()}, err
		case e.Kind == EventText:
			all.WriteString(e.Text)
			last.WriteString(e.Text)
		case e.Kind == EventCall:
			last.Reset()
		case e.Kind == EventEnd:
			return Answer{all.String(), last.String(), e.Stop, e.Turns, *e.Usage}, nil
		}
	}
}

// Close ends what runs and waits for it.
func (a *Agent) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.running.Wait()
}
