package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of one entry. What is longer is cut, and says so.
const (
	MaxLogText   = 64 << 10 // bytes of arguments, and of a result
	MaxLogDetail = 16 << 10 // bytes of an error's detail
	MaxHostCalls = 256      // host calls of one run

	maxLogMessage = 4 << 10
	maxLogName    = 512
)

// Log is the execution log: one entry for each run that ended. Goroutines may share it.
type Log struct {
	db     *database
	now    func() time.Time
	writer *logWriter
}

// Entry is one run. Secrets are redacted before it comes here.
type Entry struct {
	ID       string        `json:"id"`   // see NewID, which is used where it is empty
	Seq      int64         `json:"seq"`  // the order of writing, set by the log
	Time     time.Time     `json:"time"` // when the run began; zero: now less Duration
	Duration time.Duration `json:"duration"`
	Tool     string        `json:"tool"`
	Version  string        `json:"version,omitempty"` // hash of what ran
	Face     string        `json:"face,omitempty"`    // cli, http, mcp, agent ...
	Caller   string        `json:"caller,omitempty"`
	Parent   string        `json:"parent,omitempty"` // id of the run that called
	Status   string        `json:"status"`           // StatusOK, or what else the program uses; empty: by Error

	Arguments Payload  `json:"arguments,omitzero"`
	Result    Payload  `json:"result,omitzero"`
	Error     *Failure `json:"error,omitempty"`

	HostCalls        []HostCall `json:"host_calls,omitempty"`
	HostCallsDropped int        `json:"host_calls_dropped,omitempty"` // beyond MaxHostCalls

	TokensIn  int64 `json:"tokens_in,omitempty"`
	TokensOut int64 `json:"tokens_out,omitempty"`
}

// Status of an entry. Only StatusOK means something to the log: all others are found by an index.
const (
	StatusOK    = "ok"
	StatusError = "error"
)

// Failure is how a run failed.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Detail  string `json:"detail,omitempty"`
}

// HostCall is one call from a script into the host.
type HostCall struct {
	Name     string        `json:"name"`
	Target   string        `json:"target,omitempty"`
	Duration time.Duration `json:"duration"`
	Error    string        `json:"error,omitempty"`
}

// Payload is JSON text, perhaps cut.
type Payload struct {
	Text string
	Size int // bytes before it was cut; 0: of Text
}

// NewPayload copies raw, no more than the log keeps.
func NewPayload(raw []byte) Payload {
	if len(raw) <= MaxLogText {
		return Payload{Text: string(raw)}
	}
	return Payload{Text: cut(string(raw[:MaxLogText+1]), MaxLogText), Size: len(raw)}
}

// Cut says whether the text is only the beginning.
func (p Payload) Cut() bool { return p.Size > len(p.Text) }

// MarshalJSON gives the text as the JSON it is, or where it was cut {"cut": true, "size", "text"}.
func (p Payload) MarshalJSON() ([]byte, error) {
	switch {
	case p.Text == "" && p.Size == 0:
		return []byte("null"), nil
	case !p.Cut() && json.Valid([]byte(p.Text)):
		return []byte(p.Text), nil
	}
	return json.Marshal(map[string]any{"cut": p.Cut(), "size": max(p.Size, len(p.Text)), "text": p.Text})
}

// limit cuts a payload that was not made by NewPayload.
func (p *Payload) limit() {
	p.Size = max(p.Size, len(p.Text))
	p.Text = cut(p.Text, MaxLogText)
}

