package store_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
)

// countLog compares what the store counts with what there is, and returns it.
func countLog(t *testing.T, path string) (entries, size int64) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	var counted [2]int64
	require.NoError(t, db.QueryRow("SELECT count(*), coalesce(sum(200 + length(CAST(concat(id, tool, status, face, caller, parent, version, error_code, "+
		"error_message, error_detail, arguments, result, host_calls) AS BLOB))), 0) FROM runs").Scan(&entries, &size))
	require.NoError(t, db.QueryRow("SELECT count, size FROM sizes WHERE name = 'log'").Scan(&counted[0], &counted[1]))
	require.Equal(t, [2]int64{entries, size}, counted)
	return entries, size
}

// Entries of all kinds, twice the same too.
func mixedEntry(i int) store.Entry {
	e := store.Entry{ID: "id" + strconv.Itoa(i), Tool: "tööl", Version: "1", Face: "http", Caller: "bob",
		Arguments: store.Payload{Text: strings.Repeat("x", i%700)}, Result: store.Payload{Text: "ü"}}
	if i%50 == 0 && i%64 > 10 {
		e.ID = "id" + strconv.Itoa(i-1)
	}
	if i%100 > 60 {
		e.Parent, e.TokensIn, e.HostCalls = "p", 5, []store.HostCall{{Name: "ä", Target: "b"}}
		e.Error = &store.Failure{Code: "c", Message: "mü", Detail: "d"}
	}
	return e
}

func TestTheLogIsCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	c := newClock()
	s := open(t, store.Options{Path: path, Now: c.Now})
	for i := range 1000 {
		require.NoError(t, s.Log.Record(t.Context(), mixedEntry(i)))
		if i%37 == 0 {
			require.NoError(t, s.Log.Flush(t.Context()))
		}
	}
	require.NoError(t, s.Log.Flush(t.Context()))
	entries, _ := countLog(t, path)
	require.Greater(t, entries, int64(900))
	require.Less(t, entries, int64(1000), "some have the id of another")
	_, err := s.Trim(t.Context(), store.Retention{LogCount: 500})
	require.NoError(t, err)
	entries, _ = countLog(t, path)
	require.EqualValues(t, 500, entries)
	c.Advance(time.Hour)
	_, err = s.Trim(t.Context(), store.Retention{LogAge: time.Minute})
	require.NoError(t, err)
	entries, size := countLog(t, path)
	require.Zero(t, entries)
	require.Zero(t, size)
}

func TestTheLogHasABound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, store.Options{Path: path, MaxLog: 1 << 20})
	size := func() (size int64) {
		for _, name := range []string{path, path + "-wal"} {
			if info, err := os.Stat(name); err == nil {
				size += info.Size()
			}
		}
		return size
	}
	// What others keep in the file pushes nothing out.
	require.NoError(t, s.State.Commit(t.Context(), "a", values("k", `"`+strings.Repeat("x", 3_000_000)+`"`)))
	for i := range 2000 {
		record(t, s, store.Entry{ID: strconv.Itoa(i), Arguments: store.Payload{Text: strings.Repeat("x", 5000)}})
		if i == 500 {
			require.NoError(t, s.Log.Flush(t.Context()))
			require.Less(t, size(), int64(16_000_000))
		}
	}
	require.NoError(t, s.Log.Flush(t.Context()))
	entries, counted := countLog(t, path)
	require.LessOrEqual(t, counted, int64(1<<20))
	require.Greater(t, counted, int64(600_000), "no more goes than must")
	require.Less(t, size(), int64(16_000_000))
	list, err := s.Log.List(t.Context(), store.Filter{Limit: 1000})
	require.NoError(t, err)
	require.Len(t, list, int(entries))
	require.Equal(t, "1999", list[0].ID, "the newest stay")
	require.Equal(t, strconv.Itoa(2000-len(list)), list[len(list)-1].ID)
}

// A log that is far too large, as that of a bound that was lowered, shrinks with what is written, or when it is trimmed.
func TestALogThatIsTooLargeShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := store.Open(t.Context(), store.Options{Path: path})
	require.NoError(t, err)
	for range 1000 {
		require.NoError(t, s.Log.Record(t.Context(), store.Entry{Arguments: store.Payload{Text: strings.Repeat("x", 1000)}}))
	}
	require.NoError(t, s.Close())
	s = open(t, store.Options{Path: path, MaxLog: 300_000})
	before, _ := countLog(t, path)
	record(t, s, store.Entry{Arguments: store.Payload{Text: strings.Repeat("x", 1000)}})
	require.NoError(t, s.Log.Flush(t.Context()))
	after, _ := countLog(t, path)
	require.Equal(t, before-63, after, "a little at once")
	_, err = s.Trim(t.Context(), store.Retention{})
	require.NoError(t, err)
	_, size := countLog(t, path)
	require.LessOrEqual(t, size, int64(300_000))
	require.Greater(t, size, int64(200_000))
}
