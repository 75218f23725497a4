package store

import (
	"context"
	"database/sql"
	"time"
)

// keptRow is what a row counts beside its texts. Tables and indexes of one have about as many bytes.
const keptRow = 512

// keptRoom is the room for what is kept for callers: answers to requests, and outcomes of calls that run on their own.
// Triggers count what there is, in the transactions that change it, so that the numbers are right whatever process
// writes or dies.
type keptRoom struct {
	db       *database
	now      func() time.Time
	presence *presence

	size, sizePerCaller   int64
	count, countPerCaller int64
}

func newKeptRoom(db *database, o *Options, p *presence) *keptRoom {
	return &keptRoom{db: db, now: o.Now, presence: p, size: o.MaxKept, sizePerCaller: o.MaxKeptPerCaller,
		count: int64(o.MaxKeptCount), countPerCaller: (int64(o.MaxKeptCount) + 3) / 4}
}

// use is what there is of all and of one caller.
type use struct{ size, count, ownSize, ownCount int64 }

func (k *keptRoom) use(t *tx, caller string) (u use, err error) {
	_, err = t.row("SELECT size, count, coalesce((SELECT size FROM kept WHERE caller = ?1), 0), coalesce((SELECT count FROM kept WHERE caller = ?1), 0) "+
		"FROM sizes WHERE name = 'kept'", []any{caller}, &u.size, &u.count, &u.ownSize, &u.ownCount)
	return u, err
}

// begin runs fn, which adds one row of the caller, where there is room for it.
func (k *keptRoom) begin(ctx context.Context, caller string, fn func(*tx) error) error {
	var full error
	err := k.db.write(ctx, func(t *tx) (err error) {
		if full, err = k.full(t, caller); err != nil {
			return err
		}
		if full != nil {
			if err = k.forget(t, caller); err != nil {
				return err
			}
			if full, err = k.full(t, caller); err != nil || full != nil {
				return err // what was forgotten stays so
			}
		}
		return fn(t)
	})
	if err != nil {
		return err
	}
	return full
}

// full says why there is no room for one more.
func (k *keptRoom) full(t *tx, caller string) (full, err error) {
	u, err := k.use(t, caller)
	switch {
	case err != nil:
		return nil, err
	case u.ownSize+keptRow > k.sizePerCaller || u.ownCount >= k.countPerCaller:
		return k.noRoom("this caller", u.ownCount, u.ownSize), nil
	case u.size+keptRow > k.size || u.count >= k.count:
		return k.noRoom("the store", u.count, u.size), nil
	}
	return nil, nil
}

func (k *keptRoom) noRoom(who string, count, size int64) error {
	return failure(CodeFull, "%s keeps %d answers and outcomes of %d bytes, and there is no room for more; they are forgotten after %.0f hours, "+
		"and answers after %.0f minutes where there is no room: call without an Idempotency-Key and wait for the answer, or raise [state] max_kept",
		who, count, size, AnswerLasts.Hours(), surelyKept.Minutes())
}

// fits says whether there is room for so many bytes more.
func (k *keptRoom) fits(t *tx, caller string, size int) (bool, error) {
	u, err := k.use(t, caller)
	return err == nil && u.size+int64(size) <= k.size && u.ownSize+int64(size) <= k.sizePerCaller, err
}

// surelyKept is how long an answer is kept whatever comes: who sends a request again does so soon. Whoever sends so many
// that there is no room for a day of them loses the oldest.
const surelyKept = 10 * time.Minute

func oldestRequests(now time.Time, caller string) rule {
	return rule{"requests", "SELECT rowid FROM requests WHERE caller = ? AND status > 0 AND expires <= ? ORDER BY expires",
		[]any{caller, micros(now.Add(AnswerLasts - surelyKept))}}
}

// forget deletes some of what is old: Trim comes by seldom.
func (k *keptRoom) forget(t *tx, caller string) error {
	for _, r := range []rule{oldRequests(k.now()), oldCalls(k.presence, k.now(), callsLast), oldestRequests(k.now(), caller)} {
		if _, err := t.exec(r.deletion(), r.args...); err != nil {
			return err
		}
	}
	return nil
}

const callsLast = 24 * time.Hour

func oldRequests(now time.Time) rule {
	return rule{"requests", "SELECT rowid FROM requests WHERE expires <= ?", []any{micros(now)}}
}

func oldCalls(p *presence, now time.Time, age time.Duration) rule {
	return rule{"calls", "SELECT rowid FROM calls WHERE created < :before AND NOT (state = 'running' AND " + aliveSQL("process") + ")",
		append(queryArgs(p, now), sql.Named("before", micros(now.Add(-age))))}
}

// noRoomFor is the error of an outcome that does not fit.
func noRoomFor(size int) error {
	return failure(CodeLimit, "the result of the call has %d bytes, and there is no room to keep it beside what is kept already; "+
		"call again, and wait for the answer", size)
}

// cutShort is a failure that fits always.
func (f *Failure) cutShort() *Failure {
	return &Failure{Code: cut(f.Code, maxLogName), Message: cut(f.Message, maxLogMessage), Detail: cut(f.Detail, maxLogName)}
}
