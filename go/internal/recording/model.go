package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/internal/models"
)

// question is one request to a model and what came of it: an answer, a failure, both, or neither, when nobody waited
// for it.
type question struct {
	Model   string          `json:"model"` // by its name in the configuration
	Digest  string          `json:"request_sha256"`
	Last    string          `json:"last_message,omitempty"` // for people
	Request json.RawMessage `json:"request,omitempty"`      // where it is small: the digest is compared
	Events  []event         `json:"events,omitempty"`
	Answer  *answer         `json:"answer,omitempty"`
	End     ending          `json:"end,omitempty"` // where the answer is not whole
	Failure *failure        `json:"failure,omitempty"`
}

// event is one step of an answer; exactly one field is set.
type event struct {
	Text      string            `json:"text,omitempty"`
	Reasoning string            `json:"reasoning,omitempty"`
	Call      *call             `json:"call,omitempty"`
	Usage     *usage            `json:"usage,omitempty"`
	Stop      models.StopReason `json:"stop,omitempty"`
}

type usage struct {
	Input     int64   `json:"input_tokens"`
	Output    int64   `json:"output_tokens"`
	Cached    int64   `json:"cached_tokens,omitempty"`
	Reasoning int64   `json:"reasoning_tokens,omitempty"`
	Seconds   float64 `json:"seconds,omitempty"`
	Estimated bool    `json:"estimated,omitempty"`
}

type answer struct {
	Message message           `json:"message"`
	Stop    models.StopReason `json:"stop"`
	Usage   usage             `json:"usage"`
	Model   string            `json:"model,omitempty"`
}

func (q *question) check() error {
	switch {
	case q.Model == "":
		return errors.New("model is missing")
	case q.Digest == "":
		return errors.New("request_sha256 is missing")
	}
	return q.End.check()
}

// asked says in one line what the request is.
func (q *question) asked() string {
	return fmt.Sprintf("a request to the model %s, whose last message is %q", q.Model, clipped(q.Last))
}

// Model goes around a model, by its name in the configuration. In a replay p is not used and may be nil.
func (s *Session) Model(name string, p models.Provider) models.Provider {
	return models.ProviderFunc(func(ctx context.Context, r *models.Request, emit func(models.Event) error) (*models.Response, error) {
		run := runOf(ctx)
		if run == nil && !s.replaying {
			return p.Stream(ctx, r, emit)
		}
		if run == nil {
			return nil, errNoRun
		}
		q, err := s.question(name, r)
		if err != nil {
			return nil, err
		}
		if s.replaying {
			return run.answerModel(ctx, q, emit)
		}
		return run.recordModel(ctx, p, r, q, emit)
	})
}

// wireRequest is a request to a model as it is kept. The provider's own name of the model is not in it.
type wireRequest struct {
	System      string    `json:"system,omitempty"`
	Messages    []message `json:"messages"`
	Tools       []tool    `json:"tools,omitempty"`
	Temperature *float64  `json:"temperature,omitempty"`
	MaxTokens   int       `json:"max_tokens,omitempty"`
	Stop        []string  `json:"stop,omitempty"`
	Seed        *int64    `json:"seed,omitempty"`
	Schema      any       `json:"schema,omitempty"`
}

func (s *Session) question(name string, r *models.Request) (*question, error) {
	text, err := marshal(wireRequest{r.System, messagesOf(r.Messages), toolsOf(r.Tools), r.Temperature, r.MaxTokens, r.Stop, r.Seed, r.Schema})
	if err != nil {
		return nil, fmt.Errorf("the request to the model %s cannot be recorded: %w", name, err)
	}
	kept := s.cleanJSON(text)
	q := &question{Model: name, Digest: digest(kept)}
	if n := len(r.Messages); n > 0 {
		q.Last = clipped(s.clean(lastText(r.Messages[n-1])))
	}
	if len(kept) <= maxKeptBody {
		q.Request = kept
	}
	return q, nil
}

func lastText(m models.Message) string {
	texts := []string{m.Text()}
	for _, p := range m.Parts {
		if p.Result != nil {
			texts = append(texts, p.Result.Text)
		}
	}
	return strings.TrimSpace(strings.Join(texts, " "))
}

// heard is what a run heard of an answer.
type heard struct {
	events []event
	size   int
}

