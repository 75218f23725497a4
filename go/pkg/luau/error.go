package luau

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// Code says what kind of failure an [Error] is. The values are stable.
type Code string

// The codes of this package. Host functions may raise others of their own.
const (
	CodeCompile   Code = "compile"          // source that is not Luau
	CodeRuntime   Code = "runtime"          // an error raised by a script
	CodeMemory    Code = "memory"           // the memory limit was reached
	CodeTimeout   Code = "timeout"          // the deadline passed
	CodeCancelled Code = "cancelled"        // the context was cancelled
	CodeLimit     Code = "limit"            // another limit was reached: host calls, output, size
	CodeHost      Code = "host"             // a host function failed and gave no code
	CodePanic     Code = "panic"            // a host function panicked
	CodeArgument  Code = "invalid_argument" // a host function was called wrongly
	CodeConvert   Code = "convert"          // a value cannot cross between Go and Luau
	CodeClosed    Code = "closed"           // the State is closed
	CodeBusy      Code = "busy"             // another goroutine uses the State
	CodeInvalid   Code = "invalid"          // wrong use of this package
)

// Frame is one level of a traceback.
type Frame struct {
	Chunk    string // as given to Load: "@path" or "=name"; "=[C]" for a built-in function
	Line     int    // from 1; 0 for a built-in function
	Function string // empty for a chunk's own code
}

// Error is any failure of this package. It is immutable and may be shared by goroutines.
type Error struct {
	Code    Code
	Message string  // without chunk and line
	Chunk   string  // where it happened: "@path" or "=name"; empty when it was not in a script
	Line    int     // from 1; 0 when unknown
	Column  int     // from 1; 0 when unknown. Only compile errors know it
	Value   any     // the error value when a script raised something else than a text
	Frames  []Frame // innermost first
	// Subject is what a failed operation was about; nil when that is not known.
	Subject *Subject
	raised  string // the message as it was raised
	path    string // of a value that does not convert; problem is the message without it
	problem string
	cause   error
	killed  bool
	ended   bool // by its context, or what KilledBy names
	host    bool // Value is an error table that a host function made
}

// IsKilled says whether err ended its whole run: nothing but Reset or Close helps the State then.
func IsKilled(err error) bool {
	if err == nil {
		return false // before anything is allocated: it is asked after every run
	}
	var e *Error
	return errors.As(err, &e) && e.killed
}

// KilledBy is the error of a run that was ended for this cause.
func KilledBy(cause error) error { return endedBy(cause, true) }

// StoppedBy is that of a run that was given up for this cause between two steps of it: the State can be
// used on.
func StoppedBy(cause error) error { return endedBy(cause, false) }

func endedBy(cause error, killed bool) error {
	var e *Error
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return &Error{Code: CodeTimeout, Message: "the time limit was reached", cause: cause, killed: killed, ended: true}
	case errors.As(cause, &e):
		copied := *e
		copied.killed, copied.ended = killed, true
		return &copied
	}
	return &Error{Code: CodeCancelled, Message: "the run was cancelled", cause: cause, killed: killed, ended: true}
}

// Error gives place and message in one line, as `script.luau:3: message`.
func (e *Error) Error() string {
	if e.Chunk == "" || e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s:%d: %s", ChunkName(e.Chunk), e.Line, e.Message)
}

// Unwrap gives the Go error behind it: a host function's, or the context's cause.
func (e *Error) Unwrap() error { return e.cause }

// Is lets errors.Is match by code: a target *Error with only a Code set matches any of that code.
// A timeout also matches [context.DeadlineExceeded], a cancelled run [context.Canceled].
func (e *Error) Is(target error) bool {
	switch target {
	case context.DeadlineExceeded:
		return e.ended && e.Code == CodeTimeout
	case context.Canceled:
		return e.ended && e.Code == CodeCancelled
	}
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Code == e.Code
}

