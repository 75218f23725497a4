package store

import "strings"

const (
	runColumns = 19
	manyRows   = 32 // rows of one statement: half the work of as many statements

	// What fails rolls the transaction back, as its caller would: then SQLite keeps no copies of pages for going back
	// by one statement.
	insertRuns = "INSERT OR ROLLBACK INTO runs (id, time, duration, tool, status, face, caller, parent, version, tokens_in, tokens_out, " +
		"arguments_size, result_size, error_code, error_message, error_detail, arguments, result, host_calls) VALUES "
	keepFirst = " ON CONFLICT (id) DO NOTHING"

	// Most entries have values for these columns only, and each value costs.
	plainColumns = 12
	insertPlain  = "INSERT OR ROLLBACK INTO runs (id, time, duration, tool, status, face, caller, version, arguments_size, result_size, " +
		"arguments, result, tokens_in, tokens_out) VALUES "

	// Under load most are of one tool and one caller: what they share is given once. These columns come first: only
	// their places have numbers, each of which the driver looks up among all. A size of 0 is that of the text.
	sharedColumns = 5
	ownColumns    = 5
	insertAlike   = "INSERT OR ROLLBACK INTO runs (tool, status, face, caller, version, id, time, duration, arguments, result, " +
		"arguments_size, result_size, tokens_in, tokens_out) VALUES "
)

var (
	oneRow    = row(runColumns, "")
	insertOne = insertRuns + oneRow + keepFirst
	insertAll = insertRuns + oneRow + strings.Repeat(", "+oneRow, manyRows-1) + keepFirst

	plainRow       = row(plainColumns, ", 0, 0")
	insertAllPlain = insertPlain + plainRow + strings.Repeat(", "+plainRow, manyRows-1) + keepFirst

	alikeRow       = "(?1, ?2, ?3, ?4, ?5, " + "?" + strings.Repeat(", ?", ownColumns-1) + ", 0, 0, 0, 0)"
	insertAllAlike = insertAlike + alikeRow + strings.Repeat(", "+alikeRow, manyRows-1) + keepFirst
)

func row(columns int, rest string) string {
	return "(?" + strings.Repeat(", ?", columns-1) + rest + ")"
}

// insertEntries writes entries, and returns what came; of two with one id the first stays.
func insertEntries(t *tx, entries []Entry) (came logged, err error) {
	args := make([]any, 0, manyRows*runColumns)
	for len(entries) > 0 {
		rows := 1
		if len(entries) >= manyRows {
			rows = manyRows
		}
		n, err := insertSome(t, entries[:rows], args)
		if err != nil {
			return came, err
		}
		came.count, came.size = came.count+n.count, came.size+n.size
		entries = entries[rows:]
	}
	return came, nil
}

// insertSome writes one entry, or manyRows of them, by the shortest statement that has what they need.
func insertSome(t *tx, entries []Entry, args []any) (logged, error) {
	first := &entries[0]
	switch {
	case len(entries) == 1:
		return insertWhole(t, insertOne, entries, args)
	case some(entries, (*Entry).notPlain):
		return insertWhole(t, insertAll, entries, args)
	case some(entries, func(e *Entry) bool { return !e.alike(first) || e.Arguments.Cut() || e.Result.Cut() }):
		for i := range entries {
			args = entries[i].appendPlain(args)
		}
		return insertRows(t, insertAllPlain, args, len(entries), textSize(args))
	}
	args = first.appendShared(args)
	size := textSize(args) * int64(len(entries))
	for i := range entries {
		args = entries[i].appendOwn(args)
	}
	return insertRows(t, insertAllAlike, args, len(entries), size+textSize(args[sharedColumns:]))
}

func insertWhole(t *tx, query string, entries []Entry, args []any) (logged, error) {
	for i := range entries {
		var err error
		if args, err = entries[i].appendColumns(args); err != nil {
			return logged{}, err
		}
	}
	return insertRows(t, query, args, len(entries), textSize(args))
}

func insertRows(t *tx, query string, args []any, rows int, size int64) (logged, error) {
	n, err := t.exec(query, args...)
	if err != nil {
		return logged{}, err
	}
	if n < int64(rows) { // some were there already
		return newest(t, n)
	}
	return logged{n, n*logRow + size}, nil
}

// some is slices.ContainsFunc without copies of entries, which are large.
func some(entries []Entry, is func(*Entry) bool) bool {
	for i := range entries {
		if is(&entries[i]) {
			return true
		}
	}
	return false
}

// notPlain says whether an entry has values for more than plainColumns.
func (e *Entry) notPlain() bool {
	return e.Error != nil || e.Parent != "" || e.TokensIn != 0 || e.TokensOut != 0 || len(e.HostCalls) > 0 || e.HostCallsDropped > 0
}

// alike says whether entries have the same shared columns.
func (e *Entry) alike(other *Entry) bool {
	return e.Tool == other.Tool && e.Status == other.Status && e.Face == other.Face && e.Caller == other.Caller && e.Version == other.Version
}

func (e *Entry) appendShared(args []any) []any {
	return append(args, text(e.Tool), text(e.Status), text(e.Face), text(e.Caller), text(e.Version))
}

func (e *Entry) appendOwn(args []any) []any {
	return append(args, e.ID, micros(e.Time), e.Duration.Microseconds(), text(e.Arguments.Text), text(e.Result.Text))
}

func (e *Entry) appendPlain(args []any) []any {
	return append(args, e.ID, micros(e.Time), e.Duration.Microseconds(), text(e.Tool), text(e.Status), text(e.Face), text(e.Caller),
		text(e.Version), e.Arguments.Size, e.Result.Size, text(e.Arguments.Text), text(e.Result.Text))
}

func (e *Entry) appendColumns(args []any) ([]any, error) {
	calls, err := e.encodeCalls()
	if err != nil {
		return nil, err
	}
	var failed Failure
	if e.Error != nil {
		failed = *e.Error
	}
	return append(args, e.ID, micros(e.Time), e.Duration.Microseconds(), text(e.Tool), text(e.Status), text(e.Face), text(e.Caller),
		text(e.Parent), text(e.Version), e.TokensIn, e.TokensOut, e.Arguments.Size, e.Result.Size,
		text(failed.Code), text(failed.Message), text(failed.Detail), text(e.Arguments.Text), text(e.Result.Text), text(calls)), nil
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}
