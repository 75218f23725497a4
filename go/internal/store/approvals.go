package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"
)

const (
	// MaxPendingArguments is how many bytes of arguments a call that waits may have.
	MaxPendingArguments = 1 << 20
	// MaxOutcome is how many bytes the result of a call may have. More is refused: the call may then be
	// finished with an error.
	MaxOutcome = 16 << 20
)

// CallState is how far an approval or a call has come.
type CallState string

// States. Pending, approved and denied are of approvals only.
const (
	Pending     CallState = "pending"     // waits for a decision
	Approved    CallState = "approved"    // may be claimed
	Denied      CallState = "denied"      // will not run
	Expired     CallState = "expired"     // not decided, or not claimed, in time
	Running     CallState = "running"     // claimed by a process that lives
	Done        CallState = "done"        // has an outcome
	Interrupted CallState = "interrupted" // its process ended before it did; it never runs again by itself
)

// Approval is a call that may run once someone says so.
type Approval struct {
	ID            string // see NewID, which is used where it is empty
	Tool          string
	Version       string // hash of the tool as it was asked for
	Arguments     json.RawMessage
	ArgumentsHash string // set by the store: SHA-256 in hex of Arguments
	Caller        string
	Session       string    // whose state the call works on; "" is that of Caller
	Reason        string    // why somebody has to decide, for them; ""
	Created       time.Time // set by the store
	Expires       time.Time

	State     CallState // set by the store, like all below
	Decided   time.Time
	DecidedBy string
	Started   time.Time
	Finished  time.Time
	Outcome   *Outcome // once it is done
}

// Outcome is how a call ended: a result or an error.
type Outcome struct {
	Result json.RawMessage
	Error  *Failure
}

// Approvals holds calls that wait for someone's decision. What is decided and claimed is on the disk
// before these methods return, so that a power cut cannot make a call run twice. Goroutines may
// share it.
type Approvals struct {
	db           *database
	now          func() time.Time
	presence     *presence
	maxPending   int
	maxPerCaller int
}

// HashArguments is the hash that approvals carry.
func HashArguments(arguments json.RawMessage) string {
	sum := sha256.Sum256(arguments)
	return hex.EncodeToString(sum[:])
}

// Create stores a call that waits, and returns it as it is stored.
func (a *Approvals) Create(ctx context.Context, new Approval) (Approval, error) {
	now := a.now()
	if new.ID == "" {
		new.ID = NewID()
	}
	if len(new.Arguments) > MaxPendingArguments {
		return Approval{}, failure(CodeLimit, "the arguments of a call that waits for approval have %d bytes, more than %d", len(new.Arguments), MaxPendingArguments)
	}
	if !new.Expires.After(now) {
		return Approval{}, failure(CodeInvalid, "an approval must expire after now, this one expires at %s", new.Expires.UTC().Format(time.RFC3339))
	}
	err := a.db.writeSynced(ctx, func(t *tx) error {
		if err := a.checkRoom(t, new.Caller, now); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO approvals (id, state, created, expires, tool, version, caller, session, reason, arguments_hash, arguments) "+
			"VALUES (?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?)", new.ID, micros(now), micros(new.Expires), new.Tool, new.Version, new.Caller, new.Session, new.Reason,
			HashArguments(new.Arguments), notNil(new.Arguments))
		return err
	})
	if err != nil {
		return Approval{}, err
	}
	return a.Get(ctx, new.ID)
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func (a *Approvals) checkRoom(t *tx, caller string, now time.Time) error {
	var all, own int
	_, err := t.row("SELECT count(*), count(*) FILTER (WHERE caller = ?) FROM approvals WHERE state = 'pending' AND expires > ?",
		[]any{caller, micros(now)}, &all, &own)
	switch {
	case err != nil:
		return err
	case own >= a.maxPerCaller:
		return failure(CodeLimit, "%d calls of this caller wait for approval already; decide some, or wait until they expire", own)
	case all >= a.maxPending:
		return failure(CodeLimit, "%d calls wait for approval already; decide some, or wait until they expire", all)
	}
	return nil
}

// What is read of arguments and outcome: all for one, little for a list.
const (
	wholeApproval = "arguments, result, error"
	briefApproval = "CASE WHEN length(arguments) <= 4096 THEN arguments END, NULL, ''"
)

