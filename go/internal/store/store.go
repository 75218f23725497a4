// Package store keeps what a tool host must not forget, in one SQLite file: the state of tools and
// agents, the log of executions, calls that wait for approval or run on their own, and answers to
// repeated requests. It knows nothing of tools, servers or scripts.
//
// Several processes may have the file open at once. What a method has written when it returns
// survives the end of the process, kill -9 included. A power cut may undo the last moments, but
// never harms the file; decisions and claims of approvals are synced to the disk and survive it, and
// [Options.Synced] does so for everything.
package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Memory is the [Options.Path] of a store in memory, gone when it is closed.
const Memory = ":memory:"

// Options say how a store is opened. Zero values are the defaults.
type Options struct {
	Path string           // the file, made where it is missing, or Memory
	Now  func() time.Time // the clock; nil: time.Now

	Synced      bool          // every write is synced to the disk: survives a power cut, costs an fsync
	BusyTimeout time.Duration // how long to wait for another process's write; 0: 5 s

	MaxValue int   // bytes of one value of the state; 0: 4 MiB
	MaxScope int   // bytes of one scope's keys and values; 0: 16 MiB
	MaxState int64 // bytes of all scopes together, about; 0: 1 GiB

	FlushEvery time.Duration // the longest time a log entry stays in memory alone; 0: 250 ms
	MaxLog     int64         // bytes of the log, about: beyond it the oldest entries go; 0: 1 GiB

	MaxPending          int // approvals that wait at once; 0: 10,000
	MaxPendingPerCaller int // of one caller; 0: 100

	MaxKept          int64 // bytes of answers to requests and outcomes of calls, together; 0: 1 GiB
	MaxKeptPerCaller int64 // of one caller; 0: a quarter of MaxKept
	MaxKeptCount     int   // their number, a quarter of it for one caller; 0: 1,000,000
}

func (o *Options) setDefaults() {
	if o.Now == nil {
		o.Now = time.Now
	}
	setDefault(&o.BusyTimeout, 5*time.Second)
	setDefault(&o.MaxValue, 4<<20)
	setDefault(&o.MaxScope, 16<<20)
	setDefault(&o.MaxState, 1<<30)
	setDefault(&o.FlushEvery, 250*time.Millisecond)
	setDefault(&o.MaxLog, 1<<30)
	setDefault(&o.MaxPending, 10_000)
	setDefault(&o.MaxPendingPerCaller, 100)
	setDefault(&o.MaxKept, 1<<30)
	setDefault(&o.MaxKeptPerCaller, (o.MaxKept+3)/4)
	setDefault(&o.MaxKeptCount, 1_000_000)
}

func setDefault[T ~int | ~int64](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Store is one open file. Goroutines may share it.
type Store struct {
	State       *State
	Log         *Log
	Approvals   *Approvals
	Calls       *Calls
	Idempotency *Idempotency

	db        *database
	options   Options
	presence  *presence
	closeOnce sync.Once
	closeErr  error
}

// Open opens the store of options, and makes or upgrades its file where needed. A file that is no
// store of ours, or one of a newer version, is an error, and stays as it is.
func Open(ctx context.Context, options Options) (*Store, error) {
	options.setDefaults()
	db, err := openDatabase(ctx, &options)
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, options: options}
	s.presence = newPresence(db, options.Now)
	s.State = &State{db: db, now: options.Now, maxValue: options.MaxValue, maxScope: options.MaxScope, max: options.MaxState}
	s.Log = &Log{db: db, now: options.Now, writer: newLogWriter(db, options.Now, options.FlushEvery, options.MaxLog)}
	s.Approvals = &Approvals{db: db, now: options.Now, presence: s.presence,
		maxPending: options.MaxPending, maxPerCaller: options.MaxPendingPerCaller}
	room := newKeptRoom(db, &options, s.presence)
	s.Calls = &Calls{db: db, now: options.Now, presence: s.presence, room: room}
	s.Idempotency = newIdempotency(db, options.Now, s.presence, room)
	return s, nil
}

// Close writes what the log still holds in memory, gives up what this process had in hand (calls that
// run become interrupted, requests in flight may be sent again) and closes the file. Every use after
// it is an error.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		logged := s.Log.writer.close()
		s.Idempotency.close()
		left := s.presence.leave()
		s.closeErr = errors.Join(logged, left, s.db.close())
	})
	return s.closeErr
}

func init() { uuid.EnableRandPool() } // one system call for 16 ids

// NewID returns an id for a run, a call or an approval: a UUID of version 7, which sorts by time.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
