package store

import "time"

const (
	complainAfter = 10 * time.Second // of failures without an end: another process may hold the file for a moment
	complainEvery = time.Minute
)

// trouble is what a logWriter cannot write: a full disk must not fill the operator's log too.
type trouble struct {
	since    time.Time // of the first failure without a success after it; zero: writing works
	hopeless bool      // someone waited for room in vain since then
	lost     uint64    // entries, not told as the last
	told     time.Time
}

// after is called after each try to write.
func (t *trouble) after(err error, now func() time.Time) {
	switch {
	case err == nil:
		t.since, t.hopeless = time.Time{}, false
	case t.since.IsZero():
		t.since = now()
	}
}

// complaint is what is wrong with the log, now and then; nil in between and where nothing is. The lock is held.
func (w *logWriter) complaint() error {
	t := &w.trouble
	if w.err == nil {
		if t.lost == 0 {
			return nil
		}
		n := t.lost
		t.lost, t.told = 0, time.Time{}
		return failure(CodeBusy, "%d entries of the log of %s are lost, as it could not be written for a while; it can be again", n, w.db.path)
	}
	now := w.now()
	if now.Sub(t.told) < complainEvery || t.lost == 0 && now.Sub(t.since) < complainAfter {
		return nil
	}
	t.told = now
	err := failure(CodeBusy, "the log of %s cannot be written: %d entries wait in memory, %d are lost so far: %v", w.db.path, w.queued-w.written, t.lost, w.err)
	err.Cause = w.err
	return err
}