// The state as it is now: what has expired or lost its process needs no write to be so.
func approvalsQuery(columns, where string) string {
	return "SELECT * FROM (SELECT id, CASE WHEN state IN ('pending', 'approved') AND expires <= :now THEN 'expired' " +
		"WHEN state = 'running' AND NOT " + aliveSQL("process") + " THEN 'interrupted' ELSE state END AS current, " +
		"created, expires, tool, version, caller, session, reason, arguments_hash, decided, decided_by, started, finished, " + columns +
		" FROM approvals) " + where
}

func (a *Approvals) args(more ...any) []any { return append(queryArgs(a.presence, a.now()), more...) }

func queryArgs(p *presence, now time.Time) []any {
	return []any{sql.Named("now", micros(now)), sql.Named("self", p.id), sql.Named("dead", p.deadSince())}
}

// Get returns one.
func (a *Approvals) Get(ctx context.Context, id string) (Approval, error) {
	var found *Approval
	err := a.db.read(ctx, approvalsQuery(wholeApproval, "WHERE id = :id"), a.args(sql.Named("id", id)), func(rows *sql.Rows) (err error) {
		found, err = scanApproval(rows)
		return err
	})
	if err != nil {
		return Approval{}, err
	}
	if found == nil {
		return Approval{}, notFound("approval", id)
	}
	return *found, nil
}

func notFound(what, id string) error { return failure(CodeNotFound, "there is no %s %.100q", what, id) }

// ApprovalFilter chooses approvals; zero fields choose all.
type ApprovalFilter struct {
	State  CallState
	Tool   string
	Caller string
	Before string // an id: only those further down the list
	Limit  int    // 0: 100; at most 1,000
}

// List returns the chosen ones, newest first. Their outcomes are left out, and arguments of more than
// 4 KiB: see [Approvals.Get].
func (a *Approvals) List(ctx context.Context, f ApprovalFilter) ([]Approval, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	var list []Approval
	err := a.db.read(ctx, approvalsQuery(briefApproval, "WHERE (:state = '' OR current = :state) AND (:tool = '' OR tool = :tool) "+
		"AND (:caller = '' OR caller = :caller) AND (:before = '' OR (created, id) < (SELECT created, id FROM approvals WHERE id = :before)) "+
		"ORDER BY created DESC, id DESC LIMIT :limit"),
		a.args(sql.Named("state", string(f.State)), sql.Named("tool", f.Tool), sql.Named("caller", f.Caller),
			sql.Named("before", f.Before), sql.Named("limit", min(f.Limit, 1000))),
		func(rows *sql.Rows) error {
			found, err := scanApproval(rows)
			if err == nil {
				found.Outcome = nil
				list = append(list, *found)
			}
			return err
		})
	return list, err
}

func scanApproval(rows *sql.Rows) (*Approval, error) {
	var a Approval
	var created, expires, decided, started, finished int64
	var result []byte
	var failed string
	err := rows.Scan(&a.ID, &a.State, &created, &expires, &a.Tool, &a.Version, &a.Caller, &a.Session, &a.Reason, &a.ArgumentsHash,
		&decided, &a.DecidedBy, &started, &finished, (*[]byte)(&a.Arguments), &result, &failed)
	if err != nil {
		return nil, err
	}
	a.Created, a.Expires, a.Decided = fromMicros(created), fromMicros(expires), fromMicros(decided)
	a.Started, a.Finished = fromMicros(started), fromMicros(finished)
	if a.State == Done {
		a.Outcome, err = decodeOutcome(result, failed)
	}
	return &a, err
}

// Decide approves or denies a call that is pending, once; by is who did.
func (a *Approvals) Decide(ctx context.Context, id string, approve bool, by string) (Approval, error) {
	return a.decide(ctx, id, approve, by, nil)
}

// DecideOther is Decide in the name of an operator: who made the call cannot approve it, which is an error with CodeOwn.
func (a *Approvals) DecideOther(ctx context.Context, id string, approve bool, by string) (Approval, error) {
	return a.decide(ctx, id, approve, by, func(pending *Approval) error {
		if approve && pending.Caller == by {
			return failure(CodeOwn, "whoever made a call cannot approve it: make calls in another name, or use: luau approvals approve %s", id)
		}
		return nil
	})
}

