// Package fakemodel is a model for tests of Go code: it answers what the test wrote down and keeps
// what it was asked. Tests of scripts and configurations use scriptmodel.
package fakemodel

import (
	"context"
	"slices"
	"sync"

	"github.com/hukilau/hukilau/go/internal/models"
)

// Answer is one answer. The zero value is an empty text.
type Answer struct {
	Reasoning string
	Chunks    []string // of the text, as they arrive
	Text      string   // after Chunks
	Calls     []models.ToolCall
	Usage     models.Usage // zero: estimated
	Err       error        // ends the stream after all of the above
	// Do answers in place of the fields above. It may wait, and should heed ctx.
	Do func(ctx context.Context, r *models.Request) (Answer, error)
}

// Provider gives its answers in order. Any goroutine may use it.
type Provider struct {
	mu       sync.Mutex
	answers  []Answer
	requests []*models.Request
}

var _ models.Provider = (*Provider)(nil)

// New makes a Provider. After the last answer every request is an error.
func New(answers ...Answer) *Provider { return &Provider{answers: answers} }

// Requests are those that came, in order, each as it was then.
func (p *Provider) Requests() []*models.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Stream implements models.Provider.
func (p *Provider) Stream(ctx context.Context, r *models.Request, emit func(models.Event) error) (*models.Response, error) {
	answer, ok := p.next(r)
	if !ok {
		return nil, &models.Error{Code: models.CodeInvalidRequest, Provider: "fake", Message: "no answer is left"}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if answer.Do != nil {
		var err error
		if answer, err = answer.Do(ctx, r); err != nil {
			return nil, err
		}
	}
	c := models.NewCollector(r, emit)
	if err := answer.tell(c); err != nil {
		return c.Fail(err)
	}
	return c.End(models.StopEnd)
}

func (p *Provider) next(r *models.Request) (Answer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := *r
	kept.Messages = slices.Clone(r.Messages)
	p.requests = append(p.requests, &kept)
	if len(p.answers) == 0 {
		return Answer{}, false
	}
	answer := p.answers[0]
	p.answers = p.answers[1:]
	return answer, true
}

func (a Answer) tell(c *models.Collector) error {
	if err := c.Reasoning(a.Reasoning); err != nil {
		return err
	}
	for _, chunk := range append(slices.Clone(a.Chunks), a.Text) {
		if err := c.Text(chunk); err != nil {
			return err
		}
	}
	for _, call := range a.Calls {
		if err := c.Call(call); err != nil {
			return err
		}
	}
	if a.Usage != (models.Usage{}) {
		if err := c.Usage(a.Usage); err != nil {
			return err
		}
	}
	return a.Err
}
