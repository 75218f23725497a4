package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/models"
)

type text = strings.Builder

// EventKind says what an Event tells.
type EventKind int

// The kinds. Those of a tool come as a call when the model asks, and as a result when the tool is
// done, in the order in which the model asked.
const (
	EventText EventKind = iota + 1
	EventReasoning
	EventCall
	EventResult
	EventEnd
)

// Event is one step of an exchange.
type Event struct {
	Kind   EventKind
	Text   string             // EventText, EventReasoning
	Call   *models.ToolCall   // EventCall
	Result *models.ToolResult // EventResult
	Stop   models.StopReason  // EventEnd, as the rest
	Turns  int
	Usage  *models.Usage
}

// exchange answers inputs. What it gives is the last step: the end, or an error.
func (a *Agent) exchange(ctx context.Context, inputs []input, emit func(Event) error) step {
	x := &exchange{agent: a, emit: emit}
	if err := x.begin(ctx, inputs); err != nil {
		return step{err: err}
	}
	for {
		more, err := x.turn(ctx)
		if err != nil {
			interrupted := errors.Is(context.Cause(ctx), errInterrupted)
			if interrupted {
				x.breakOff()
			}
			// What tools did is not forgotten. A first turn that failed leaves nothing.
			if x.turns > 1 || interrupted {
				a.remember(x.messages)
			}
			return step{err: err}
		}
		if !more {
			a.remember(x.messages)
			return step{event: Event{Kind: EventEnd, Stop: x.stop, Turns: x.turns, Usage: &x.usage}}
		}
	}
}

// exchange is what one answer to the user takes.
type exchange struct {
	agent    *Agent
	emit     func(Event) error
	system   string
	memory   []models.Message
	messages []models.Message // of this exchange
	turns    int
	usage    models.Usage
	stop     models.StopReason
	heard    text // of the answer under way, what was read
}

// breakOff keeps what was read of an answer under way.
func (x *exchange) breakOff() {
	if x.heard.Len() > 0 {
		x.messages = append(x.messages, models.TextMessage(models.RoleAssistant, x.heard.String()))
	}
}

func (x *exchange) begin(ctx context.Context, inputs []input) error {
	var query text
	var about []string
	for i, in := range inputs {
		if i > 0 {
			query.WriteString("\n")
		}
		query.WriteString(in.message.Text())
		x.messages = append(x.messages, in.message)
		about = append(about, in.context...)
	}
	for _, c := range x.agent.o.Contexts {
		known, err := c.Get(ctx, query.String())
		if err != nil {
			return fmt.Errorf("context %s: %w", c.Name, err)
		}
		about = append(about, known)
	}
	x.system = models.JoinPrompts(x.agent.o.Prompt, contextPrompt(about))
	x.memory = x.agent.recall()
	return nil
}

// contextPrompt puts what the model should know into words.
func contextPrompt(about []string) string {
	all := models.JoinPrompts(about...)
	if all == "" {
		return ""
	}
	return "What you should know for this answer:\n\n" + all
}

// turn is one answer of the model with the tools that it asks for; false when that was the last one.
func (x *exchange) turn(ctx context.Context) (more bool, err error) {
	x.turns++
	x.heard.Reset()
	response, err := x.ask(ctx)
	if response != nil {
		x.usage = x.usage.Plus(response.Usage)
	}
	if err != nil {
		return false, err
	}
	x.stop = response.Stop
	calls := response.Calls()
	if len(calls) == 0 {
		x.messages = append(x.messages, response.Message)
		return false, nil
	}
	if x.turns >= x.agent.o.MaxTurns {
		return false, x.tooManyTurns(response.Message, calls)
	}
	results, err := x.callAll(ctx, calls)
	x.heard.Reset() // it is in the message
	x.messages = append(x.messages, response.Message, models.ResultMessage(results...))
	return true, err
}

func (x *exchange) ask(ctx context.Context) (*models.Response, error) {
	o := &x.agent.o
	request := &models.Request{
		Model: o.Model, System: x.system, Messages: append(x.memory[:len(x.memory):len(x.memory)], x.messages...),
		Tools: o.Tools, Temperature: o.Temperature, MaxTokens: o.MaxTokens, Stop: o.Stop, Seed: o.Seed,
	}
	return x.agent.provider.Stream(ctx, request, func(e models.Event) error {
		switch e.Kind {
		case models.EventText:
			if err := x.emit(Event{Kind: EventText, Text: e.Text}); err != nil {
				return err
			}
			x.heard.WriteString(e.Text)
		case models.EventReasoning:
			return x.emit(Event{Kind: EventReasoning, Text: e.Text})
		}
		return nil
	})
}

// tooManyTurns ends an exchange whose model only ever asks for tools. The calls that are not made any
// more get results all the same: no provider takes a call without one.
func (x *exchange) tooManyTurns(last models.Message, calls []models.ToolCall) error {
	x.messages = append(x.messages, last)
	results := make([]models.ToolResult, len(calls))
	for i, call := range calls {
		results[i] = models.ToolResult{ID: call.ID, Name: call.Name, IsError: true, Text: "not called: the limit of turns was reached"}
	}
	x.messages = append(x.messages, models.ResultMessage(results...))
	return &models.Error{Code: models.CodeLimit, Message: fmt.Sprintf(
		"the agent gave no answer in %d turns; raise max_turns, or give it fewer things to do at once", x.turns)}
}

// remember keeps an exchange for later ones, and forgets the oldest.
func (a *Agent) remember(messages []models.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.memory = append(a.memory, messages)
	if surplus := len(a.memory) - a.o.Recent; surplus > 0 {
		clear(a.memory[:surplus])
		a.memory = a.memory[surplus:]
	}
}

// recall gives the history and the messages of the exchanges that are kept.
func (a *Agent) recall() []models.Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Clone(a.o.History)
	for _, messages := range a.memory {
		all = append(all, messages...)
	}
	return all
}
