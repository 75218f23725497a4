package store

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	logBatch      = 1_000       // entries of one transaction, and how many make the writer hurry
	logQueue      = 8_192       // entries in memory
	logQueueSize  = 64 << 20    // bytes of them, about
	logPatience   = time.Second // how long Record waits for room
	closePatience = 10 * time.Second
)

// logWriter keeps entries in memory for a moment and writes them many at a time. Its goroutine starts
// with the first entry and has no work while there is none.
type logWriter struct {
	db    *database
	every time.Duration

	mu      sync.Mutex
	queue   []Entry
	weight  int
	queued  uint64 // entries ever
	written uint64 // of those, written or lost
	err     error  // of the last try to write
	started bool
	closed  bool
	room    chan struct{} // closed and replaced when the queue was taken
	wrote   chan struct{} // closed and replaced after each try to write

	wake    chan struct{} // there is an entry
	hurry   chan struct{} // there are many, or someone waits
	stop    chan struct{}
	stopped chan struct{}

	batch []Entry // of the writing goroutine alone
	done  int     // entries of it that are written
}

func newLogWriter(db *database, every time.Duration) *logWriter {
	return &logWriter{db: db, every: every, room: make(chan struct{}), wrote: make(chan struct{}),
		wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{})}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// add appends an entry, and waits a moment for room where there is none.
func (w *logWriter) add(ctx context.Context, e Entry) error {
	weight := e.weight()
	w.mu.Lock()
	if !w.closed && w.full() {
		if err := w.waitForRoom(ctx); err != nil {
			w.mu.Unlock()
			return err
		}
	}
	if w.closed {
		w.mu.Unlock()
		return failure(CodeClosed, "the store %s is closed", w.db.path)
	}
	w.queue = append(w.queue, e)
	w.weight += weight
	w.queued++
	first, many := len(w.queue) == 1, len(w.queue) == logBatch || w.full()
	if !w.started {
		w.started = true
		go w.run()
	}
	w.mu.Unlock()
	if first {
		signal(w.wake)
	}
	if many {
		signal(w.hurry)
	}
	return nil
}

func (w *logWriter) full() bool { return len(w.queue) >= logQueue || w.weight >= logQueueSize }

// waitForRoom is called and returns with the lock held.
func (w *logWriter) waitForRoom(ctx context.Context) error {
	timer := time.NewTimer(logPatience)
	defer timer.Stop()
	for w.full() && !w.closed {
		room := w.room
		w.mu.Unlock()
		var err error
		select {
		case <-room:
		case <-ctx.Done():
			err = ctx.Err()
		case <-timer.C:
			err = failure(CodeBusy, "the log of %s does not come to write; an entry is lost", w.db.path)
		}
		w.mu.Lock()
		if err != nil {
			return errors.Join(err, w.err)
		}
	}
	return nil
}

// run writes until stop. After a failure the entries stay, and the next round tries again.
func (w *logWriter) run() {
	defer close(w.stopped)
	timer := time.NewTimer(w.every)
	defer timer.Stop()
	for w.work() && w.pause(timer) {
		w.take()
		_ = w.write(context.Background()) // kept in err
	}
	w.last()
}

// work waits until there is something to write; false means stop.
func (w *logWriter) work() bool {
	if w.done < len(w.batch) {
		return true
	}
	select {
	case <-w.wake:
		return true
	case <-w.hurry:
		return true
	case <-w.stop:
		return false
	}
}

// pause lets entries come together; false means stop.
func (w *logWriter) pause(timer *time.Timer) bool {
	timer.Reset(w.every)
	select {
	case <-timer.C:
		return true
	case <-w.hurry:
		return true
	case <-w.stop:
		return false
	}
}

// last tries for a while to write what is left when the store closes.
func (w *logWriter) last() {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	for {
		w.take()
		if w.done == len(w.batch) {
			return
		}
		if w.write(ctx) == nil {
			continue
		}
		select {
		case <-time.After(w.every):
		case <-ctx.Done():
			return
		}
	}
}

// take swaps the queue for the batch, once that is written.
func (w *logWriter) take() {
	if w.done < len(w.batch) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.batch, w.queue = w.queue, w.batch[:0]
	w.done, w.weight = 0, 0
	close(w.room)
	w.room = make(chan struct{})
}

// write writes the batch, as far as it can.
func (w *logWriter) write(ctx context.Context) error {
	for {
		part := w.batch[w.done:min(len(w.batch), w.done+logBatch)]
		var err error
		if len(part) > 0 {
			err = w.db.write(ctx, func(t *tx) error { return insertEntries(t, part) })
		}
		w.mu.Lock()
		if w.err = err; err == nil {
			w.written += uint64(len(part))
		}
		close(w.wrote)
		w.wrote = make(chan struct{})
		w.mu.Unlock()
		if err != nil {
			return err
		}
		clear(part) // the memory of the entries' texts
		if w.done += len(part); w.done == len(w.batch) {
			return nil
		}
	}
}

// news returns a channel that closes when entries were written after this call.
func (w *logWriter) news() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote
}

// flushed waits until what is queued now is written, or a try to do so failed.
func (w *logWriter) flushed(ctx context.Context) error {
	w.mu.Lock()
	target := w.queued
	for w.written < target && !w.closed {
		wrote := w.wrote
		w.mu.Unlock()
		signal(w.hurry)
		select {
		case <-wrote:
		case <-ctx.Done():
			return ctx.Err()
		}
		w.mu.Lock()
		if w.err != nil {
			break
		}
	}
	defer w.mu.Unlock()
	if w.written < target {
		return w.err
	}
	return nil
}

// close writes what is left and says what is lost.
func (w *logWriter) close() error {
	w.mu.Lock()
	w.closed = true
	started := w.started
	close(w.room)
	w.room = make(chan struct{})
	w.mu.Unlock()
	if !started {
		return nil
	}
	close(w.stop)
	<-w.stopped
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := w.queued - w.written; n > 0 {
		lost := failure(CodeIO, "%d entries of the log of %s are lost: %v", n, w.db.path, w.err)
		lost.Cause = w.err
		return lost
	}
	return nil
}

const insertRun = "INSERT INTO runs (id, time, duration, tool, status, face, caller, parent, version, tokens_in, tokens_out, " +
	"arguments_size, result_size, error_code, error_message, error_detail, arguments, result, host_calls) " +
	"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"

// insertEntries writes entries; of two with one id the first stays.
func insertEntries(t *tx, entries []Entry) error {
	for i := range entries {
		e := &entries[i]
		calls, err := e.encodeCalls()
		if err != nil {
			return err
		}
		var failed Failure
		if e.Error != nil {
			failed = *e.Error
		}
		if _, err := t.exec(insertRun, e.ID, micros(e.Time), e.Duration.Microseconds(), e.Tool, e.Status, e.Face, e.Caller, e.Parent,
			e.Version, e.TokensIn, e.TokensOut, e.Arguments.Size, e.Result.Size, failed.Code, failed.Message, failed.Detail,
			e.Arguments.Text, e.Result.Text, calls); err != nil {
			return err
		}
	}
	return nil
}
