package store

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Questions that people ask often are answered from an index, in its order, however long the log is.
func TestQueriesUseIndexes(t *testing.T) {
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	defer s.Close()
	list := func(f Filter) (string, []any) {
		where, args := f.where()
		return briefColumns + where + " ORDER BY time DESC, seq DESC LIMIT 10", args
	}
	for _, test := range []struct {
		filter Filter
		index  string
	}{
		{Filter{}, "SCAN runs USING INDEX runs_by_time"},
		{Filter{Since: time.Unix(1, 0), Until: time.Unix(2, 0)}, "SEARCH runs USING INDEX runs_by_time (time>? AND time<?)"},
		{Filter{Before: "x"}, "SEARCH runs USING INDEX runs_by_time (time<?)"},
		{Filter{Tool: "x"}, "SEARCH runs USING INDEX runs_by_tool (tool=?)"},
		{Filter{Tool: "x", Since: time.Unix(1, 0)}, "SEARCH runs USING INDEX runs_by_tool (tool=? AND time>?)"},
		{Filter{Status: "error"}, "SEARCH runs USING INDEX runs_not_ok (status=?)"},
	} {
		query, args := list(test.filter)
		plan := explain(t, s, query, args)
		require.Contains(t, plan, test.index)
		require.NotContains(t, plan, "USE TEMP B-TREE FOR ORDER BY", "%+v", test.filter)
	}
	require.NotContains(t, explain(t, s, toolsQuery, []any{mostTools}), "SCAN runs")
	args := []any{sql.Named("now", 1), sql.Named("self", "a"), sql.Named("dead", 1), sql.Named("id", "a"), sql.Named("scope", []byte("a"))}
	require.Contains(t, explain(t, s, approvalsQuery(wholeApproval, "WHERE id = :id"), args), "SEARCH approvals USING INDEX sqlite_autoindex_approvals_1 (id=?)")
	require.Contains(t, explain(t, s, callsQuery("result, error", "WHERE id = :id"), args), "SEARCH calls USING INDEX sqlite_autoindex_calls_1 (id=?)")
	require.Contains(t, explain(t, s, requestQuery(), args), "SEARCH requests USING INDEX sqlite_autoindex_requests_1 (scope=?)")
	for _, rule := range s.rules(Retention{}) {
		require.NotContains(t, explain(t, s, rule.choose, rule.args), "SCAN "+rule.table+"\n", rule.choose)
	}
}

func explain(t *testing.T, s *Store, query string, args []any) string {
	t.Helper()
	plan := ""
	require.NoError(t, s.db.read(t.Context(), "EXPLAIN QUERY PLAN "+query, args, func(rows *sql.Rows) error {
		var id, parent, unused int
		var line string
		err := rows.Scan(&id, &parent, &unused, &line)
		plan += line + "\n"
		return err
	}))
	return plan
}
