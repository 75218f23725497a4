package store

import (
	"context"
	"database/sql"
)

// logRow is what an entry counts beside its texts: numbers, and what indexes repeat.
const logRow = 200

const (
	entrySize = "200 + octet_length(id) + coalesce(octet_length(tool), 0) + coalesce(octet_length(status), 0) + coalesce(octet_length(face), 0) + " +
		"coalesce(octet_length(caller), 0) + coalesce(octet_length(parent), 0) + coalesce(octet_length(version), 0) + " +
		"coalesce(octet_length(error_code), 0) + coalesce(octet_length(error_message), 0) + coalesce(octet_length(error_detail), 0) + " +
		"coalesce(octet_length(arguments), 0) + coalesce(octet_length(result), 0) + coalesce(octet_length(host_calls), 0)"

	logStep = "INSERT INTO sizes (name, count, size) SELECT 'log', count(*), coalesce(sum(" + entrySize + "), 0) FROM runs"
)

// logged is a number of entries and the size of them.
type logged struct{ count, size int64 }

// textSize is entrySize of the values of some rows.
func textSize(args []any) (size int64) {
	for _, arg := range args {
		if text, is := arg.(string); is {
			size += int64(len(text))
		}
	}
	return size
}

// newest is what the last entries have that were written in this transaction.
func newest(t *tx, count int64) (n logged, err error) {
	_, err = t.row("SELECT count(*), coalesce(sum("+entrySize+"), 0) FROM (SELECT * FROM runs ORDER BY seq DESC LIMIT ?)", []any{count}, &n.count, &n.size)
	return n, err
}

// resize counts entries that came or went, and returns the size of all.
func resize(t *tx, by logged) (size int64, err error) {
	_, err = t.row("UPDATE sizes SET count = count + ?, size = size + ? WHERE name = 'log' RETURNING size", []any{by.count, by.size}, &size)
	return size, err
}

const oldestStep = 64 // entries that are deleted by one statement

// makeRoom counts entries that came, and deletes the oldest where the log has more than max now: about twice as much
// as came, so that a log that is far too large shrinks little by little.
func makeRoom(t *tx, came logged, max int64) error {
	size, err := resize(t, came)
	if err != nil || size <= max {
		return err
	}
	var gone logged
	for size-gone.size > max && gone.size < 2*came.size {
		n, err := deleteEntries(t, "SELECT seq FROM runs ORDER BY seq LIMIT ?", oldestStep)
		if err != nil {
			return err
		}
		if n.count == 0 { // whatever was counted
			break
		}
		gone.count, gone.size = gone.count+n.count, gone.size+n.size
	}
	_, err = resize(t, logged{-gone.count, -gone.size})
	return err
}

// deleteEntries deletes the chosen entries and says what they had. Resize must follow.
func deleteEntries(t *tx, choose string, args ...any) (gone logged, err error) {
	err = t.query("DELETE FROM runs WHERE seq IN ("+choose+") RETURNING "+entrySize, args, func(rows *sql.Rows) error {
		var size int64
		err := rows.Scan(&size)
		gone.count, gone.size = gone.count+1, gone.size+size
		return err
	})
	return gone, err
}

// trimLog deletes the oldest entries until the log has no more than it may.
func (s *Store) trimLog(ctx context.Context) (deleted int64, err error) {
	for {
		var n logged
		err := s.db.write(ctx, func(t *tx) error {
			size, err := resize(t, logged{})
			if err != nil || size <= s.options.MaxLog {
				return err
			}
			if n, err = deleteEntries(t, "SELECT seq FROM runs ORDER BY seq LIMIT ?", oldestStep); err != nil {
				return err
			}
			_, err = resize(t, logged{-n.count, -n.size})
			return err
		})
		deleted += n.count
		if err != nil || n.count == 0 {
			return deleted, err
		}
	}
}
