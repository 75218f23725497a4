package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// disk lets a store's file have no more pages than there are now, or many again.
func disk(t *testing.T, s *Store, full bool) {
	t.Helper()
	require.NoError(t, s.db.begin(t.Context()))
	defer s.db.release()
	pages := 1 << 30
	query := "PRAGMA page_count"
	if !full {
		query = "PRAGMA max_page_count"
	}
	if full {
		require.NoError(t, s.db.writer.QueryRowContext(t.Context(), query).Scan(&pages))
	}
	var now int
	require.NoError(t, s.db.writer.QueryRowContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)).Scan(&now))
	require.Equal(t, pages, now)
}

// hand is a clock that the test moves.
type hand struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hand) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hand) Advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// While the disk is full nobody waits, the trouble is told now and then, and what was there stays. When there is room
// again all goes on.
func TestFullDisk(t *testing.T) {
	clock := &hand{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(t.Context(), Options{Path: path, Now: clock.Now, FlushEvery: time.Millisecond})
	require.NoError(t, err)
	ctx := t.Context()
	large := strings.Repeat("x", 50_000)
	require.NoError(t, s.State.Commit(ctx, "a", map[string]json.RawMessage{"k": json.RawMessage(`1`)}))
	attempt, err := s.Idempotency.Begin(ctx, NewRequestID("a", "t", "k"), "h")
	require.NoError(t, err)
	approval, err := s.Approvals.Create(ctx, Approval{Caller: "a", Expires: clock.Now().Add(time.Hour)})
	require.NoError(t, err)
	call, err := s.Calls.Create(ctx, Call{Caller: "a"})
	require.NoError(t, err)

	disk(t, s, true)
	full := func(err error) {
		t.Helper()
		require.Equal(t, CodeIO, CodeOf(err), "%v", err)
		require.ErrorContains(t, err, "is full; make room")
	}
	full(s.State.Commit(ctx, "a", map[string]json.RawMessage{"k": json.RawMessage(`"` + large + `"`)}))
	full(attempt.Finish(ctx, Answer{Status: 200, Body: []byte(large)}))
	full(s.Calls.Finish(ctx, call.ID, Outcome{Result: json.RawMessage(`"` + large + `"`)}))
	_, err = s.Approvals.Create(ctx, Approval{Caller: "a", Expires: clock.Now().Add(time.Hour), Arguments: json.RawMessage(`"` + large + `"`)})
	full(err)

	record := func() error { return s.Log.Record(ctx, Entry{Tool: "t", Arguments: NewPayload([]byte(large))}) }
	require.NoError(t, record())
	full(s.Log.Flush(ctx))
	clock.Advance(complainAfter)
	require.ErrorContains(t, record(), "cannot be written: 2 entries wait in memory, 0 are lost so far: the disk")
	waited := time.Duration(0)
	for range 2000 { // more than the queue takes
		began := time.Now()
		require.NoError(t, record(), "told once a minute")
		waited = max(waited, time.Since(began))
	}
	s.Log.writer.mu.Lock()
	require.Less(t, s.Log.writer.queued-s.Log.writer.written, uint64(1500))
	require.True(t, s.Log.writer.trouble.hopeless, "one waited %s, and those after it did not", waited)
	lost := s.Log.writer.trouble.lost
	s.Log.writer.mu.Unlock()
	require.Greater(t, lost, uint64(500))
	clock.Advance(complainEvery)
	require.ErrorContains(t, record(), strconv.FormatUint(lost+1, 10)+" are lost so far")

	disk(t, s, false)
	require.NoError(t, flushed(ctx, s))
	require.ErrorContains(t, record(), "it can be again")
	require.NoError(t, record())
	require.NoError(t, s.Log.Flush(ctx))
	require.NoError(t, attempt.Finish(ctx, Answer{Status: 200, Body: []byte(large)}))
	require.NoError(t, s.Calls.Finish(ctx, call.ID, Outcome{Result: json.RawMessage(`"` + large + `"`)}))
	_, err = s.Approvals.Decide(ctx, approval.ID, true, "me")
	require.NoError(t, err)
	value, _, err := s.State.Get(ctx, "a", "k")
	require.NoError(t, err)
	require.Equal(t, "1", string(value))
	require.NoError(t, s.Close())

	s, err = Open(ctx, Options{Path: path, Now: clock.Now})
	require.NoError(t, err)
	defer s.Close()
	entries := 0
	require.NoError(t, s.db.read(ctx, "SELECT count(*) FROM runs", nil, func(rows *sql.Rows) error { return rows.Scan(&entries) }))
	require.Greater(t, entries, 1000, "what waited is written")
	sound := ""
	require.NoError(t, s.db.read(ctx, "PRAGMA integrity_check", nil, func(rows *sql.Rows) error { return rows.Scan(&sound) }))
	require.Equal(t, "ok", sound)
}

// flushed waits until the queue is written: a try that began on the full disk fails yet.
func flushed(ctx context.Context, s *Store) (err error) {
	for range 10_000 {
		if err = s.Log.Flush(ctx); err == nil {
			return nil
		}
	}
	return err
}