// Traceback gives one line for each frame, innermost first; empty when there are none.
func (e *Error) Traceback() string {
	var b strings.Builder
	for _, f := range e.Frames {
		b.WriteString(ChunkName(f.Chunk))
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		if f.Function != "" {
			fmt.Fprintf(&b, " in %s", f.Function)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ChunkName is a chunk's name as people know it: without the mark in front.
func ChunkName(chunk string) string {
	if strings.HasPrefix(chunk, "@") || strings.HasPrefix(chunk, "=") {
		return chunk[1:]
	}
	return chunk
}

// CodeOf gives the code of the first error in err's chain that has one; CodeTimeout and CodeCancelled
// for a context's errors; else "".
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var coded interface{ ErrorCode() string }
	switch {
	case errors.As(err, &coded):
		return Code(coded.ErrorCode())
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	case errors.Is(err, context.Canceled):
		return CodeCancelled
	}
	return ""
}

// ErrorCode is the code as text, for CodeOf.
func (e *Error) ErrorCode() string { return string(e.Code) }

func fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

var (
	errClosed    = fail(CodeClosed, "the State is closed")
	errRunning   = fail(CodeBusy, "not inside of a host function that the State's own script called")
	errAbandoned = fail(CodeInvalid, "a host function of this State ended its goroutine (runtime.Goexit, testing.T.FailNow): only Close is possible")
	errUnsaved   = fail(CodeInvalid, "the State has no saved image to go back to: call Save once, when it is set up and before its first run")
	errBusy      = fail(CodeBusy, "another goroutine is using the State: a State belongs to one goroutine at a time")
)

// failure turns a result that is no success into an error.
func (s *State) failure(r capi.Result) error {
	switch r.Status {
	case capi.ErrRuntime, capi.ErrMemory:
		return s.scriptError(r)
	case capi.ErrKilled:
		return s.killed(uint32(r.Token), r)
	case capi.ErrConvert:
		return fail(CodeConvert, "%s", r.Data)
	case capi.ErrLimit:
		return fail(CodeLimit, "%s", r.Data)
	default:
		return fail(CodeInvalid, "%s", r.Data)
	}
}

func (s *State) killed(reason uint32, r capi.Result) error {
	switch {
	case s.ended == nil:
		s.ended, s.endedRun = s.placed(s.endOf(reason), r), s.run
	case s.endedRun != s.run:
		left := "only Reset and Close are possible"
		if !s.saved {
			left = "only Close is possible, as Save was not called before that run"
		}
		return &Error{Code: CodeInvalid, killed: true,
			Message: "an earlier run of this State was ended (" + s.ended.Error() + "): " + left}
	}
	return s.ended
}

// placed says where the script was when its run was ended.
func (s *State) placed(err error, r capi.Result) error {
	e, ok := err.(*Error)
	if !ok || r.Count != 1 {
		return err
	}
	e.Frames = s.framesIn(r)
	e.locate()
	return e
}

func (s *State) endOf(reason uint32) error {
	switch reason {
	case capi.KillHostCalls:
		return KilledBy(fail(CodeLimit, "more than %d host calls in one run", s.limits.HostCalls))
	case capi.KillOutput:
		return KilledBy(fail(CodeLimit, "more than %d bytes printed in one run", s.limits.Output))
	}
	s.guard.Lock()
	cause := s.killCause
	s.guard.Unlock()
	return KilledBy(cause)
}

// scriptError reads an error record, as hukilau.h describes it.
func (s *State) scriptError(r capi.Result) error {
	if r.Status == capi.ErrMemory && r.Count == 0 {
		return fail(CodeMemory, "%s", r.Data)
	}
	e := &Error{Code: CodeRuntime}
	if r.Status == capi.ErrMemory {
		e.Code = CodeMemory
	}
	d := decoder{state: s, data: r.Data}
	var record [5]any
	var err error
	for i := 0; i < len(record) && err == nil; i++ {
		record[i], err = d.value(0)
	}
	e.Message, _ = record[0].(string)
	e.Value, e.host = record[1], d.failed
	e.Frames = readFrames(record[2])
	e.cause = s.raised.find(record[3])
	e.Subject = e.subjectOr(readSubject(record[4]))
	if e.Message == "" && e.Value != nil {
		e.Message = "the error value " + shown(e.Value)
	}
	if err != nil {
		e.Message += " (the report is unreadable: " + err.Error() + ")"
	}
	if table, ok := e.Value.(map[string]any); ok {
		if code, ok := table["code"].(string); ok && code != "" {
			e.Code = Code(code)
		}
		if column, ok := table[columnField].(float64); ok && e.Code == CodeCompile {
			e.Column = int(column)
		}
		// Frames of another thread whose error this one passed on: see raised.
		if inner, ok := table[framesField].([]any); ok {
			e.Frames = append(readFrames(inner), e.Frames...)
			if e.host {
				delete(table, framesField) // of our own making: see withAllFrames
			}
		}
	}
	e.raised = e.Message
	e.locate()
	return e
}

// Raised is the message as the script raised it: with chunk and line where Luau or error put them in front, and
// without where the script asked for none, as by error("no fish", 0) or with a table.
func (e *Error) Raised() string {
	if e.raised != "" {
		return e.raised
	}
	return e.Error()
}

// subjectOr is what e was about: that, or what the error was about that it passed on.
func (e *Error) subjectOr(own *Subject) *Subject {
	var inner *Error
	if own != nil || !errors.As(e.cause, &inner) {
		return own
	}
	return inner.Subject
}

// Behind is e with the frames and the place of inner in front: of the same failure further in, in
// another thread or a module.
func (e *Error) Behind(inner *Error) *Error {
	copied := *e
	copied.Frames = append(append([]Frame{}, inner.Frames...), e.Frames...)
	if inner.Line > 0 {
		copied.Chunk, copied.Line = inner.Chunk, inner.Line
	}
	return &copied
}

// framesField of an error table lists frames of where it came from; columnField is of a compile error.
const (
	framesField = "frames"
	columnField = "column"
)

// mostShown is how much of an error value without a message is its message.
const mostShown = 500

func shown(v any) string {
	text := Format(v)
	if len(text) > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "") + "..." // the cut may be within a character
	}
	return text
}

