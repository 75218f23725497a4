package luau

import (
	"errors"
	"fmt"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// Func is a Go function for scripts. Give it to SetGlobal, alone or inside maps, slices and
// structs, or return it.
type Func struct {
	// Name is how errors call it, as "json.decode".
	Name string
	// Do is called with the arguments and sets the results. Its error is raised in the script: as
	// a table with `code` and `message` that prints as its message. A panic is raised likewise.
	// It must not end its goroutine.
	Do func(*Call) error
	// MayWait marks a function that may answer with Call.Wait.
	MayWait bool
}

func (s *State) addFunc(f *Func) uint32 {
	s.funcs = append(s.funcs, f)
	return uint32(len(s.funcs) - 1)
}

// Call is one call of a Func. It belongs to the goroutine that runs Do, until Do returns.
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
	c.fn = nil
	if id := int(raw.ID()); id < len(s.funcs) {
		c.fn = s.funcs[id]
	}
	c.known = 0
	c.out.buf, c.out.depth = c.out.buf[:0], 0
	c.results, c.answer = 0, answerValues
	if c.fn == nil {
		c.fn = &Func{Name: "host function"}
		c.conclude(fail(CodeInvalid, "a host function of an earlier run"))
		return
	}
	s.depth++
	err := c.do()
	s.depth--
	if raw.Refs() > 0 {
		c.dropArgs()
	}
	if err == nil && c.answer == answerNumber {
		raw.FinishNumber(c.number)
		return
	}
	c.conclude(err)
}

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

// do runs the function and turns a panic into an error.
func (c *Call) do() (err error) {
	returned := false
	defer func() {
		if !returned { // asked first, because recover takes its time
			err = c.panicked(recover())
		}
	}()
	err = c.fn.Do(c)
	returned = true
	return err
}

func (c *Call) panicked(p any) error {
	e := fail(CodePanic, "%s: panic: %v", c.fn.Name, p)
	e.cause, _ = p.(error)
	return e
}

func (c *Call) finish(status capi.CallStatus, count int) {
	if c.raw.Finish(status, c.out.buf, count) {
		return
	}
	c.out.buf = c.out.buf[:0]
	c.out.errorValue(CodeMemory, c.fn.Name+": not enough memory for the result", nil)
	c.raw.Finish(capi.CallError, c.out.buf, 1)
}

func (c *Call) raise(err error) {
	c.out.buf, c.out.depth = c.out.buf[:0], 0
	c.out.raised(c.fn.Name, err)
	c.finish(capi.CallError, 1)
}

// Fields may be implemented by an error: what else the error table in the script holds.
type Fields interface{ ErrorFields() map[string]any }

// raised writes the error value that a script sees for a Go error.
func (e *encoder) raised(name string, err error) {
	var script *Error
	if errors.As(err, &script) && script.Value != nil {
		value := script.Value
		if script.host {
			e.tag(capi.TagError)
			value = script.withAllFrames()
		}
		if e.value(value) == nil {
			return
		}
	}
	e.buf, e.depth = e.buf[:0], 0
	code := CodeOf(err)
	if code == "" {
		code = CodeHost
	}
	message := err.Error()
	var fields map[string]any
	if script != nil && len(script.Frames) > 0 {
		fields = map[string]any{framesField: frameList(script.Frames)}
	}
	var with Fields
	if errors.As(err, &with) {
		fields = with.ErrorFields()
	}
	if e.errorValue(code, message, fields) == nil {
		return
	}
	e.buf, e.depth = e.buf[:0], 0
	_ = e.errorValue(code, name+": "+message, nil)
}

func (e *encoder) errorValue(code Code, message string, fields map[string]any) error {
	m := make(map[string]any, len(fields)+2)
	for k, v := range fields {
		m[k] = v
	}
	m["code"], m["message"] = string(code), message
	e.tag(capi.TagError)
	return e.object(m)
}

// Name is the function's name.
func (c *Call) Name() string { return c.fn.Name }

// State is the State whose script calls. The function may use it.
func (c *Call) State() *State { return c.state }

// Len is the number of arguments.
func (c *Call) Len() int { return c.n }

// Args gives the arguments unconverted.
func (c *Call) Args() Values {
	return Values{state: c.state, data: c.args, count: c.n, taken: &c.taken}
}

// CanWait says whether the call may answer with Wait. False where Luau cannot yield: in a sort
// comparator, a metamethod, a gsub callback.
func (c *Call) CanWait() bool { return c.raw.CanWait() }

// Wait answers that the result comes later: the running thread stops with StatusWaiting and this
// token, and goes on with State.Deliver or State.DeliverError. Only when CanWait.
func (c *Call) Wait(token uint64) {
	c.answer = answerWait
	c.token = token
}

// Return sets the results.
func (c *Call) Return(values ...any) error {
	c.out.buf, c.out.depth = c.out.buf[:0], 0
	if err := c.out.values(values); err != nil {
		return at(c.fn.Name+": result", err)
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
	return fmt.Sprintf("%s: argument %d %s", e.Function, e.Index, e.Problem)
}

// ErrorCode is CodeArgument.
func (e *ArgumentError) ErrorCode() string { return string(CodeArgument) }
