package anthropicmodel

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/wire"
)

// event is what is read of one event, or of a whole answer.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message *struct {
		Model string `json:"model"`
		Usage *usage `json:"usage"`
	} `json:"message"`
	Block *block `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Partial    string `json:"partial_json"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
	// Of an answer that is not streamed.
	Content    []*block `json:"content"`
	Model      string   `json:"model"`
	StopReason string   `json:"stop_reason"`
}

// block is one block of the content.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`

	partial, signature []byte // from deltas
}

// usage counts what came so far; a later one may repeat only a part.
type usage struct {
	Input        *int64 `json:"input_tokens"`
	CacheWritten *int64 `json:"cache_creation_input_tokens"`
	CacheRead    *int64 `json:"cache_read_input_tokens"`
	Output       *int64 `json:"output_tokens"`
}

func (u *usage) update(v *usage) {
	if v == nil {
		return
	}
	for _, f := range []struct{ to, from **int64 }{
		{&u.Input, &v.Input}, {&u.CacheWritten, &v.CacheWritten}, {&u.CacheRead, &v.CacheRead}, {&u.Output, &v.Output},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
}

func (u *usage) counted() models.Usage {
	n := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return max(0, *p)
	}
	return models.Usage{
		InputTokens:  n(u.Input) + n(u.CacheWritten) + n(u.CacheRead),
		OutputTokens: n(u.Output), CachedTokens: n(u.CacheRead),
	}
}

// answer reads one answer.
type answer struct {
	collector *models.Collector
	stream    *wire.Stream
	blocks    map[int]*block
	usage     usage
	stop      models.StopReason
	some      bool
}

func (a *answer) read() error {
	for {
		next, err := a.stream.Next()
		if err == io.EOF {
			return a.finish()
		}
		if err != nil {
			return err
		}
		data := bytes.TrimSpace(next.Data)
		if len(data) == 0 || next.Name == "ping" {
			continue
		}
		if next.Name == "error" || wire.HasError(data) {
			return a.stream.Fail(data)
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			return a.stream.Broken(models.Clip("the answer is not what messages look like: " + err.Error()))
		}
		a.some = true
		if e.Type == "message_stop" {
			return a.finish()
		}
		if err := a.take(&e); err != nil {
			return err
		}
	}
}

func (a *answer) finish() error {
	switch {
	case !a.some:
		return a.stream.Broken("an empty answer came")
	case a.stop == "":
		return a.stream.Broken("the answer broke off")
	}
	if u := a.usage.counted(); u.Tokens() > 0 {
		return a.collector.Usage(u)
	}
	return nil
}

func (a *answer) take(e *event) error {
	switch e.Type {
	case "message_start":
		if e.Message != nil {
			a.collector.Model(e.Message.Model)
			a.usage.update(e.Message.Usage)
		}
	case "content_block_start":
		return a.start(e.Index, e.Block)
	case "content_block_delta":
		return a.delta(e)
	case "content_block_stop":
		b := a.blocks[e.Index]
		delete(a.blocks, e.Index)
		return a.end(b)
	case "message_delta":
		a.usage.update(e.Usage)
		a.stopped(e.Delta.StopReason)
	case "message":
		return a.whole(e)
	}
	return nil // others may come with time
}

// start begins a block; it may have content already.
func (a *answer) start(index int, b *block) error {
	if b == nil {
		return nil
	}
	a.blocks[index] = b
	switch b.Type {
	case "text":
		return a.collector.Text(b.Text)
	case "thinking":
		return a.collector.Reasoning(b.Thinking)
	}
	return nil
}

func (a *answer) delta(e *event) error {
	d := &e.Delta
	switch d.Type {
	case "text_delta":
		return a.collector.Text(d.Text)
	case "thinking_delta":
		return a.collector.Reasoning(d.Thinking)
	}
	b := a.blocks[e.Index]
	if b == nil {
		return nil
	}
	b.partial = append(b.partial, d.Partial...)
	b.signature = append(b.signature, d.Signature...)
	return nil
}

// end finishes a block.
func (a *answer) end(b *block) error {
	switch {
	case b == nil:
		return nil
	case b.Type == "tool_use":
		arguments := b.Input
		if len(b.partial) > 0 {
			arguments = b.partial
		}
		return a.collector.Call(models.ToolCall{ID: b.ID, Name: b.Name, Arguments: arguments})
	case b.Type == "thinking" && len(b.Signature)+len(b.signature) > 0:
		return a.collector.Sign(b.Signature+string(b.signature), "")
	case b.Type == "redacted_thinking":
		return a.collector.Sign("", b.Data)
	}
	return nil
}

// whole takes an answer that is not streamed.
func (a *answer) whole(e *event) error {
	a.collector.Model(e.Model)
	for _, b := range e.Content {
		if err := a.start(0, b); err != nil {
			return err
		}
		if err := a.end(b); err != nil {
			return err
		}
	}
	a.usage.update(e.Usage)
	a.stopped(e.StopReason)
	return nil
}

func (a *answer) stopped(reason string) {
	switch reason {
	case "":
	case "end_turn", "stop_sequence":
		a.stop = models.StopEnd
	case "max_tokens", "model_context_window_exceeded":
		a.stop = models.StopLength
	case "tool_use":
		a.stop = models.StopCalls
	case "refusal":
		a.stop = models.StopFiltered
	default:
		a.stop = models.StopOther
	}
}
