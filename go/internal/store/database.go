package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	_ "modernc.org/sqlite" // the driver
)

// database is the file: one connection that writes, and a few that read. Writers of this process
// queue for the one connection, where they wait in order and hear their context; only processes meet
// at SQLite's lock.
type database struct {
	path    string
	pool    *sql.DB       // holds the writing connection
	writer  *sql.Conn     // used by whoever holds turn
	turn    chan struct{} // one token
	closed  chan struct{}
	stmts   map[string]*sql.Stmt // of writer
	readers *sql.DB              // nil in memory: the writing connection reads
	synced  bool

	mu       sync.Mutex
	prepared map[string]*sql.Stmt // of readers
}

const (
	readConnections = 4
	mostPrepared    = 64 // queries of readers; filters of lists make up many
)

// tx is a transaction of the writing connection. What is begun is finished: a context that ends in
// the middle must not leave it open whether the transaction took place.
type tx struct {
	d   *database
	ctx context.Context
}

// openDatabase opens the file and brings it up to date.
func openDatabase(ctx context.Context, options *Options) (*database, error) {
	d := &database{path: options.Path, turn: make(chan struct{}, 1), closed: make(chan struct{}),
		stmts: map[string]*sql.Stmt{}, prepared: map[string]*sql.Stmt{}, synced: options.Synced}
	if err := d.prepareFile(); err != nil {
		return nil, err
	}
	dsn := dataSource(options)
	var err error
	if d.pool, err = sql.Open("sqlite", dsn); err != nil {
		return nil, d.describe(err)
	}
	d.pool.SetMaxOpenConns(1)
	if d.writer, err = d.pool.Conn(ctx); err == nil {
		err = d.migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(d.describe(err), d.disconnect())
	}
	if d.path != Memory {
		if d.readers, err = sql.Open("sqlite", dsn+"&_pragma=query_only(1)"); err != nil {
			return nil, errors.Join(d.describe(err), d.disconnect())
		}
		d.readers.SetMaxOpenConns(readConnections)
		d.readers.SetMaxIdleConns(readConnections)
	}
	d.turn <- struct{}{}
	return d, nil
}

// dataSource names the file to the driver with what each connection needs. Nothing here changes a
// file that turns out to be none of ours.
func dataSource(options *Options) string {
	name := options.Path
	if name != Memory {
		name = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(name))
	}
	synchronous := "NORMAL"
	if options.Synced {
		synchronous = "FULL"
	}
	return "file:" + name + "?_pragma=busy_timeout(" + strconv.FormatInt(options.BusyTimeout.Milliseconds(), 10) + ")" +
		"&_pragma=synchronous(" + synchronous + ")&_pragma=journal_size_limit(67108864)&_pragma=temp_store(MEMORY)"
}

// making keeps a new file from being opened by another store of this process before it is closed here:
// closing it would drop the locks of that one, as POSIX has it.
var making sync.Mutex

// prepareFile makes the folder and an empty file where there is none: both for their owner alone,
// because arguments and results of calls are in there. SQLite gives its other files the same mode.
func (d *database) prepareFile() error {
	switch {
	case d.path == Memory:
		return nil
	case d.path == "" || strings.ContainsRune(d.path, 0):
		return failure(CodeInvalid, "a store needs the path of its file, got %q", d.path)
	}
	making.Lock()
	defer making.Unlock()
	err := os.MkdirAll(filepath.Dir(d.path), 0o700)
	if err == nil {
		var file *os.File
		if file, err = os.OpenFile(d.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err == nil {
			err = file.Close()
		} else if errors.Is(err, fs.ErrExist) {
			err = d.checkRegular()
		}
	}
	if err != nil && CodeOf(err) == "" {
		return &Error{Code: CodeIO, Message: "the store " + d.path + " cannot be made; " + otherFolder + ": " + err.Error(), Cause: err}
	}
	return err
}

func (d *database) checkRegular() error {
	info, err := os.Stat(d.path)
	if err == nil && !info.Mode().IsRegular() {
		return failure(CodeForeign, "%s is not a file, so it cannot be a store; name another path", d.path)
	}
	return err
}

// write runs fn in a transaction that excludes all other writers.
func (d *database) write(ctx context.Context, fn func(*tx) error) error {
	if err := d.begin(ctx); err != nil {
		return err
	}
	defer d.release()
	t := &tx{d: d, ctx: context.WithoutCancel(ctx)}
	if err := d.transaction(ctx, t, fn); err != nil {
		return d.describe(err)
	}
	return nil
}

// writeSynced is write, and has the result on the disk when it returns.
func (d *database) writeSynced(ctx context.Context, fn func(*tx) error) error {
	if d.synced || d.path == Memory {
		return d.write(ctx, fn)
	}
	if err := d.begin(ctx); err != nil {
		return err
	}
	defer d.release()
	t := &tx{d: d, ctx: context.WithoutCancel(ctx)}
	// Not as prepared statements: this pragma works when it is compiled.
	if _, err := d.writer.ExecContext(t.ctx, "PRAGMA synchronous = FULL"); err != nil {
		return d.describe(err)
	}
	err := d.transaction(ctx, t, fn)
	_, after := d.writer.ExecContext(t.ctx, "PRAGMA synchronous = NORMAL")
	if err != nil {
		return d.describe(err)
	}
	return d.describe(after)
}

func (d *database) transaction(ctx context.Context, t *tx, fn func(*tx) error) (err error) {
	done := false
	defer func() {
		if !done { // also when fn panics; an error of the roll-back says only that SQLite did it already
			_, _ = t.exec("ROLLBACK")
		}
	}()
	// The wait for other processes hears the context.
	begin := tx{d: d, ctx: ctx}
	if _, err = begin.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err = fn(t); err != nil {
		return err
	}
	_, err = t.exec("COMMIT")
	done = err == nil
	return err
}

// begin waits for the writing connection.
func (d *database) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-d.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-d.closed:
		return failure(CodeClosed, "the store %s is closed", d.path)
	}
}

