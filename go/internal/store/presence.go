package store

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A process that has something in hand says so every few seconds. The gap between the two leaves
// room for a loaded machine.
const (
	presenceEvery = 5 * time.Second
	presenceLasts = 20 * time.Second
)

// presence is this process as others see it. It starts with the first thing that is taken in hand, so
// that a program that only reads writes nothing.
type presence struct {
	db  *database
	now func() time.Time
	id  string

	mu      sync.Mutex
	present bool
	left    bool
	stop    chan struct{}
	stopped chan struct{}
}

func newPresence(db *database, now func() time.Time) *presence {
	return &presence{db: db, now: now, id: NewID(), stop: make(chan struct{}), stopped: make(chan struct{})}
}

// enter makes the process seen, before it takes something in hand.
func (p *presence) enter(ctx context.Context) error {
	p.mu.Lock()
	present := p.present
	p.mu.Unlock()
	if present {
		return nil
	}
	if err := p.db.write(ctx, p.seen); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left {
		return failure(CodeClosed, "the store %s is closed", p.db.path)
	}
	if !p.present {
		p.present = true
		go p.renew()
	}
	return nil
}

func (p *presence) seen(t *tx) error {
	now := micros(p.now())
	_, err := t.exec("INSERT INTO processes (id, started, seen) VALUES (?1, ?2, ?2) ON CONFLICT (id) DO UPDATE SET seen = ?2", p.id, now)
	return err
}

// renew keeps the process seen. A failure is not the end of it: the next round tries again.
func (p *presence) renew() {
	defer close(p.stopped)
	ticker := time.NewTicker(presenceEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			ctx, cancel := context.WithTimeout(context.Background(), presenceEvery)
			_ = p.db.write(ctx, p.renewed)
			cancel()
		}
	}
}

// renewed also removes processes that have been dead for long: not to be there is to be dead.
func (p *presence) renewed(t *tx) error {
	if err := p.seen(t); err != nil {
		return err
	}
	_, err := t.exec("DELETE FROM processes WHERE seen < ? AND id <> ?", micros(p.now().Add(-time.Hour)), p.id)
	return err
}

// leave makes the process dead for others at once, and gives up what it had in hand.
func (p *presence) leave() error {
	p.mu.Lock()
	present := p.present
	p.left = true
	p.mu.Unlock()
	if !present {
		return nil
	}
	close(p.stop)
	<-p.stopped
	ctx, cancel := context.WithTimeout(context.Background(), presenceLasts)
	defer cancel()
	return p.db.write(ctx, func(t *tx) error {
		_, a := t.exec("UPDATE approvals SET state = 'interrupted' WHERE state = 'running' AND process = ?", p.id)
		_, b := t.exec("UPDATE calls SET state = 'interrupted' WHERE state = 'running' AND process = ?", p.id)
		_, c := t.exec("DELETE FROM requests WHERE process = ?", p.id)
		_, d := t.exec("DELETE FROM processes WHERE id = ?", p.id)
		return errors.Join(a, b, c, d)
	})
}

// deadSince is the time before which a process must have been seen last to count as dead.
func (p *presence) deadSince() int64 { return micros(p.now().Add(-presenceLasts)) }

// aliveSQL is an expression: whether the process in a column lives. It takes the parameters :self and
// :dead. What this process holds it knows itself, whatever its clock says.
func aliveSQL(column string) string {
	return "(" + column + " = :self OR EXISTS (SELECT 1 FROM processes p WHERE p.id = " + column + " AND p.seen > :dead))"
}