func (h *heard) add(e models.Event) {
	var kept event
	switch e.Kind {
	case models.EventText:
		kept.Text = e.Text
	case models.EventReasoning:
		kept.Reasoning = e.Text
	case models.EventCall:
		kept.Call = callOf(e.Call)
	case models.EventUsage:
		u := usageOf(*e.Usage)
		kept.Usage = &u
	case models.EventEnd:
		kept.Stop = e.Stop
	default:
		return
	}
	h.size += len(e.Text) + 32
	if kept.Call != nil {
		h.size += len(kept.Call.Arguments)
	}
	h.events = append(h.events, kept)
}

func (r *Run) recordModel(ctx context.Context, p models.Provider, req *models.Request, q *question, emit func(models.Event) error) (*models.Response, error) {
	s := r.session
	s.mu.Lock()
	if len(r.entry.Models) >= maxAsked {
		s.fail(fmt.Errorf("a run asks models more than %d times, which is too often for a recording", maxAsked))
	} else {
		q.End = waiting
		r.entry.Models = append(r.entry.Models, q)
	}
	s.mu.Unlock()
	var h heard
	refused := false
	response, err := p.Stream(ctx, req, func(e models.Event) error {
		if h.size <= maxBodies {
			h.add(e)
		}
		err := emit(e)
		refused = refused || err != nil
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size += h.size; s.size > maxBodies {
		s.fail(fmt.Errorf("the answers have more than %d bytes, which are too many for a recording", maxBodies))
		return response, err
	}
	q.Events, q.End = s.cleanEvents(h.events), ""
	if response != nil {
		q.Answer = s.cleanAnswer(response)
	}
	switch {
	case refused:
		q.End = left
	case err != nil:
		if q.Failure = s.modelFailure(ctx, err); q.Failure == nil {
			q.End = waiting
		}
	}
	return response, err
}

// modelFailure is nil where nobody waited any longer.
func (s *Session) modelFailure(ctx context.Context, err error) *failure {
	var e *models.Error
	switch {
	case errors.As(err, &e):
	case ctx.Err() != nil:
		return nil
	default:
		e = &models.Error{Code: models.CodeUpstream, Message: err.Error()}
	}
	return &failure{
		Code: string(e.Code), Message: s.clean(e.Message), Provider: e.Provider, Status: e.Status, Retryable: e.Retryable,
		RetryAfter: e.RetryAfter.Seconds(),
	}
}

// cleanEvents takes secrets out of an answer. One that came in two pieces is found in the whole text, which is then
// one piece.
func (s *Session) cleanEvents(list []event) []event {
	var kept []event
	for i := 0; i < len(list); {
		if list[i].Call != nil {
			kept = append(kept, event{Call: s.cleanCall(list[i].Call)})
			i++
			continue
		}
		end, text, reasoning := i, "", ""
		for end < len(list) && list[end].Call == nil {
			text, reasoning = text+list[end].Text, reasoning+list[end].Reasoning
			end++
		}
		if s.clean(text) == text && s.clean(reasoning) == reasoning {
			kept = append(kept, list[i:end]...)
		} else {
			kept = append(kept, s.joined(list[i:end], text, reasoning)...)
		}
		i = end
	}
	return kept
}

func (s *Session) joined(list []event, text, reasoning string) []event {
	var kept []event
	if reasoning != "" {
		kept = append(kept, event{Reasoning: s.clean(reasoning)})
	}
	if text != "" {
		kept = append(kept, event{Text: s.clean(text)})
	}
	for _, e := range list {
		if e.Text == "" && e.Reasoning == "" {
			kept = append(kept, e)
		}
	}
	return kept
}

func (s *Session) cleanCall(c *call) *call {
	kept := *c
	kept.Arguments = s.clean(c.Arguments)
	return &kept
}

func (s *Session) cleanAnswer(r *models.Response) *answer {
	a := &answer{Message: messageOf(r.Message), Stop: r.Stop, Usage: usageOf(r.Usage), Model: s.clean(r.Model)}
	for i := range a.Message.Parts {
		p := &a.Message.Parts[i]
		p.Text = s.clean(p.Text)
		if p.Call != nil {
			p.Call = s.cleanCall(p.Call)
		}
		if p.Reasoning != nil {
			thought := *p.Reasoning
			thought.Text = s.clean(thought.Text)
			p.Reasoning = &thought
		}
	}
	return a
}
