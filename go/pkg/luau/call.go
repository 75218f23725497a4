package luau

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// Func is a Go function for scripts. Give it to SetGlobal, alone or inside maps, slices and
// structs, or return it.
type Func struct {
	// Name is how errors call it, as "json.decode".
	Name string
	// Do is called with the arguments and sets the results. Its error is raised in the script: as
	// a table with `code` and `message` that prints as its message. A panic is raised likewise.
	// It must not end its goroutine, as testing.T.FailNow does: the State is lost then.
	Do func(*Call) error
	// MayWait marks a function that may answer with Call.Wait.
	MayWait bool
	// Pure marks a function whose effects may be kept in an image: it depends on its arguments alone
	// and changes nothing outside of the State.
	Pure bool
	// Quiet marks a function of which nobody sees anything before the script waits: what the script
	// printed needs not be shown before each call then.
	Quiet bool
	// Gone is called once no script can call the function any more, because Luau collected it or
	// because it never reached one: at the latest by the next State.Sweep or Collect after that. It runs
	// on the goroutine that uses the State and must not use it. Close and Reset do not call it.
	Gone func()
}

// Call is one call of a Func. It belongs to the goroutine that runs Do, until Do returns. Later it has
// no arguments and its results are ignored.
type Call struct {
	state   *State
	fn      *Func
	raw     capi.Call
	args    []byte
	n       int
	known   int       // how many of offsets are set, beyond the first
	offsets [8]uint32 // of the first arguments
	out     encoder
	results int
	answer  answer
	number  float64
	token   uint64
	taken   taken
	serial  uint64 // of the call: Values of an earlier one are over
}

// answer is what kind of outcome a call has.
type answer uint8

const (
	answerValues answer = iota // in out
	answerNumber               // one number
	answerWait                 // later, under token
)

func (s *State) hostCall(raw capi.Call) {
	if len(s.calls) <= s.depth {
		s.calls = append(s.calls, &Call{state: s, out: encoder{state: s}})
	}
	c := s.calls[s.depth]
	c.raw = raw
	c.args, c.n = raw.Args()
	if c.fn = s.funcs.get(raw.ID()); c.fn == nil {
		c.fn = &lostFunc
	}
	c.known = 0
	c.out.buf, c.out.depth = c.out.buf[:0], 0
	c.results, c.answer = 0, answerValues
	c.out.funcs = c.out.funcs[:0]
	s.depth++
	maybeCollect()
	err := c.do(c.fn.Do)
	s.depth--
	if err == nil && c.answer == answerNumber {
		raw.FinishNumber(c.number)
	} else {
		c.conclude(err)
	}
	c.raw, c.args, c.n = capi.Call{}, nil, 0
	c.serial++
	if c.taken != nil {
		c.taken = nil
	}
}

// lostFunc stands for a function that this State does not know.
var lostFunc = Func{Name: "?", Do: func(*Call) error {
	return fail(CodeInvalid, "a host function of an earlier run")
}}

func (c *Call) conclude(err error) {
	switch {
	case err != nil:
		c.raise(err)
	case c.answer == answerWait:
		c.raw.FinishWait(c.token)
	default:
		c.finish(capi.CallReturn, c.results)
	}
	if cap(c.out.buf) > 1<<20 {
		c.out.buf = nil
	}
}

// do runs code of the program and turns a panic into an error.
func (c *Call) do(f func(*Call) error) (err error) {
	returned := false
	defer func() {
		if returned { // asked first, because recover takes its time
			return
		}
		if p := recover(); p != nil {
			err = panicError(c.fn.Name, p)
			return
		}
		// runtime.Goexit: the goroutine ends, and the C frames below with it.
		c.state.abandoned = true
	}()
	err = f(c)
	returned = true
	return err
}

// panicError is a panic of the function of that name. The value's own methods may panic again; fmt
// knows how to deal with that.
func panicError(name string, p any) *Error {
	e := fail(CodePanic, "%s: panic: %v", name, p)
	e.cause, _ = p.(error)
	return e
}

// finish answers; without memory for that, C knows what to say.
func (c *Call) finish(status capi.CallStatus, count int) {
	c.raw.Finish(status, c.out.buf, count)
}

// raise answers with an error, whose methods are code of the program as well.
func (c *Call) raise(err error) {
	c.out.dropFuncs()
	failed := c.do(func(c *Call) error {
		c.out.buf, c.out.depth = c.out.buf[:0], 0
		c.out.raised(c.fn.Name, err)
		return nil
	})
	if failed != nil {
		c.out.buf, c.out.depth = c.out.buf[:0], 0
		_ = c.out.errorValue(CodePanic, failed.Error(), nil, 0)
	}
	c.finish(capi.CallError, 1)
}

// Fields may be implemented by an error: what else the error table in the script holds.
type Fields interface{ ErrorFields() map[string]any }

