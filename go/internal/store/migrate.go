package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks our files in SQLite's header: "hklu".
const applicationID = 0x686b6c75

// steps bring a file from version i to i+1, each in one transaction with the mark of its version. A
// step that was released is never changed; what comes later is a step of its own.
var steps = []string{
	`
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

-- size: bytes of keys and values. absent: the version of every key that is not there.
CREATE TABLE scopes (
	scope TEXT PRIMARY KEY, size INTEGER NOT NULL, absent INTEGER NOT NULL, changed INTEGER NOT NULL);
CREATE TABLE state (
	scope TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, value BLOB NOT NULL,
	UNIQUE (scope, key));

-- Small columns first: a filter then reads the first page of a row only. What is empty is NULL, which
-- is cheaper to write than ''.
CREATE TABLE runs (
	seq INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE, time INTEGER NOT NULL, duration INTEGER NOT NULL, tool TEXT, status TEXT, face TEXT, caller TEXT,
	parent TEXT, version TEXT, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
	arguments_size INTEGER NOT NULL, result_size INTEGER NOT NULL,
	error_code TEXT, error_message TEXT, error_detail TEXT, arguments TEXT, result TEXT, host_calls TEXT);
CREATE INDEX runs_by_time ON runs (time);
CREATE INDEX runs_by_tool ON runs (tool, time);
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_not_ok ON runs (status, time) WHERE status <> 'ok';

-- Processes that have something in hand; one that is not here, or not seen lately, is dead.
CREATE TABLE processes (id TEXT PRIMARY KEY, started INTEGER NOT NULL, seen INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE approvals (
	id TEXT PRIMARY KEY, state TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,
	tool TEXT NOT NULL, version TEXT NOT NULL, caller TEXT NOT NULL, session TEXT NOT NULL, arguments_hash TEXT NOT NULL,
	decided INTEGER NOT NULL DEFAULT 0, decided_by TEXT NOT NULL DEFAULT '',
	process TEXT NOT NULL DEFAULT '', started INTEGER NOT NULL DEFAULT 0, finished INTEGER NOT NULL DEFAULT 0,
	arguments BLOB NOT NULL, result BLOB, error TEXT NOT NULL DEFAULT '');
CREATE INDEX approvals_by_state ON approvals (state, caller);
CREATE INDEX approvals_by_time ON approvals (created);

CREATE TABLE calls (
	id TEXT PRIMARY KEY, state TEXT NOT NULL, created INTEGER NOT NULL, finished INTEGER NOT NULL DEFAULT 0,
	tool TEXT NOT NULL, version TEXT NOT NULL, caller TEXT NOT NULL, process TEXT NOT NULL,
	result BLOB, error TEXT NOT NULL DEFAULT '');
CREATE INDEX calls_by_time ON calls (created);

-- process: who works on it; '' once it is answered. attempt: grows with each one who does.
CREATE TABLE requests (
	scope BLOB PRIMARY KEY, hash TEXT NOT NULL, process TEXT NOT NULL, attempt INTEGER NOT NULL,
	expires INTEGER NOT NULL, status INTEGER NOT NULL DEFAULT 0, dropped INTEGER NOT NULL DEFAULT 0,
	type TEXT NOT NULL DEFAULT '', body BLOB);
CREATE INDEX requests_by_expiry ON requests (expires);
`,
	keptStep,
	logStep,
	stateStep,
	"ALTER TABLE approvals ADD COLUMN reason TEXT NOT NULL DEFAULT ''",
}

// migrate looks whose file it is before it touches anything, and runs the steps that are missing.
func (d *database) migrate(ctx context.Context) error {
	t := &tx{d: d, ctx: ctx}
	version, err := d.version(t)
	if err != nil || version == len(steps) {
		return err
	}
	if version == 0 {
		if err := d.retry(ctx, func() error { return d.format(t) }); err != nil {
			return err
		}
	}
	return d.retry(ctx, func() error {
		return d.transaction(ctx, t, func(t *tx) error { return d.upgrade(ctx, t) })
	})
}

// version returns the version of the file, 0 for an empty one.
func (d *database) version(t *tx) (int, error) {
	var id, version, tables int
	const query = "SELECT (SELECT application_id FROM pragma_application_id), " +
		"(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)"
	if err := d.retry(t.ctx, func() error {
		_, err := t.row(query, nil, &id, &version, &tables)
		return err
	}); err != nil {
		return 0, err
	}
	switch {
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, failure(CodeForeign, "%s is a database of another program, and is left as it is; name another file", d.path)
	case version > len(steps):
		return 0, failure(CodeNewer, "the store %s has version %d, this program knows up to %d; use the newer program, or name another file",
			d.path, version, len(steps))
	}
	return version, nil
}

// format sets what only an empty file can be given.
func (d *database) format(t *tx) error {
	if _, err := d.writer.ExecContext(t.ctx, "PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
		return err
	}
	_, err := d.writer.ExecContext(t.ctx, "PRAGMA journal_mode = WAL")
	return err
}

// upgrade runs the missing steps. Another process may have done so since version was asked.
func (d *database) upgrade(ctx context.Context, t *tx) error {
	var version int
	if _, err := t.row("PRAGMA user_version", nil, &version); err != nil {
		return err
	}
	for ; version < len(steps); version++ {
		script := fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d", steps[version], applicationID, version+1)
		if _, err := d.writer.ExecContext(ctx, script); err != nil {
			return fmt.Errorf("step %d: %w", version+1, err)
		}
	}
	return nil
}

// retry repeats what SQLite refuses at once, without its own wait, while another process changes the
// journal mode or recovers the file.
func (d *database) retry(ctx context.Context, fn func() error) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := fn()
		e, ok := errors.AsType[*sqlite.Error](err)
		if !ok || e.Code()&0xff != sqlite3.SQLITE_BUSY || wait > 2*time.Second {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
