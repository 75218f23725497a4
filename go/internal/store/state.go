package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

const maxKey = 4 << 10

// State holds JSON values under keys, a set of keys for each scope (an agent, a session). Goroutines
// may share it. Values come back byte for byte.
//
// Versions are for [State.Swap]. They only grow, over the whole store. A key that is not there has a
// version too, which grows when any key of its scope is deleted: so nothing that changed and changed
// back looks untouched, and nothing need be kept of deleted keys.
type State struct {
	db       *database
	now      func() time.Time
	maxValue int
	maxScope int
	max      int64 // bytes of all scopes
}

// stateRow is what a scope and a key count beside their texts, where all are counted together: a flood of small ones
// would take many times the room of what they hold.
const stateRow = 100

const stateStep = "INSERT INTO sizes (name, count, size) SELECT 'state', (SELECT count(*) FROM scopes) + (SELECT count(*) FROM state), " +
	"(SELECT coalesce(sum(size), 0) FROM scopes)"

// stored is what changes of the state add: rows of scopes and keys, and bytes of keys and values.
type stored struct{ rows, size int64 }

// resizeState counts what came and went, and fails where it grew beyond the bound.
func resizeState(t *tx, by stored, max int64) error {
	if by == (stored{}) {
		return nil
	}
	var all stored
	if _, err := t.row("UPDATE sizes SET count = count + ?, size = size + ? WHERE name = 'state' RETURNING count, size",
		[]any{by.rows, by.size}, &all.rows, &all.size); err != nil {
		return err
	}
	if room := all.size + stateRow*all.rows; room > max && by.size+stateRow*by.rows > 0 {
		return failure(CodeLimit, "ctx.state: the state of all callers and sessions would have %d bytes, more than %d; "+
			"delete keys that are not needed any more, or raise [state] max_size", room, max)
	}
	return nil
}

