package store_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
)

const keptRow = 512 // what a row counts by itself

// smallRoom has room for 4,000 bytes beside two rows of one caller, and for twice as much of all.
func smallRoom(path string, c *clock) store.Options {
	return store.Options{Path: path, Now: c.Now, MaxKept: 2 * (4000 + 2*keptRow), MaxKeptPerCaller: 4000 + 2*keptRow}
}

func beginOf(t *testing.T, s *store.Store, caller, key string) (*store.Attempt, error) {
	t.Helper()
	return s.Idempotency.Begin(t.Context(), store.NewRequestID(caller, "tool", key), "h")
}

func answer(t *testing.T, s *store.Store, caller, key string, size int) {
	t.Helper()
	a, err := beginOf(t, s, caller, key)
	require.NoError(t, err)
	require.NoError(t, a.Finish(t.Context(), store.Answer{Status: 200, Body: bytes.Repeat([]byte("x"), size)}))
}

func TestKeptAnswersHaveABound(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "s.db"), store.Memory} {
		c := newClock()
		s := open(t, smallRoom(path, c))
		answer(t, s, "a", "1", 3900)
		answer(t, s, "a", "2", 200) // 100 too many
		dropped, err := beginOf(t, s, "a", "2")
		require.NoError(t, err)
		require.Equal(t, store.Answer{Status: 200, Dropped: true}, dropped.Answer, "remembered without its body")

		_, err = beginOf(t, s, "a", "3")
		requireCode(t, err, store.CodeFull, "this caller", "2 answers", "24 hours", "max_kept")
		_, err = s.Calls.Create(t.Context(), store.Call{Caller: "a"})
		requireCode(t, err, store.CodeFull, "this caller")
		first, err := beginOf(t, s, "a", "1")
		require.NoError(t, err)
		require.Len(t, first.Answer.Body, 3900, "what is there is given as ever")

		answer(t, s, "b", "1", 3000)
		answer(t, s, "c", "1", 600)
		_, err = beginOf(t, s, "d", "1")
		requireCode(t, err, store.CodeFull, "the store", "4 answers")

		c.Advance(24 * time.Hour)
		answer(t, s, "a", "3", 100)
	}
}

// Room is that of the calls too, and an outcome that has none makes way for an error.
func TestKeptOutcomesHaveABound(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "s.db"), store.Memory} {
		c := newClock()
		s := open(t, smallRoom(path, c))
		ctx := t.Context()
		answer(t, s, "a", "1", 2000)
		call, err := s.Calls.Create(ctx, store.Call{Caller: "a"})
		require.NoError(t, err)
		result := json.RawMessage(`"` + strings.Repeat("x", 2000) + `"`)
		requireCode(t, s.Calls.Finish(ctx, call.ID, store.Outcome{Result: result}), store.CodeLimit, "2002", "no room")
		long := &store.Failure{Code: "e", Message: strings.Repeat("m", 9000), Detail: strings.Repeat("d", 9000)}
		require.NoError(t, s.Calls.Finish(ctx, call.ID, store.Outcome{Error: long}))
		call, err = s.Calls.Get(ctx, call.ID)
		require.NoError(t, err)
		require.Equal(t, &store.Failure{Code: "e", Message: long.Message[:4096], Detail: long.Detail[:512]}, call.Outcome.Error)
		_, err = s.Calls.Create(ctx, store.Call{Caller: "a"})
		requireCode(t, err, store.CodeFull)
		c.Advance(24*time.Hour + time.Second)
		_, err = s.Calls.Create(ctx, store.Call{Caller: "a"})
		require.NoError(t, err)
	}
}

func TestKeptAnswersAreFew(t *testing.T) {
	c := newClock()
	s := open(t, store.Options{Path: store.Memory, Now: c.Now, MaxKeptCount: 8})
	answer(t, s, "a", "1", 0)
	answer(t, s, "a", "2", 0)
	_, err := beginOf(t, s, "a", "3")
	requireCode(t, err, store.CodeFull, "this caller keeps 2")
	for i := range 6 {
		answer(t, s, strconv.Itoa(i), "1", 0)
	}
	_, err = beginOf(t, s, "z", "1")
	requireCode(t, err, store.CodeFull, "the store keeps 8")
}

// countKept compares what the store counts with what there is.
func countKept(t *testing.T, path string) (size int64) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	var there, counted, byCaller [2]int64
	require.NoError(t, db.QueryRow("SELECT count(*), coalesce(sum(n), 0) FROM (SELECT 512 + coalesce(length(body), 0) + length(type) AS n FROM requests "+
		"UNION ALL SELECT 512 + coalesce(length(result), 0) + length(error) FROM calls)").Scan(&there[0], &there[1]))
	require.NoError(t, db.QueryRow("SELECT count, size FROM sizes WHERE name = 'kept'").Scan(&counted[0], &counted[1]))
	require.NoError(t, db.QueryRow("SELECT coalesce(sum(count), 0), coalesce(sum(size), 0) FROM kept").Scan(&byCaller[0], &byCaller[1]))
	require.Equal(t, there, counted)
	require.Equal(t, there, byCaller)
	return there[1]
}

func TestWhatIsKeptIsCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	c := newClock()
	s, err := store.Open(t.Context(), store.Options{Path: path, Now: c.Now})
	require.NoError(t, err)
	other := open(t, store.Options{Path: path, Now: c.Now})
	answer(t, s, "a", "1", 1000)
	answer(t, other, "a", "2", 2000)
	abandoned, err := beginOf(t, s, "b", "1")
	require.NoError(t, err)
	require.NoError(t, abandoned.Abandon(t.Context()))
	_, err = beginOf(t, s, "b", "2")
	require.NoError(t, err)
	call, err := s.Calls.Create(t.Context(), store.Call{Caller: "c"})
	require.NoError(t, err)
	require.NoError(t, s.Calls.Finish(t.Context(), call.ID, store.Outcome{Result: json.RawMessage(`"abc"`)}))
	require.EqualValues(t, 5*keptRow-keptRow+3005, countKept(t, path))

	require.NoError(t, s.Close()) // gives up what was in flight
	require.EqualValues(t, 3*keptRow+3005, countKept(t, path))

	c.Advance(24 * time.Hour)
	answer(t, other, "a", "1", 10) // in place of the expired one
	countKept(t, path)
	c.Advance(25 * time.Hour)
	_, err = other.Trim(t.Context(), store.Retention{})
	require.NoError(t, err)
	require.Zero(t, countKept(t, path))
}

// Who keeps more than there is room for loses what is oldest, but nothing of the last minutes.
func TestTheOldestAnswersMakeRoom(t *testing.T) {
	c := newClock()
	s := open(t, smallRoom(store.Memory, c))
	answer(t, s, "a", "1", 1900)
	answer(t, s, "a", "2", 1900)
	c.Advance(9 * time.Minute)
	_, err := beginOf(t, s, "a", "3")
	requireCode(t, err, store.CodeFull, "10 minutes")
	c.Advance(2 * time.Minute)
	answer(t, s, "a", "3", 1900)
	again, err := beginOf(t, s, "a", "3")
	require.NoError(t, err)
	require.Equal(t, store.Answered, again.Kind)
	anew, err := beginOf(t, s, "a", "1")
	require.NoError(t, err)
	require.Equal(t, store.New, anew.Kind, "it was forgotten")
}