// cut shortens text to at most limit bytes of valid UTF-8. What it returns does not hold on to a
// longer text.
func cut(text string, limit int) string {
	if len(text) > limit {
		end := limit
		for end > limit-4 && text[end]&0xc0 == 0x80 {
			end--
		}
		text = strings.Clone(text[:end])
	}
	if utf8.ValidString(text) { // faster than to make it so
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Record hands an entry to the log, which owns it from then on, and returns before it is on disk: see
// [Log.Flush] and [Options.FlushEvery]. It waits only while the queue is full: until there
// is room, or a second where writing fails, and not at all once that was in vain. What finds no room is lost. An error
// says what is wrong with the log, and how many entries are lost: once a minute, while nothing can be written.
func (l *Log) Record(ctx context.Context, e Entry) error {
	if e.ID == "" {
		e.ID = NewID()
	}
	if e.Time.IsZero() {
		e.Time = l.now().Add(-e.Duration)
	}
	if e.Status == "" {
		e.Status = StatusOK
		if e.Error != nil {
			e.Status = StatusError
		}
	}
	e.limit()
	return l.writer.add(ctx, e)
}

// Flush returns when everything that was recorded before is written.
func (l *Log) Flush(ctx context.Context) error { return l.writer.flushed(ctx) }

func (e *Entry) limit() {
	for _, name := range []*string{&e.ID, &e.Tool, &e.Version, &e.Face, &e.Caller, &e.Parent, &e.Status} {
		*name = cut(*name, maxLogName)
	}
	e.Arguments.limit()
	e.Result.limit()
	if f := e.Error; f != nil {
		e.Error = &Failure{cut(f.Code, maxLogName), cut(f.Message, maxLogMessage), cut(f.Detail, MaxLogDetail)}
	}
	if extra := len(e.HostCalls) - MaxHostCalls; extra > 0 {
		e.HostCalls = append([]HostCall(nil), e.HostCalls[:MaxHostCalls]...)
		e.HostCallsDropped += extra
	}
	for i := range e.HostCalls {
		c := &e.HostCalls[i]
		c.Name, c.Target, c.Error = cut(c.Name, maxLogName), cut(c.Target, maxLogName), cut(c.Error, maxLogName)
	}
}

// weight is about what an entry holds in memory.
func (e *Entry) weight() int {
	weight := 512 + len(e.Arguments.Text) + len(e.Result.Text)
	if e.Error != nil {
		weight += len(e.Error.Message) + len(e.Error.Detail)
	}
	for i := range e.HostCalls {
		c := &e.HostCalls[i]
		weight += 64 + len(c.Name) + len(c.Target) + len(c.Error)
	}
	return weight
}

// Filter chooses entries; zero fields choose all.
type Filter struct {
	Tool, Status, Caller, Face string
	Parent                     string
	Since, Until               time.Time // of the begin of the run: since <= time < until
	Text                       string    // in arguments, result or error; letters A to Z in either case
	Failed                     bool      // every status but StatusOK

	Before string // the id of an entry: only those further down the list
	Limit  int    // 0: 100; at most 1,000
}

// List returns the chosen entries, newest first. Their arguments and results are cut to the first
// 1,024 characters, and their host calls are left out: see [Log.Get].
func (l *Log) List(ctx context.Context, f Filter) ([]Entry, error) {
	where, args := f.where()
	args = append(args, f.limit())
	return l.entries(ctx, briefColumns+where+" ORDER BY time DESC, seq DESC LIMIT ?", args, false)
}

// Get returns one entry, whole.
func (l *Log) Get(ctx context.Context, id string) (Entry, error) {
	list, err := l.entries(ctx, fullColumns+" WHERE id = ?", []any{id}, true)
	if err != nil {
		return Entry{}, err
	}
	if len(list) == 0 {
		return Entry{}, failure(CodeNotFound, "the log has no run %.100q", id)
	}
	return list[0], nil
}

// Children returns the runs that a run called, in the order of their begin, cut as in a list.
func (l *Log) Children(ctx context.Context, id string) ([]Entry, error) {
	return l.entries(ctx, briefColumns+" WHERE parent = ? ORDER BY time, seq LIMIT 1000", []any{id}, false)
}

// After returns entries that were written after that with the number seq and are chosen by f, in
// the order of writing, cut as in a list.
func (l *Log) After(ctx context.Context, seq int64, f Filter) ([]Entry, error) {
	where, args := f.where()
	args = append(args, seq, f.limit())
	return l.entries(ctx, briefColumns+where+" AND seq > ? ORDER BY seq LIMIT ?", args, false)
}

// mostTools is how many names of tools are given.
const mostTools = 1000

// toolsQuery goes from name to name by the index: the log may be long.
const toolsQuery = "WITH RECURSIVE names(name) AS (SELECT min(tool) FROM runs UNION ALL " +
	"SELECT (SELECT min(tool) FROM runs WHERE tool > name) FROM names WHERE name IS NOT NULL) " +
	"SELECT name FROM names WHERE name IS NOT NULL LIMIT ?"

// Tools returns the names of the tools that the log has, in order; at most 1,000.
func (l *Log) Tools(ctx context.Context) (names []string, err error) {
	err = l.db.read(ctx, toolsQuery, []any{mostTools}, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// LastSeq returns the number of the entry that was written last, 0 where there never was one.
func (l *Log) LastSeq(ctx context.Context) (seq int64, err error) {
	err = l.db.read(ctx, "SELECT seq FROM sqlite_sequence WHERE name = 'runs'", nil, func(rows *sql.Rows) error { return rows.Scan(&seq) })
	return seq, err
}

// Follow calls fn for every entry after seq that f chooses, and for each that any process writes from
// then on, until fn fails or ctx ends; it returns the error.
func (l *Log) Follow(ctx context.Context, seq int64, f Filter, fn func(Entry) error) error {
	for {
		news := l.writer.news()
		list, err := l.After(ctx, seq, f)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := fn(e); err != nil {
				return err
			}
			seq = e.Seq
		}
		if len(list) == f.limit() {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.db.closed:
			return failure(CodeClosed, "the store %s is closed", l.db.path)
		case <-news:
		case <-time.After(followEvery): // other processes
		}
	}
}

const followEvery = 250 * time.Millisecond

func (f *Filter) limit() int {
	if f.Limit <= 0 {
		return 100
	}
	return min(f.Limit, 1000)
}

// where returns the conditions and their arguments.
func (f *Filter) where() (string, []any) {
	text, args := " WHERE true", []any{}
	add := func(used bool, condition string, values ...any) {
		if used {
			text += " AND " + condition
			args = append(args, values...)
		}
	}
	add(f.Tool != "", "tool = ?", f.Tool)
	add(f.Status != "", "status = ?", f.Status)
	add(f.Failed || f.Status != "" && f.Status != StatusOK, "status <> 'ok'") // the index's own condition
	add(f.Caller != "", "caller = ?", f.Caller)
	add(f.Face != "", "face = ?", f.Face)
	add(f.Parent != "", "parent = ?", f.Parent)
	add(!f.Since.IsZero(), "time >= ?", micros(f.Since))
	add(!f.Until.IsZero(), "time < ?", micros(f.Until))
	add(f.Before != "", "(time, seq) < (SELECT time, seq FROM runs WHERE id = ?)", f.Before)
	if f.Text != "" {
		pattern := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Text) + "%"
		add(true, `(arguments LIKE ? ESCAPE '\' OR result LIKE ? ESCAPE '\' OR error_message LIKE ? ESCAPE '\' OR error_detail LIKE ? ESCAPE '\')`,
			pattern, pattern, pattern, pattern)
	}
	return text, args
}

const (
	smallColumns = "SELECT seq, id, time, duration, coalesce(tool, ''), coalesce(status, ''), coalesce(face, ''), coalesce(caller, ''), " +
		"coalesce(parent, ''), coalesce(version, ''), tokens_in, tokens_out, " +
		"max(arguments_size, coalesce(octet_length(arguments), 0)), max(result_size, coalesce(octet_length(result), 0)), " +
		"coalesce(error_code, ''), coalesce(error_message, ''), coalesce(error_detail, ''), "
	fullColumns  = smallColumns + "coalesce(arguments, ''), coalesce(result, ''), coalesce(host_calls, '') FROM runs"
	briefColumns = smallColumns + "coalesce(substr(arguments, 1, 1024), ''), coalesce(substr(result, 1, 1024), ''), '' FROM runs"
)

func (l *Log) entries(ctx context.Context, query string, args []any, full bool) ([]Entry, error) {
	var list []Entry
	err := l.db.read(ctx, query, args, func(rows *sql.Rows) error {
		e, err := scanEntry(rows)
		list = append(list, e)
		return err
	})
	return list, err
}

func scanEntry(rows *sql.Rows) (Entry, error) {
	var e Entry
	var began, duration int64
	var failed Failure
	var calls string
	err := rows.Scan(&e.Seq, &e.ID, &began, &duration, &e.Tool, &e.Status, &e.Face, &e.Caller, &e.Parent, &e.Version,
		&e.TokensIn, &e.TokensOut, &e.Arguments.Size, &e.Result.Size, &failed.Code, &failed.Message, &failed.Detail,
		&e.Arguments.Text, &e.Result.Text, &calls)
	if err != nil {
		return e, err
	}
	e.Time, e.Duration = fromMicros(began), time.Duration(duration)*time.Microsecond
	if failed != (Failure{}) {
		e.Error = &failed
	}
	return e, e.decodeCalls(calls)
}

// hostCalls is how host calls are stored.
type hostCalls struct {
	Calls   []HostCall `json:"calls"`
	Dropped int        `json:"dropped,omitempty"`
}

func (e *Entry) encodeCalls() (string, error) {
	if len(e.HostCalls) == 0 && e.HostCallsDropped == 0 {
		return "", nil
	}
	text, err := json.Marshal(hostCalls{e.HostCalls, e.HostCallsDropped})
	return string(text), err
}

func (e *Entry) decodeCalls(text string) error {
	if text == "" {
		return nil
	}
	var stored hostCalls
	err := json.Unmarshal([]byte(text), &stored)
	e.HostCalls, e.HostCallsDropped = stored.Calls, stored.Dropped
	return err
}
