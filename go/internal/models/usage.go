package models

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Usage is what an answer took.
type Usage struct {
	InputTokens     int64 // all of the input, cached ones included
	OutputTokens    int64 // all of the output, reasoning included
	CachedTokens    int64 // of the input, read from the provider's cache
	ReasoningTokens int64 // of the output
	Time            time.Duration
	Estimated       bool // the provider told no figures: these are guessed from the length of the texts
}

// Tokens are all tokens.
func (u Usage) Tokens() int64 { return u.InputTokens + u.OutputTokens }

// Plus adds two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		InputTokens:     u.InputTokens + v.InputTokens,
		OutputTokens:    u.OutputTokens + v.OutputTokens,
		CachedTokens:    u.CachedTokens + v.CachedTokens,
		ReasoningTokens: u.ReasoningTokens + v.ReasoningTokens,
		Time:            u.Time + v.Time,
		Estimated:       u.Estimated || v.Estimated,
	}
}

// Budget is a number of tokens that all calls of a run share. Any goroutine may use it. A nil Budget
// has no end.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget makes a Budget; 0 means no limit.
func NewBudget(tokens int64) *Budget { return &Budget{limit: tokens} }

// Charge takes what a call used, and fails when that was more than was left. It is charged all the
// same.
func (b *Budget) Charge(u Usage) error {
	if b == nil {
		return nil
	}
	if used := b.used.Add(u.Tokens()); b.limit > 0 && used > b.limit {
		return b.spent(used)
	}
	return nil
}

// Check fails when nothing is left.
func (b *Budget) Check() error {
	if b == nil || b.limit <= 0 {
		return nil
	}
	if used := b.used.Load(); used >= b.limit {
		return b.spent(used)
	}
	return nil
}

// Used is how many tokens were charged.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

func (b *Budget) spent(used int64) error {
	return &Error{Code: CodeLimit, Message: fmt.Sprintf(
		"the token limit of this run was reached: %d of %d tokens are used; raise tokens in [limits]", used, b.limit)}
}

// WithBudget is p with every call charged to b. A call is refused when nothing is left, and one that
// takes more than that is charged and fails, with its answer beside the error.
func WithBudget(p Provider, b *Budget) Provider {
	return ProviderFunc(func(ctx context.Context, r *Request, emit func(Event) error) (*Response, error) {
		if err := b.Check(); err != nil {
			return nil, err
		}
		response, err := p.Stream(ctx, r, emit)
		if response == nil {
			return nil, err
		}
		if spent := b.Charge(response.Usage); err == nil {
			err = spent
		}
		return response, err
	})
}
