package toolhost

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/units"
)

// maxRates is how many pairs of tool and caller are remembered.
const maxRates = 10_000

// rates limit how often each caller calls each tool. The zero value is ready once now is set.
type rates struct {
	now func() time.Time
	mu  sync.Mutex
	all map[rateKey]*rateOf
}

type rateKey struct{ tool, caller string }

type rateOf struct {
	limit   tooldef.Rate
	limiter *rate.Limiter
	last    time.Time
}

// allow counts a call.
func (r *rates) allow(t *tooldef.Tool, caller string) *Error {
	if t.Rate.Calls == 0 {
		return nil
	}
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	key := rateKey{t.Name, caller}
	of := r.all[key]
	if of == nil || of.limit != t.Rate {
		of = &rateOf{limit: t.Rate, limiter: rate.NewLimiter(rate.Every(t.Rate.Per/time.Duration(t.Rate.Calls)), t.Rate.Calls)}
		r.remember(key, of)
	}
	of.last = now
	reservation := of.limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reservation.CancelAt(now)
	return &Error{
		Code: RateLimited, RetryAfter: wait,
		Message: fmt.Sprintf("tool '%s' takes %s in %s from one caller; try again in %s", t.Name,
			units.Counted(t.Rate.Calls, "call"), period(t.Rate.Per), seconds(wait.Truncate(time.Second)+time.Second)),
	}
}

// remember forgets, where there is no room, those that are full again, and else the one that is longest unused.
func (r *rates) remember(key rateKey, of *rateOf) {
	if r.all == nil {
		r.all = map[rateKey]*rateOf{}
	}
	if len(r.all) >= maxRates {
		r.forget()
	}
	r.all[key] = of
}

func (r *rates) forget() {
	now := r.now()
	var oldest rateKey
	var since time.Time
	for key, of := range r.all {
		if now.Sub(of.last) > of.limit.Per {
			delete(r.all, key)
		} else if since.IsZero() || of.last.Before(since) {
			oldest, since = key, of.last
		}
	}
	if len(r.all) >= maxRates {
		delete(r.all, oldest)
	}
}
