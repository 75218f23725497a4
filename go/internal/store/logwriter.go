package store

import (
	"context"
	"sync"
	"time"
)

const (
	logMany       = 1_000       // entries that make the writer hurry
	logBatch      = 256         // entries of one transaction: other writers wait some milliseconds at most
	logQueue      = 8_192       // entries in memory
	logQueueSize  = 64 << 20    // bytes of them, about
	logPatience   = time.Second // how long Record waits for a writer that fails
	closePatience = 10 * time.Second
)

// logWriter keeps entries in memory for a moment and writes them many at a time. Its goroutine starts
// with the first entry and has no work while there is none.
type logWriter struct {
	db    *database
	now   func() time.Time
	every time.Duration
	max   int64 // bytes of the log

	mu      sync.Mutex
	queue   []Entry
	weight  int
	queued  uint64 // entries ever
	written uint64 // of those, written or lost
	err     error  // of the last try to write
	trouble trouble
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

func newLogWriter(db *database, now func() time.Time, every time.Duration, max int64) *logWriter {
	return &logWriter{db: db, now: now, every: every, max: max, room: make(chan struct{}), wrote: make(chan struct{}),
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
	switch {
	case w.closed:
		w.mu.Unlock()
		return failure(CodeClosed, "the store %s is closed", w.db.path)
	case w.full():
		w.trouble.lost++
		defer w.mu.Unlock()
		return w.complaint()
	}
	w.queue = append(w.queue, e)
	w.weight += weight
	w.queued++
	first, many := len(w.queue) == 1, len(w.queue) == logMany || w.full()
	if !w.started {
		w.started = true
		go w.run()
	}
	complaint := w.complaint()
	w.mu.Unlock()
	if first {
		signal(w.wake)
	}
	if many {
		signal(w.hurry)
	}
	return complaint
}

func (w *logWriter) full() bool { return len(w.queue) >= logQueue || w.weight >= logQueueSize }

// waitForRoom is called and returns with the lock held. It gives up only when the writer failed: one
// that is slow slows its callers down. Once someone has waited in vain nobody waits, until writing works again.
func (w *logWriter) waitForRoom(ctx context.Context) error {
	timer := time.NewTimer(logPatience)
	defer timer.Stop()
	for w.full() && !w.closed && !w.trouble.hopeless {
		room := w.room
		w.mu.Unlock()
		var err error
		late := false
		select {
		case <-room:
		case <-ctx.Done():
			err = ctx.Err()
		case <-timer.C:
			timer.Reset(logPatience)
			late = true
		}
		w.mu.Lock()
		if err != nil {
			return err
		}
		w.trouble.hopeless = w.trouble.hopeless || late && w.err != nil
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
			err = w.db.write(ctx, func(t *tx) error {
				came, err := insertEntries(t, part)
				if err != nil {
					return err
				}
				return makeRoom(t, came, w.max)
			})
		}
		w.mu.Lock()
		if w.err = err; err == nil {
			w.written += uint64(len(part))
		}
		w.trouble.after(err, w.now)
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
	if n := w.queued - w.written + w.trouble.lost; n > 0 {
		lost := failure(CodeIO, "%d entries of the log of %s are lost: %v", n, w.db.path, w.err)
		lost.Cause = w.err
		return lost
	}
	return nil
}
