package models

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// RetryOptions are the one policy for all providers. The zero value is the default.
type RetryOptions struct {
	Retries  int           // after the first attempt; 0: 2; below 0: none
	First    time.Duration // before the first retry, doubled for each further one; 0: 500 ms
	Longest  time.Duration // of one wait, what the provider asks for included; 0: 30 s
	Wait     func(ctx context.Context, d time.Duration) error
	Random   func() float64 // in [0, 1): each wait is between half and all of it
	Retrying func(err error, wait time.Duration)
}

// WithRetries is p with retries: after failures that may pass, while no event was delivered. What
// was delivered once cannot be taken back, so after that the error goes to the caller.
func WithRetries(p Provider, o RetryOptions) Provider {
	switch {
	case o.Retries == 0:
		o.Retries = 2
	case o.Retries < 0:
		o.Retries = 0
	}
	if o.First == 0 {
		o.First = 500 * time.Millisecond
	}
	if o.Longest == 0 {
		o.Longest = 30 * time.Second
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return &retrier{p, o}
}

type retrier struct {
	Provider
	o RetryOptions
}

// Stream implements Provider.
func (r *retrier) Stream(ctx context.Context, request *Request, emit func(Event) error) (*Response, error) {
	delivered := false
	for attempt := 0; ; attempt++ {
		response, err := r.Provider.Stream(ctx, request, func(e Event) error {
			delivered = true
			return emit(e)
		})
		var failed *Error
		if err == nil || delivered || attempt >= r.o.Retries || ctx.Err() != nil ||
			!errors.As(err, &failed) || !failed.Retryable {
			return response, err
		}
		d, ok := r.delay(ctx, attempt, failed.RetryAfter)
		if !ok {
			return response, err
		}
		if r.o.Retrying != nil {
			r.o.Retrying(err, d)
		}
		if ended := r.o.Wait(ctx, d); ended != nil {
			return response, ended
		}
	}
}

// delay is how long to wait; false when the provider asks for more than is waited, or the deadline
// comes first: then the failure is told at once.
func (r *retrier) delay(ctx context.Context, attempt int, asked time.Duration) (time.Duration, bool) {
	if asked > r.o.Longest {
		return 0, false
	}
	d := r.o.Longest
	if shift := r.o.First << attempt; attempt < 30 && shift > 0 && shift < d {
		d = shift
	}
	d = d/2 + time.Duration(r.o.Random()*float64(d/2))
	d = max(d, asked)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return 0, false
	}
	return d, true
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
