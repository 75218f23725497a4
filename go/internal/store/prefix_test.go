package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFindByPrefix(t *testing.T) {
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	defer s.Close()
	for _, id := range []string{"ab", "ab1", "ab2", "b", "%", "c1", "c2", "c3", "c4", "c5", "c6"} {
		require.NoError(t, s.Log.Record(t.Context(), Entry{ID: id, Tool: "t", HostCalls: []HostCall{{Name: "f"}}}))
		_, err := s.Approvals.Create(t.Context(), Approval{ID: id, Tool: "t", Expires: time.Now().Add(time.Hour)})
		require.NoError(t, err)
	}
	require.NoError(t, s.Log.Flush(t.Context()))
	for prefix, want := range map[string]string{"ab1": "ab1", "ab": "ab", "b": "b", "%": "%", "c6": "c6"} {
		e, err := s.Log.Find(t.Context(), prefix)
		require.NoError(t, err, prefix)
		require.Equal(t, want, e.ID)
		require.Len(t, e.HostCalls, 1, "the whole entry")
		a, err := s.Approvals.Find(t.Context(), prefix)
		require.NoError(t, err, prefix)
		require.Equal(t, want, a.ID)
	}
	for prefix, want := range map[string]Code{"": CodeNotFound, "x": CodeNotFound, "ab1x": CodeNotFound, "_": CodeNotFound, "a": CodeInvalid, "c": CodeInvalid} {
		_, err := s.Log.Find(t.Context(), prefix)
		require.Equal(t, want, CodeOf(err), prefix)
		_, err = s.Approvals.Find(t.Context(), prefix)
		require.Equal(t, want, CodeOf(err), prefix)
	}
	_, err = s.Log.Find(t.Context(), "a")
	require.ErrorContains(t, err, "ab\nab1\nab2")
	_, err = s.Log.Find(t.Context(), "c")
	require.ErrorContains(t, err, "c5\n...")
	plan := explain(t, s, "SELECT id FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", []any{"a", "b", 6})
	require.Contains(t, plan, "SEARCH runs USING COVERING INDEX sqlite_autoindex_runs_1 (id>? AND id<?)")
}
