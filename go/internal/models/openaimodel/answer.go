package openaimodel

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/wire"
)

// answer reads one answer, streamed or whole.
type answer struct {
	collector *models.Collector
	stream    *wire.Stream
	calls     []*growing
	usage     *usage
	stop      models.StopReason
	some      bool // a chunk came
	ended     bool // a finish reason came
}

// maxCalls bounds the calls of one answer, among which each delta looks for its own.
const maxCalls = 1000

// growing is a call whose arguments still come.
type growing struct {
	index int
	call  models.ToolCall
}

func (a *answer) read() error {
	for {
		event, err := a.stream.Next()
		if err == io.EOF {
			return a.finish(false)
		}
		if err != nil {
			return err
		}
		data := bytes.TrimSpace(event.Data)
		switch {
		case len(data) == 0:
			continue
		case bytes.HasPrefix(data, []byte("[DONE]")):
			return a.finish(true)
		case event.Name == "error" || wire.HasError(data):
			return a.stream.Fail(data)
		}
		if err := a.take(data); err != nil {
			return err
		}
	}
}

// finish is the end of the stream. One without the mark for its end is whole when the model said why
// it stopped, or when the usage came, which is last.
func (a *answer) finish(marked bool) error {
	switch {
	case !a.some:
		return a.stream.Broken("an empty answer came")
	case !marked && !a.ended && a.usage == nil:
		return a.stream.Broken("the answer broke off")
	}
	for _, g := range a.calls {
		if err := a.collector.Call(g.call); err != nil {
			return err
		}
	}
	if a.usage != nil {
		return a.collector.Usage(a.usage.counted())
	}
	return nil
}

func (a *answer) take(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return a.stream.Broken(models.Clip("the answer is not what chat completions look like: " + err.Error()))
	}
	a.some = true
	if c.Model != "" {
		a.collector.Model(string(c.Model))
	}
	if c.Usage != nil && c.Usage.Prompt+c.Usage.Completion > 0 {
		a.usage = c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if err := a.choice(choice); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) choice(c choice) error {
	d := c.Delta
	if c.Message != nil {
		d = *c.Message
	}
	thought := d.ReasoningContent
	if thought == "" {
		thought = d.Reasoning // some send both, with the same text
	}
	if err := a.collector.Reasoning(string(thought)); err != nil {
		return err
	}
	for _, piece := range []text{d.Content, d.Refusal} {
		if err := a.collector.Text(string(piece)); err != nil {
			return err
		}
	}
	if d.Refusal != "" {
		a.stop = models.StopFiltered
	}
	for _, call := range d.ToolCalls {
		if a.grow(call); len(a.calls) > maxCalls {
			return a.stream.Broken("the model asks for too many tools at once")
		}
	}
	if c.FinishReason != "" {
		a.ended = true
		if a.stop != models.StopFiltered {
			a.stop = stopReason(string(c.FinishReason))
		}
	}
	return nil
}

// grow adds to the call that a delta belongs to. The index says which; some servers give every call
// the index 0 and send each whole, so another id, or a name when the arguments are complete, begins
// one as well.
func (a *answer) grow(d callDelta) {
	var g *growing
	for i := len(a.calls) - 1; i >= 0 && g == nil; i-- {
		if d.Index == nil || a.calls[i].index == *d.Index {
			g = a.calls[i]
		}
	}
	if g == nil || begins(&g.call, d) {
		g = &growing{}
		if d.Index != nil {
			g.index = *d.Index
		}
		a.calls = append(a.calls, g)
	}
	if g.call.ID == "" {
		g.call.ID = string(d.ID)
	}
	if g.call.Name == "" {
		g.call.Name = string(d.Function.Name)
	}
	g.call.Arguments = append(g.call.Arguments, d.Function.Arguments...)
}

// begins says whether the delta is of another call than the one that had its index.
func begins(call *models.ToolCall, d callDelta) bool {
	if d.ID != "" && call.ID != "" {
		return string(d.ID) != call.ID
	}
	return d.Function.Name != "" && call.Name != "" && json.Valid(call.Arguments)
}

func stopReason(reason string) models.StopReason {
	switch reason {
	case "stop", "eos", "end_turn":
		return models.StopEnd
	case "length", "max_tokens":
		return models.StopLength
	case "tool_calls", "function_call":
		return models.StopCalls
	case "content_filter":
		return models.StopFiltered
	}
	return models.StopOther
}