// Load returns all that a scope holds.
func (s *State) Load(ctx context.Context, scope string) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	err := s.db.read(ctx, "SELECT key, value FROM state WHERE scope = ?", []any{scope}, func(rows *sql.Rows) error {
		var key string
		var value []byte
		err := rows.Scan(&key, &value)
		values[key] = value
		return err
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

const (
	absentQuery = "SELECT coalesce((SELECT absent FROM scopes WHERE scope = ?1), (SELECT value FROM counters WHERE name = 'dropped'), 0)"
	getQuery    = "SELECT (SELECT version FROM state WHERE scope = ?1 AND key = ?2), (SELECT value FROM state WHERE scope = ?1 AND key = ?2), (" + absentQuery + ")"
)

// Get returns one value and its version; the value is nil where there is none.
func (s *State) Get(ctx context.Context, scope, key string) (json.RawMessage, int64, error) {
	var current entry
	err := s.db.read(ctx, getQuery, []any{scope, key}, current.scan)
	return current.value, current.version, err
}

type entry struct {
	value   []byte
	version int64
}

func (e *entry) scan(rows *sql.Rows) error {
	var version sql.NullInt64
	err := rows.Scan(&version, &e.value, &e.version)
	if version.Valid {
		e.version = version.Int64
	}
	return err
}

// Commit writes changes at once, all or none; a nil value deletes its key.
func (s *State) Commit(ctx context.Context, scope string, changes map[string]json.RawMessage) error {
	if err := s.check(scope, changes); err != nil || len(changes) == 0 {
		return err
	}
	return s.db.write(ctx, func(t *tx) error { return s.apply(t, scope, changes) })
}

// Swap writes a value if the key still has the version that [State.Get] told, and says whether it
// did. A nil value deletes.
func (s *State) Swap(ctx context.Context, scope, key string, version int64, value json.RawMessage) (bool, error) {
	changes := map[string]json.RawMessage{key: value}
	if err := s.check(scope, changes); err != nil {
		return false, err
	}
	swapped := false
	err := s.db.write(ctx, func(t *tx) error {
		var current entry
		if err := t.query(getQuery, []any{scope, key}, current.scan); err != nil || current.version != version {
			return err
		}
		swapped = true
		return s.apply(t, scope, changes)
	})
	return swapped && err == nil, err
}

// Update replaces a value by what fn makes of it (nil: none), at once: no other change comes between.
// fn may be called several times, and must not use the store.
func (s *State) Update(ctx context.Context, scope, key string, fn func(json.RawMessage) (json.RawMessage, error)) error {
	for {
		value, version, err := s.Get(ctx, scope, key)
		if err != nil {
			return err
		}
		if value, err = fn(value); err != nil {
			return err
		}
		if done, err := s.Swap(ctx, scope, key, version, value); done || err != nil {
			return err
		}
	}
}

func (s *State) check(scope string, changes map[string]json.RawMessage) error {
	if scope == "" || len(scope) > maxKey || !utf8.ValidString(scope) {
		return failure(CodeInvalid, "a scope of the state has 1 to %d bytes of UTF-8, this one has %d: %.100q", maxKey, len(scope), scope)
	}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		value := changes[key]
		switch {
		case len(key) > maxKey || !utf8.ValidString(key):
			return failure(CodeInvalid, "a key of the state has at most %d bytes of UTF-8, this one has %d: %.100q", maxKey, len(key), key)
		case len(value) > s.maxValue:
			return failure(CodeLimit, "ctx.state: the value %.100q has %d bytes, more than %d for one value; keep less, or split it over keys",
				key, len(value), s.maxValue)
		case value != nil && !json.Valid(value):
			return failure(CodeInvalid, "ctx.state: the value %.100q is not JSON", key)
		}
	}
	return nil
}

// apply writes the changes and the size of the scope.
func (s *State) apply(t *tx, scope string, changes map[string]json.RawMessage) error {
	version, err := nextVersion(t)
	if err != nil {
		return err
	}
	var size int
	var absent int64
	found, err := t.row("SELECT size, absent FROM scopes WHERE scope = ?", []any{scope}, &size, &absent)
	if err == nil && !found {
		_, err = t.row(absentQuery, []any{scope}, &absent)
	}
	if err != nil {
		return err
	}
	before, grown := size, stored{}
	if !found {
		grown.rows++
	}
	for key, value := range changes {
		by, err := put(t, scope, key, version, value)
		if err != nil {
			return err
		}
		grown.rows, grown.size = grown.rows+by.rows, grown.size+by.size
		if value == nil {
			absent = version
		}
	}
	size += int(grown.size)
	if size > s.maxScope && size > before {
		return failure(CodeLimit, "ctx.state: the state of %.100q would have %d bytes, more than %d; delete keys that are not needed any more",
			scope, size, s.maxScope)
	}
	if err := resizeState(t, grown, s.max); err != nil {
		return err
	}
	_, err = t.exec("INSERT INTO scopes (scope, size, absent, changed) VALUES (?1, ?2, ?3, ?4) "+
		"ON CONFLICT (scope) DO UPDATE SET size = ?2, absent = ?3, changed = ?4", scope, size, absent, micros(s.now()))
	return err
}

func nextVersion(t *tx) (version int64, err error) {
	_, err = t.row("INSERT INTO counters (name, value) VALUES ('version', 1) "+
		"ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value", nil, &version)
	return version, err
}

// put writes or deletes one value, and returns by how much its scope grew.
func put(t *tx, scope, key string, version int64, value json.RawMessage) (grown stored, err error) {
	var old int64
	found, err := t.row("SELECT length(value) FROM state WHERE scope = ? AND key = ?", []any{scope, key}, &old)
	if err != nil {
		return grown, err
	}
	if found {
		grown = stored{-1, -old - int64(len(key))}
	}
	if value == nil {
		_, err = t.exec("DELETE FROM state WHERE scope = ? AND key = ?", scope, key)
		return grown, err
	}
	_, err = t.exec("INSERT INTO state (scope, key, version, value) VALUES (?1, ?2, ?3, ?4) "+
		"ON CONFLICT (scope, key) DO UPDATE SET version = ?3, value = ?4", scope, key, version, []byte(value))
	return stored{grown.rows + 1, grown.size + int64(len(key)+len(value))}, err
}

// Scope is one scope in a list.
type Scope struct {
	Name    string
	Size    int       // bytes of keys and values
	Changed time.Time // last write
}

// Scopes lists the scopes whose names begin with prefix.
func (s *State) Scopes(ctx context.Context, prefix string) ([]Scope, error) {
	var list []Scope
	err := s.db.read(ctx, "SELECT scope, size, changed FROM scopes WHERE substr(scope, 1, length(?1)) = ?1 ORDER BY scope", []any{prefix},
		func(rows *sql.Rows) error {
			var scope Scope
			var changed int64
			err := rows.Scan(&scope.Name, &scope.Size, &changed)
			scope.Changed = fromMicros(changed)
			list = append(list, scope)
			return err
		})
	return list, err
}

// Drop forgets scopes whole.
func (s *State) Drop(ctx context.Context, scopes ...string) error {
	for _, scope := range scopes {
		if err := s.db.write(ctx, func(t *tx) error { return drop(t, scope) }); err != nil {
			return err
		}
	}
	return nil
}

// drop raises the version of absent keys of all scopes that are not there.
func drop(t *tx, scope string) error {
	version, err := nextVersion(t)
	if err != nil {
		return err
	}
	if _, err = t.exec("INSERT INTO counters (name, value) VALUES ('dropped', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1", version); err != nil {
		return err
	}
	var size int64
	if found, err := t.row("SELECT size FROM scopes WHERE scope = ?", []any{scope}, &size); err != nil || !found {
		return err
	}
	keys, err := t.exec("DELETE FROM state WHERE scope = ?", scope)
	if err != nil {
		return err
	}
	if _, err = t.exec("DELETE FROM scopes WHERE scope = ?", scope); err != nil {
		return err
	}
	return resizeState(t, stored{-keys - 1, -size}, 0)
}
