package store_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
)

// values makes changes of keys and values; "" deletes.
func values(pairs ...string) map[string]json.RawMessage {
	changes := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		changes[pairs[i]] = nil
		if pairs[i+1] != "" {
			changes[pairs[i]] = json.RawMessage(pairs[i+1])
		}
	}
	return changes
}

func addOne(old json.RawMessage) (json.RawMessage, error) {
	if old == nil {
		return json.RawMessage("1"), nil
	}
	n, err := strconv.Atoi(string(old))
	return json.RawMessage(strconv.Itoa(n + 1)), err
}

func TestStateKeepsBytes(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		ctx := t.Context()
		all := values("n", `9007199254740993`, "spaces", ` {"b":1,  "a":[]} `, "", `null`, "nul\x00key", `"\u0000"`, "ключ", `"é"`)
		all[""] = json.RawMessage(`null`)
		require.NoError(t, s.State.Commit(ctx, "agent:x", all))
		got, err := s.State.Load(ctx, "agent:x")
		require.NoError(t, err)
		require.Equal(t, all, got)
		require.NoError(t, s.State.Commit(ctx, "agent:x", values("n", "", "nul\x00key", "", "spaces", `2`, "gone", "")))
		got, err = s.State.Load(ctx, "agent:x")
		require.NoError(t, err)
		require.Equal(t, values("spaces", `2`, "", `null`, "ключ", `"é"`)["spaces"], got["spaces"])
		require.Len(t, got, 3)
		other, err := s.State.Load(ctx, "agent:y")
		require.NoError(t, err)
		require.Empty(t, other)
	})
}

func TestSwapSeesEveryChange(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		ctx := t.Context()
		version := func() int64 {
			_, v, err := s.State.Get(ctx, "a", "k")
			require.NoError(t, err)
			return v
		}
		swap := func(v int64, value string) bool {
			done, err := s.State.Swap(ctx, "a", "k", v, values("k", value)["k"])
			require.NoError(t, err)
			return done
		}
		absent := version()
		require.True(t, swap(absent, `1`))
		require.False(t, swap(absent, `2`), "it is there now")
		one := version()
		require.NoError(t, s.State.Commit(ctx, "a", values("k", `2`)))
		require.NoError(t, s.State.Commit(ctx, "a", values("k", `1`)))
		require.False(t, swap(one, `3`), "it changed and changed back")
		require.True(t, swap(version(), ``))
		deleted := version()
		require.NotEqual(t, absent, deleted)
		require.False(t, swap(absent, `4`), "it was there in between")
		require.NoError(t, s.State.Drop(ctx, "a"))
		require.False(t, swap(deleted, `5`), "its scope was dropped")
		require.True(t, swap(version(), `6`))
		value, _, err := s.State.Get(ctx, "a", "k")
		require.NoError(t, err)
		require.Equal(t, "6", string(value))
	})
}

func TestStateLimits(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "s.db"), store.Memory} {
		s := open(t, store.Options{Path: path, MaxValue: 100, MaxScope: 300})
		ctx := t.Context()
		text := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
		requireCode(t, s.State.Commit(ctx, "a", values("big", text(101))), store.CodeLimit, `"big"`, "101", "100")
		require.NoError(t, s.State.Commit(ctx, "a", values("1", text(99), "2", text(99), "3", text(99))))
		requireCode(t, s.State.Commit(ctx, "a", values("1", "", "2", text(100), "4", text(100))), store.CodeLimit, "302", "300")
		got, err := s.State.Load(ctx, "a")
		require.NoError(t, err)
		require.Equal(t, values("1", text(99), "2", text(99), "3", text(99)), got, "all or none")
		require.NoError(t, s.State.Commit(ctx, "a", values("1", "", "4", text(99))))
		require.NoError(t, s.State.Commit(ctx, "b", values("1", text(100))), "each scope has its own limit")
		list, err := s.State.Scopes(ctx, "")
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, 300, list[0].Size)
		requireCode(t, s.State.Commit(ctx, "a", values("k", `{`)), store.CodeInvalid, `"k"`, "not JSON")
		requireCode(t, s.State.Commit(ctx, "", values("k", `1`)), store.CodeInvalid)
		requireCode(t, s.State.Commit(ctx, "a", values("\xff", `1`)), store.CodeInvalid)
		requireCode(t, s.State.Commit(ctx, "a", values(strings.Repeat("k", 5000), `1`)), store.CodeInvalid, "5000")
	}
}

