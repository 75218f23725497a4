package models

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Collector puts an answer together from its pieces and tells emit of each. It is for those who
// write a Provider. It belongs to one goroutine.
type Collector struct {
	emit    func(Event) error
	start   time.Time
	request *Request
	parts   []Part // finished ones
	kind    EventKind
	open    strings.Builder // the text of the part that grows
	cut     string          // the beginning of a character whose end has not come
	usage   Usage
	told    bool // the provider told its usage
	model   string
	calls   int
	size    int             // bytes of the answer so far
	taken   map[string]bool // ids of calls; nil: not looked up
}

// NewCollector makes one for the answer to r.
func NewCollector(r *Request, emit func(Event) error) *Collector {
	return &Collector{emit: emit, start: time.Now(), request: r}
}

// Text adds a piece of the answer. It may end inside a character.
func (c *Collector) Text(text string) error { return c.add(EventText, text) }

// Reasoning adds a piece of what the model thinks. It may end inside a character.
func (c *Collector) Reasoning(text string) error { return c.add(EventReasoning, text) }

func (c *Collector) add(kind EventKind, text string) error {
	if text == "" {
		return nil
	}
	if err := c.grow(len(text)); err != nil {
		return err
	}
	if kind != c.kind {
		if err := c.finishPart(); err != nil {
			return err
		}
		c.kind = kind
	}
	text = joined(c.cut, text)
	whole := wholeCharacters(text)
	c.cut = text[whole:]
	return c.say(text[:whole])
}

// maxAnswer is how many bytes an answer may have, all of it. A model that never ends would fill the host's memory.
const maxAnswer = 16 << 20

func (c *Collector) grow(bytes int) error {
	if c.size += bytes; c.size > maxAnswer {
		return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("the model's answer has more than %d bytes", maxAnswer)}
	}
	return nil
}

// wholeCharacters is how much of text ends with a whole character. Bytes that can never become one
// count as whole.
func wholeCharacters(text string) int {
	if n := len(text) - halfLen; n >= 0 && IsFirstHalf(half(text[n:])) {
		return n
	}
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if i := len(text) - back; utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

func (c *Collector) say(text string) error {
	if text == "" {
		return nil
	}
	c.open.WriteString(text)
	return c.emit(Event{Kind: c.kind, Text: text})
}

// finishPart ends the part that grows. A character that was never finished is given out as it is.
func (c *Collector) finishPart() error {
	cut := joined(c.cut, "")
	c.cut = ""
	err := c.say(cut)
	c.seal()
	return err
}

func (c *Collector) seal() {
	if c.open.Len() == 0 {
		return
	}
	part := Part{Text: c.open.String()}
	if c.kind == EventReasoning {
		part = Part{Reasoning: &Reasoning{Text: part.Text}}
	}
	c.parts = append(c.parts, part)
	c.open.Reset()
}

// Sign ends the reasoning that was told last, with the signature that the provider wants back.
// redacted is reasoning that only the provider can read.
func (c *Collector) Sign(signature, redacted string) error {
	if err := c.finishPart(); err != nil {
		return err
	}
	last := len(c.parts) - 1
	if redacted == "" && last >= 0 && c.parts[last].Reasoning != nil {
		c.parts[last].Reasoning.Signature = signature
		return nil
	}
	c.parts = append(c.parts, Part{Reasoning: &Reasoning{Signature: signature, Redacted: redacted}})
	return nil
}

// maxCalls is how many tools one answer may ask for.
const maxCalls = 1000

// Call adds a complete tool call. Arguments without text are an empty object. A call without an id,
// which small servers send, gets one.
func (c *Collector) Call(call ToolCall) error {
	if err := c.finishPart(); err != nil {
		return err
	}
	if c.calls++; c.calls > maxCalls {
		return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("the model asks for more than %d tools at once", maxCalls)}
	}
	if err := c.grow(len(call.Arguments)); err != nil {
		return err
	}
	switch strings.TrimSpace(string(call.Arguments)) {
	case "", "null":
		call.Arguments = json.RawMessage("{}")
	}
	if call.ID == "" {
		call.ID = c.newID()
	}
	c.parts = append(c.parts, Part{Call: &call})
	return c.emit(Event{Kind: EventCall, Call: &call})
}

// newID is an id that no call of the conversation has.
func (c *Collector) newID() string {
	if c.taken == nil {
		c.taken = map[string]bool{}
		for _, m := range c.request.Messages {
			for _, call := range m.Calls() {
				c.taken[call.ID] = true
			}
		}
	}
	for n := len(c.taken) + 1; ; n++ {
		if id := fmt.Sprintf("call_%d", n); !c.taken[id] {
			c.taken[id] = true
			return id
		}
	}
}

// Model notes which model answers.
func (c *Collector) Model(name string) { c.model = name }

// Usage notes what the answer took so far, all included.
func (c *Collector) Usage(u Usage) error {
	c.usage, c.told = u, true
	u.Time = time.Since(c.start)
	return c.emit(Event{Kind: EventUsage, Usage: &u})
}

// End is the end of a whole answer. A model that asks for tools has stopped for them, whatever the
// provider calls it.
func (c *Collector) End(stop StopReason) (*Response, error) {
	if err := c.finishPart(); err != nil {
		return c.response(stop), err
	}
	if !c.told {
		if err := c.Usage(c.estimate()); err != nil {
			return c.response(stop), err
		}
	}
	r := c.response(stop)
	if len(r.Calls()) > 0 && (stop == StopEnd || stop == StopOther) {
		r.Stop = StopCalls
	}
	return r, c.emit(Event{Kind: EventEnd, Stop: r.Stop})
}

// Fail is the end of an answer that broke off. The Response holds what had come, or is nil when
// nothing had.
func (c *Collector) Fail(err error) (*Response, error) {
	c.seal()
	if len(c.parts) == 0 && !c.told {
		return nil, err
	}
	if !c.told {
		c.usage = c.estimate()
	}
	return c.response(StopOther), err
}

func (c *Collector) response(stop StopReason) *Response {
	usage := c.usage
	usage.Time = time.Since(c.start)
	return &Response{
		Message: Message{Role: RoleAssistant, Parts: c.parts},
		Stop:    stop, Usage: usage, Model: c.model,
	}
}

// bytesPerToken is a low guess for English; other languages have more tokens to a character and
// more bytes as well.
const bytesPerToken = 4

// estimate guesses the usage for a provider that tells none: a limit of tokens shall hold there too.
func (c *Collector) estimate() Usage {
	in := len(c.request.System)
	for _, m := range c.request.Messages {
		in += m.size()
	}
	out := Message{Parts: c.parts}.size()
	return Usage{
		InputTokens:  int64(in+bytesPerToken-1) / bytesPerToken,
		OutputTokens: int64(out+bytesPerToken-1) / bytesPerToken,
		Estimated:    true,
	}
}

// size is about how many bytes of text a model sees in the message.
func (m Message) size() int {
	n := 0
	for _, p := range m.Parts {
		n += len(p.Text)
		if p.Call != nil {
			n += len(p.Call.Name) + len(p.Call.Arguments)
		}
		if p.Result != nil {
			n += len(p.Result.Text)
		}
		if p.Reasoning != nil {
			n += len(p.Reasoning.Text)
		}
	}
	return n
}
