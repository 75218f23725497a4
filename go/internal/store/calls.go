package store

import (
	"context"
	"database/sql"
	"time"
)

// Call is a call that runs on its own while its caller asks for the outcome.
type Call struct {
	ID      string // see NewID, which is used where it is empty
	Tool    string
	Version string
	Caller  string

	State    CallState // Running, Done or Interrupted; set by the store, like all below
	Created  time.Time
	Finished time.Time
	Outcome  *Outcome // once it is done
}

// Calls holds calls that run on their own, and their outcomes. Goroutines may share it.
type Calls struct {
	db       *database
	now      func() time.Time
	presence *presence
	room     *keptRoom
}

// Create stores a call that this process runs from now on. Where no more can be kept the error has CodeFull.
func (c *Calls) Create(ctx context.Context, new Call) (Call, error) {
	if new.ID == "" {
		new.ID = NewID()
	}
	if err := c.presence.enter(ctx); err != nil {
		return Call{}, err
	}
	now := micros(c.now())
	err := c.room.begin(ctx, new.Caller, func(t *tx) error {
		_, err := t.exec("INSERT INTO calls (id, state, created, tool, version, caller, process, size) VALUES (?, 'running', ?, ?, ?, ?, ?, ?)",
			new.ID, now, new.Tool, new.Version, new.Caller, c.presence.id, keptRow)
		return err
	})
	new.State, new.Created = Running, fromMicros(now)
	return new, err
}

// Finish stores the outcome of a call of this process. A result for which there is no room is refused with
// CodeLimit, the call may then be finished with an error; of an error only the beginning is kept.
func (c *Calls) Finish(ctx context.Context, id string, outcome Outcome) error {
	failed, err := outcome.check()
	if err != nil {
		return err
	}
	return c.db.write(ctx, func(t *tx) error {
		failed, err := c.checkRoom(t, id, &outcome, failed)
		if err != nil {
			return err
		}
		n, err := t.exec("UPDATE calls SET state = 'done', finished = ?, result = ?, error = ?, size = ? WHERE id = ? AND state = 'running' AND process = ?",
			micros(c.now()), []byte(outcome.Result), failed, keptRow+len(outcome.Result)+len(failed), id, c.presence.id)
		if err == nil && n == 0 {
			return notRunning(t, "calls", id)
		}
		return err
	})
}

// checkRoom returns the error as it is stored.
func (c *Calls) checkRoom(t *tx, id string, outcome *Outcome, failed string) (string, error) {
	var caller string
	if found, err := t.row("SELECT caller FROM calls WHERE id = ?", []any{id}, &caller); err != nil || !found {
		return failed, err // Finish tells
	}
	fits, err := c.room.fits(t, caller, len(outcome.Result)+len(failed))
	switch {
	case err != nil || fits:
		return failed, err
	case outcome.Error == nil:
		return "", noRoomFor(len(outcome.Result))
	}
	short := Outcome{Error: outcome.Error.cutShort()}
	outcome.Result = nil
	return short.check()
}

func callsQuery(outcome, where string) string {
	return "SELECT * FROM (SELECT id, CASE WHEN state = 'running' AND NOT " + aliveSQL("process") + " THEN 'interrupted' ELSE state END AS current, " +
		"created, finished, tool, version, caller, " + outcome + " FROM calls) " + where
}

// Get returns one.
func (c *Calls) Get(ctx context.Context, id string) (Call, error) {
	list, err := c.find(ctx, "result, error", "WHERE id = :id", sql.Named("id", id))
	if err != nil {
		return Call{}, err
	}
	if len(list) == 0 {
		return Call{}, notFound("call", id)
	}
	return list[0], nil
}

// CallFilter chooses calls; zero fields choose all.
type CallFilter struct {
	State  CallState
	Caller string
	Before string // an id: only those further down the list
	Limit  int    // 0: 100; at most 1,000
}

// List returns the chosen ones, newest first. Their outcomes are left out.
func (c *Calls) List(ctx context.Context, f CallFilter) ([]Call, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	list, err := c.find(ctx, "NULL, ''", "WHERE (:state = '' OR current = :state) AND (:caller = '' OR caller = :caller) "+
		"AND (:before = '' OR (created, id) < (SELECT created, id FROM calls WHERE id = :before)) ORDER BY created DESC, id DESC LIMIT :limit",
		sql.Named("state", string(f.State)), sql.Named("caller", f.Caller), sql.Named("before", f.Before), sql.Named("limit", min(f.Limit, 1000)))
	for i := range list {
		list[i].Outcome = nil
	}
	return list, err
}

func (c *Calls) find(ctx context.Context, outcome, where string, args ...any) ([]Call, error) {
	var list []Call
	all := append(queryArgs(c.presence, c.now())[1:], args...)
	err := c.db.read(ctx, callsQuery(outcome, where), all, func(rows *sql.Rows) error {
		var found Call
		var created, finished int64
		var result []byte
		var failed string
		err := rows.Scan(&found.ID, &found.State, &created, &finished, &found.Tool, &found.Version, &found.Caller, &result, &failed)
		if err != nil {
			return err
		}
		found.Created, found.Finished = fromMicros(created), fromMicros(finished)
		if found.State == Done {
			found.Outcome, err = decodeOutcome(result, failed)
		}
		list = append(list, found)
		return err
	})
	return list, err
}
