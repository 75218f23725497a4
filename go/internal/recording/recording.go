// Package recording keeps what tools hear from the world while they are tested, and gives it back later: answers of
// servers and models, random numbers, and the time of day. A test is then the same without a network.
//
// A Session records or replays. The parts of a host that reach the world are led through it: Transport for HTTP,
// Model for models, Outside for what is random. Which run of a test something belongs to is in its context.
//
// What goes into a recording is free of the secrets that the session is told of, and of headers, parameters and
// fields whose names say that they are secret. Requests are compared in that same form, so a replay needs no secret.
package recording

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/spelling"
)

// Options describe a Session. The zero value knows no secrets.
type Options struct {
	Name   string              // of the recording, for messages
	Redact func(string) string // takes secrets out of a text; nil: there are none
	File   string              // of the tools, for people who read the recording
	// Environ are the variables that tools may read. Those whose names say that they are secret are kept without
	// their values.
	Environ map[string]string
}

// Session is one test that is recorded or replayed. Any goroutine may use it.
type Session struct {
	options   Options
	replaying bool

	mu      sync.Mutex
	file    file
	taken   map[*runEntry]bool // that a replay has begun
	size    int                // of the bodies recorded so far
	problem error              // why there is no recording
}

// New makes a Session that records.
func New(o Options) *Session {
	s := &Session{options: o}
	s.file = file{Version: Version, File: o.File, Environ: s.publicEnviron()}
	return s
}

// Open makes a Session that replays a recording.
func Open(text []byte, o Options) (*Session, error) {
	s := &Session{options: o, replaying: true, taken: map[*runEntry]bool{}}
	if err := s.file.read(text); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	return s, nil
}

// Replaying says whether the session gives answers back.
func (s *Session) Replaying() bool { return s.replaying }

// Name is that of the recording.
func (s *Session) Name() string { return s.options.Name }

// Empty says whether there is no run in it.
func (s *Session) Empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.file.Runs) == 0
}

// Encode gives the recording as a file. It fails when something was too large for one.
func (s *Session) Encode() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problem != nil {
		return nil, fmt.Errorf("%s: %w", s.options.Name, s.problem)
	}
	text, err := s.file.encode()
	if err == nil && len(text) > MaxFile {
		err = fmt.Errorf("%s: the recording would have %d bytes, more than %d", s.options.Name, len(text), MaxFile)
	}
	return text, err
}

// fail notes why there will be no recording. The caller holds the lock.
func (s *Session) fail(err error) {
	if s.problem == nil {
		s.problem = err
	}
}

// Run is one call of a tool by the test, with all that it calls.
type Run struct {
	session *Session
	entry   *runEntry
	seed    []byte
	began   time.Time // of this run, not of the recorded one

	// Under the session's lock.
	calls  map[string]int // how many of the same tool and arguments there were
	asked  map[any]bool   // entries that were given back
	misses []string
	ended  bool
}

type runKey struct{}

func runOf(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// Begin begins a run. A replay needs one of the same tool and arguments; example is for people.
func (s *Session) Begin(tool, example string, args map[string]any) (*Run, error) {
	text, err := jsonvalue.Encode(args)
	if err != nil {
		return nil, err
	}
	kept := s.cleanJSON(text)
	r := &Run{session: s, began: time.Now().Truncate(time.Microsecond), calls: map[string]int{}, asked: map[any]bool{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replaying {
		if r.entry = s.find(tool, kept); r.entry == nil {
			return nil, s.noRun(tool, kept)
		}
		s.taken[r.entry] = true
		r.seed, err = hex.DecodeString(r.entry.Seed)
		return r, err
	}
	r.seed = make([]byte, seedSize)
	rand.Read(r.seed)
	r.entry = &runEntry{Tool: tool, Example: example, Arguments: kept, Began: r.began.UTC(), Seed: hex.EncodeToString(r.seed)}
	s.file.Runs = append(s.file.Runs, r.entry)
	return r, nil
}

func (s *Session) find(tool string, args []byte) *runEntry {
	for _, e := range s.file.Runs {
		if e.Tool == tool && string(canonical(e.Arguments)) == string(args) && !s.taken[e] {
			return e
		}
	}
	return nil
}

// noRun says what a recording has in place of a run.
func (s *Session) noRun(tool string, args []byte) error {
	var others, tools []string
	for _, e := range s.file.Runs {
		if e.Tool == tool {
			others = append(others, clipped(string(canonical(e.Arguments))))
		} else if !contains(tools, e.Tool) {
			tools = append(tools, e.Tool)
		}
	}
	has := "it has no run at all"
	switch {
	case len(others) > 0:
		has = "its runs of this tool have the arguments " + listed(others)
	case len(tools) > 0:
		has = "it has runs of " + listed(tools)
		if s.file.File != "" {
			has += " (" + s.file.File + ")"
		}
	}
	return fmt.Errorf("%s has no run of %s with the arguments %s; %s: record it again with --record",
		s.options.Name, tool, clipped(string(args)), has)
}

func listed(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

func contains(list []string, text string) bool {
	for _, item := range list {
		if item == text {
			return true
		}
	}
	return false
}

// clipped keeps a text readable within a message.
func clipped(text string) string {
	return spelling.Clip(strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "), 200)
}

// Context is what the run's call is made with.
func (r *Run) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, runKey{}, r)
}

// Outcome is what a replay found.
type Outcome struct {
	Missing []string // what was asked for and is not in the recording; the tool was given an error
	Unused  []string // what is in the recording and was not asked for
}

// End ends a run. What it still waits for was never answered, as far as the recording knows.
func (r *Run) End() Outcome {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.ended = true
	out := Outcome{Missing: r.misses}
	if !r.session.replaying {
		return out
	}
	for _, e := range r.entry.HTTP {
		if !r.asked[e] {
			out.Unused = append(out.Unused, e.asked())
		}
	}
	for _, q := range r.entry.Models {
		if !r.asked[q] {
			out.Unused = append(out.Unused, q.asked())
		}
	}
	return out
}

// miss notes what a replay cannot answer. The caller holds the lock.
func (r *Run) miss(text string) {
	const most = 100
	if len(r.misses) < most {
		r.misses = append(r.misses, text)
	}
}
