package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"sync"
	"time"
)

const (
	// AnswerLasts is how long an answer is given again.
	AnswerLasts = 24 * time.Hour
	// MaxAnswer is how many bytes of an answer's body are kept.
	MaxAnswer = 16 << 20

	pollOthers = 100 * time.Millisecond // how often another process's request is looked at
	pollOwn    = 2 * time.Second
	expireStep = 8 // expired records that each new one removes
)

// Idempotency remembers requests by the key their sender gave them, and what was answered, so that a
// request that is sent again does its work once. Goroutines may share it.
type Idempotency struct {
	db       *database
	now      func() time.Time
	presence *presence
	room     *keptRoom

	mu      sync.Mutex
	waiting map[RequestID]*waiters
	closed  chan struct{}
}

// RequestID is the identity of a request: see NewRequestID.
type RequestID struct {
	caller string
	sum    [sha256.Size]byte
}

// NewRequestID makes the identity of a request of a caller to a tool with the sender's own key.
func NewRequestID(caller, tool, key string) RequestID {
	var text []byte
	for _, part := range []string{caller, tool, key} {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	return RequestID{caller, sha256.Sum256(text)}
}

// Kind is what a request turned out to be.
type Kind int

// Kinds of requests.
const (
	New      Kind = iota // to be worked on: Finish or Abandon must follow, also when that fails
	Answered             // Answer holds what was answered
	Mismatch             // the key was used for another request
	InFlight             // someone works on it: see Wait
)

func (k Kind) String() string { return [...]string{"new", "answered", "mismatch", "in flight"}[k] }

// Answer is what was answered to a request.
type Answer struct {
	Status  int
	Type    string // of the content
	Body    []byte
	Dropped bool // the body was larger than MaxAnswer, or there was no room for it, and is not kept
}

// Attempt is one sending of a request.
type Attempt struct {
	Kind   Kind
	Answer Answer

	of     *Idempotency
	id     RequestID
	hash   string
	number int64

	found   bool   // there was a record of it
	process string // who works on that
}

// waiters are those who wait for one request of this process.
type waiters struct {
	done  chan struct{}
	count int
}

func newIdempotency(db *database, now func() time.Time, p *presence, room *keptRoom) *Idempotency {
	return &Idempotency{db: db, now: now, presence: p, room: room, waiting: map[RequestID]*waiters{}, closed: make(chan struct{})}
}

// Begin says what a request is; hash stands for its content. It does not wait for others. A new request for whose
// answer there is no room is an error with CodeFull.
func (i *Idempotency) Begin(ctx context.Context, id RequestID, hash string) (*Attempt, error) {
	a := &Attempt{of: i, id: id, hash: hash}
	if err := i.db.read(ctx, requestQuery(), a.args(), a.scan); err != nil {
		return nil, err
	}
	if a.found {
		return a, nil
	}
	if err := i.presence.enter(ctx); err != nil {
		return nil, err
	}
	err := i.room.begin(ctx, id.caller, func(t *tx) error {
		select {
		case <-i.closed: // what was in flight here is given up, and is not taken over
			return failure(CodeClosed, "the store %s is closed", i.db.path)
		default:
		}
		if err := t.query(requestQuery(), a.args(), a.scan); err != nil || a.found {
			return err
		}
		return a.insert(t)
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// A record counts while it is not expired and, in flight, its process lives.
func requestQuery() string {
	return "SELECT hash, process, status, type, body, dropped FROM requests WHERE scope = :scope AND expires > :now " +
		"AND (process = '' OR " + aliveSQL("process") + ")"
}

func (a *Attempt) args() []any {
	return append(queryArgs(a.of.presence, a.of.now()), sql.Named("scope", a.id.sum[:]))
}

func (a *Attempt) scan(rows *sql.Rows) error {
	var hash string
	var answer Answer
	if err := rows.Scan(&hash, &a.process, &answer.Status, &answer.Type, &answer.Body, &answer.Dropped); err != nil {
		return err
	}
	a.found = true
	switch {
	case hash != a.hash:
		a.Kind = Mismatch
	case a.process != "":
		a.Kind = InFlight
	default:
		a.Kind, a.Answer = Answered, answer
	}
	return nil
}

// insert makes this attempt the one that works on the request, and removes a few expired records.
func (a *Attempt) insert(t *tx) error {
	now := a.of.now()
	a.Kind = New
	if _, err := t.row("INSERT INTO counters (name, value) VALUES ('attempt', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
		nil, &a.number); err != nil {
		return err
	}
	// Not REPLACE, of which triggers hear nothing.
	if _, err := t.exec("DELETE FROM requests WHERE scope = ?", a.id.sum[:]); err != nil {
		return err
	}
	if _, err := t.exec("INSERT INTO requests (scope, hash, process, attempt, expires, caller, size) VALUES (?, ?, ?, ?, ?, ?, ?)",
		a.id.sum[:], a.hash, a.of.presence.id, a.number, micros(now.Add(AnswerLasts)), a.id.caller, keptRow); err != nil {
		return err
	}
	_, err := t.exec("DELETE FROM requests WHERE rowid IN (SELECT rowid FROM requests WHERE expires <= ? ORDER BY expires LIMIT ?)", micros(now), expireStep)
	return err
}

// Wait waits until a request in flight has been answered or abandoned, and returns what it is then:
// Answered, Mismatch, or New for the one who takes it over.
func (a *Attempt) Wait(ctx context.Context) (*Attempt, error) {
	i := a.of
	w := i.join(a.id)
	defer i.part(a.id, w)
	for {
		i.mu.Lock()
		done := w.done
		i.mu.Unlock()
		next, err := i.Begin(ctx, a.id, a.hash)
		if err != nil || next.Kind != InFlight {
			return next, err
		}
		poll := pollOthers
		if next.process == i.presence.id {
			poll = pollOwn
		}
		select {
		case <-done:
		case <-time.After(poll):
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-i.closed:
			return nil, failure(CodeClosed, "the store %s is closed", i.db.path)
		}
	}
}

func (i *Idempotency) join(id RequestID) *waiters {
	i.mu.Lock()
	defer i.mu.Unlock()
	w := i.waiting[id]
	if w == nil {
		w = &waiters{done: make(chan struct{})}
		i.waiting[id] = w
	}
	w.count++
	return w
}

func (i *Idempotency) part(id RequestID, w *waiters) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if w.count--; w.count == 0 {
		delete(i.waiting, id)
	}
}

// wakeUp lets all look who wait for a request.
func (i *Idempotency) wakeUp(id RequestID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if w := i.waiting[id]; w != nil {
		close(w.done)
		w.done = make(chan struct{})
	}
}

func (i *Idempotency) close() { close(i.closed) }

// Finish stores the answer of a new request. A context that ended does not keep it from that.
func (a *Attempt) Finish(ctx context.Context, answer Answer) error {
	return a.end(ctx, func(t *tx) (string, []any, error) {
		size := len(answer.Body) + len(answer.Type)
		fits, err := a.of.room.fits(t, a.id.caller, size)
		if err != nil {
			return "", nil, err
		}
		if !fits || len(answer.Body) > MaxAnswer {
			size -= len(answer.Body)
			answer.Body, answer.Dropped = nil, true
		}
		return "UPDATE requests SET process = '', status = :status, type = :type, body = :body, dropped = :dropped, expires = :expires, size = :size",
			[]any{sql.Named("status", answer.Status), sql.Named("type", answer.Type), sql.Named("body", notNil(answer.Body)),
				sql.Named("dropped", answer.Dropped), sql.Named("expires", micros(a.of.now().Add(AnswerLasts))), sql.Named("size", keptRow+size)}, nil
	})
}

// Abandon forgets a new request, so that it may be sent again: after an answer that says so (busy,
// too many, timed out), or when its work was cancelled.
func (a *Attempt) Abandon(ctx context.Context) error {
	return a.end(ctx, func(*tx) (string, []any, error) { return "DELETE FROM requests", nil, nil })
}

// end makes the change that choose returns.
func (a *Attempt) end(ctx context.Context, choose func(*tx) (string, []any, error)) error {
	if a.Kind != New {
		return failure(CodeInvalid, "only a new request can be finished or abandoned, this one is %s", a.Kind)
	}
	err := a.of.db.write(context.WithoutCancel(ctx), func(t *tx) error {
		change, args, err := choose(t)
		if err != nil {
			return err
		}
		args = append(args, sql.Named("scope", a.id.sum[:]), sql.Named("process", a.of.presence.id), sql.Named("attempt", a.number))
		n, err := t.exec(change+" WHERE scope = :scope AND process = :process AND attempt = :attempt", args...)
		if err == nil && n == 0 {
			return failure(CodeState, "the request is finished or abandoned already, or another process took it over")
		}
		return err
	})
	a.of.wakeUp(a.id)
	return err
}
