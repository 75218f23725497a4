package store

import (
	"context"
	"database/sql"
	"strings"
)

// Find returns the entry whose id begins with prefix, whole. It is an error when several do.
func (l *Log) Find(ctx context.Context, prefix string) (Entry, error) {
	id, err := findID(ctx, l.db, "runs", prefix)
	if err != nil {
		return Entry{}, err
	}
	if id == "" {
		return Entry{}, failure(CodeNotFound, "the log has no run %.100q", prefix)
	}
	return l.Get(ctx, id)
}

// Find returns the approval whose id begins with prefix. It is an error when several do.
func (a *Approvals) Find(ctx context.Context, prefix string) (Approval, error) {
	id, err := findID(ctx, a.db, "approvals", prefix)
	if err != nil {
		return Approval{}, err
	}
	if id == "" {
		return Approval{}, notFound("approval", prefix)
	}
	return a.Get(ctx, id)
}

// mostNamed is how many ids are named where a prefix is not enough.
const mostNamed = 5

// findID returns the one id of a table that begins with prefix, and "" where none does. A whole id is found although
// others begin with it.
func findID(ctx context.Context, db *database, table, prefix string) (string, error) {
	var ids []string
	err := db.read(ctx, "SELECT id FROM "+table+" WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", []any{prefix, prefix + "\U0010FFFF", mostNamed + 1},
		func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		})
	switch {
	case err != nil || prefix == "" || len(ids) == 0:
		return "", err
	case len(ids) == 1 || ids[0] == prefix:
		return ids[0], nil
	case len(ids) > mostNamed:
		ids[mostNamed] = "..."
	}
	return "", failure(CodeInvalid, "several ids begin with %.100q; give more of the one that is meant:\n%s", prefix, strings.Join(ids, "\n"))
}
