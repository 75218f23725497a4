package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What SQLite calls them: with 1 a power cut may undo the last transactions, with 2 it does not.
const (
	normal = 1
	full   = 2
)

func synchronous(t *testing.T, x *tx) (level int) {
	t.Helper()
	// Not prepared once and kept: the pragma is answered when it is compiled.
	require.NoError(t, x.d.writer.QueryRowContext(x.ctx, "PRAGMA synchronous").Scan(&level))
	return level
}

func TestWhatIsSynced(t *testing.T) {
	for _, synced := range []bool{false, true} {
		s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "store.db"), Synced: synced})
		require.NoError(t, err)
		want := normal
		if synced {
			want = full
		}
		check := func(level int) func(*tx) error {
			return func(x *tx) error {
				require.Equal(t, level, synchronous(t, x))
				return nil
			}
		}
		for range 2 {
			require.NoError(t, s.db.write(t.Context(), check(want)))
			require.NoError(t, s.db.writeSynced(t.Context(), check(full)))
		}
		failed := failure(CodeInvalid, "no")
		require.ErrorIs(t, s.db.writeSynced(t.Context(), func(*tx) error { return failed }), failed)
		require.NoError(t, s.db.write(t.Context(), check(want)))
		require.NoError(t, s.Close())
	}
}

// A transaction that panics or fails leaves nothing, and the next one works.
func TestBrokenTransactionIsUndone(t *testing.T) {
	s, err := Open(t.Context(), Options{Path: Memory})
	require.NoError(t, err)
	defer s.Close()
	put := func(x *tx) error {
		_, err := x.exec("INSERT INTO processes (id, started, seen) VALUES ('x', 0, 0)")
		return err
	}
	require.Panics(t, func() {
		_ = s.db.write(t.Context(), func(x *tx) error {
			require.NoError(t, put(x))
			panic("broken")
		})
	})
	require.Error(t, s.db.write(t.Context(), func(x *tx) error {
		require.NoError(t, put(x))
		return put(x)
	}))
	require.NoError(t, s.db.write(t.Context(), put))
}

// A process that lives stays seen; one that is long dead is forgotten.
func TestPresenceIsRenewed(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	s, err := Open(t.Context(), Options{Path: Memory, Now: func() time.Time { return now }})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.presence.enter(t.Context()))
	require.NoError(t, s.db.write(t.Context(), func(x *tx) error {
		_, err := x.exec("INSERT INTO processes (id, started, seen) VALUES ('dead', 0, 0)")
		return err
	}))
	now = now.Add(time.Hour)
	require.NoError(t, s.db.write(t.Context(), s.presence.renewed))
	var count int
	var seen int64
	require.NoError(t, s.db.write(t.Context(), func(x *tx) error {
		_, err := x.row("SELECT count(*), max(seen) FROM processes", nil, &count, &seen)
		return err
	}))
	require.Equal(t, 1, count)
	require.Equal(t, micros(now), seen)
}