// decide changes what is pending unless check, which may be nil, says why not.
func (a *Approvals) decide(ctx context.Context, id string, approve bool, by string, check func(*Approval) error) (Approval, error) {
	state := Denied
	if approve {
		state = Approved
	}
	return a.change(ctx, id, Pending, func(t *tx, pending *Approval) error {
		if check != nil {
			if err := check(pending); err != nil {
				return err
			}
		}
		_, err := t.exec("UPDATE approvals SET state = ?, decided = ?, decided_by = ? WHERE id = ?", string(state), micros(a.now()), by, id)
		return err
	})
}

// Claim takes a call that is approved in hand. Over all processes exactly one claim succeeds; who got
// it runs the call and then calls [Approvals.Finish].
func (a *Approvals) Claim(ctx context.Context, id string) (Approval, error) {
	if err := a.presence.enter(ctx); err != nil {
		return Approval{}, err
	}
	return a.change(ctx, id, Approved, func(t *tx, _ *Approval) error {
		_, err := t.exec("UPDATE approvals SET state = 'running', process = ?, started = ? WHERE id = ?", a.presence.id, micros(a.now()), id)
		return err
	})
}

// change runs fn if the approval has the state it must have, and returns what became of it.
func (a *Approvals) change(ctx context.Context, id string, from CallState, fn func(*tx, *Approval) error) (Approval, error) {
	var changed *Approval
	err := a.db.writeSynced(ctx, func(t *tx) error {
		read := func() (found *Approval, err error) {
			err = t.query(approvalsQuery(wholeApproval, "WHERE id = :id"), a.args(sql.Named("id", id)), func(rows *sql.Rows) error {
				found, err = scanApproval(rows)
				return err
			})
			return found, err
		}
		found, err := read()
		switch {
		case err != nil:
			return err
		case found == nil:
			return notFound("approval", id)
		case found.State != from:
			return found.wrongState(from)
		}
		if err := fn(t, found); err != nil {
			return err
		}
		changed, err = read()
		return err
	})
	if err != nil {
		return Approval{}, err
	}
	return *changed, nil
}

func (a *Approval) wrongState(want CallState) error {
	text := "the approval " + a.ID + " is " + string(a.State)
	switch {
	case a.State == Expired:
		text += " since " + a.Expires.Format(time.RFC3339) + "; the call must be made anew"
	case a.DecidedBy != "":
		text += ": it was decided by " + a.DecidedBy + " at " + a.Decided.Format(time.RFC3339)
	case want == Approved:
		text += ": it must be approved first"
	}
	return &Error{Code: CodeState, Message: text, State: a.State}
}

// Finish stores the outcome of a call that this process claimed.
func (a *Approvals) Finish(ctx context.Context, id string, outcome Outcome) error {
	failed, err := outcome.check()
	if err != nil {
		return err
	}
	return a.db.write(ctx, func(t *tx) error {
		n, err := t.exec("UPDATE approvals SET state = 'done', finished = ?, result = ?, error = ? WHERE id = ? AND state = 'running' AND process = ?",
			micros(a.now()), []byte(outcome.Result), failed, id, a.presence.id)
		if err == nil && n == 0 {
			return notRunning(t, "approvals", id)
		}
		return err
	})
}

// notRunning says why a call cannot be finished.
func notRunning(t *tx, table, id string) error {
	var state CallState
	found, err := t.row("SELECT state FROM "+table+" WHERE id = ?", []any{id}, &state)
	switch {
	case err != nil:
		return err
	case !found:
		return notFound("call", id)
	case state == Running:
		return &Error{Code: CodeState, Message: "the call " + id + " is run by another process", State: state}
	}
	return &Error{Code: CodeState, Message: "the call " + id + " does not run, it is " + string(state), State: state}
}

// check returns the error as it is stored.
func (o *Outcome) check() (string, error) {
	if len(o.Result) > MaxOutcome {
		return "", failure(CodeLimit, "the result of a call has %d bytes, more than %d that are kept", len(o.Result), MaxOutcome)
	}
	if o.Error == nil {
		return "", nil
	}
	text, err := json.Marshal(o.Error)
	return string(text), err
}

func decodeOutcome(result []byte, failed string) (*Outcome, error) {
	outcome := &Outcome{Result: result}
	if failed == "" {
		return outcome, nil
	}
	outcome.Error = &Failure{}
	if err := json.Unmarshal([]byte(failed), outcome.Error); err != nil {
		return nil, errors.Join(errors.New("the stored error of a call cannot be read"), err)
	}
	return outcome, nil
}