// countState compares what the store counts with what there is.
func countState(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	var there, counted [2]int64
	require.NoError(t, db.QueryRow("SELECT (SELECT count(*) FROM scopes) + count(*), coalesce(sum(length(CAST(key AS BLOB)) + length(value)), 0) FROM state").
		Scan(&there[0], &there[1]))
	require.NoError(t, db.QueryRow("SELECT count, size FROM sizes WHERE name = 'state'").Scan(&counted[0], &counted[1]))
	require.Equal(t, there, counted)
}

func TestAllStatesTogetherHaveABound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, store.Options{Path: path, MaxState: 2000})
	ctx := t.Context()
	text := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	require.NoError(t, s.State.Commit(ctx, "a", values("1", text(500), "2", text(199))))
	require.NoError(t, s.State.Commit(ctx, "b", values("1", text(100))))
	countState(t, path) // 5 rows, 802 bytes: 1,302
	requireCode(t, s.State.Commit(ctx, "b", values("2", text(600))), store.CodeLimit, "ctx.state", "2003", "2000", "max_size")
	requireCode(t, s.State.Commit(ctx, "b", values("1", text(800))), store.CodeLimit)
	countState(t, path)
	require.NoError(t, s.State.Commit(ctx, "a", values("1", text(400), "2", "")), "what shrinks may")
	require.NoError(t, s.State.Commit(ctx, "b", values("2", text(600))))
	countState(t, path)
	for i := range 30 { // scopes that hold nothing have a size too
		if err := s.State.Commit(ctx, strconv.Itoa(i), values("k", "")); err != nil {
			requireCode(t, err, store.CodeLimit)
			require.Less(t, i, 10)
			break
		}
	}
	countState(t, path)
	require.NoError(t, s.State.Drop(ctx, "a", "nowhere", "0"))
	countState(t, path)
	require.NoError(t, s.State.Commit(ctx, "c", values("1", text(100))))
	countState(t, path)
}

// X15.
func TestUpdateCountsEveryOne(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() { assert.NoError(t, s.State.Update(t.Context(), "a", "n", addOne)) })
		}
		group.Wait()
		value, _, err := s.State.Get(t.Context(), "a", "n")
		require.NoError(t, err)
		require.Equal(t, "50", string(value))
		failed := errors.New("no")
		require.ErrorIs(t, s.State.Update(t.Context(), "a", "n", func(json.RawMessage) (json.RawMessage, error) { return nil, failed }), failed)
	})
}

func TestScopesAreTrimmedByAge(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		require.NoError(t, s.State.Commit(ctx, "session:1", values("k", `1`)))
		require.NoError(t, s.State.Commit(ctx, "agent:1", values("k", `1`)))
		c.Advance(time.Hour)
		require.NoError(t, s.State.Commit(ctx, "session:2", values("k", `1`)))
		list, err := s.State.Scopes(ctx, "session:")
		require.NoError(t, err)
		require.Len(t, list, 2)
		_, err = s.Trim(ctx, store.Retention{})
		require.NoError(t, err)
		n, err := s.Trim(ctx, store.Retention{ScopeAge: time.Minute})
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		got, err := s.State.Load(ctx, "session:1")
		require.NoError(t, err)
		require.Empty(t, got)
		got, err = s.State.Load(ctx, "session:2")
		require.NoError(t, err)
		require.Len(t, got, 1)
	})
}