func (d *database) release() { d.turn <- struct{}{} }

// read runs a query and calls scan for each row.
func (d *database) read(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	if d.readers == nil {
		if err := d.begin(ctx); err != nil {
			return err
		}
		defer d.release()
		return d.describe((&tx{d: d, ctx: ctx}).query(query, args, scan))
	}
	select {
	case <-d.closed:
		return failure(CodeClosed, "the store %s is closed", d.path)
	default:
	}
	s, err := d.reader(ctx, query)
	if err != nil {
		return d.describe(err)
	}
	var rows *sql.Rows
	if s != nil {
		rows, err = s.QueryContext(ctx, args...)
	} else {
		rows, err = d.readers.QueryContext(ctx, query, args...)
	}
	if err != nil {
		return d.describe(err)
	}
	return d.describe(each(rows, scan))
}

// reader returns the prepared form of a query, or nil where there are many already.
func (d *database) reader(ctx context.Context, query string) (*sql.Stmt, error) {
	d.mu.Lock()
	s, full := d.prepared[query], len(d.prepared) >= mostPrepared
	d.mu.Unlock()
	if s != nil || full {
		return s, nil
	}
	s, err := d.readers.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if other := d.prepared[query]; other != nil {
		return other, s.Close()
	}
	d.prepared[query] = s
	return s, nil
}

func each(rows *sql.Rows, scan func(*sql.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// stmt returns the prepared form of a query. Queries are constants of this package or made of few
// parts, so their number is small.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s := t.d.stmts[query]; s != nil {
		return s, nil
	}
	s, err := t.d.writer.PrepareContext(t.ctx, query)
	if err == nil {
		t.d.stmts[query] = s
	}
	return s, err
}

func (t *tx) exec(query string, args ...any) (changed int64, err error) {
	s, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t *tx) query(query string, args []any, scan func(*sql.Rows) error) error {
	s, err := t.stmt(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(t.ctx, args...)
	if err != nil {
		return err
	}
	return each(rows, scan)
}

// row reads the first row of a query into targets, and says whether there was one.
func (t *tx) row(query string, args []any, targets ...any) (found bool, err error) {
	err = t.query(query, args, func(rows *sql.Rows) error {
		if found {
			return nil
		}
		found = true
		return rows.Scan(targets...)
	})
	return found, err
}

// close waits for the write that goes on, and closes all connections.
func (d *database) close() error {
	<-d.turn
	close(d.closed)
	if err := d.disconnect(); err != nil {
		return d.classify(err)
	}
	return nil
}

func (d *database) disconnect() error {
	var errs []error
	for _, s := range d.stmts {
		errs = append(errs, s.Close())
	}
	if d.readers != nil {
		errs = append(errs, d.readers.Close()) // and with it what it prepared
	}
	if d.writer != nil {
		errs = append(errs, d.writer.Close())
	}
	return errors.Join(append(errs, d.pool.Close())...)
}
