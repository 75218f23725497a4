package store

import (
	"context"
	"database/sql"
	"strconv"
	"time"
)

// Retention says what [Store.Trim] keeps. Zero values are the defaults; what is negative keeps
// everything.
type Retention struct {
	LogAge      time.Duration // of runs, by their begin; 0: 30 days
	LogCount    int           // the newest runs; 0: 1,000,000
	CallAge     time.Duration // of calls that ended, from their creation; 0: 24 hours
	ApprovalAge time.Duration // of approvals that nobody waits for, from their creation; 0: 30 days
	ScopeAge    time.Duration // of scopes of the state, from their last write; 0: kept
}

// Small steps: between two of them others write.
const (
	trimStep = 200                              // rows
	vacuum   = "PRAGMA incremental_vacuum(256)" // pages
)

// Trim deletes what is older or more than retention and [Options.MaxLog] keep, and answers to requests that expired, and
// gives the room back to the disk. It returns how many rows it deleted.
func (s *Store) Trim(ctx context.Context, r Retention) (int64, error) {
	var deleted int64
	for _, rule := range s.rules(r) {
		n, err := s.trim(ctx, rule)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	for _, trim := range []func() (int64, error){
		func() (int64, error) { return s.trimLog(ctx) },
		func() (int64, error) { return s.trimScopes(ctx, r.ScopeAge) },
	} {
		n, err := trim()
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	return deleted, s.shrink(ctx)
}

// rule deletes rows of one table that a query chooses, a step at a time.
type rule struct {
	table, choose string
	args          []any
}

func (r *rule) deletion() string {
	return "DELETE FROM " + r.table + " WHERE rowid IN (" + r.chosen() + ")"
}

func (r *rule) chosen() string { return r.choose + " LIMIT " + strconv.Itoa(trimStep) }

func (s *Store) rules(r Retention) []rule {
	setZero(&r.LogAge, 30*24*time.Hour)
	setZero(&r.LogCount, 1_000_000)
	setZero(&r.CallAge, callsLast)
	setZero(&r.ApprovalAge, 30*24*time.Hour)
	now := s.options.Now()
	before := func(age time.Duration) any { return micros(now.Add(-age)) }
	rules := []rule{oldRequests(now)}
	if r.LogAge > 0 {
		rules = append(rules, rule{"runs", "SELECT seq FROM runs WHERE time < ?", []any{before(r.LogAge)}})
	}
	if r.LogCount > 0 {
		rules = append(rules, rule{"runs", "SELECT seq FROM runs WHERE (time, seq) <= " +
			"(SELECT time, seq FROM runs ORDER BY time DESC, seq DESC LIMIT 1 OFFSET ?)", []any{r.LogCount}})
	}
	if r.CallAge > 0 {
		rules = append(rules, oldCalls(s.presence, now, r.CallAge))
	}
	if r.ApprovalAge > 0 {
		rules = append(rules, rule{"approvals", "SELECT rowid FROM approvals WHERE created < :before AND NOT (state = 'running' AND " + aliveSQL("process") + ") " +
			"AND NOT (state IN ('pending', 'approved') AND expires > :now)",
			append(queryArgs(s.presence, now), sql.Named("before", before(r.ApprovalAge)))})
	}
	return rules
}

func setZero[T ~int | ~int64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

func (s *Store) trim(ctx context.Context, r rule) (deleted int64, err error) {
	for {
		var n int64
		err := s.db.write(ctx, func(t *tx) (err error) {
			if r.table != "runs" {
				n, err = t.exec(r.deletion(), r.args...)
				return err
			}
			gone, err := deleteEntries(t, r.chosen(), r.args...)
			if err == nil && gone.count > 0 {
				_, err = resize(t, logged{-gone.count, -gone.size})
			}
			n = gone.count
			return err
		})
		deleted += n
		if err != nil || n < trimStep {
			return deleted, err
		}
	}
}

func (s *Store) trimScopes(ctx context.Context, age time.Duration) (dropped int64, err error) {
	if age <= 0 {
		return 0, nil
	}
	before := micros(s.options.Now().Add(-age))
	for {
		found := false
		err := s.db.write(ctx, func(t *tx) (err error) {
			var scope string
			if found, err = t.row("SELECT scope FROM scopes WHERE changed < ? LIMIT 1", []any{before}, &scope); err != nil || !found {
				return err
			}
			return drop(t, scope)
		})
		if err != nil || !found {
			return dropped, err
		}
		dropped++
	}
}

// shrink gives pages that hold nothing back to the disk.
func (s *Store) shrink(ctx context.Context) error {
	for {
		var before, after int64
		err := s.db.write(ctx, func(t *tx) error {
			if _, err := t.row("PRAGMA freelist_count", nil, &before); err != nil {
				return err
			}
			if before == 0 {
				return nil
			}
			if _, err := t.exec(vacuum); err != nil {
				return err
			}
			_, err := t.row("PRAGMA freelist_count", nil, &after)
			return err
		})
		if err != nil || before == 0 || after >= before {
			return err
		}
	}
}