// raisedErrors are the latest errors that host functions raised, by the numbers that their tables in
// the script carry: what a script lets through leads back to the error itself.
type raisedErrors struct {
	last   uint64
	latest []numberedError // by number, round and round; made with the first one
}

type numberedError struct {
	number uint64
	err    error
}

// mostRaised is how many errors are remembered.
const mostRaised = 32

func (r *raisedErrors) add(err error) float64 {
	if r.latest == nil {
		r.latest = make([]numberedError, mostRaised)
	}
	r.last++
	r.latest[r.last%mostRaised] = numberedError{r.last, err}
	return float64(r.last)
}

func (r *raisedErrors) find(number any) error {
	n, _ := number.(float64)
	if n == 0 || r.latest == nil {
		return nil
	}
	if place := r.latest[uint64(n)%mostRaised]; place.number == uint64(n) {
		return place.err
	}
	return nil
}

func frameList(frames []Frame) []any {
	list := make([]any, len(frames))
	for i, f := range frames {
		list[i] = []any{f.Chunk, float64(f.Line), f.Function}
	}
	return list
}

// withAllFrames is a host's error table with the frames of e, for the script to pass on.
func (e *Error) withAllFrames() any {
	table, ok := e.Value.(map[string]any)
	if !ok || len(e.Frames) == 0 {
		return e.Value
	}
	table = maps.Clone(table)
	table[framesField] = frameList(e.Frames)
	return table
}

// framesIn reads a result that is a list of frames.
func (s *State) framesIn(r capi.Result) []Frame {
	d := decoder{state: s, data: r.Data}
	list, _ := d.value(0) // nothing where it is none
	return readFrames(list)
}

func readFrames(v any) []Frame {
	list, _ := v.([]any)
	frames := make([]Frame, 0, len(list))
	for _, item := range list {
		parts, _ := item.([]any)
		if len(parts) != 3 {
			continue
		}
		chunk, _ := parts[0].(string)
		line, _ := parts[1].(float64)
		name, _ := parts[2].(string)
		frames = append(frames, Frame{Chunk: chunk, Line: int(line), Function: name})
	}
	return frames
}

// locate sets chunk and line from the innermost script frame, and takes the same place out of the
// front of the message.
func (e *Error) locate() {
	for _, f := range e.Frames {
		if f.Line == 0 {
			continue
		}
		e.Chunk, e.Line = f.Chunk, f.Line
		break
	}
	// coroutine.wrap puts its own place before that of the error.
	for e.stripPlace() {
	}
}

func (e *Error) stripPlace() bool {
	for _, f := range e.Frames {
		prefix := fmt.Sprintf("%s:%d: ", ChunkName(f.Chunk), f.Line)
		if f.Line > 0 && strings.HasPrefix(e.Message, prefix) {
			e.Message = e.Message[len(prefix):]
			e.Chunk, e.Line = f.Chunk, f.Line
			return true
		}
	}
	return false
}