// raised writes the error value that a script sees for a Go error.
func (e *encoder) raised(name string, err error) {
	var script *Error
	errors.As(err, &script)
	if script != nil && err == error(script) && script.Value != nil && e.again(script) {
		return
	}
	e.buf, e.depth = e.buf[:0], 0
	code := CodeOf(err)
	if code == "" {
		code = CodeHost
	}
	message := err.Error()
	fields := script.fields()
	var with Fields
	if errors.As(err, &with) {
		fields = with.ErrorFields()
	}
	var number float64
	if e.state != nil {
		number = e.state.raised.add(err)
	}
	if e.errorValue(code, message, fields, number) == nil {
		return
	}
	e.buf, e.depth = e.buf[:0], 0
	_ = e.errorValue(code, name+": "+message, nil, number)
}

// again raises the value of a script's error once more.
func (e *encoder) again(script *Error) bool {
	value := script.Value
	if script.host {
		e.tag(capi.TagError)
		value = script.withAllFrames()
		if table, ok := value.(map[string]any); ok && e.state != nil {
			table = maps.Clone(table)
			table[numberField] = e.state.raised.add(script)
			value = table
		}
	}
	return e.value(value) == nil
}

// fields are what the table of an error that stands for e holds besides code and message.
func (e *Error) fields() map[string]any {
	if e == nil {
		return nil
	}
	fields := map[string]any{}
	if table, ok := e.Value.(map[string]any); ok {
		maps.Copy(fields, table)
	}
	frames := e.Frames
	if len(frames) == 0 && e.Line > 0 {
		frames = []Frame{{Chunk: e.Chunk, Line: e.Line}}
	}
	if len(frames) > 0 {
		fields[framesField] = frameList(frames)
	}
	if e.Column > 0 {
		fields[columnField] = float64(e.Column)
	}
	return fields
}

// numberField holds the number of an error on its way into the VM.
const numberField = ""

func (e *encoder) errorValue(code Code, message string, fields map[string]any, number float64) error {
	m := make(map[string]any, len(fields)+2)
	for k, v := range fields {
		m[k] = v
	}
	m["code"], m["message"] = string(code), message
	if number != 0 {
		m[numberField] = number
	}
	e.tag(capi.TagError)
	return e.object(m)
}

// Name is the function's name.
func (c *Call) Name() string { return c.fn.Name }

// State is the State whose script calls. The function may use it.
func (c *Call) State() *State { return c.state }

// Len is the number of arguments.
func (c *Call) Len() int { return c.n }

// Size is about how much the arguments hold, in bytes: texts by their length, others by about ten bytes
// each. It is known before anything is converted.
func (c *Call) Size() int { return len(c.args) }

// Args gives the arguments unconverted.
func (c *Call) Args() Values {
	return Values{state: c.state, data: c.args, count: c.n, taken: &c.taken, live: &c.serial, stamp: c.serial}
}

// CanWait says whether the call may answer with Wait: in a thread that State.Start began, where Luau
// can yield. False in a sort comparator, a metamethod, a gsub callback, and everywhere below State.Do
// and Function.Call, which run to their end.
func (c *Call) CanWait() bool { return c.raw.Valid() && c.raw.CanWait() }

// Context is that of the [Function.Call] or [State.Do] that runs the script; never nil.
func (c *Call) Context() context.Context {
	if c.state.ctx == nil {
		return context.Background()
	}
	return c.state.ctx
}

// Wait answers that the result comes later: the running thread stops with StatusWaiting and this
// token, and goes on with State.Deliver or State.DeliverError. Only when CanWait.
func (c *Call) Wait(token uint64) {
	c.answer = answerWait
	c.token = token
}

// Return sets the results.
func (c *Call) Return(values ...any) error {
	c.out.dropFuncs()
	c.out.buf, c.out.depth = c.out.buf[:0], 0
	if err := c.out.values(values); err != nil {
		return under(c.fn.Name+": result", err)
	}
	c.results, c.answer = len(values), answerValues
	return nil
}

// ReturnNumber sets one number as the result, faster than Return.
func (c *Call) ReturnNumber(n float64) error {
	c.number, c.answer = n, answerNumber
	return nil
}

// ReturnString sets one text as the result, faster than Return.
func (c *Call) ReturnString(s string) error {
	c.out.buf = c.out.buf[:0]
	c.results, c.answer = 1, answerValues
	return c.out.text(capi.TagString, s)
}

// ArgumentError is a wrong argument, worded alike for every function.
type ArgumentError struct {
	Function string // as "json.decode"
	Index    int    // from 1
	Problem  string // as "must be a string, got table"
}

// Error gives the sentence, as "json.decode: argument 1 must be a string, got table".
func (e *ArgumentError) Error() string {
	space := " "
	if strings.HasPrefix(e.Problem, ":") {
		space = ""
	}
	return fmt.Sprintf("%s: argument %d%s%s", e.Function, e.Index, space, e.Problem)
}

// ErrorCode is CodeArgument.
func (e *ArgumentError) ErrorCode() string { return string(CodeArgument) }
